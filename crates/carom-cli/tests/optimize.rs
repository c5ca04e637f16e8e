//! `carom optimize`: its JSON, files and exit codes.

use std::process::{Command, Output};

use serde_json::Value;

fn carom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).arg("optimize").args(arguments).output().expect("it starts")
}

fn json(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = carom(&[arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {error}")), output.status.code())
}

#[test]
fn the_answer_is_one_object() {
    let (answer, code) = json(&["strike", "--tolerance", "1e-9"]);
    assert_eq!((code, answer["status"].as_str()), (Some(0), Some("optimal")));
    assert!((answer["cost"].as_f64().expect("a cost") - 8.5146976910906).abs() < 1e-7);
    assert_eq!(answer["nodes"].as_array().map(Vec::len), Some(61));
    assert_eq!(answer["controls"]["u1"].as_array().map(Vec::len), Some(60));
    assert_eq!(answer["impacts"][0]["wall"], "left wall");
    assert_eq!(answer["phases"][0]["impact"], "left wall");
    assert!(answer["phases"][1]["impact"].is_null());
    assert!((answer["impacts"][0]["t"].as_f64().expect("a time") - 1.0).abs() < 1e-6);
    assert!(answer["check"]["final_error"].as_f64().expect("a number") < 1e-9);
    for key in
        ["objective", "holds", "initial", "final", "multipliers", "refinement", "seconds", "model_hash", "version"]
    {
        assert!(!answer[key].is_null(), "{key}");
    }
}

#[test]
fn what_cannot_be_met_is_named_and_fails() {
    let (answer, code) = json(&["pendulum-swingup", "--set", "umax=0.5", "--set", "final.t=1"]);
    assert_eq!((code, answer["status"].as_str()), (Some(1), Some("infeasible")));
    assert!(answer["cannot_meet"][0]["condition"].as_str().is_some_and(|name| name.starts_with("final ")));
    assert!(answer["message"].as_str().is_some_and(|message| message.starts_with("cannot meet: ")));
}

#[test]
fn files_are_written_and_answers_restart() {
    let folder = std::env::temp_dir().join(format!("carom-optimize-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).display().to_string();
    let (table, page, saved) = (path("a.csv"), path("a.html"), path("a.json"));
    let output = carom(&["cart-pole", "--out", &table, "--report", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&table).expect("a table");
    assert_eq!(text.lines().count(), 62);
    assert!(text.starts_with("t,x,theta,x',theta',x_p,theta_p,u\n"), "{}", text.lines().next().unwrap_or_default());
    let drawn = std::fs::read_to_string(&page).expect("a page");
    assert!(drawn.contains("<html"));
    assert!(drawn.contains("steps up to 0.0333"), "the steps of the report are those of the controls");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("--report"), "a report is there");
    std::fs::write(&saved, carom(&["cart-pole", "--json"]).stdout).expect("it is written");
    let (again, code) = json(&["cart-pole", "--restart", &saved, "--set", "phase[0].steps=120", "--tolerance", "1e-9"]);
    assert_eq!(code, Some(0));
    assert!((again["cost"].as_f64().expect("a cost") - 59.044_562_354_590_38).abs() < 1e-6);
    std::fs::remove_dir_all(&folder).expect("it is removed");
}

/// The report shows what was planned: walls and constraints hold in their phases, and nothing else happens.
#[test]
fn a_report_follows_the_phases() {
    let folder = std::env::temp_dir().join(format!("carom-phases-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (model, page) = (folder.join("rails.toml"), folder.join("a.html").display().to_string());
    let drawn = |model: &str| {
        let output = carom(&[model, "--report", &page]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{error}");
        assert!(!error.contains("warning"), "{error}");
        std::fs::read_to_string(&page).expect("a page")
    };
    let hop = drawn("hop");
    assert!(hop.contains("<h2>Impacts (1)</h2>"), "one landing was planned");
    assert!(hop.contains("<td>0.821674209</td><td class=\"word\">floor</td>"), "at the end of the flight");
    // Along one rail, and after a plastic impact along another to a stop.
    let text = r#"
        coordinates = ["x", "y"]
        lagrangian = {T = "(x'^2 + y'^2)/2"}
        constraint = [{name = "low", g = "y"}, {name = "right", g = "x - 1"}]
        wall = [{name = "stop", phi = "1 - y"}]
        controls = {u = {}, w = {}}
        forces = {x = "u", y = "w"}
        initial = {q = [0, 0], v = [0, 0]}
        final = {q = [1, 1]}
        objective = {running = "u^2 + w^2"}
        phase = [
            {steps = 10, duration = 1, hold = ["low"], catch = ["right"]},
            {steps = 10, duration = 1, hold = ["right"], impact = "stop", lambda = {min = 0.1}},
        ]
    "#;
    std::fs::write(&model, text).expect("a model");
    let rails = drawn(&model.display().to_string());
    assert!(rails.contains("<h2>Impacts (1)</h2>"), "the stop is on the second rail; what is caught is no impact");
    std::fs::remove_dir_all(&folder).expect("it is removed");
}

#[test]
fn mistakes_have_their_code() {
    for arguments in [&["double-pendulum"][..], &["strike", "--method", "rk4"], &["strike", "--tolerance", "-1"]] {
        let output = carom(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
