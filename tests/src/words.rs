//! Random words: numbers, expressions, settings, and models with other words.

use crate::Random;

/// Methods of every kind.
pub const METHODS: [&str; 24] = [
    "se1",
    "se2",
    "sva",
    "svb",
    "svc",
    "midpoint",
    "suzuki4",
    "kahan-li8",
    "midpoint-suzuki4",
    "midpoint-kahan-li8",
    "gauss1",
    "gauss3",
    "gauss8",
    "galerkin4",
    "galerkin6",
    "rk4",
    "cva",
    "vci",
    "mcvaa",
    "mcvac",
    "svc+mhc",
    "gauss2+mhc",
    "svc+shadow",
    "midpoint+dtec",
    "php",
    "gauss2+php1",
];
const NUMBERS: [&str; 12] = ["0", "1", "2", "3", "0.5", "-1", "-0.3", "0.1", "10", "1.7", "pi", "60*deg"];
const EXTREMES: [&str; 10] =
    ["1e-9", "1e9", "-1e-9", "1e-160", "1e160", "1e300", "1e-300", "5e-324", "1.7976931348623157e308", "1e15"];

/// One of several.
pub fn one_of<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[random.below(all.len())]
}

/// A number as a model writes it; now and then a very large or a very small one.
pub fn number(random: &mut Random) -> &'static str {
    if random.below(50) == 0 { one_of(random, &EXTREMES) } else { one_of(random, &NUMBERS) }
}

/// An expression of these names. Most are defined everywhere and grow slowly.
pub fn expression(random: &mut Random, names: &[String], depth: usize) -> String {
    if depth == 0 || random.below(6) == 0 {
        let name = random.below(names.len() + 2);
        return names.get(name).cloned().unwrap_or_else(|| number(random).into());
    }
    let a = expression(random, names, depth - 1);
    let mut b = || expression(random, names, depth - 1);
    let b = [b(), b()];
    match random.below(24) {
        0..3 => format!("({a} + {})", b[0]),
        3..5 => format!("({a} - {})", b[0]),
        5..8 => format!("{a}*({})", b[0]),
        8 => format!("({a})/(1 + ({})^2)", b[0]),
        9 => format!("({a})^2"),
        10 | 11 => format!("sin({a})"),
        12 | 13 => format!("cos({a})"),
        14 => format!("tanh({a})"),
        15 => format!("exp(-({a})^2)"),
        16 => format!("sqrt(1 + ({a})^2)"),
        17 => format!("log(1 + ({a})^2)"),
        18 => format!("atan2({a}, 1 + ({})^2)", b[0]),
        19 => format!("max({a}, {}, {})", b[0], b[1]),
        20 => format!("hypot({a}, {}, 0.1)", b[0]),
        21 => format!("abs({a})"),
        // What may be undefined.
        22 => format!("{}({a})", one_of(random, &["log", "sqrt", "asin", "acos", "tan", "exp", "cosh"])),
        _ => format!("({a}){}({})", one_of(random, &["/", "^"]), b[0]),
    }
}

/// Replaces words of a model by others of their kind: numbers, names of the model, functions, operators; or drops or repeats a
/// line.
pub fn mutated(text: &str, random: &mut Random) -> String {
    let mut words = words(text);
    let names: Vec<String> = words.iter().filter(|word| is_name(word)).cloned().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(words.len());
        let word = words[at].clone();
        words[at] = match word.chars().next() {
            Some(c) if c.is_ascii_digit() => number(random).into(),
            Some(_) if is_name(&word) && !names.is_empty() => names[random.below(names.len())].clone(),
            Some('+' | '-' | '*' | '/' | '^') => one_of(random, &["+", "-", "*", "/", "^"]).into(),
            Some('\n') if random.below(2) == 0 => "\n\n".into(),
            _ => word,
        };
    }
    let mut lines: Vec<&str> = Vec::new();
    let whole = words.concat();
    let changed = random.below(200);
    for (number, line) in whole.split('\n').enumerate() {
        match number == changed {
            true if changed.is_multiple_of(2) => {}
            true => lines.extend([line, line]),
            false => lines.push(line),
        }
    }
    lines.join("\n")
}

fn is_name(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_alphabetic)
}

/// Names and numbers in one piece, everything else in single characters.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    for c in text.chars() {
        match words.last_mut() {
            Some(last) if is_part(c) && last.chars().all(is_part) => last.push(c),
            _ => words.push(c.into()),
        }
    }
    words
}

/// Settings for `--set`: of what models have, and of what they may not have.
pub fn settings(random: &mut Random) -> Vec<String> {
    const NAMES: [&str; 25] = [
        "m",
        "m",
        "m",
        "k",
        "k",
        "g",
        "n",
        "R",
        "m[2]",
        "initial.q[0]",
        "initial.q[0]",
        "initial.q[7]",
        "initial.v[0]",
        "initial.p[1]",
        "initial.q.x",
        "initial.v.theta",
        "run.step",
        "run.until",
        "run.tolerance",
        "run.method",
        "wall[0].phi",
        "run.mhc.window",
        "run.zeno",
        "lagrangian.V",
        "points.tip",
    ];
    let setting = |random: &mut Random| {
        let (name, value) = (one_of(random, &NAMES), number(random));
        match name {
            "run.method" => format!("{name}=\"{}\"", one_of(random, &METHODS)),
            "run.zeno" => format!("{name}=\"stop\""),
            "run.step" => format!("{name}=0.0{}", 1 + random.below(9)),
            "run.until" => format!("{name}=0.{}", 1 + random.below(9)),
            "wall[0].phi" | "lagrangian.V" => format!("{name}=\"{}\"", expression(random, &["x".into()], 2)),
            _ => format!("{name}={value}"),
        }
    };
    (0..random.below(3)).map(|_| setting(random)).collect()
}
