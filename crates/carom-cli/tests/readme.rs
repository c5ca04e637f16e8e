//! The README's outputs, models and commands are those of the program.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::LazyLock;

const README: &str = include_str!("../../../README.md");

/// A folder with the model of the README.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readme");
    std::fs::create_dir_all(folder.join("docs")).expect("a folder for scratch files");
    std::fs::write(folder.join("my-model.toml"), block("toml", 0)).expect("there is room");
    folder
});

/// Runs a command line of the README.
fn carom(line: &str) -> Output {
    // Words in single quotes have no spaces here.
    let words: Vec<String> = line.split_whitespace().skip(1).map(|word| word.replace('\'', "")).collect();
    Command::new(env!("CARGO_BIN_EXE_carom")).current_dir(&*FOLDER).args(words).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A fenced block, by its language and number.
fn block(language: &str, number: usize) -> &'static str {
    let fence = format!("```{language}\n");
    let after = README.split(fence.as_str()).nth(number + 1).expect("it is there");
    after.split("```").next().unwrap_or_default()
}

/// The first command prints what the page says, but for times and the digits that a step decides.
#[test]
fn the_first_run_is_as_shown() {
    let (shown, printed) = (block("text", 0), stdout(&carom("carom run double-pendulum")));
    let words = |text: &str| -> Vec<String> {
        let summary = text.split_once("\n\n").map_or("", |(_, rest)| rest);
        summary.split("estimated error").next().unwrap_or_default().split_whitespace().map(str::to_string).collect()
    };
    let (ours, theirs) = (words(shown), words(&printed));
    assert_eq!(ours.len(), theirs.len(), "{shown}\n{printed}");
    for (a, b) in ours.iter().zip(&theirs) {
        match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => assert!((a - b).abs() < 2e-7, "{a} and {b}"),
            _ => assert_eq!(a, b),
        }
    }
    let title = "Double pendulum beside a wall\nauto to 1e-9, controlled steps up to 0.";
    assert!(shown.starts_with(title) && printed.starts_with(title), "{shown}\n{printed}");
    assert!(README.contains("More than fifty models") && carom::EXAMPLES.len() > 50);
}

#[test]
fn the_derived_mechanics_are_as_shown() {
    let derived = stdout(&carom("carom derive my-model.toml"));
    for line in block("text", 1).lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(derived.contains(line), "{line}\nin\n{derived}");
    }
}

/// The mistake that the page shows is one in its own model.
#[test]
fn the_mistake_is_as_shown() {
    let shown = block("text", 2);
    let wrong = shown.lines().nth(2).and_then(|line| line.split_once(" │ ")).map(|(_, line)| line).expect("a line");
    let right = wrong.replace("thta", "theta");
    let model = block("toml", 0);
    assert!(wrong != right && model.contains(&right), "{wrong}");
    std::fs::write(FOLDER.join("my-mistake.toml"), model.replace(&right, wrong)).expect("there is room");
    let output = carom("carom check my-mistake.toml");
    let told = String::from_utf8_lossy(&output.stderr).replace("my-mistake", "my-model");
    assert_eq!((output.status.code(), told.trim_end()), (Some(2), shown.trim_end()));
}

/// Every complete command line on the page succeeds.
#[test]
fn the_commands_run() {
    let spans = README.split('`').skip(1).step_by(2);
    let lines = (0..README.matches("```sh").count()).flat_map(|k| block("sh", k).lines());
    let is_complete = |line: &&str| {
        let starts = ["carom run ", "carom check ", "carom derive ", "carom examples ", "carom optimize "];
        starts.iter().any(|start| line.starts_with(start))
            && !line.contains(['>', '[', '\n'])
            && !line.contains("MODEL")
    };
    let mut commands: Vec<&str> = spans.chain(lines).filter(is_complete).collect();
    commands.sort_unstable();
    commands.dedup();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let output = carom(command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
