//! What is looked at never changes the motion.
//!
//! `CAROM_LOOKS=all cargo test -p carom-cli --test looking` tries all combinations of options on all shipped models.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use carom::lab::catalogue::EXAMPLES;
use carom::{Model, Simulation};
use serde_json::Value;

/// Runs a model in a folder.
fn carom(folder: &Path, name: &str, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    let output = command.current_dir(folder).args(["run", name]).args(options).output().expect("it starts");
    assert!(output.status.success(), "{name} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn run(folder: &Path, name: &str, options: &[&str]) -> Value {
    let output = carom(folder, name, &[options, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// All that a run says of the motion. JSON has 17 digits of each number, which are all of its bits.
const MOTION: [&str; 13] = [
    "step",
    "longest_step",
    "steps",
    "status",
    "impacts",
    "rest",
    "sections",
    "final",
    "energy",
    "error_estimate",
    "error_scale",
    "account",
    "constraints",
];

/// The combinations of the options that look at a run, without the empty one: each of the four ways to sample it, with or without each
/// of the others.
fn combinations(every: &str) -> Vec<Vec<&str>> {
    let samples: [&[&str]; 4] = [&[], &["--nodes"], &["--every", every], &["--nodes", "--every", every]];
    let others: [&[&str]; 5] = [
        &["--diagnostics"],
        &["--plot", "a.svg", "--show", "energy"],
        &["--report", "a.html"],
        &["--out", "a.csv"],
        &["--impacts", "b.csv"],
    ];
    let mut all = Vec::new();
    for samples in samples {
        for chosen in 0..1 << others.len() {
            let others =
                others.iter().enumerate().filter(|(k, _)| chosen >> k & 1 == 1).flat_map(|(_, option)| option.iter());
            all.push(samples.iter().chain(others).copied().collect());
        }
    }
    all.into_iter().skip(1).collect()
}

/// A run is the same, bit for bit, the step that was found included, with every combination of the options that look at it. Two models
/// try all 127 combinations; each of the others tries three of them, and together they try all. `CAROM_LOOKS=all` tries all of them on
/// all models, to their ends.
#[test]
fn options_that_look_at_a_run_do_not_change_it() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("looking");
    std::fs::create_dir_all(&folder).expect("a folder for scratch files");
    let tries_all = std::env::var("CAROM_LOOKS").is_ok_and(|what| what == "all");
    let mut next = 0;
    for example in EXAMPLES {
        let name = example.name;
        let model = Model::load(name).expect("it ships");
        let until = model.run.until.expect("it has an end");
        // Large mechanisms take minutes to their end.
        let is_short = model.system.coordinates.len() > 12 && !tries_all;
        let until = if is_short { until.min(0.3) } else { until };
        // Samples that are not nodes.
        let every = format!("{:?}", until / 77.7);
        let until = format!("{until:?}");
        let plain = run(&folder, name, &["--until", &until]);
        let all = combinations(&every);
        let is_thorough = tries_all || ["cart-pendulum", "bouncing-ball"].contains(&name);
        let chosen = if is_thorough { 0..all.len() } else { next..next + 3 };
        next += if is_thorough { 0 } else { 3 };
        for options in chosen.map(|k| &all[k % all.len()]) {
            let looked = run(&folder, name, &[&options[..], &["--until", &until]].concat());
            for key in MOTION {
                assert!(plain.get(key) == looked.get(key), "`{key}` of {name} with {options:?}");
            }
            if options.contains(&"--report") {
                is_on_the_page(&folder, &plain, name);
            }
        }
        in_words(&folder, name, &until);
    }
    assert!(next >= combinations("1").len(), "only {next} combinations were tried");
}

/// The page counts the impacts that the run has, among its facts and above its table.
fn is_on_the_page(folder: &Path, plain: &Value, name: &str) {
    let count = plain["impacts"].as_array().map_or(0, Vec::len);
    let page = std::fs::read_to_string(folder.join("a.html")).expect("it was written");
    assert!(page.contains(&format!("<th>impacts</th><td>{count}</td>")), "{name}: {count} impacts");
    let after = page.split("<h2>Impacts").nth(1).unwrap_or_default();
    let (heading, rest) = after.split_once("</h2>").unwrap_or_default();
    if count == 0 {
        assert!(rest.trim_start().starts_with("<p>There were none."), "{name}");
        return;
    }
    let told = heading.trim_start_matches(" (").split([';', ')']).next().unwrap_or_default();
    assert_eq!(told.split(" of ").last(), Some(count.to_string().as_str()), "{name}: {heading}");
}

/// Without `--json` the run is the same: so are its impacts, digit by digit.
fn in_words(folder: &Path, name: &str, until: &str) {
    let tables = [&[][..], &["--json"]].map(|options: &[&str]| {
        carom(folder, name, &[options, &["--impacts", "c.csv", "--until", until]].concat());
        std::fs::read_to_string(folder.join("c.csv")).expect("it was written")
    });
    assert!(tables[0] == tables[1], "{name}: impacts without --json");
}

/// The settings of the library that look at a run do not change it. Checkpoints, at which the command also looks for walls, can be left
/// out here.
#[test]
fn settings_that_look_at_a_run_do_not_change_it() {
    let motion = |simulation: Simulation, name: &str| {
        let run = simulation.run().unwrap_or_else(|error| panic!("{name}: {error}"));
        let outcome = run.outcome();
        format!("{:?} {:?} {:?} {:?}", outcome.step, outcome.steps, outcome.state, outcome.energy)
    };
    for (k, example) in EXAMPLES.iter().enumerate() {
        let name = example.name;
        let model = Model::load(name).expect("it ships");
        let plain = motion(model.simulation(), name);
        let every = model.run.until.expect("it has an end") / 33.3;
        let records = [carom::Record::Nothing, carom::Record::Impacts, carom::Record::Every(every)];
        let record = records[k % records.len()];
        assert_eq!(motion(model.simulation().record(record), name), plain, "{name}: {record:?}");
        assert_eq!(motion(model.simulation().look_for_walls(), name), plain, "{name}: checkpoints");
    }
    for name in ["double-pendulum", "cart-pendulum", "bouncing-ball", "four-bar", "impact-oscillator"] {
        let model = Model::load(name).expect("it ships");
        let [with, without] = [model.simulation().step(0.03).look_for_walls(), model.simulation().step(0.03)];
        assert_eq!(motion(with, name), motion(without, name), "{name}: checkpoints");
    }
}
