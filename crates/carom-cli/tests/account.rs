//! The energy account, as a user meets it.

use std::process::Command;

use serde_json::Value;

fn carom(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_account_is_printed_where_something_changes_the_energy() {
    let run: Value = serde_json::from_str(&carom(&["run", "bouncing-ball", "--until", "8.5", "--json"])).expect("JSON");
    let number = |key: &str| run["account"][key].as_f64().unwrap_or_else(|| panic!("no {key} in {}", run["account"]));
    let change = run["energy"]["final"].as_f64().expect("a number") - 9.81;
    assert!((number("impacts") - change).abs() < 1e-12, "{}", run["account"]);
    assert_eq!((number("work"), number("drives")), (0.0, 0.0));
    assert!(number("unexplained").abs() < 1e-12);
    let summary = carom(&["run", "impact-oscillator"]);
    assert!(summary.contains("\n  forces +0.5"), "{summary}");
    assert!(summary.contains("unexplained"), "{summary}");
}

#[test]
fn a_conservative_run_has_no_account() {
    let run: Value = serde_json::from_str(&carom(&["run", "pendulum", "--json"])).expect("JSON");
    assert_eq!(run["account"], Value::Null);
    assert!(!carom(&["run", "pendulum"]).contains("unexplained"));
}
