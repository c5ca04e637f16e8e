//! Formulas in LaTeX.

use super::layout::{Call, Layout};
use super::name::{Name, latex_letter};
use super::number::Number;

/// The formula for LaTeX's math mode.
pub fn render(layout: &Layout) -> String {
    match layout {
        Layout::Number(number) => number_latex(number),
        Layout::Name(name) => name_latex(name),
        Layout::Sign(sign) => sign_latex(sign).to_owned(),
        Layout::Words(words) => format!("\\text{{{}}}", escape(words)),
        Layout::Sum(terms) => sum(terms),
        Layout::Product(factors) => product(factors),
        Layout::Fraction(above, below) => format!("\\frac{{{}}}{{{}}}", render(above), render(below)),
        Layout::Power(base, exponent) => format!("{}^{{{}}}", render(base), render(exponent)),
        Layout::Root(x) => format!("\\sqrt{{{}}}", render(x)),
        Layout::Abs(x) => format!("\\left| {} \\right|", render(x)),
        Layout::Call(call) => call_latex(call),
        Layout::Parentheses(x) => parentheses(x),
        Layout::Matrix(rows) => {
            let rows: Vec<String> =
                rows.iter().map(|row| row.iter().map(render).collect::<Vec<_>>().join(" & ")).collect();
            format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\[2pt] "))
        }
        Layout::Row(pieces) => pieces.iter().map(render).collect::<Vec<_>>().join(" "),
    }
}

/// Text for LaTeX's text mode.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '⟨' => out += "$\\langle$",
            '⟩' => out += "$\\rangle$",
            '\u{0}'..='\u{1f}' => out.push(' '),
            c => match latex_letter(c) {
                Some(command) => out += &format!("${command}$"),
                None => out.push(c),
            },
        }
    }
    out
}

fn sign_latex(sign: &'static str) -> &'static str {
    match sign {
        "∇" => "\\nabla",
        "∂" => "\\partial",
        "·" => "\\cdot",
        "d" => "\\mathrm{d}",
        "∫" => "\\int",
        "ᵀ" => "^{\\mathsf{T}}",
        "⁻¹" => "^{-1}",
        "⁺" => "^{+}",
        "⁻" => "^{-}",
        "²" => "^{2}",
        " " => "\\,",
        " = " => "=",
        " ≥ " => "\\ge",
        " > " => ">",
        other => other,
    }
}

/// Factors side by side, with a thin space beside words and after functions.
fn product(factors: &[Layout]) -> String {
    let is_word = |layout: &Layout| match layout {
        Layout::Name(name) => !name.is_letter(),
        Layout::Words(_) => true,
        _ => false,
    };
    let mut text = String::new();
    for (i, factor) in factors.iter().enumerate() {
        if i > 0 {
            let before = &factors[i - 1];
            let is_call = matches!(before, Layout::Call(_)) && !matches!(factor, Layout::Call(_));
            text += if is_call || is_word(before) || is_word(factor) { " \\, " } else { " " };
        }
        text += &render(factor);
    }
    text
}

fn parentheses(x: &Layout) -> String {
    format!("\\left( {} \\right)", render(x))
}

fn sum(terms: &[(bool, Layout)]) -> String {
    let mut text = String::new();
    for (i, (negative, term)) in terms.iter().enumerate() {
        text += match (i, negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        text += &render(term);
    }
    text
}

/// A function, without its arguments.
pub fn function(call: &Call) -> String {
    let function = match call.function {
        "sgn" => "\\operatorname{sgn}".to_owned(),
        name @ ("atan2" | "floor" | "where") => format!("\\operatorname{{{name}}}"),
        known => format!("\\{known}"),
    };
    function + &call.power.map(|n| format!("^{{{n}}}")).unwrap_or_default()
}

fn call_latex(call: &Call) -> String {
    let arguments: Vec<String> = call.arguments.iter().map(render).collect();
    let (function, arguments) = (function(call), arguments.join(", "));
    if call.bare { format!("{function} {arguments}") } else { format!("{function}\\left( {arguments} \\right)") }
}

fn number_latex(number: &Number) -> String {
    match number {
        Number::Ratio(p, 1) => p.to_string(),
        Number::Ratio(p, q) => format!("\\frac{{{p}}}{{{q}}}"),
        Number::Decimal(digits, exponent) => {
            let digits = if digits == "∞" { "\\infty" } else { digits };
            match (digits, exponent) {
                (digits, 0) => digits.to_owned(),
                ("1", n) => format!("10^{{{n}}}"),
                (digits, n) => format!("{digits} \\cdot 10^{{{n}}}"),
            }
        }
    }
}

/// One letter in italics, a word upright.
fn word(text: &str) -> String {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let stem = &text[..text.len() - digits.len()];
    let mut letters = stem.chars();
    match (letters.next(), letters.next()) {
        (None, _) => digits.to_owned(),
        (Some(c), None) => {
            let letter = latex_letter(c).map_or_else(|| c.to_string(), str::to_owned);
            if digits.is_empty() { letter } else { format!("{letter}_{{{digits}}}") }
        }
        _ => format!("\\mathrm{{{}}}", text.replace('_', "\\_")),
    }
}

fn name_latex(name: &Name) -> String {
    let base = word(&name.base);
    let mut text = match name.dots {
        0 => base,
        n => format!("\\{}ot{{{base}}}", "d".repeat(n.min(4))),
    };
    if !name.subscripts.is_empty() {
        let parts: Vec<String> = name.subscripts.iter().map(|part| word(part)).collect();
        text += &format!("_{{{}}}", parts.join(","));
    }
    if let Some(side) = name.side {
        text += &format!("^{{{side}}}");
    }
    text
}
