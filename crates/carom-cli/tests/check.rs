//! `carom check`: every mistake, models without a start, warnings; and indexed names in the output of a run.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const CHAIN: &str = r#"coordinates = ["theta[1..n]"]
[parameters]
n = 2
[lagrangian]
T = "sum(i, 1, n, theta[i]'^2/2)"
V = "sum(i, 1, n, -cos(theta[i])) + (theta[n] - theta[1])^2"
[outputs]
"side[i in 1..n]" = "if(theta[i] > 0.2, 1, -1)"
[initial]
q = {"theta[1]" = 0.1}
v = {}
[run]
until = 0.5
"#;

fn carom(name: &str, model: &str, arguments: &[&str]) -> (Output, PathBuf) {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, model).expect("a scratch file");
    let (command, rest) = arguments.split_first().expect("a command");
    let mut carom = Command::new(env!("CARGO_BIN_EXE_carom"));
    let output = carom.arg(command).arg(&file).args(rest).output().expect("the command starts");
    (output, file)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn check_shows_every_mistake_in_the_order_of_the_file() {
    let wrong =
        CHAIN.replace("theta[i]'^2", "tehta[i]'^2").replace("-cos(", "-np.cos(").replace("until = 0.5", "untl = 0.5");
    let (output, _) = carom("mistakes.toml", &wrong, &["check", "--set", "run.step=-1"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    let told = text(&output.stderr);
    let mistakes: Vec<&str> = told.lines().filter(|line| line.starts_with("error: ")).collect();
    let expected = [
        "error: unknown name `tehta[1]`",
        "error: `np.cos` is not a name",
        "error: unknown key `untl` in `run`",
        "error: the step must be positive",
    ];
    assert_eq!(mistakes, expected, "{told}");
    assert!(told.ends_with("4 mistakes\n"), "{told}");
}

#[test]
fn a_model_without_a_start_can_be_checked() {
    let (without, _) = CHAIN.split_once("[initial]").expect("it has a start");
    let (output, _) = carom("no-start.toml", without, &["check"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("start        none: a run needs `[initial]`"));
    assert!(text(&output.stdout).ends_with("no mistakes found\n"));
}

#[test]
fn check_and_run_note_what_is_filled_in() {
    for command in ["check", "run"] {
        let (output, _) = carom(&format!("notes-{command}.toml"), CHAIN, &[command]);
        assert_eq!(text(&output.stderr), "note: `initial.q` has no theta[2]: it is 0\n", "{command}");
    }
    let unused = CHAIN.replace("n = 2", "n = 2\nc = 1");
    let (output, _) = carom("unused.toml", &unused, &["check", "--set", "initial.q.theta[2]=400*deg"]);
    let told = text(&output.stderr);
    assert!(told.starts_with("warning: the parameter `c` is not used"), "{told}");
    assert!(!told.contains("full turn"), "theta occurs outside of cos too: {told}");
}

#[test]
fn indexed_names_are_those_of_the_columns() {
    let table = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("indexed.csv");
    let path = table.to_str().expect("a path");
    let (output, _) =
        carom("indexed.toml", CHAIN, &["run", "--set", "n=3", "--set", "initial.q.theta[3]=0.3", "--out", path]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = fs::read_to_string(&table).expect("the table is there");
    let mut lines = table.lines();
    let columns =
        "t,q_theta[1],q_theta[2],q_theta[3],v_theta[1],v_theta[2],v_theta[3],p_theta[1],p_theta[2],p_theta[3]";
    assert_eq!(lines.next(), Some(format!("{columns},side[1],side[2],side[3]").as_str()));
    let first: Vec<f64> = lines.next().expect("a row").split(',').map(|cell| cell.parse().expect("a number")).collect();
    assert_eq!(first[..4], [0.0, 0.1, 0.0, 0.3]);
    assert_eq!(first[10..], [-1.0, -1.0, 1.0]);
}
