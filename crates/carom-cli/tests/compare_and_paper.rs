//! `carom compare` and `carom paper` as a user meets them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn carom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn refused(arguments: &[&str], message: &str) {
    let output = carom(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert_eq!(text(&output.stderr).trim_end(), message, "{arguments:?}");
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn compare_prints_a_row_for_each_method_and_step() {
    let file = scratch("compare.csv");
    let path = file.to_str().expect("a path");
    let steps = "0.02, 0.01";
    let output = carom(&[
        "compare",
        "pendulum",
        "--methods",
        "cva,gauss2,rk4+dtec",
        "--steps",
        steps,
        "--until",
        "1",
        "--out",
        path,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert_eq!(table.lines().count(), 2 + 6 + 2, "{table}");
    assert_eq!(table.lines().last(), Some(&*format!("written    {path}")), "{table}");
    let kind = if cfg!(unix) { "CPU s" } else { "wall s" };
    assert!(table.lines().nth(1).is_some_and(|headings| headings.ends_with(kind)), "{table}");
    let rows: Vec<Vec<&str>> = table.lines().skip(2).take(4).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 10), "{table}");
    for (row, order) in [(1, 2.0), (3, 4.0)] {
        let found: f64 = rows[row][3].parse().expect("an order");
        assert!((found - order).abs() < 0.1, "{table}");
    }
    assert!(table.contains("the rule `dtec` cannot be used: `rk4` has no discrete Lagrangian"), "{table}");
    let csv = fs::read_to_string(file).expect("it was written");
    assert_eq!(csv.lines().count(), 7, "{csv}");
    assert!(csv.starts_with("method,step,l2_error,order,"), "{csv}");
    assert!(csv.lines().next().is_some_and(|line| line.ends_with("_seconds,message")), "{csv}");
    assert!(csv.lines().all(|line| line.split(',').count() == 11), "{csv}");
}

#[test]
fn compare_refuses_what_it_cannot_do() {
    let with = |methods: &'static str, steps: &'static str| {
        vec!["compare", "pendulum", "--methods", methods, "--steps", steps, "--until", "1"]
    };
    refused(&with("cva,svx", "0.1"), "error: unknown method `svx`\nhelp: did you mean `svc`?");
    refused(&with(",", "0.1"), "error: there are no methods to compare\nhelp: give some, such as `cva,gauss4`");
    refused(&with("cva", ""), "error: there are no steps to compare\nhelp: give some, such as `0.02,0.01`");
    for step in ["0", "-0.1", "NaN", "inf"] {
        let message = format!("error: a step must be positive, not {step}\nhelp: a step is a time, such as 0.01");
        refused(&["compare", "pendulum", "--methods", "cva", "--steps", step, "--until", "1"], &message);
    }
    let message = "error: the step 0.000000000001 takes more than 1e7 steps up to t = 1\n\
        help: all nodes are kept in memory: give a larger step or an earlier end time";
    refused(&with("cva", "1e-12"), message);
    let message = "error: a step is a number, not `tiny`\nhelp: separate steps by commas: `--steps 0.02,0.01`";
    refused(&with("cva", "0.1,tiny"), message);
    let message = "error: `pendulm` is neither a file nor a shipped model\nhelp: did you mean `pendulum`?";
    refused(&["compare", "pendulm", "--methods", "cva", "--steps", "0.1"], message);
}

#[test]
fn paper_lists_and_computes() {
    let list = text(&carom(&["paper", "list"]).stdout);
    let ids: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        ids,
        [
            "bea-fig1",
            "bea-fig2",
            "dlm-fig1",
            "dlm-fig3",
            "dlm-fig4",
            "dlm-table1",
            "dlm-table2",
            "gp-fig1",
            "gp-bar",
            "gp-constrained-bar",
            "gp-pendulum",
            "tpc-fig2",
            "tpc-fig4",
            "tpc-fig5",
            "tpc-fig6",
            "tpc-fig7",
            "tpc-fig8",
            "tpc-fig9"
        ]
    );
    assert_eq!(text(&carom(&["paper"]).stdout), list);
    let folder = scratch("paper");
    let output = carom(&["paper", "dlm-fig3", "--out", folder.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = text(&output.stdout);
    for word in ["claim", "finding", "verdict   holds", "mcvaa: impacts"] {
        assert!(page.contains(word), "{page}");
    }
    let csv = fs::read_to_string(folder.join("dlm-fig3-mcvac.csv")).expect("it was written");
    assert_eq!(csv.lines().next(), Some("t,H,discrete_energy,H_mod"));
    assert_eq!(csv.lines().count(), 502);
}

#[test]
fn paper_refuses_what_there_is_not() {
    refused(&["paper", "bea-fig3"], "error: there is no figure or table `bea-fig3`\nhelp: did you mean `bea-fig2`?");
    refused(&["paper", "xyz"], "error: there is no figure or table `xyz`\nhelp: `carom paper list` lists them");
}
