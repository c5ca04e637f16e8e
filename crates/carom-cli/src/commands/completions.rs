//! `carom completions`.

use std::process::ExitCode;

use carom::lab::catalogue::EXAMPLES;
use carom::lab::error::Result;
use carom::lab::method;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::args::Arguments;
use crate::output::print;

/// Prints a completion script that knows the shipped models and the methods.
pub fn completions(shell: Shell) -> Result<ExitCode> {
    let models: Vec<&'static str> = EXAMPLES.iter().map(|example| example.name).collect();
    let mut command = with_names(Arguments::command(), &models);
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut command, "carom", &mut bytes);
    let script = String::from_utf8_lossy(&bytes).into_owned();
    print(&match shell {
        Shell::Zsh => with_files(&script, &models.join(" ")),
        Shell::Fish => script + &fish(&models.join(" ")),
        // Bash and Elvish complete files where no name fits.
        _ => script,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The command, with the names as the only values; for scripts, since the command itself also takes files and combinations.
fn with_names(command: Command, models: &[&'static str]) -> Command {
    let entries = method::entries().into_iter().flat_map(|(_, entries)| entries);
    // clap wants names that live as long as the program, which ends after this.
    let methods: Vec<&'static str> = entries.map(|entry| &*entry.name.leak()).chain(["auto"]).collect();
    let named = |name: &str, command: Command| {
        let command = command.mut_arg("model", |arg| arg.value_parser(PossibleValuesParser::new(models.to_vec())));
        if name != "run" {
            return command;
        }
        command.mut_arg("method", |arg| arg.value_parser(PossibleValuesParser::new(methods.clone())))
    };
    let command = command.mut_subcommand("examples", |command| {
        command.mut_arg("name", |arg| arg.value_parser(PossibleValuesParser::new(models.to_vec())))
    });
    ["run", "check", "derive", "compare"]
        .into_iter()
        .fold(command, |all, name| all.mut_subcommand(name, |command| named(name, command)))
}

/// Zsh offers either the names or files; this function offers both for a model.
fn with_files(script: &str, models: &str) -> String {
    let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
    let both = format!("_carom_models() {{ _alternative 'models:shipped model:({models})' 'files:file:_files' }}");
    format!("{first}\n\n{both}\n{}", rest.replace(&format!(":({models})'"), ":_carom_models'"))
}

/// The script for Fish has no positional arguments.
fn fish(models: &str) -> String {
    let line =
        |command: &str| format!("complete -c carom -n \"__fish_seen_subcommand_from {command}\" -a \"{models}\"\n");
    ["run", "check", "derive", "compare", "examples"].map(line).concat()
}
