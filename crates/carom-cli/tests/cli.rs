//! The command as a user meets it: what it prints and its exit code.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

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

/// A path of its own for a test.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&folder).expect("a folder for scratch files");
    folder.join(name)
}

fn refused(arguments: &[&str], text: &str) {
    let output = carom(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{arguments:?}");
    assert_eq!(stderr(&output).trim_end(), text, "{arguments:?}");
}

#[test]
fn every_example_is_listed_printed_checked_and_derived() {
    let list = stdout(&carom(&["examples"]));
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.len(), carom::EXAMPLES.len());
    for name in names {
        let text = stdout(&carom(&["examples", name]));
        assert!(text.contains("[lagrangian]") || text.contains("[mechanism]"), "{name}");
        assert!(stdout(&carom(&["check", name])).contains("no mistakes found"), "{name}");
        for (format, mark) in [("text", "Lagrangian"), ("latex", "\\documentclass"), ("html", "role=\"math\"")] {
            let output = carom(&["derive", name, "--format", format]);
            assert!(stdout(&output).contains(mark), "{name} as {format}: {}", stderr(&output));
        }
    }
}

/// A fragment has the equations of the document and nothing around them; for other formats it is a mistake.
#[test]
fn derive_writes_a_fragment_for_a_paper() {
    let fragment = stdout(&carom(&["derive", "pendulum", "--format", "latex", "--fragment"]));
    assert!(fragment.contains("\\begin{align*}") && !fragment.contains("\\documentclass"), "{fragment}");
    let output = carom(&["derive", "pendulum", "--fragment"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--format latex --fragment"), "{}", stderr(&output));
}

/// What the projected principle asks for is said of a model with [projection]; with `php` what fails is an error too.
#[test]
fn check_says_which_hypotheses_hold() {
    let output = carom(&["check", "constrained-bar"]);
    assert!(stdout(&output).contains("k_c = 66.5856"), "{}", stdout(&output));
    assert!(!stdout(&carom(&["check", "bar"])).contains("projected"));
    let output = carom(&["check", "double-pendulum", "--set", "run.method=\"php\""]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).contains("(12)") && stderr(&output).contains("φ is not monotone"), "{}", stderr(&output));
}

#[test]
fn a_run_prints_one_json_object() {
    let options = ["--json", "--nodes", "--until", "2.5", "--method", "cva", "--step", "0.05"];
    let output = carom(&[&["run", "double-pendulum"], &options[..]].concat());
    assert!(output.status.success());
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(run["status"], "completed");
    assert_eq!(run["method"], "cva");
    assert_eq!(run["steps"], 50);
    assert_eq!(run["nodes"].as_array().map(Vec::len), Some(51));
    assert_eq!(run["impacts"].as_array().map(Vec::len), Some(2));
    assert_eq!(run["impacts"][0]["wall"], "left wall");
    assert_eq!(run["final"]["t"], 2.5);
    assert_eq!(run["final"]["p"].as_array().map(Vec::len), Some(2));
    for key in ["energy", "error_estimate", "version", "model_hash", "seconds", "until", "model"] {
        assert!(run.get(key).is_some(), "{key}");
    }
}

#[test]
fn settings_reach_parameters_the_start_and_the_run() {
    let output = carom(&[
        "run",
        "pendulum",
        "--json",
        "--set",
        "g=1.62",
        "--set",
        "initial.q[0]=0.5",
        "--set",
        "run.step=0.01",
        "--set",
        "run.until=1",
    ]);
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(run["steps"], 100);
    let energy = run["energy"]["initial"].as_f64().expect("a number");
    assert!((energy - 1.62 * (1.0 - 0.5f64.cos())).abs() < 1e-12);
}

#[test]
fn a_trajectory_is_written_as_csv() {
    let path = scratch("trajectory.csv");
    let out = path.to_str().expect("a plain path");
    assert!(carom(&["run", "pendulum", "--step", "0.1", "--until", "1", "--out", out]).status.success());
    let text = fs::read_to_string(&path).expect("it was written");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "t,q_theta,v_theta,p_theta");
    assert_eq!(lines.len(), 12);
    refused(
        &["run", "pendulum", "--out", "/nowhere/at/all.csv"],
        "error: cannot write `/nowhere/at/all.csv`: there is no such folder",
    );
}

#[test]
fn files_that_are_no_models_are_refused() {
    refused(&["run", "no-such.toml"], "error: cannot read `no-such.toml`: there is no such file");
    refused(
        &["run", "pendulm"],
        "error: `pendulm` is neither a file nor a shipped model\nhelp: did you mean `pendulum`?",
    );
    let folder = env!("CARGO_TARGET_TMPDIR");
    refused(&["check", folder], &format!("error: cannot read `{folder}`: it is a folder"));
    for (name, bytes, message) in [
        ("empty.toml", Vec::new(), "is empty"),
        (
            "latin1.toml",
            b"title = \"a\"\ncoordinates = [\"\xe9\"]\n".to_vec(),
            "is not text in UTF-8: line 2 has an invalid byte",
        ),
        ("large.toml", vec![b'#'; 100_000_000], "is too large for a model: more than 4 MB"),
    ] {
        let path = scratch(name);
        fs::write(&path, bytes).expect("a scratch file");
        let file = path.to_str().expect("a plain path");
        let output = carom(&["check", file]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let first = stderr(&output).lines().next().unwrap_or_default().to_string();
        assert_eq!(first, format!("error: `{file}` {message}"));
        fs::remove_file(path).expect("a scratch file");
    }
}

#[test]
fn wrong_settings_are_refused_in_their_own_words() {
    refused(
        &["run", "pendulum", "--set", "h=2"],
        "error: unknown parameter `h`\n  ┌─ command line:1:1\n1 │ h=2\n  │ ^ the parameters are m, R, g",
    );
    refused(
        &["run", "pendulum", "--step", "-0.1"],
        "error: the step must be positive\n  ┌─ command line:1:8\n1 │ --step -0.1\n  │        ^^^^ this is -0.1",
    );
    refused(
        &["run", "pendulum", "--until", "0"],
        "error: the end time `until` must be positive\n  ┌─ command line:1:9\n1 │ --until 0\n  │         ^ this is 0",
    );
    refused(
        &["run", "pendulum", "--method", "gaus4"],
        "error: unknown method `gaus4`\n  ┌─ command line:1:10\n1 │ --method gaus4\n  │          ^^^^^ did you mean `gauss4`?",
    );
    assert_eq!(carom(&["run"]).status.code(), Some(2));
    assert_eq!(carom(&["rnu", "pendulum"]).status.code(), Some(2));
}

#[test]
fn a_failing_run_tells_what_it_has_and_where_it_failed() {
    let output = carom(&["run", "double-pendulum", "--method", "svc", "--step", "2", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(run["status"], "failed");
    assert!(run["message"].as_str().is_some_and(|message| message.contains("smaller step")), "{}", run["message"]);
    assert!(stderr(&output).contains("at t = "), "{}", stderr(&output));
}

#[test]
fn colours_stay_out_of_pipes() {
    let output = carom(&["run", "pendulum", "--step", "0.1"]);
    assert!(!stdout(&output).contains('\u{1b}'));
    assert!(!stderr(&carom(&["run", "nothing"])).contains('\u{1b}'));
}

#[test]
fn completions_and_help_are_there() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&carom(&["completions", shell])).contains("carom"), "{shell}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&carom(&["completions", shell]));
        for name in ["double-pendulum", "galton-board", "gauss6", "mcvaa", "auto"] {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
    assert!(stdout(&carom(&["completions", "zsh"])).contains(":_carom_models'"), "zsh completes files too");
    assert!(stdout(&carom(&["--help"])).starts_with("Simulates mechanical systems that hit things\n"));
    assert!(stdout(&carom(&["examples"])).lines().all(|line| line.trim_end() == line));
    for command in ["run", "derive", "check", "examples", "methods"] {
        assert!(stdout(&carom(&[command, "--help"])).contains("Usage: carom"), "{command}");
    }
    let methods = stdout(&carom(&["methods"]));
    for name in ["svc", "gauss8", "kahan-li8", "galerkin6", "ctec", "dtec", "cva", "vci"] {
        assert!(methods.contains(name), "{name}");
    }
}

/// The reader leaves before the writer is done: `carom … | head -1`.
#[cfg(unix)]
#[test]
fn nobody_reads_and_nobody_panics() {
    for arguments in ["run chain-3 --json --nodes", "derive chain-5", "examples pendulum", "methods", "completions zsh"]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
        command.args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!(stderr(&output), "", "{arguments}");
        assert!(output.status.success(), "{arguments}: {}", output.status);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let paper = ["paper list", "paper gp-bar"];
    let others = ["run pendulum", "run pendulum --json", "derive pendulum", "examples pendulum", "methods"];
    for arguments in others.into_iter().chain(paper) {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full");
        let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
        let output = command.args(arguments.split(' ')).stdout(full).output().expect("the command starts");
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let text = "error: cannot write to standard output: No space left on device (os error 28)";
        assert_eq!(stderr(&output).trim_end(), text, "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_tells_what_it_has() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    command.args(["run", "pendulum", "--json", "--step", "1e-6", "--until", "1e6"]).stdout(Stdio::piped());
    let child = command.spawn().expect("the command starts");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill is there").success());
    let output = child.wait_with_output().expect("the command ends");
    assert!(output.status.success(), "{}", output.status);
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(run["status"], "interrupted");
    assert!(run["message"].is_string());
    assert!(run["final"]["t"].as_f64().is_some_and(|t| t > 0.0 && t < 1e6), "{}", run["final"]);
}

#[test]
fn numbers_and_words_that_mean_nothing_are_shown_as_they_were_given() {
    refused(
        &["run", "pendulum", "--until", "nan"],
        "error: not a finite number\n  ┌─ command line:1:9\n1 │ --until nan\n  │         ^^^",
    );
    refused(
        &["run", "pendulum", "--method", "größe"],
        "error: unknown method `größe`\n  ┌─ command line:1:10\n1 │ --method größe\n  │          ^^^^^ \
         `carom methods` lists them; write `flow+rule`, `flow`, `rule` or a preset",
    );
}

/// A table replaces its file completely or not at all, never the model, and its place is tried before the run.
#[test]
fn a_table_is_written_with_care() {
    let folder = std::env::temp_dir().join(format!("carom-out-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    let model = folder.join("ball.toml");
    let text = carom::lab::catalogue::find("bouncing-ball").expect("it ships").text;
    std::fs::write(&model, text).expect("there is room");
    let run = |out: &std::path::Path| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_carom"));
        command.arg("run").arg(&model).args(["--step", "0.1", "--until", "1", "--out"]).arg(out);
        command.output().expect("it starts")
    };
    let over = run(&model);
    assert_eq!(over.status.code(), Some(2), "{over:?}");
    assert_eq!(std::fs::read_to_string(&model).expect("it is there"), text);
    let nowhere = run(&folder.join("missing").join("a.csv"));
    assert_eq!(nowhere.status.code(), Some(2), "{nowhere:?}");
    let table = run(std::path::Path::new("-"));
    let is_alone = stdout(&table).lines().all(|line| line.split(',').count() == 4);
    assert!(is_alone && stderr(&table).contains("energy"), "other programs read the table: {table:?}");
    #[cfg(unix)]
    {
        let (link, file) = (folder.join("link.csv"), folder.join("real.csv"));
        std::fs::write(&file, "old").expect("there is room");
        std::os::unix::fs::symlink(&file, &link).expect("links can be made");
        assert!(run(&link).status.success());
        assert!(link.is_symlink() && std::fs::read(&file).expect("it is there").starts_with(b"t,"));
        assert!(run(std::path::Path::new("/dev/null")).status.success());
    }
    let left: Vec<_> = std::fs::read_dir(&folder).expect("it is there").flatten().map(|e| e.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".part")), "{left:?}");
    std::fs::remove_dir_all(folder).expect("it is ours");
}

/// The default where a model names another method and step, and an error where `auto` means nothing.
#[test]
fn auto_is_the_default_method_and_step() {
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_slice(&carom(&[arguments, &["--json"]].concat()).stdout).expect("JSON")
    };
    let named = json(&["run", "sinai-billiard", "--until", "2"]);
    assert_eq!((&named["method"], &named["step"]), (&"gauss2+ctec".into(), &0.25.into()));
    let auto = json(&["run", "sinai-billiard", "--until", "2", "--method", "auto", "--step", "auto"]);
    assert_eq!((&auto["method"], &auto["step"]), (&"auto".into(), &Value::Null));
    assert!(auto["error_estimate"].as_f64().is_some_and(|error| error < 1e-9), "{auto}");
    let set = json(&["run", "sinai-billiard", "--until", "2", "--set", "run.method=auto", "--set", "run.step=auto"]);
    assert_eq!((&set["method"], &set["step"], &set["final"]), (&auto["method"], &auto["step"], &auto["final"]));
    refused(
        &["run", "pendulum", "--until", "auto"],
        "error: unknown name `auto`\n  ┌─ command line:1:9\n1 │ --until auto\n  │         ^^^^ neither a coordinate nor a parameter nor \
         a definition",
    );
}

/// Impacts as a table; files are named when they are written; an ending that is not known is refused before the run.
#[test]
fn impacts_are_written_as_csv() {
    let (path, other) = (scratch("impacts.csv"), scratch("nodes.csv"));
    let [impacts, out] = [&path, &other].map(|path| path.to_str().expect("a plain path"));
    let output = carom(&["run", "bouncing-ball", "--step", "0.1", "--until", "8", "--impacts", impacts, "--out", out]);
    assert!(output.status.success(), "{}", stderr(&output));
    for file in [impacts, out] {
        assert!(stdout(&output).contains(&format!("\nwritten    {file}\n")), "{}", stdout(&output));
    }
    let text = fs::read_to_string(&path).expect("it was written");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "t,wall,lambda,q_y,v_minus_y,v_plus_y,p_minus_y,p_plus_y");
    let run: Value =
        serde_json::from_slice(&carom(&["run", "bouncing-ball", "--step", "0.1", "--until", "8", "--json"]).stdout)
            .expect("JSON");
    let all = run["impacts"].as_array().expect("a list");
    assert!(all.len() > 20, "more than the terminal shows");
    assert_eq!(lines.len(), 1 + all.len());
    for (line, impact) in lines[1..].iter().zip(all) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[1], "floor");
        for (cell, due) in
            [(0, &impact["t"]), (2, &impact["lambda"]), (4, &impact["v_minus"][0]), (7, &impact["p_plus"][0])]
        {
            let (found, due): (f64, f64) = (cells[cell].parse().expect("a number"), due.as_f64().expect("a number"));
            assert!((found - due).abs() <= f64::EPSILON * due.abs(), "{line}");
        }
    }
    for (option, file) in [("--out", "a.txt"), ("--out", "a"), ("--impacts", "a.json"), ("--impacts", "a.parquet")] {
        let said = stderr(&carom(&["run", "pendulum", option, file]));
        assert!(
            said.starts_with(&format!("error: `{option}` cannot write `{file}`")) && said.contains("`.csv`"),
            "{said}"
        );
    }
    refused(
        &["run", "pendulum", "--out", "a.csv", "--impacts", "a.csv"],
        "error: `--out` and `--impacts` both write `a.csv`\nhelp: give two names",
    );
    let both =
        "error: `--json` and a table cannot both go to the standard output\nhelp: give the table the name of a file";
    refused(&["run", "pendulum", "--json", "--out", "-"], both);
}

/// One is no plural; changes of contact are in the order of time; an account says what acted and nothing else.
#[test]
fn the_summary_reads_well() {
    let one = stdout(&carom(&["run", "galton-board"]));
    assert!(one.contains("\n1 crossing of sections\n"), "{one}");
    assert!(one.contains("\n  impacts -29.9"), "{one}");
    assert!(one.contains("\nat t = 2.63053177295\n"), "digits that mean nothing: {one}");
    assert!(!one.contains("very long times"), "impacts take the energy: {one}");
    let kept = stdout(&carom(&["run", "pendulum"]));
    let advice = kept.split("--method gauss6 --step ").nth(1).expect("an advice").lines().next().unwrap_or_default();
    assert!(advice.len() <= 6 && advice.parse::<f64>().is_ok_and(|step| step > 0.0 && step < 5.0), "{advice}");
    let quiet = stdout(&carom(&["run", "bouncing-ball", "--until", "0.3"]));
    assert!(!quiet.contains("unexplained"), "nothing has changed the energy: {quiet}");
    // Two tips come to rest in one step, the one that is found first later.
    let run: Value = serde_json::from_slice(&carom(&["run", "rimless-wheel", "--json"]).stdout).expect("JSON");
    let times: Vec<f64> = run["rest"].as_array().expect("a list").iter().filter_map(|x| x["t"].as_f64()).collect();
    assert!(times.len() > 10 && times.is_sorted(), "{times:?}");
}

/// A model whose walls are never met says so, once, as a note.
#[test]
fn a_wall_that_is_never_met_is_a_note() {
    let output = carom(&["run", "bouncing-ball", "--until", "0.3"]);
    assert_eq!(stderr(&output), "note: the wall `floor` was not met up to t = 0.3\n");
    let output = carom(&["run", "rimless-wheel", "--until", "0.1"]);
    assert_eq!(stderr(&output), "note: none of the 6 walls was met up to t = 0.1\n");
    assert_eq!(stderr(&carom(&["run", "bouncing-ball", "--until", "0.5"])), "");
}
