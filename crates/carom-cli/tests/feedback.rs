//! `carom optimize --feedback` and `carom run --follow`: the file, what a run with it shows, and files that are refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn carom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).output().expect("it starts")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The path and the content of the gains of `strike`.
fn gains(folder: &Path) -> (String, Value) {
    let path = folder.join("gains.json").to_str().expect("UTF-8").to_string();
    let output = carom(&["optimize", "strike", "--feedback", &path]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("gains.json"));
    let text = std::fs::read_to_string(&path).expect("it is written");
    (path, serde_json::from_str(&text).expect("it is JSON"))
}

fn follow(path: &str, more: &[&str]) -> Value {
    let output = carom(&[&["run", "strike", "--follow", path, "--json", "--nodes"], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

#[test]
fn a_disturbed_start_is_brought_back() {
    let folder = folder("brought-back");
    let (path, file) = gains(&folder);
    let count = |key: &str| file[key].as_array().map(Vec::len);
    assert_eq!(["t", "z", "u", "K"].map(count), [Some(60); 4]);
    assert_eq!(file["K"][0].as_array().map(Vec::len), Some(2));
    assert_eq!(file["K"][0][0].as_array().map(Vec::len), Some(4));
    assert_eq!(file["phases"][0]["impact"], "left wall");

    let end = |run: &Value| run["final"]["q"][0].as_f64().expect("a number").abs();
    let planned = follow(&path, &[]);
    assert!(end(&planned) < 1e-8, "{}", end(&planned));
    let controls = |node: usize| planned["nodes"][node]["outputs"]["u1"].as_f64().expect("a number");
    // Node k + 1 ends step k.
    let u = |step: usize| file["u"][step][0].as_f64().expect("a number");
    assert!((controls(5) - u(4)).abs() < 1e-7, "{} and {}", controls(5), u(4));
    assert!((controls(0) - u(0)).abs() < 1e-12);

    let disturbed = follow(&path, &["--set", "initial.q[0]=0.05"]);
    assert!(end(&disturbed) < 5e-3, "{}", end(&disturbed));
    assert_eq!(disturbed["follow"]["impacts"], 1);
    assert_eq!(disturbed["follow"]["clipped_steps"], serde_json::json!([0, 0]));

    let table = folder.join("run.csv");
    let report = folder.join("run.html");
    let files = ["--out", table.to_str().expect("UTF-8"), "--report", report.to_str().expect("UTF-8"), "--small"];
    follow(&path, &files);
    let header = std::fs::read_to_string(&table).expect("it is written");
    assert!(header.lines().next().is_some_and(|line| line.contains(",u1,u2")), "{header:.200}");
    assert!(std::fs::metadata(&report).is_ok_and(|file| file.len() > 10_000));
}

#[test]
fn bounds_cut_the_feedback_and_it_is_said() {
    let (path, _) = gains(&folder("bounds"));
    let bounds = ["--set", "controls.u1.max=0.1"];
    let output = carom(&[&["run", "strike", "--follow", &path, "--json", "--nodes"], &bounds[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    let run: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let clipped = run["follow"]["clipped_steps"][0].as_u64().expect("a number");
    assert!(clipped > 0);
    let controls = run["nodes"].as_array().expect("a list").iter().map(|node| node["outputs"]["u1"].as_f64());
    assert!(controls.flatten().all(|u| u <= 0.1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the bounds of `u1` cut the feedback"), "{said}");
}

#[test]
fn files_of_something_else_are_refused() {
    let folder = folder("refused");
    let (path, file) = gains(&folder);
    let text = std::fs::read_to_string(&path).expect("it is there");
    let bad = folder.join("bad.json");
    let refusal = |model: &str, content: &str| {
        std::fs::write(&bad, content).expect("it is written");
        let output = carom(&["run", model, "--follow", bad.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: cannot follow"), "{said}");
        said
    };
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut file = file.clone();
        change(&mut file);
        refusal("strike", &file.to_string())
    };
    assert!(refusal("cart-pole", &text).contains("its coordinates are"));
    assert!(refusal("strike", &text[..text.len() / 2]).contains("it is not JSON"));
    assert!(refusal("strike", "[]").contains("it has no `coordinates`"));
    assert!(changed(&|file| file["mechanics_hash"] = "0".into()).contains("of other mechanics"));
    assert!(changed(&|file| file["K"][7][1][2] = Value::Null).contains("its `K[7]` is not a matrix of 2 × 4 numbers"));
    assert!(
        changed(&|file| file["z"][3] = serde_json::json!([1, 2])).contains("its `z[3]` is not a list of 4 numbers")
    );
    assert!(
        changed(&|file| {
            file["u"].as_array_mut().expect("a list").pop();
        })
        .contains("its `u` has 59 entries")
    );
    assert!(changed(&|file| file["phases"][0]["steps"] = 80.into()).contains("too short"));
    assert!(changed(&|file| file["phases"][0]["steps"] = 20.into()).contains("not at equal distances"));
    assert!(changed(&|file| file["phases"][0]["impact"] = "moon".into()).contains("no wall \"moon\""));
    assert!(changed(&|file| file["t"][4] = 0.7.into()).contains("not at equal distances"));
    assert!(changed(&|file| file["t_end"] = (-1).into()).contains("t_end"));
    let with_step = carom(&["run", "strike", "--follow", &path, "--step", "0.1"]);
    assert_eq!(with_step.status.code(), Some(2));
    let hop = carom(&["optimize", "hop", "--feedback", bad.to_str().expect("UTF-8")]);
    assert_eq!(hop.status.code(), Some(2));
    let said = String::from_utf8_lossy(&hop.stderr).into_owned();
    assert!(said.contains("there is no feedback for the phase `stance`"), "{said}");
}

#[test]
fn weights_of_the_model_are_used_and_checked() {
    let folder = folder("weights");
    let path = folder.join("gains.json").to_str().expect("UTF-8").to_string();
    let of = |setting: &str| carom(&["optimize", "strike", "--feedback", &path, "--set", setting]);
    assert!(of("feedback.control=[2, 3]").status.success());
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("it is written")).expect("it is JSON");
    assert_eq!(file["weights"]["control"], serde_json::json!([2.0, 3.0]));
    for (setting, message) in [
        ("feedback.control=[2]", "`control` has 1 weights, not 2"),
        ("feedback.control=[2, 0]", "weights of controls are positive"),
        ("feedback.state=[1, 1, 1, -1]", "weights are not negative"),
    ] {
        let output = of(setting);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(message), "{setting}: {said}");
    }
}
