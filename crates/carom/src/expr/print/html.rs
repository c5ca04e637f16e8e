//! Formulas in presentation MathML, the part of it that browsers share (MathML Core).

use super::layout::{Call, Layout};
use super::name::Name;
use super::number::Number;

const OPEN: &str = "<mo form=\"prefix\">(</mo>";
const CLOSE: &str = "<mo form=\"postfix\">)</mo>";

/// The formula as the content of a `<math>` element.
pub fn render(layout: &Layout) -> String {
    match layout {
        Layout::Number(number) => number_mathml(number),
        Layout::Name(name) => name_mathml(name, None),
        Layout::Sign(sign) => sign_mathml(sign),
        Layout::Words(words) => format!("<mtext>{}</mtext>", escape(words)),
        Layout::Sum(terms) => sum(terms),
        Layout::Product(factors) => {
            let thin = "<mo>&#x2062;</mo><mspace width=\"0.15em\"/>";
            row(&factors.iter().map(render).collect::<Vec<_>>().join(thin))
        }
        Layout::Fraction(above, below) => format!("<mfrac>{}{}</mfrac>", render(above), render(below)),
        Layout::Power(base, exponent) => match &**base {
            Layout::Name(name) => name_mathml(name, Some(&render(exponent))),
            base => format!("<msup>{}{}</msup>", render(base), render(exponent)),
        },
        Layout::Root(x) => format!("<msqrt>{}</msqrt>", render(x)),
        Layout::Abs(x) => row(&format!("<mo fence=\"true\">|</mo>{}<mo fence=\"true\">|</mo>", render(x))),
        Layout::Call(call) => call_mathml(call),
        Layout::Parentheses(x) => row(&format!("{OPEN}{}{CLOSE}", render(x))),
        Layout::Matrix(rows) => matrix(rows),
        Layout::Row(pieces) => attached(pieces),
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

fn row(content: &str) -> String {
    format!("<mrow>{content}</mrow>")
}

/// The superscript that a sign such as ᵀ stands for.
fn superscript(sign: &str) -> Option<&'static str> {
    match sign {
        "ᵀ" => Some("<mi mathvariant=\"normal\">T</mi>"),
        "⁻¹" => Some("<mrow><mo>−</mo><mn>1</mn></mrow>"),
        "²" => Some("<mn>2</mn>"),
        "⁺" => Some("<mo>+</mo>"),
        "⁻" => Some("<mo>−</mo>"),
        _ => None,
    }
}

/// Pieces side by side; a superscript sign goes onto the piece before it.
fn attached(pieces: &[Layout]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for piece in pieces {
        match piece {
            Layout::Sign(sign) if superscript(sign).is_some() => {
                let base = parts.pop().unwrap_or_else(|| "<mrow></mrow>".into());
                parts.push(format!("<msup>{base}{}</msup>", superscript(sign).unwrap_or_default()));
            }
            other => parts.push(render(other)),
        }
    }
    row(&parts.concat())
}

fn sign_mathml(sign: &str) -> String {
    match sign {
        "d" | "∂" | "∇" => format!("<mi mathvariant=\"normal\">{sign}</mi>"),
        " " => "<mspace width=\"0.2em\"/>".into(),
        other => format!("<mo stretchy=\"false\">{}</mo>", escape(other)),
    }
}

fn sum(terms: &[(bool, Layout)]) -> String {
    let mut text = String::new();
    for (i, (negative, term)) in terms.iter().enumerate() {
        text += match (i, negative) {
            (0, false) => "",
            (0, true) => "<mo form=\"prefix\">−</mo>",
            (_, false) => "<mo>+</mo>",
            (_, true) => "<mo>−</mo>",
        };
        text += &render(term);
    }
    row(&text)
}

fn call_mathml(call: &Call) -> String {
    let mut function = format!("<mi>{}</mi>", call.function);
    if let Some(n) = call.power {
        function = format!("<msup>{function}<mn>{n}</mn></msup>");
    }
    let arguments = call.arguments.iter().map(render).collect::<Vec<_>>().join("<mo>,</mo>");
    let arguments =
        if call.bare { format!("<mspace width=\"0.15em\"/>{arguments}") } else { format!("{OPEN}{arguments}{CLOSE}") };
    row(&format!("{function}<mo>&#x2061;</mo>{arguments}"))
}

fn matrix(rows: &[Vec<Layout>]) -> String {
    let cell = |x: &Layout| format!("<mtd>{}</mtd>", render(x));
    let rows: String =
        rows.iter().map(|row| format!("<mtr>{}</mtr>", row.iter().map(cell).collect::<String>())).collect();
    row(&format!("<mo>[</mo><mtable>{rows}</mtable><mo>]</mo>"))
}

fn number_mathml(number: &Number) -> String {
    match number {
        Number::Ratio(p, 1) => format!("<mn>{p}</mn>"),
        Number::Ratio(p, q) => format!("<mfrac><mn>{p}</mn><mn>{q}</mn></mfrac>"),
        Number::Decimal(digits, 0) => format!("<mn>{digits}</mn>"),
        Number::Decimal(digits, n) => {
            let sign = if *n < 0 { "<mo>−</mo>" } else { "" };
            let power = format!("<msup><mn>10</mn><mrow>{sign}<mn>{}</mn></mrow></msup>", n.abs());
            if digits == "1" { power } else { row(&format!("<mn>{digits}</mn><mo>·</mo>{power}")) }
        }
    }
}

fn word(text: &str) -> String {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let stem = &text[..text.len() - digits.len()];
    match (stem.chars().count(), digits.is_empty()) {
        (0, _) => format!("<mn>{digits}</mn>"),
        (1, false) => format!("<msub><mi>{}</mi><mn>{}</mn></msub>", escape(stem), escape(digits)),
        _ => format!("<mi>{}</mi>", escape(text)),
    }
}

/// A symbol, with an exponent above its subscript where it has both.
fn name_mathml(name: &Name, exponent: Option<&str>) -> String {
    let mut base = word(&name.base);
    if name.dots > 0 {
        let dots = ["˙", "¨", "⃛", "⃜"][name.dots.min(4) - 1];
        base = format!("<mover accent=\"true\">{base}<mo>{dots}</mo></mover>");
    }
    let below = name.subscripts.iter().map(|part| word(part)).collect::<Vec<_>>().join("<mo>,</mo>");
    let below = if name.subscripts.len() > 1 { row(&below) } else { below };
    let side = name.side.map(|side| if side == '-' { "<mo>−</mo>" } else { "<mo>+</mo>" });
    let above = exponent.or(side);
    match (below.is_empty(), above) {
        (true, None) => base,
        (false, None) => format!("<msub>{base}{below}</msub>"),
        (true, Some(above)) => format!("<msup>{base}{above}</msup>"),
        (false, Some(above)) => format!("<msubsup>{base}{below}{above}</msubsup>"),
    }
}
