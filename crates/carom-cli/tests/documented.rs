//! README, docs and `--help` agree: every option of a command is documented, and every documented option exists.

use std::collections::BTreeSet;
use std::process::Command;

const README: &str = include_str!("../../../README.md");
const FORMAT: &str = include_str!("../../../docs/model-format.md");
const CONTROL: &str = include_str!("../../../docs/control.md");
const DERIVATIVES: &str = include_str!("../../../docs/derivatives.md");
const SWEEPS: &str = include_str!("../../../docs/sweeps.md");

/// Options that many commands share; the README describes them once.
const SHARED: [&str; 7] = ["--set", "--method", "--step", "--tolerance", "--until", "--json", "--dark"];

fn help(command: &str) -> String {
    let mut carom = Command::new(env!("CARGO_BIN_EXE_carom"));
    let words = [command, "--help"].into_iter().filter(|word| !word.is_empty());
    String::from_utf8(carom.args(words).output().expect("the command starts").stdout).expect("text")
}

/// The commands that the main help lists.
fn commands() -> Vec<String> {
    let help = help("");
    let list = help.split("Commands:\n").nth(1).expect("a list").split("\n\n").next().unwrap_or_default();
    let names = list.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(String::from).collect()
}

/// All `--options` in a text.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches('-'));
    words.filter(|word| word.starts_with("--")).map(String::from).collect()
}

/// The options that the help of a command explains.
fn explained(command: &str) -> BTreeSet<String> {
    let help = help(command);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    lines.flat_map(options).filter(|option| option != "--help").collect()
}

/// The rows of the table of commands that tell of a command.
fn rows(command: &str) -> String {
    let table = README.split("## Commands").nth(1).expect("a section").split("\n## ").next().unwrap_or_default();
    let tells = |line: &&str| {
        let first = line.split('|').nth(1).unwrap_or_default();
        first.contains("carom") && first.split([' ', '`', ',']).any(|word| word == command)
    };
    table.lines().filter(tells).collect()
}

#[test]
fn every_command_and_option_is_documented() {
    let commands = commands();
    assert!(commands.len() > 12, "{commands:?}");
    for command in &commands {
        let row = rows(command);
        assert!(!row.is_empty(), "`carom {command}` is not in the table of the README");
        let page = match command.as_str() {
            "run" | "check" => FORMAT,
            "optimize" => CONTROL,
            "sensitivity" | "lyapunov" | "orbit" => DERIVATIVES,
            "sweep" | "bifurcation" | "basins" | "poincare" => SWEEPS,
            _ => "",
        };
        let documented: BTreeSet<String> = options(&row).union(&options(page)).cloned().collect();
        for option in explained(command) {
            let is_shared = SHARED.contains(&option.as_str()) && options(README).contains(&option);
            assert!(is_shared || documented.contains(&option), "`{option}` of `carom {command}` is not documented");
        }
        for option in options(&row) {
            assert!(
                explained(command).contains(&option),
                "`carom {command}` has no `{option}`, which the README names"
            );
        }
    }
}

/// What the pages call an option is one of some command, or of another program that they name.
#[test]
fn every_option_of_the_pages_exists() {
    let of_others = ["--release", "--locked", "--path", "--no-default-features"];
    let known: BTreeSet<String> = commands().iter().flat_map(|command| explained(command)).collect();
    for (page, text) in [
        ("README.md", README),
        ("model-format.md", FORMAT),
        ("control.md", CONTROL),
        ("derivatives.md", DERIVATIVES),
        ("sweeps.md", SWEEPS),
    ] {
        let found = options(text);
        assert!(!found.is_empty(), "{page}");
        for option in found.iter().filter(|option| !of_others.contains(&option.as_str())) {
            assert!(known.contains(option), "{page} names `{option}`, which no command has");
        }
    }
}

/// Examples in the help texts are complete command lines with options that exist.
#[test]
fn every_option_of_the_examples_exists() {
    let commands = commands();
    let mut count = 0;
    for page in commands.iter().map(String::as_str).chain([""]) {
        for line in help(page).lines().map(str::trim).filter(|line| line.starts_with("carom ")) {
            let command = line.split(' ').nth(1).unwrap_or_default();
            assert!(commands.iter().any(|known| known == command), "{line}");
            let known = explained(command);
            let shown = line.split(" > ").next().unwrap_or_default();
            options(shown).iter().for_each(|option| assert!(known.contains(option), "{line}: {option}"));
            count += 1;
        }
    }
    assert!(count > 30, "{count} examples");
}
