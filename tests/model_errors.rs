//! Every mistake in a model has its text. Each file in `errors/` is a model, a line `----`, and what carom says of it.
//!
//! `CAROM_BLESS=1 cargo test -p carom-tests --test model_errors` writes the second part anew: read the difference.

use std::fs;
use std::path::{Path, PathBuf};

use carom::lab::error::{Error, Result};
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::simulation::Simulation;

const RULE: &str = "\n----\n";

/// All mistakes: the model is read, its start evaluated and, if it names a method, made ready to run; lines `#set NAME=VALUE` at the top are settings of the command line.
fn complaint(text: &str) -> String {
    let settings: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("#set ")).map(str::to_string).collect();
    match Model::from_text("model.toml", text, &settings).and_then(|model| prepare(&model)) {
        Ok(_) => "no complaint".into(),
        Err(Error::Model(mut first)) => {
            let others = std::mem::take(&mut first.others);
            let all: Vec<String> = [*first].into_iter().chain(others).map(|mistake| mistake.to_string()).collect();
            all.join("\n\n")
        }
        Err(error) => error.to_string(),
    }
}

fn prepare(model: &Model) -> Result<()> {
    model.start()?;
    let Some(method) = &model.run.method else { return Ok(()) };
    let method = Method::named(method, model.run.alpha)?;
    Simulation::new(model, &method, model.run.step.unwrap_or(0.01), model.run.until.unwrap_or(1.0)).map(|_| ())
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("errors");
    let entries = fs::read_dir(folder).expect("the folder of cases is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    paths
}

#[test]
fn each_mistake_has_its_text() {
    let bless = std::env::var_os("CAROM_BLESS").is_some();
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 40, "only {} cases were found", cases.len());
    for path in cases {
        let case = fs::read_to_string(&path).expect("a case can be read");
        let (text, expected) = case.split_once(RULE).unwrap_or((&case, ""));
        let found = complaint(text);
        if found != expected.trim_end() {
            wrong.push(format!("{}\nexpected:\n{expected}\nfound:\n{found}", path.display()));
            if bless {
                fs::write(&path, format!("{text}{RULE}{found}\n")).expect("a case can be written");
            }
        }
    }
    assert!(bless || wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn nesting_is_limited_at_any_depth() {
    for depth in [1_001, 100_000] {
        for (open, close) in [("(", ")"), ("sin(", ")"), ("-", ""), ("2^", ""), ("-(", ")")] {
            let nested = format!("{}y{}", open.repeat(depth), close.repeat(depth));
            let found = complaint(&format!("coordinates = [\"y\"]\n[lagrangian]\nL = \"{nested}\"\n"));
            let first = found.lines().next().unwrap_or_default();
            assert_eq!(first, "error: an expression nested more than 1000 deep", "{depth} times {open}");
        }
    }
}

#[test]
fn nesting_up_to_the_limit_and_long_chains_are_read() {
    let model = |expression: &str| {
        let text = format!(
            "coordinates = [\"y\"]\n[lagrangian]\nT = \"y'^2/2\"\nV = \"{expression}\"\n[initial]\nq = [0.5]\nv = [0]\n"
        );
        Model::from_text("model.toml", &text, &[]).and_then(|model| model.start())
    };
    let nested = format!("{}y{}", "(".repeat(998), ")".repeat(998));
    model(&nested).expect("998 parentheses are allowed");
    model(&format!("y{}", " + sin(y)/2".repeat(50_000))).expect("a long sum is not nested");
    model(&format!("y{}", "/(1 + y)".repeat(20_000))).expect("a long quotient is not nested");
    let definitions: String = (1..20_000).map(|i| format!("d{i} = \"cos(d{})\"\n", i - 1)).collect();
    let text = format!(
        "coordinates = [\"y\"]\n[definitions]\nd0 = \"y\"\n{definitions}[lagrangian]\nT = \"y'^2/2\"\nV = \"d19999\"\n\
         [initial]\nq = [0.5]\nv = [0]\n"
    );
    Model::from_text("model.toml", &text, &[]).and_then(|model| model.start()).expect("definitions may nest");
}
