//! Formulas as Unicode text on one line: ½ m R² θ̇² − m g R (1 − cos θ).

use super::layout::{Call, Layout};
use super::name::Name;
use super::number::Number;

/// The formula as text.
pub fn render(layout: &Layout) -> String {
    match layout {
        Layout::Number(number) => number_text(number),
        Layout::Name(name) => name_text(name),
        Layout::Sign(sign) => (*sign).to_owned(),
        Layout::Words(words) => words.clone(),
        Layout::Sum(terms) => sum(terms),
        Layout::Product(factors) => product(factors, false),
        Layout::Fraction(above, below) => format!("{}/{}", numerator(above), denominator(below)),
        Layout::Power(base, n) => render(base) + &exponent(n),
        Layout::Root(x) => format!("√{}", operand(x)),
        Layout::Abs(x) => format!("|{}|", render(x)),
        Layout::Call(call) => call_text(call, call.bare),
        Layout::Parentheses(x) => format!("({})", render(x)),
        Layout::Matrix(rows) => {
            let rows: Vec<String> = rows.iter().map(|row| format!("[{}]", list(row))).collect();
            format!("[{}]", rows.join(", "))
        }
        Layout::Row(pieces) => pieces.iter().map(render).collect(),
    }
}

/// The columns that a text takes: combining marks take none.
pub fn width(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

fn list(items: &[Layout]) -> String {
    items.iter().map(render).collect::<Vec<_>>().join(", ")
}

fn sum(terms: &[(bool, Layout)]) -> String {
    let mut text = String::new();
    for (i, (negative, term)) in terms.iter().enumerate() {
        text += match (i, negative) {
            (0, false) => "",
            (0, true) => "−",
            (_, false) => " + ",
            (_, true) => " − ",
        };
        text += &render(term);
    }
    text
}

/// Factors with spaces between; a fraction in front that has no sign of its own becomes a division at the end. The
/// argument of a last function is in parentheses if a division follows.
fn product(factors: &[Layout], divided: bool) -> String {
    let (first, divisor, factors) = match factors {
        [Layout::Number(Number::Ratio(p, q)), rest @ ..] if *q != 1 && vulgar(*p, *q).is_none() => {
            ((*p != 1).then(|| p.to_string()), Some(q), rest)
        }
        factors => (None, None, factors),
    };
    let divided = divided || divisor.is_some();
    let last = factors.len().saturating_sub(1);
    let mut pieces: Vec<String> = first.into_iter().collect();
    for (i, factor) in factors.iter().enumerate() {
        pieces.push(match factor {
            Layout::Fraction(..) => format!("({})", render(factor)),
            Layout::Call(call) if i == last && divided => call_text(call, false),
            other => render(other),
        });
    }
    let text = pieces.join(" ");
    match divisor {
        Some(q) => format!("{text}/{q}"),
        None => text,
    }
}

/// Above a division line: a sum needs parentheses, and so does the argument of a last function.
fn numerator(layout: &Layout) -> String {
    match layout {
        Layout::Sum(_) | Layout::Fraction(..) => format!("({})", render(layout)),
        Layout::Call(call) => call_text(call, false),
        Layout::Product(factors) => product(factors, true),
        other => render(other),
    }
}

/// Below a division line, all but a single thing needs parentheses.
pub fn denominator(layout: &Layout) -> String {
    match layout {
        Layout::Sum(_) | Layout::Fraction(..) | Layout::Product(_) => format!("({})", render(layout)),
        Layout::Call(call) => call_text(call, false),
        other => render(other),
    }
}

fn operand(layout: &Layout) -> String {
    match layout {
        Layout::Name(_) | Layout::Parentheses(_) => render(layout),
        number if number.is_whole() => render(number),
        other => format!("({})", render(other)),
    }
}

/// An exponent, without what it belongs to.
pub fn exponent(layout: &Layout) -> String {
    match layout {
        Layout::Number(Number::Ratio(n, 1)) => n.to_string().chars().map(superscript).collect(),
        other => format!("^{}", operand(other)),
    }
}

/// A function, without its arguments.
pub fn function(call: &Call) -> String {
    let power: String = call.power.map(|n| n.to_string().chars().map(superscript).collect()).unwrap_or_default();
    format!("{}{power}", call.function)
}

fn call_text(call: &Call, bare: bool) -> String {
    let (function, arguments) = (function(call), list(&call.arguments));
    if bare { format!("{function} {arguments}") } else { format!("{function}({arguments})") }
}

fn number_text(number: &Number) -> String {
    match number {
        Number::Ratio(p, 1) => p.to_string(),
        Number::Ratio(p, q) => vulgar(*p, *q).map_or_else(|| format!("{p}/{q}"), String::from),
        Number::Decimal(digits, 0) => digits.clone(),
        Number::Decimal(digits, exponent) => {
            let power: String = exponent.to_string().chars().map(superscript).collect();
            if digits == "1" { format!("10{power}") } else { format!("{digits}·10{power}") }
        }
    }
}

/// The fractions that have a sign that everybody reads.
fn vulgar(p: u64, q: u64) -> Option<char> {
    match (p, q) {
        (1, 2) => Some('½'),
        (1, 3) => Some('⅓'),
        (2, 3) => Some('⅔'),
        (1, 4) => Some('¼'),
        (3, 4) => Some('¾'),
        _ => None,
    }
}

/// θ̇₁⁻: the dot on the letter, then the subscript, then the side of an impact.
fn name_text(name: &Name) -> String {
    let mut text = name.base.clone();
    if name.is_letter() {
        text += ["", "\u{307}", "\u{308}", "\u{20db}", "\u{20dc}"].get(name.dots).copied().unwrap_or("\u{20dc}");
    }
    match name.subscripts.as_slice() {
        [] => {}
        [digits] if digits.chars().all(|c| c.is_ascii_digit()) => text.extend(digits.chars().map(subscript)),
        parts => text += &parts.iter().map(|part| format!("_{}", subscripted(part))).collect::<String>(),
    }
    if !name.is_letter() {
        text += &"′".repeat(name.dots);
    }
    text.extend(name.side.map(superscript));
    text
}

/// θ1 within a subscript is θ₁; a word stays as it is.
fn subscripted(part: &str) -> String {
    let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.is_ascii() {
        return part.to_owned();
    }
    stem.chars().chain(part[stem.len()..].chars().map(subscript)).collect()
}

fn shifted(c: char, digits: &str) -> char {
    c.to_digit(10).and_then(|d| digits.chars().nth(d as usize)).unwrap_or(c)
}

fn subscript(c: char) -> char {
    shifted(c, "₀₁₂₃₄₅₆₇₈₉")
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '+' => '⁺',
        c => shifted(c, "⁰¹²³⁴⁵⁶⁷⁸⁹"),
    }
}
