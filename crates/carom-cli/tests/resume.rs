//! A run that is cut at a node and resumed from its JSON equals the uncut run.

use std::process::{Command, Output};

use serde_json::Value;

fn carom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).output().expect("it starts")
}

fn run(arguments: &[&str]) -> Value {
    let output = carom(&[&["run"], arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The largest difference of the final states, relative to 1 + |z|.
fn difference(a: &Value, b: &Value) -> f64 {
    let numbers = |run: &Value| -> Vec<f64> {
        ["q", "v", "p"]
            .iter()
            .flat_map(|key| run["final"][key].as_array().expect("a list").iter())
            .map(|x| x.as_f64().expect("a number"))
            .collect()
    };
    let pairs = numbers(a).into_iter().zip(numbers(b));
    pairs.map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max)
}

/// Runs a model whole, and in two parts for each cut.
fn check(model: &str, options: &[&str], until: f64, cuts: &[f64]) {
    let name: String = model.chars().filter(|c| c.is_alphanumeric()).collect();
    let folder = std::env::temp_dir().join(format!("carom-resume-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let end = until.to_string();
    let with = |more: &[&str]| run(&[&[model], options, more].concat());
    let whole = with(&["--until", &end]);
    for (k, cut) in cuts.iter().enumerate() {
        let file = folder.join(format!("{k}-{}.json", options.join("").replace(['=', '"', '.', '/'], "")));
        let first = with(&["--until", &cut.to_string()]);
        std::fs::write(&file, first.to_string()).expect("it can be written");
        let resumed = with(&["--until", &end, "--restart", file.to_str().expect("UTF-8")]);
        let off = difference(&resumed, &whole);
        assert!(off < 1e-12, "{model} {options:?}, cut at {cut}: {off:e}");
        let impacts = |run: &Value| run["impacts"].as_array().expect("a list").len();
        assert_eq!(impacts(&first) + impacts(&resumed), impacts(&whole), "{model} {options:?}, cut at {cut}");
        let kept =
            |run: &Value| (run["final"]["state"]["holding"].clone(), run["final"]["state"]["memory"]["kind"].clone());
        assert_eq!(kept(&resumed), kept(&whole), "{model} {options:?}, cut at {cut}");
    }
    std::fs::remove_dir_all(&folder).expect("it was made");
}

/// Every flow, every rule and every preset: the names that `carom methods` lists.
#[test]
fn every_method_resumes_at_a_node() {
    let listed = String::from_utf8(carom(&["methods"]).stdout).expect("UTF-8");
    let names = listed.lines().filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 30 && names.contains(&"mhc") && names.contains(&"php"), "{names:?}");
    for name in names {
        // The projected principle needs one wall that meets its hypotheses, and `bodies` needs bodies.
        let models: &[(&str, &str)] = match name {
            // A body turns by θ in a step of `bodies` where sin θ = ωh: for the top 120 h.
            "bodies" => &[("robot-arm", "0.01"), ("top", "0.002"), ("hanging-chain", "0.01")],
            _ if name.starts_with("php") => &[("wavy-floor", "0.01")],
            _ => &[("pendulum", "0.01")],
        };
        for (model, step) in models {
            check(model, &["--method", name, "--step", step], 2.0, &[0.54, 1.37]);
        }
    }
}

/// Walls that hold, bounces that accumulate, constraints, starts from two configurations.
#[test]
fn what_a_state_remembers_is_resumed() {
    check("bouncing-ball", &["--step", "0.05"], 10.0, &[2.0, 8.55, 8.6, 9.0]);
    check("braked-pendulum", &["--step", "0.02"], 4.0, &[1.0, 3.0]);
    check("rimless-wheel", &["--step", "0.01"], 3.0, &[0.5, 1.5, 2.5]);
    check("four-bar", &["--step", "0.01"], 2.0, &[0.7]);
    check("line-xy", &["--step", "0.01"], 0.3, &[0.01, 0.1]);
    let text = String::from_utf8(carom(&["examples", "circle-xy"]).stdout).expect("UTF-8");
    let two_point = std::env::temp_dir().join(format!("carom-two-point-{}.toml", std::process::id()));
    std::fs::write(&two_point, text.replace("one-point\"", "two-point\"")).expect("it can be written");
    check(two_point.to_str().expect("UTF-8"), &["--step", "0.01"], 0.2, &[0.01, 0.1]);
    std::fs::remove_file(&two_point).expect("it was made");
    check("constrained-bar", &["--method", "php", "--step", "0.002"], 1.0, &[0.5]);
}

/// A file of other mechanics, or with a state inside a wall, is refused.
#[test]
fn a_state_of_another_model_is_refused() {
    let folder = std::env::temp_dir().join(format!("carom-refused-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_carom"));
        command.arg("run").args(arguments).output().expect("it starts")
    };
    let file = folder.join("ball.json");
    let path = file.to_str().expect("UTF-8");
    let first = run(&["bouncing-ball", "--step", "0.1", "--until", "1", "--json"]);
    std::fs::write(&file, &first.stdout).expect("there is room");
    assert!(run(&["bouncing-ball", "--step", "0.1", "--until", "2", "--restart", path]).status.success());
    let other = run(&["bouncing-ball", "--step", "0.1", "--until", "2", "--restart", path, "--set", "g=5"]);
    assert!(String::from_utf8_lossy(&other.stderr).contains("parameters"), "{other:?}");
    let wrong = run(&["pendulum", "--step", "0.1", "--until", "2", "--restart", path]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("coordinates"), "{wrong:?}");
    // So does one with another number of coordinates.
    let more = run(&["double-pendulum", "--step", "0.1", "--until", "2", "--restart", path]);
    assert_eq!(more.status.code(), Some(2), "{more:?}");
    assert!(String::from_utf8_lossy(&more.stderr).contains("its coordinates are [\"y\"]"), "{more:?}");
    let state = |z: &str, holding: &str| {
        let memory = r#"{"kind": "none"}"#;
        let state = format!(r#"{{"z": {z}, "holding": {holding}, "fastest": 0.0, "memory": {memory}}}"#);
        format!(r#"{{"final": {{"t": 1, "q": [1], "p": [0], "state": {state}}}}}"#)
    };
    for text in [state("[1, 0, 0, 0]", "[]"), state("[1]", "[]"), state("[1, 0]", "[7]"), state("[1, 0]", "[0, 0]")] {
        std::fs::write(&file, &text).expect("there is room");
        let odd = run(&["bouncing-ball", "--step", "0.1", "--until", "2", "--restart", path]);
        assert_eq!(odd.status.code(), Some(2), "{text}: {odd:?}");
        assert!(String::from_utf8_lossy(&odd.stderr).contains("not one of this model"), "{text}: {odd:?}");
    }
    std::fs::write(&file, state("[1, 0]", "[]")).expect("there is room");
    assert!(run(&["bouncing-ball", "--step", "0.1", "--until", "2", "--restart", path]).status.success());
    std::fs::write(&file, r#"{"final": {"t": 1, "q": [-0.5], "p": [0]}}"#).expect("there is room");
    let inside = run(&["bouncing-ball", "--step", "0.1", "--until", "2", "--restart", path]);
    assert_eq!(inside.status.code(), Some(2), "{inside:?}");
    assert!(String::from_utf8_lossy(&inside.stderr).contains("inside the wall"), "{inside:?}");
    // So is a state that someone wrote over that of a run.
    let mut written: serde_json::Value = serde_json::from_slice(&first.stdout).expect("it is JSON");
    (written["final"]["q"], written["final"]["state"]) = (serde_json::json!([-0.5]), serde_json::Value::Null);
    std::fs::write(&file, written.to_string()).expect("there is room");
    let inside = run(&["bouncing-ball", "--step", "0.1", "--until", "2", "--restart", path]);
    assert_eq!(inside.status.code(), Some(2), "{inside:?}");
    assert!(String::from_utf8_lossy(&inside.stderr).contains("inside the wall"), "{inside:?}");
    // Coordinates that someone changed beside the whole state would have no effect.
    std::fs::write(&file, state("[2, 0]", "[]")).expect("there is room");
    let changed = run(&["bouncing-ball", "--step", "0.1", "--until", "2", "--restart", path]);
    assert_eq!(changed.status.code(), Some(2), "{changed:?}");
    assert!(String::from_utf8_lossy(&changed.stderr).contains("not at its `final.q`"), "{changed:?}");
    // What carom wrote is trusted only with its own parameters: others may move a wall over it.
    let model = folder.join("shelf.toml");
    let text = "coordinates = [\"x\"]\n[parameters]\nh = 0\n[lagrangian]\nT = \"x'^2/2\"\nV = \"x\"\n[[wall]]\nphi = \"x - h\"\n\
                [initial]\nq = [1]\nv = [0]\n[run]\nuntil = 1\n";
    std::fs::write(&model, text).expect("there is room");
    let model = model.to_str().expect("UTF-8");
    std::fs::write(&file, run(&[model, "--json"]).stdout).expect("there is room");
    let raised = run(&[model, "--until", "2", "--restart", path, "--set", "h=0.9"]);
    assert_eq!(raised.status.code(), Some(2), "{raised:?}");
    assert!(String::from_utf8_lossy(&raised.stderr).contains("inside the wall"), "{raised:?}");
    std::fs::remove_dir_all(folder).expect("it is ours");
}

/// The estimate of a resumed run leaves out the error of its start, and says so.
#[test]
fn a_resumed_estimate_says_since_when() {
    let file = std::env::temp_dir().join(format!("carom-since-{}.json", std::process::id()));
    let first = run(&["pendulum", "--until", "1"]);
    assert!(first["error_estimate"].is_f64() && first["error_estimate_since"].is_null());
    std::fs::write(&file, first.to_string()).expect("it can be written");
    let restart = ["--until", "2", "--restart", file.to_str().expect("UTF-8")];
    let second = run(&[&["pendulum"], &restart[..]].concat());
    assert_eq!(second["error_estimate_since"].as_f64(), Some(1.0));
    let text = String::from_utf8(carom(&[&["run", "pendulum"], &restart[..]].concat()).stdout).expect("UTF-8");
    assert!(text.contains("without that of the restart at t = 1"), "{text}");
    std::fs::remove_file(&file).expect("it was made");
}
