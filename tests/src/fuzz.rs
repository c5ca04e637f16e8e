//! Random input for the tests that no input makes carom panic or wait for ever.
//!
//! An input is a function of its seed. `CAROM_FUZZ=1000000` tries so many, and `CAROM_FUZZ_FROM` says which is the first.

use std::ops::Range;
use std::path::Path;

use carom::lab::catalogue::EXAMPLES;

use crate::Random;
use crate::bodies::mechanism;
use crate::grammar::model;
use crate::robots::urdf;
use crate::scenes::mjcf;
use crate::words::{mutated, settings};

/// A model with settings of the command line.
pub struct Input {
    /// The text of the model.
    pub text: String,
    /// Settings for `--set`.
    pub settings: Vec<String>,
}

/// The seeds to try: usually `usual` of them, and one for `share` inputs that `CAROM_FUZZ` asks for.
pub fn seeds(usual: u64, share: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("CAROM_FUZZ_FROM").unwrap_or(1);
    first..first + number("CAROM_FUZZ").map_or(usual, |count| count.div_ceil(share))
}

/// What inputs are made of: the shipped models, the models of `tests/errors`, and one with all that repeats.
pub fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("errors");
    let cases = std::fs::read_dir(folder).expect("the cases are there");
    let cases = cases.map(|entry| std::fs::read_to_string(entry.expect("listed").path()).expect("readable"));
    let mut cases: Vec<String> = cases.collect();
    cases.sort();
    EXAMPLES.iter().map(|example| example.text.to_string()).chain([REPETITION.to_string()]).chain(cases).collect()
}

/// A random number generator for a seed.
pub fn random(seed: u64) -> Random {
    // Small seeds make similar first numbers.
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (0..8).for_each(|_| {
        random.bits();
    });
    random
}

/// A model of the grammar, a mechanism, a shipped model with other words, or any text of the corpus cut and pasted.
pub fn input(corpus: &[String], random: &mut Random) -> Input {
    let shipped = EXAMPLES.len() + 1;
    let text = match random.below(11) {
        0 => broken(&corpus[random.below(corpus.len())], random),
        1 | 2 => mutated(&corpus[random.below(shipped)], random),
        3 => {
            let text = model(random);
            mutated(&text, random)
        }
        4 | 5 => mechanism(random),
        6 => {
            let text = mechanism(random);
            broken(&text, random)
        }
        _ => model(random),
    };
    Input { text, settings: if random.below(3) == 0 { settings(random) } else { Vec::new() } }
}

/// The shipped models that are mechanisms.
fn mechanisms() -> Vec<&'static str> {
    EXAMPLES.iter().map(|example| example.text).filter(|text| text.contains("[[body]]")).collect()
}

/// A mechanism of the grammar or a shipped one, most often with other words or cut and pasted.
pub fn mechanism_input(random: &mut Random) -> Input {
    let text = match random.below(10) {
        0..3 => mechanism(random),
        3 | 4 => {
            let shipped = mechanisms();
            mutated(shipped[random.below(shipped.len())], random)
        }
        5..8 => {
            let text = mechanism(random);
            mutated(&text, random)
        }
        _ => {
            let text = mechanism(random);
            broken(&text, random)
        }
    };
    Input { text, settings: if random.below(3) == 0 { crate::bodies::settings(random) } else { Vec::new() } }
}

/// A robot as URDF or MJCF, most often with other words or cut and pasted.
pub fn robot_input(random: &mut Random) -> String {
    let text = if random.below(2) == 0 { urdf(random) } else { mjcf(random) };
    match random.below(4) {
        0 => text,
        1 => broken(&text, random),
        _ => mutated(&text, random),
    }
}

/// Pieces of the grammar, and of what is not in it.
pub const PIECES: [&str; 70] = [
    "x",
    "y'",
    "x''",
    "theta1",
    "θ1",
    "m",
    "t",
    "pi",
    "e",
    "sin",
    "sin(",
    "atan2(",
    "log(",
    "sqrt(",
    "abs(",
    "min(",
    "hypot(x, ",
    "sum(i, 1, 3, ",
    "sum(i, 1, n, ",
    "sum(j, 1, 9999, ",
    "if(x > 0, ",
    "sign(",
    "floor(",
    "deg",
    "x[1]",
    "x[i]'",
    "x[1..3]",
    "x[i in 1..n]",
    "i in 1..3",
    "i in 1..n, j in i+1..n",
    "for = \"i in 1..2\"\n",
    "in",
    "..",
    "<=",
    ">",
    "**",
    "np.cos(",
    "[initial.q]\n",
    "{x = 1}",
    "{}",
    "i",
    ")",
    "(",
    "+",
    "-",
    "*",
    "/",
    "^",
    ",",
    " ",
    "0",
    "1",
    "2.5",
    ".5",
    "1e308",
    "1e-308",
    "1e999",
    "9007199254740993",
    "'",
    "\"",
    "[",
    "]",
    "=",
    "\n",
    "{",
    "}",
    "#",
    "\u{0}",
    "é",
    "🎱",
];

/// A model with all that repeats.
const REPETITION: &str = r#"
coordinates = ["x[1..n]", "y[1..n]"]
[parameters]
n = 3
"m[i in 1..n]" = "1 + i/10"
[definitions]
"s[0]" = 0
"s[i in 1..n]" = "s[i-1] + x[i]"
[lagrangian]
T = "sum(i, 1, n, m[i]*(x[i]'^2 + y[i]'^2)/2)"
V = "sum(i, 1, n, sum(j, i, n, max(x[i], 0)*y[j])) + hypot(s[n], 1)"
[points]
"ball[i in 1..n]" = ["x[i]", "y[i]"]
post = [9, 9]
[[wall]]
for = "i in 1..n-1"
phi = "x[i+1] - x[i] - 0.1"
[[contact]]
for = "i in 1..n-1, j in i+1..n"
points = "ball[i]"
circle = {center = "ball[j]", radius = 0.1}
side = "outside"
[[contact]]
points = "ball[1..n]"
line = [[0, -9], "post"]
[[draw]]
link = ["ball[1..n]", "post"]
[[push]]
for = "i in 1..n"
at = "ball[i]"
force = ["-x[i]'", 0]
[initial.q]
"x[i in 1..n]" = "i"
[initial.v]
"y[1]" = "10*deg"
[outputs]
"up[i in 1..n]" = "if(y[i] >= 0, floor(y[i]), sign(x[i]))"
"#;

/// Cuts, repeats, moves or replaces a piece of the text.
pub fn broken(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(chars.len() + 1);
        let length = random.below(12).min(chars.len() - at);
        let piece: Vec<char> = match random.below(4) {
            0 => Vec::new(),
            1 => PIECES[random.below(PIECES.len())].chars().collect(),
            2 => chars[at..at + length].iter().copied().cycle().take(length * 2).collect(),
            _ => {
                let from = random.below(chars.len() + 1);
                chars[from..(from + random.below(40)).min(chars.len())].to_vec()
            }
        };
        chars.splice(at..at + length, piece);
    }
    chars.into_iter().collect()
}
