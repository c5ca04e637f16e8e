//! No text makes carom panic, overrun its stack or wait for ever: what `carom check` does, with random models.
//!
//! Inputs are tried in processes of their own, so that a crash is noticed and memory is given back. See `carom_tests::fuzz`.

use std::io::{BufRead, BufReader};
use std::panic::catch_unwind;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use carom::Model;
use carom::lab::expr::Expr;
use carom::lab::expr::parse::{Complaint, Scope, parse};
use carom::lab::simulation::study;
use carom_tests::Random;
use carom_tests::fuzz::{Input, PIECES, corpus, input, mechanism_input, random, seeds};

/// The inputs of one process.
const SHARD: u64 = 2_000;
/// No input may take longer, in seconds. It is generous: other tests run at the same time.
const LONGEST: u64 = 30;

/// What `carom check` does, but for printing; true if the model can be run.
fn check(input: &Input) -> carom::Result<bool> {
    let model = Model::from_text("model.toml", &input.text, &input.settings)?;
    let start = model.initial.as_ref().map(|_| model.start()).transpose()?;
    if model.projection.is_some() || model.run.method.as_deref().is_some_and(|method| method.contains("php")) {
        study(&model)?;
    }
    Ok(start.is_some())
}

/// Which inputs are tried.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sort {
    /// Models of all kinds.
    Models,
    /// Mechanisms alone.
    Mechanisms,
}

impl Sort {
    fn input(self, corpus: &[String], seed: u64) -> Input {
        match self {
            Sort::Models => input(corpus, &mut random(seed)),
            Sort::Mechanisms => mechanism_input(&mut random(seed)),
        }
    }
}

/// Tries the seeds that `CAROM_FUZZ_SHARD` lists, and tells each before it is tried.
#[test]
#[ignore = "a process of the tests below"]
fn shard() {
    let Ok(list) = std::env::var("CAROM_FUZZ_SHARD") else { return };
    let mut words = list.split(' ');
    let sort = if words.next() == Some("Mechanisms") { Sort::Mechanisms } else { Sort::Models };
    let mut number = || words.next().expect("a number").parse::<u64>().expect("a number");
    let (seeds, corpus) = (number()..number(), corpus());
    for seed in seeds {
        println!("seed {seed}");
        match check(&sort.input(&corpus, seed)) {
            Ok(true) => println!("can run"),
            Ok(false) => println!("has no start"),
            Err(error) => println!("refused: {}", error.to_string().lines().next().unwrap_or_default()),
        }
    }
    println!("done");
}

/// Tries inputs in processes of their own; at least this part of them can be run.
fn try_all(sort: Sort, usual: u64, share: f64) {
    let (seeds, corpus, mut can_run) = (seeds(usual, 1), corpus(), 0);
    let mut wrong: Vec<String> = Vec::new();
    let mut from = seeds.start;
    while from < seeds.end {
        let mut shard = Command::new(std::env::current_exe().expect("this test"));
        shard.args(["shard", "--exact", "--ignored", "--nocapture"]).stdout(Stdio::piped()).stderr(Stdio::null());
        shard.env("CAROM_FUZZ_SHARD", format!("{sort:?} {from} {}", seeds.end.min(from + SHARD)));
        let mut child = shard.spawn().expect("it starts");
        let (send, told) = std::sync::mpsc::channel();
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let reader = std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(send.send(line))));
        let (mut last, mut is_done) = (from, false);
        let mut began = Instant::now();
        while let Ok(line) = told.recv_timeout(Duration::from_secs(LONGEST).saturating_sub(began.elapsed())) {
            match line.strip_prefix("seed ").map(str::parse) {
                Some(Ok(seed)) => (last, began) = (seed, Instant::now()),
                _ => can_run += usize::from(line == "can run"),
            }
            is_done |= line == "done";
        }
        let _ = child.kill();
        let status = child.wait().expect("it ends");
        reader.join().expect("it ends");
        if !is_done {
            let Input { text, settings } = sort.input(&corpus, last);
            wrong.push(format!("seed {last}, {status} after {:?}: {settings:?}\n{text}\n", began.elapsed()));
        }
        from = if is_done { seeds.end.min(from + SHARD) } else { last + 1 };
    }
    let count = (seeds.end - seeds.start) as usize;
    println!("{can_run} of {count} {sort:?} can be run");
    assert!(wrong.is_empty(), "{} of {count} inputs:\n{}", wrong.len(), wrong.join("\n"));
    assert!(can_run as f64 > share * count as f64 || count < 100, "only {can_run} of {count} can be run");
}

#[test]
fn no_model_makes_it_panic() {
    // Of the random mechanisms and control problems among them, fewer are right.
    try_all(Sort::Models, 3_000, 0.4);
}

#[test]
fn no_mechanism_makes_it_panic() {
    try_all(Sort::Mechanisms, 1_000, 0.15);
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
    for round in seeds(30_000, 1) {
        let text: String = (0..random.below(30)).map(|_| PIECES[random.below(PIECES.len())]).collect();
        match catch_unwind(|| parse(&text, &Anything)) {
            Err(_) => panic!("round {round}: this text makes it panic:\n{text}"),
            Ok(Err(e)) => assert!(e.span.end <= text.len(), "the span {:?} is outside of {text:?}", e.span),
            Ok(Ok(_)) => read += 1,
        }
    }
    assert!(read > 10, "only {read} of the texts were expressions");
}
