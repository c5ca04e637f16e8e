//! `carom sensitivity`, `carom lyapunov` and `carom orbit`: what they print and their exit codes.

use std::process::{Command, Output};

use serde_json::Value;

fn carom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn object(arguments: &[&str]) -> Value {
    let output = carom(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one JSON object")
}

const PAGE: &str = include_str!("../../../docs/derivatives.md");

/// The first command of the page prints what the page shows.
#[test]
fn the_page_shows_what_the_command_prints() {
    let command = "carom sensitivity two-balls --of final.q[1],impacts --by x1,x2,v --method cva --step 0.01";
    assert!(PAGE.contains(command));
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let shown = PAGE.split("```text\n").nth(1).expect("a block").split("```").next().expect("it ends");
    let printed = stdout(&carom(&words));
    assert!(printed.starts_with(shown), "{printed}");
}

#[test]
fn sensitivity_has_the_documented_fields() {
    let found = object(&[
        "sensitivity",
        "double-pendulum",
        "--of",
        "final.q[0],impacts[0].t",
        "--by",
        "m1,initial.q[0]",
        "--method",
        "cva",
        "--step",
        "0.032",
        "--until",
        "5",
        "--json",
    ]);
    for key in ["model", "version", "model_hash", "seconds"] {
        assert!(!found[key].is_null(), "{key}");
    }
    assert_eq!(
        (&found["method"], &found["status"], &found["mode"]),
        (&"cva".into(), &"completed".into(), &"forward".into())
    );
    assert!(found["fixed"].is_null());
    assert_eq!(found["of"], serde_json::json!(["final.q[0]", "impacts[0].t"]));
    assert_eq!(found["by"], serde_json::json!(["m1", "initial.q[0]"]));
    assert_eq!(found["derivatives"].as_array().map(Vec::len), Some(2));
    assert_eq!(found["impacts"].as_array().map(Vec::len), Some(3));
    for key in ["t", "wall", "phi_dot_minus", "phi_ddot_minus", "margin", "grazing"] {
        assert!(found["impacts"][0].get(key).is_some(), "{key}");
    }
    let adjoint = object(&[
        "sensitivity",
        "double-pendulum",
        "--of",
        "final.q[0],impacts[0].t",
        "--by",
        "m1,initial.q[0]",
        "--method",
        "cva",
        "--step",
        "0.032",
        "--until",
        "5",
        "--json",
        "--mode",
        "adjoint",
    ]);
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let entry = |value: &Value| value["derivatives"][a][b].as_f64().expect("a number");
        assert!((entry(&found) - entry(&adjoint)).abs() < 1e-11, "{a} {b}");
    }
}

/// A motion that just does not reach a ceiling has its nearest miss between nodes; one that touches it has no derivatives.
#[test]
fn misses_are_located_and_touches_are_said() {
    let text = "coordinates = [\"y\"]\nparameters = {c = 1.0, v0 = 4.0}\nlagrangian = {T = \"y'^2/2\", V = \"10*y\"}\n\
                wall = [{name = \"ceiling\", phi = \"c - y\"}]\ninitial = {q = [0], v = [\"v0\"]}\nrun = {until = 1.0}\n";
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("ceiling.toml");
    std::fs::write(&path, text).expect("it is written");
    let path = path.to_str().expect("UTF-8");
    for method in [["--method", "cva", "--step", "0.032"], ["--method", "gauss6", "--step", "0.3"]] {
        let found = object(&[&["sensitivity", path, "--by", "v0", "--json"][..], &method].concat());
        let miss = &found["nearest_miss"];
        assert_eq!(miss["wall"], "ceiling");
        assert!((miss["phi"].as_f64().expect("a number") - 0.2).abs() < 1e-12, "{miss}");
        assert!((miss["t"].as_f64().expect("a number") - 0.4).abs() < 1e-6, "{miss}");
        assert!(found["impacts"].as_array().expect("a list").is_empty());
        let touch = object(&[&["sensitivity", path, "--by", "v0", "--json", "--set", "c=0.8"][..], &method].concat());
        assert!(touch["derivatives"][0][0].is_null(), "{touch}");
        assert!(!touch["warnings"].as_array().expect("a list").is_empty());
        assert_eq!(touch["status"], "completed");
    }
}

#[test]
fn lyapunov_and_orbit_have_the_documented_fields() {
    let found = object(&["lyapunov", "sinai-billiard", "--until", "50", "--json"]);
    assert_eq!(found["exponents"].as_array().map(Vec::len), Some(4));
    assert_eq!(found["errors"].as_array().map(Vec::len), Some(4));
    for key in ["model", "method", "status", "until", "every", "impacts", "sum", "version", "model_hash", "seconds"] {
        assert!(!found[key].is_null(), "{key}");
    }
    let found = object(&[
        "orbit",
        "impact-oscillator",
        "--set",
        "A=0.8",
        "--period",
        "2*pi/omega",
        "--discard",
        "100",
        "--method",
        "gauss3+ctec",
        "--step",
        "0.05",
        "--json",
        "--continue",
        "A=0.8:0.82",
    ]);
    assert_eq!(found["status"], "converged");
    assert_eq!(found["impacts"].as_array().map(Vec::len), Some(1));
    assert!(found["multipliers"][0]["abs"].is_number() && found["stable"].is_boolean());
    let branch = found["branch"].as_array().expect("a list");
    assert!(branch.len() > 2 && branch.iter().all(|point| point["mark"].is_null()));
    assert_eq!(branch[branch.len() - 1]["value"].as_f64(), Some(0.82));
}

#[test]
fn mistakes_are_refused_with_help() {
    for (arguments, text) in [
        (&["sensitivity", "pendulum", "--by", "gg"][..], "the model has no parameter `gg`"),
        (&["sensitivity", "pendulum", "--of", "final.q[4]", "--by", "g"], "cannot differentiate `final.q[4]`"),
        (&["sensitivity", "pendulum", "--by", "g", "--method", "mhc"], "the impact rule `mhc`"),
        (&["sensitivity", "pendulum", "--by", "g", "--method", "rk4", "--step", "0.01"], "the flow `rk4`"),
        (&["sensitivity", "bar", "--by", "g", "--method", "php"], "`php`"),
        (&["orbit", "impact-oscillator", "--period", "2*pi/omga"], "unknown name `omga`"),
        (&["orbit", "impact-oscillator", "--period", "9", "--continue", "A"], "no range of a parameter"),
        (&["lyapunov", "sinai-billiard", "--count", "9"], "there are 4 exponents"),
        (&["lyapunov", "sinai-billiard", "--discard", "90"], "not shorter than the run"),
    ] {
        let output = carom(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}
