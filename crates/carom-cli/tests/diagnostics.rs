//! Diagnostics, nodes and warnings of a run; and terminal escape sequences in model text.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn carom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    let output = carom(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn refused(arguments: &[&str], message: &str) {
    let output = carom(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stderr).trim_end(), message, "{arguments:?}");
}

/// A file of its own for a test.
fn scratch(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).expect("a scratch file");
    path
}

/// A pendulum that swings into a wall.
const PENDULUM: &str = "coordinates = [\"a\"]\n[lagrangian]\nT = \"a'^2/2\"\nV = \"-9*cos(a)\"\n[initial]\nq = [1]\n\
                        v = [0]\n[run]\nuntil = 10\n[[wall]]\nphi = \"a\"\n";

const ENERGIES: [&str; 7] = ["energy", "discrete_energy", "modified", "series", "cheap", "shadow", "shadow_window"];

#[test]
fn each_node_of_the_json_has_its_diagnostics() {
    let paper = ["run", "double-pendulum", "--method", "cva", "--step", "0.058"];
    let run = json(&[&paper[..], &["--until", "2.5", "--json", "--nodes", "--diagnostics"]].concat());
    let nodes = run["nodes"].as_array().expect("nodes");
    let keys = ["cheap", "discrete_energy", "energy", "gap_left wall", "modified", "series", "shadow", "shadow_window"];
    let mut largest = 0.0_f64;
    for node in nodes {
        let values = node["diagnostics"].as_object().expect("diagnostics");
        assert_eq!(values.keys().map(String::as_str).collect::<Vec<_>>(), [&keys[..], &["symplectic"]].concat());
        assert!(values.values().all(Value::is_number), "{node}");
        let start = nodes[0]["diagnostics"]["energy"].as_f64().expect("a number");
        largest = largest.max((values["energy"].as_f64().expect("a number") - start).abs());
        // The wall is at x2 = −0.25.
        let q = |i: usize| node["q"][i].as_f64().expect("a number");
        let gap = q(0).sin() + (q(0) + q(1)).sin() + 0.25;
        assert!((values["gap_left wall"].as_f64().expect("a number") - gap).abs() < 1e-12, "{node}");
    }
    // 2.5 is not on the mesh: the summary is that of the nodes before it, the energy of the run that of all.
    let followed = &run["diagnostics"]["followed"];
    let drift = followed["energy"]["max_drift"].as_f64().expect("a number");
    assert!(drift > 0.1 && drift <= largest, "{drift} {largest}");
    let initial = |key: &str| followed[key]["initial"].as_f64().expect("a number");
    for key in ENERGIES {
        assert!((initial(key) - initial("energy")).abs() < 0.05, "{key}: {}", initial(key));
    }
    assert!(followed["symplectic"]["highest"].as_f64().is_some_and(|error| error < 1e-10), "{followed}");
    assert!(run["diagnostics"]["left_out"]["momentum"].is_string(), "{}", run["diagnostics"]);
}

#[test]
fn a_file_has_a_column_for_each_diagnostic() {
    let path = scratch("diagnostics.csv", "");
    let out = path.to_str().expect("a plain path");
    let only = "--diagnostics=energy,symplectic,gap";
    let output = carom(&["run", "pendulum", "--step", "0.1", "--until", "1", "--out", out, only]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let csv = fs::read_to_string(&path).expect("it was written");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "t,q_theta,v_theta,p_theta,energy,symplectic,gap_wall");
    assert_eq!(lines.len(), 12);
    for line in &lines[1..] {
        let row: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        assert_eq!((row.len(), row[6]), (7, row[1]), "{line}");
        assert!((row[4] - 4.9).abs() < 1e-9 && row[5].abs() < 1e-11, "{line}");
    }
}

#[test]
fn the_terminal_gets_a_table_and_a_note() {
    let output = carom(&["run", "double-pendulum", "--method", "rk4", "--step", "0.058", "--diagnostics"]);
    let table = text(&output.stdout);
    let line = |start: &str| table.lines().find(|line| line.starts_with(start)).map(str::to_string);
    let row = |start: &str| -> Vec<f64> {
        let line = line(start).unwrap_or_default();
        line[start.len()..].split_whitespace().map(|cell| cell.parse().expect("a number")).collect()
    };
    let [energy, form] = [row("H "), row("symplecticity error ")];
    assert_eq!((energy.len(), form.len()), (5, 5), "{table}");
    assert!((energy[0] - 17.3426).abs() < 1e-4 && energy[3] > 0.1 && form[3] > 1e-3, "{table}");
    assert!(table.contains("φ of left wall"), "{table}");
    for note in [
        "left out: discrete-energy, cheap, shadow, shadow-window (`rk4` has no discrete Lagrangian)",
        "left out: momentum (L, a wall or a force depends on each coordinate)",
    ] {
        assert_eq!(table.matches(note).count(), 1, "{table}");
    }
    assert!(!table.contains('–') && line("−D₃L_d").is_none(), "{table}");
}

/// A step that the tolerance finds is that of the diagnostics too.
#[test]
fn diagnostics_go_with_a_step_from_the_tolerance() {
    let arguments = ["run", "cart-pendulum", "--json", "--nodes", "--method", "svc", "--set", "run.tolerance=1e-4"];
    let run = json(&[&arguments[..], &["--until", "2", "--diagnostics=discrete-energy,energy"]].concat());
    assert!(run["error_estimate"].is_number(), "{}", run["error_estimate"]);
    let step = run["step"].to_string();
    let again = json(&[&arguments[..], &["--until", "2", "--diagnostics=discrete-energy", "--step", &step]].concat());
    let value = |run: &Value| run["nodes"][0]["diagnostics"]["discrete_energy"].clone();
    assert_eq!(value(&run), value(&again));
    assert_eq!(run["nodes"].as_array().map(Vec::len), again["nodes"].as_array().map(Vec::len));
}

#[test]
fn wrong_diagnostics_are_refused() {
    refused(
        &["run", "pendulum", "--diagnostics=enrgy"],
        "error: unknown diagnostic `enrgy`\nhelp: did you mean `energy`?",
    );
}

/// Samples have the diagnostics of a state; those of a step have values where a sample is a node. The summary is that of the nodes.
#[test]
fn samples_have_diagnostics() {
    let options = ["run", "pendulum", "--method", "svc", "--step", "0.1", "--until", "1", "--json", "--diagnostics"];
    let [sampled, nodes] = [&["--every", "0.05"][..], &["--nodes"]].map(|how| json(&[&options[..], how].concat()));
    assert_eq!(sampled["diagnostics"], nodes["diagnostics"]);
    let samples = sampled["nodes"].as_array().expect("samples");
    assert_eq!(samples.len(), 21);
    for (k, sample) in samples.iter().enumerate() {
        let values = sample["diagnostics"].as_object().expect("diagnostics");
        for (key, value) in values {
            let of_state = ["energy", "gap_wall"].contains(&key.as_str());
            assert_eq!(value.is_number(), of_state || k % 2 == 0, "{key} at sample {k}: {value}");
        }
        assert_eq!(values["gap_wall"], sample["q"][0], "sample {k}");
        if k % 2 == 0 {
            assert_eq!(
                values["discrete_energy"],
                nodes["nodes"][k / 2]["diagnostics"]["discrete_energy"],
                "sample {k}"
            );
        }
    }
    let table =
        text(&carom(&["run", "pendulum", "--step", "0.5", "--until", "1", "--every", "0.3", "--diagnostics"]).stdout);
    assert!(table.contains('–'), "{table}");
}

/// `--nodes` and `--every` without a file or JSON print what was asked for.
#[test]
fn nodes_are_printed_as_a_table() {
    for (flag, rows) in [(&["--nodes"][..], 5), (&["--every", "0.25"], 9)] {
        let arguments = [&["run", "pendulum", "--step", "0.5", "--until", "2"][..], flag].concat();
        let table = text(&carom(&arguments).stdout);
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        let head = lines.iter().position(|line| *line == ["t", "q_theta", "v_theta", "p_theta"]).expect("a heading");
        let numbers = lines[head + 1..].iter().take_while(|line| line.len() == 4);
        assert_eq!(numbers.clone().count(), rows, "{table}");
        assert!(numbers.flat_map(|line| line.iter()).all(|cell| cell.parse::<f64>().is_ok()), "{table}");
        assert!(table.contains("impact at t"), "{table}");
    }
    let plain = text(&carom(&["run", "pendulum", "--step", "0.5", "--until", "2"]).stdout);
    assert!(!plain.contains("q_theta"), "{plain}");
}

#[test]
fn a_step_that_is_much_too_large_is_told() {
    for (rest, warns) in [("", true), ("restitution = 0.8\n", false), ("[forces]\na = \"-a'/9\"\n", false)] {
        let path = scratch("large-step.toml", &format!("{PENDULUM}{rest}"));
        let output = carom(&["run", path.to_str().expect("a plain path"), "--method", "svc", "--step", "0.6"]);
        let warning = text(&output.stderr);
        assert!(output.status.success(), "{warning}");
        // Losses and forces change the energy with any step.
        assert_eq!(warning.is_empty(), !warns, "{warning}");
        if warns {
            assert!(warning.starts_with("warning: the energy should be conserved, but drifts by up to "), "{warning}");
            assert!(warning.contains("\nhelp: try the step 0.06, or"), "{warning}");
        }
    }
}

/// Steps that pass over a hill are told of; without a step carom finds one that does not.
#[test]
fn a_wall_that_the_steps_do_not_see_is_a_warning() {
    let hill = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\n[[wall]]\nname = \"hill\"\n\
                phi = \"0.05 + y - 0.1*exp(-5*(x - 6.1)^2)\"\n[initial]\nq = [0, 0]\nv = [1, 0]\n[run]\nuntil = 40\n";
    let path = scratch("hill.toml", hill).display().to_string();
    let output = carom(&["run", &path, "--step", "5"]);
    let warning = text(&output.stderr);
    assert!(warning.starts_with("warning: the motion is beyond the wall `hill` at t = 5.7"), "{warning}");
    assert!(warning.contains("help: try the step 0.5"), "{warning}");
    let output = carom(&["run", &path]);
    assert_eq!(text(&output.stderr), "");
    assert!(text(&output.stdout).contains("5.727670259     0.359858  hill"), "{}", text(&output.stdout));
}

#[test]
fn shipped_models_run_to_their_end_without_a_warning() {
    let list = text(&carom(&["examples"]).stdout);
    let mut completed = 0;
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let output = carom(&["run", name]);
        let said = text(&output.stderr);
        // A note is no warning: four-bar starts near its loop and is moved onto it.
        assert!(said.lines().all(|line| line.starts_with("note:")), "{name}: {said}");
        assert!(output.status.success(), "{name}");
        completed += 1;
    }
    assert!(completed >= 37, "{completed}");
}

/// x' and y' with masses of opposite signs.
const INDEFINITE: &str = "title = \"saddle\"\ncoordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 - y'^2)/2\"\n\
                          V = \"(x^2 - y^2)/2\"\n[initial]\nq = [1, 1]\nv = [0, 0]\n[run]\nuntil = 1\n";

#[test]
fn a_negative_mass_is_a_warning_and_a_wall_along_it_an_error() {
    let shown = "the mass matrix L_vv is not positive definite at the start\n";
    let place = ":4:5\n4 │ T = \"(x'^2 - y'^2)/2\"\n  │     ^^^^^^^^^^^^^^^^^ a mass is negative: is a sign wrong?\n";
    let path = scratch("saddle.toml", INDEFINITE);
    for command in ["check", "run"] {
        let output = carom(&[command, path.to_str().expect("a plain path")]);
        let warning = text(&output.stderr);
        assert!(output.status.success(), "{command}: {warning}");
        assert!(warning.starts_with(&format!("warning: {shown}")) && warning.ends_with(place), "{command}: {warning}");
    }
    for (phi, code) in [("x + 9", 0), ("y + 9", 2), ("x + y + 9", 2)] {
        let path = scratch("saddle-wall.toml", &format!("{INDEFINITE}[[wall]]\nphi = \"{phi}\"\n"));
        let output = carom(&["check", path.to_str().expect("a plain path")]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{phi}: {said}");
        assert_eq!(said.contains("error: the wall `wall 1` cannot push"), code == 2, "{phi}: {said}");
        assert!(code == 0 || said.contains(&format!("12 │ phi = \"{phi}\"")), "{phi}: {said}");
    }
}

/// Terminal escape sequences in model text are neutralised in output.
#[test]
fn no_text_of_a_model_commands_the_terminal() {
    let name = "name = \"\\u001b[2Jw\\u009b\\u202e\\r\\u0007, \\\"q\\\"\"\n";
    let content = format!("title = \"\\u001b]0;owned\\u0007 title\"\n{PENDULUM}{name}");
    let path = scratch("escape.toml", &content);
    let file = path.to_str().expect("a plain path");
    let cases: [&[&str]; 9] = [
        &["run", file, "--step", "0.1", "--diagnostics", "--nodes"],
        &["run", file, "--step", "0.1", "--set", "initial.q[0]=-1"],
        &["check", file],
        &["derive", file],
        &["derive", file, "--format", "latex"],
        &["derive", file, "--format", "html"],
        &["compare", file, "--methods", "cva", "--steps", "0.1"],
        &["run", file, "--json", "--diagnostics", "--nodes", "--step", "0.1"],
        &["check", "no\u{1b}[2Jsuch.toml"],
    ];
    for arguments in cases {
        let output = carom(arguments);
        let said = text(&output.stdout) + &text(&output.stderr);
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        let is_json = arguments.contains(&"--json");
        assert!(!said.contains(|c| obeyed(c) && !(is_json && c == '\u{202e}')), "{arguments:?}: {said:?}");
    }
    let run = json(&["run", file, "--json", "--step", "0.1"]);
    assert_eq!(run["model"], "\u{1b}]0;owned\u{7} title");
    assert_eq!(run["impacts"][0]["wall"], "\u{1b}[2Jw\u{9b}\u{202e}\r\u{7}, \"q\"");
}
