//! No text makes carom panic. The corpus is the shipped models and the models of `errors/`; each is broken at random
//! many times, always the same way. `CAROM_FUZZ=100000` breaks it more often.

use std::panic::catch_unwind;
use std::path::Path;

use carom::lab::catalogue::EXAMPLES;
use carom::lab::expr::Expr;
use carom::lab::expr::parse::{Complaint, Scope, parse};
use carom::lab::model::Model;
use carom_tests::Random;

/// Pieces of the grammar, and of what is not in it.
const PIECES: [&str; 70] = [
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

fn rounds() -> usize {
    std::env::var("CAROM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000)
}

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("errors");
    let cases = std::fs::read_dir(folder).expect("the cases are there");
    let cases = cases.map(|entry| std::fs::read_to_string(entry.expect("listed").path()).expect("readable"));
    EXAMPLES.iter().map(|example| example.text.to_string()).chain(cases).chain([REPETITION.to_string()]).collect()
}

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
fn broken(text: &str, random: &mut Random) -> String {
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

#[test]
fn no_model_makes_it_panic() {
    let corpus = corpus();
    let mut random = Random::new(1);
    for round in 0..rounds() {
        let text = broken(&corpus[random.below(corpus.len())], &mut random);
        let settings: Vec<String> =
            (0..random.below(2)).map(|_| broken(SETTINGS[random.below(6)], &mut random)).collect();
        let outcome = catch_unwind(|| {
            let model = Model::from_text("model.toml", &text, &settings)?;
            model.start().map(|start| start.q.len())
        });
        assert!(outcome.is_ok(), "round {round}: this text makes it panic with {settings:?}:\n{text}");
    }
}

const SETTINGS: [&str; 6] =
    ["n=2", "m[2]=1", "initial.q[0]=1", "initial.q.x[1]=1", "initial.v.theta=2*deg", "run.step=0.1"];

struct Anything;

impl Scope for Anything {
    fn resolve(&self, name: &str, _primes: usize) -> Result<Expr, Complaint> {
        Ok(Expr::symbol(name))
    }
}

#[test]
fn no_expression_makes_it_panic() {
    let mut random = Random::new(2);
    let mut read = 0;
    for round in 0..10 * rounds() {
        let text: String = (0..random.below(30)).map(|_| PIECES[random.below(PIECES.len())]).collect();
        match catch_unwind(|| parse(&text, &Anything)) {
            Err(_) => panic!("round {round}: this text makes it panic:\n{text}"),
            Ok(Err(e)) => assert!(e.span.end <= text.len(), "the span {:?} is outside of {text:?}", e.span),
            Ok(Ok(_)) => read += 1,
        }
    }
    assert!(read > 10, "only {read} of the texts were expressions");
}
