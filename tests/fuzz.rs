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
const PIECES: [&str; 44] = [
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
    EXAMPLES.iter().map(|example| example.text.to_string()).chain(cases).collect()
}

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
        let outcome = catch_unwind(|| {
            let model = Model::from_text("model.toml", &text, &[])?;
            model.start().map(|start| start.q.len())
        });
        assert!(outcome.is_ok(), "round {round}: this text makes it panic:\n{text}");
    }
}

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
