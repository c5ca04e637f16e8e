//! Formulas in HTML, set by the style in `formula.css`: no math font, no script.
//!
//! Browsers set MathML well only with a math font; without one, accents and letters are missing and brackets stay
//! small. Here a dot is a full stop that is raised, a tall bracket is a border, and letters are those of the text.

use super::layout::{Call, Layout};
use super::name::Name;
use super::number::Number;
use super::text;

/// The style that these formulas need.
pub const STYLE: &str = include_str!("formula.css");

/// Terms up to this breadth are not broken.
const UNBROKEN: f64 = 36.0;
/// Numerators up to this breadth stay on one line of a page.
const LONG: f64 = 60.0;
const SPACE: &str = "\u{a0}";

/// The formula as an element that can be read aloud.
pub fn formula(layout: &Layout) -> String {
    format!(
        "<span class=\"m\" role=\"math\" aria-label=\"{}\">{}</span>",
        escape(&text::render(layout)),
        render(layout)
    )
}

/// The formula as the content of an element. Where it is long, a line may end before a sign.
pub fn render(layout: &Layout) -> String {
    match layout {
        Layout::Number(number) => number_html(number),
        Layout::Name(name) => name_html(name, None),
        Layout::Sign(sign) => sign_html(sign),
        Layout::Words(words) => escape(words),
        Layout::Sum(terms) => sum(terms),
        Layout::Product(factors) => factors.iter().map(render).collect::<Vec<_>>().join(SPACE),
        Layout::Fraction(above, below) => {
            let is_long = above.breadth() > LONG && below.breadth() <= LONG && !below.is_tall();
            fraction(if is_long { "frac long" } else { "frac" }, &render(above), &render(below))
        }
        Layout::Power(base, exponent) => power(base, exponent),
        Layout::Root(x) => format!("<span class=\"root\">{RADICAL}<span>{}</span></span>", render(x)),
        Layout::Abs(x) => format!("<span class=\"abs\">{}</span>", render(x)),
        Layout::Call(call) => call_html(call),
        Layout::Parentheses(x) => parentheses(&render(x), x.is_tall()),
        Layout::Matrix(rows) => matrix(rows),
        Layout::Row(pieces) => pieces.iter().map(render).collect(),
    }
}

/// Text for HTML, in an element or in an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// The sign of a root, as high as what stands under it.
const RADICAL: &str = "<svg viewBox=\"0 0 10 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
                       <path d=\"M0 12 3 10 6 19 10 0\" vector-effect=\"non-scaling-stroke\"/></svg>";

fn sign_html(sign: &str) -> String {
    match sign {
        "ᵀ" => "<sup>T</sup>".into(),
        "⁻¹" => "<sup>−1</sup>".into(),
        "²" => "<sup>2</sup>".into(),
        "⁺" => "<sup>+</sup>".into(),
        "⁻" => "<sup>−</sup>".into(),
        // Few fonts have ∇, all have Δ.
        "∇" => "<span class=\"nabla\">Δ</span>".into(),
        " " => SPACE.into(),
        other => escape(other).replace(' ', SPACE),
    }
}

fn sum(terms: &[(bool, Layout)]) -> String {
    let mut text = String::new();
    for (i, (negative, term)) in terms.iter().enumerate() {
        let sign = match (i, negative) {
            (0, false) => "",
            (0, true) => "−",
            (_, false) => "+\u{a0}",
            (_, true) => "−\u{a0}",
        };
        text += if i > 0 { " " } else { "" };
        let term_html = render(term);
        text += &if term.breadth() <= UNBROKEN && terms.len() > 1 {
            format!("<span class=\"term\">{sign}{term_html}</span>")
        } else {
            format!("{sign}{term_html}")
        };
    }
    text
}

fn fraction(class: &str, above: &str, below: &str) -> String {
    format!("<span class=\"{class}\"><span>{above}</span><span>{below}</span></span>")
}

fn parentheses(inside: &str, is_tall: bool) -> String {
    if is_tall { format!("<span class=\"paren\">{inside}</span>") } else { format!("({inside})") }
}

fn power(base: &Layout, exponent: &Layout) -> String {
    let above = render(exponent);
    match base {
        Layout::Name(name) => name_html(name, Some(&above)),
        tall if tall.is_tall() => format!("<span class=\"tall\">{}<sup>{above}</sup></span>", render(base)),
        _ => format!("{}<sup>{above}</sup>", render(base)),
    }
}

fn call_html(call: &Call) -> String {
    let power = call.power.map(|n| format!("<sup>{n}</sup>")).unwrap_or_default();
    let arguments = call.arguments.iter().map(render).collect::<Vec<_>>().join(", ");
    let is_tall = call.arguments.iter().any(Layout::is_tall);
    let arguments = if call.bare { format!("{SPACE}{arguments}") } else { parentheses(&arguments, is_tall) };
    format!("{}{power}{arguments}", call.function)
}

fn matrix(rows: &[Vec<Layout>]) -> String {
    let cell = |x: &Layout| format!("<span>{}</span>", render(x));
    let row = |row: &Vec<Layout>| format!("<span>{}</span>", row.iter().map(cell).collect::<String>());
    format!("<span class=\"matrix\">{}</span>", rows.iter().map(row).collect::<String>())
}

fn number_html(number: &Number) -> String {
    match number {
        Number::Ratio(p, 1) => p.to_string(),
        Number::Ratio(p, q) => fraction("frac", &p.to_string(), &q.to_string()),
        Number::Decimal(digits, 0) => digits.clone(),
        Number::Decimal(digits, n) => {
            let power = format!("10<sup>{}</sup>", n.to_string().replace('-', "−"));
            if digits == "1" { power } else { format!("{digits}·{power}") }
        }
    }
}

/// One letter in italics, a word upright, digits after a letter as its subscript.
fn word(text: &str) -> String {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let stem = &text[..text.len() - digits.len()];
    match (stem.chars().count(), digits.is_empty()) {
        (0, _) => digits.to_owned(),
        (1, false) => format!("{}<sub>{}</sub>", letter(stem), escape(digits)),
        (1, true) => letter(stem),
        _ => escape(text),
    }
}

/// Few fonts have script letters; a bold one is as different from the plain letter.
fn letter(text: &str) -> String {
    let script = [("ℒ", "L"), ("ℋ", "H"), ("ℳ", "M"), ("𝒯", "T"), ("𝒱", "V")];
    match script.iter().find(|(letter, _)| *letter == text) {
        Some((_, plain)) => format!("<b>{plain}</b>"),
        None => format!("<i>{}</i>", escape(text)),
    }
}

/// True for a letter that reaches above the small ones.
fn is_high(letter: &str) -> bool {
    !letter.chars().all(|c| "acegmnopqrsuvwxyzαγεηικμνοπρστυχωφ".contains(c))
}

/// A symbol, with an exponent above its subscript where it has both.
fn name_html(name: &Name, exponent: Option<&str>) -> String {
    let mut base = word(&name.base);
    if name.dots > 0 {
        let high = if is_high(&name.base) { " high" } else { "" };
        base = format!("<span class=\"dot{}{high}\"><span>{base}</span></span>", name.dots.min(4));
    }
    let below = name.subscripts.iter().map(|part| word(part)).collect::<Vec<_>>().join(",");
    let side = name.side.map(|side| if side == '-' { "−" } else { "+" });
    match (below.is_empty(), exponent.or(side)) {
        (true, None) => base,
        (false, None) => format!("{base}<sub>{below}</sub>"),
        (true, Some(above)) => format!("{base}<sup>{above}</sup>"),
        (false, Some(above)) => {
            format!("{base}<span class=\"both\"><span>{above}</span><span>{below}</span></span>")
        }
    }
}
