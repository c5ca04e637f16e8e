//! What is looked at never changes the motion.

use std::path::{Path, PathBuf};
use std::process::Command;

use carom::lab::catalogue::EXAMPLES;
use carom::{Model, Simulation};
use serde_json::Value;

/// A run in a folder of its own.
fn run(folder: &Path, name: &str, options: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    let output = command.current_dir(folder).args(["run", name, "--json"]).args(options).output().expect("it starts");
    assert!(output.status.success(), "{name} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// All that a run says of the motion. JSON has 17 digits of each number, which are all of its bits.
const MOTION: [&str; 11] = [
    "step",
    "steps",
    "status",
    "impacts",
    "rest",
    "sections",
    "final",
    "energy",
    "error_estimate",
    "account",
    "constraints",
];

/// The same run, the step that was found included, with any of the options that look at it.
#[test]
fn options_that_look_at_a_run_do_not_change_it() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("looking");
    std::fs::create_dir_all(&folder).expect("a folder for scratch files");
    for example in EXAMPLES {
        let name = example.name;
        let until = Model::load(name).expect("it ships").run.until.expect("it has an end");
        // Samples that are no nodes.
        let every = format!("{:?}", until / 77.7);
        let plain = run(&folder, name, &[]);
        let options: [&[&str]; 3] = [
            &["--every", &every, "--plot", "a.svg"],
            &["--nodes", "--diagnostics=energy,discrete-energy,gap"],
            &[
                "--every",
                &every,
                "--out",
                "a.csv",
                "--impacts",
                "b.csv",
                "--diagnostics=energy,gap",
                "--report",
                "a.html",
            ],
        ];
        for options in options {
            let looked = run(&folder, name, options);
            for key in MOTION {
                assert!(plain.get(key) == looked.get(key), "`{key}` of {name} with {options:?}");
            }
        }
    }
}

/// The same in the library, where the checkpoints can be left out too.
#[test]
fn settings_that_look_at_a_run_do_not_change_it() {
    let motion = |simulation: Simulation, name: &str| {
        let run = simulation.run().unwrap_or_else(|error| panic!("{name}: {error}"));
        let outcome = run.outcome();
        format!("{:?} {:?} {:?} {:?}", outcome.step, outcome.steps, outcome.state, outcome.energy)
    };
    for name in ["double-pendulum", "cart-pendulum", "bouncing-ball", "four-bar", "impact-oscillator"] {
        let model = Model::load(name).expect("it ships");
        let plain = motion(model.simulation(), name);
        for record in [carom::Record::Nothing, carom::Record::Impacts, carom::Record::Every(0.0137)] {
            assert_eq!(motion(model.simulation().record(record), name), plain, "{name}: {record:?}");
        }
        assert_eq!(motion(model.simulation().look_for_walls(), name), plain, "{name}");
        let [with, without] = [model.simulation().step(0.03).look_for_walls(), model.simulation().step(0.03)];
        assert_eq!(motion(with, name), motion(without, name), "{name}: checkpoints");
    }
}
