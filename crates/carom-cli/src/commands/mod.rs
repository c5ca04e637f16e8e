//! One file for each command.

mod check;
mod compare;
mod derive;
mod examples;
mod methods;
mod paper;
mod picture;
mod run;

use std::path::Path;
use std::process::ExitCode;

use carom::lab::catalogue;
use carom::lab::error::{Diagnostic, Result};
use carom::lab::model::Model;
use carom_report::file::Target;
use clap::CommandFactory;
use indicatif::ProgressBar;

use crate::args::{self, Command};
use crate::output::print;
use crate::style;

/// Executes a command.
pub fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Check(model) => check::check(&model),
        Command::Examples { name } => examples::examples(name.as_deref()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut args::Arguments::command(), "carom", &mut script);
            print(&String::from_utf8_lossy(&script))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Paper(arguments) => paper::paper(&arguments),
        Command::Methods => methods::methods(),
        Command::Run(arguments) => run::run(&arguments),
        Command::Derive(arguments) => derive::derive(&arguments),
    }
}

/// Shows progress on a terminal.
fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar
}

/// Prints warnings about input that is allowed but rarely intended.
fn warn(warnings: &[Diagnostic]) {
    for warning in warnings {
        anstream::eprintln!("{}", style::warning(&warning.body()));
    }
}

/// Where a table goes.
enum Table {
    /// `-`.
    Output,
    File(Target),
}

impl Table {
    /// Checks, before anything is computed, that a table can be written to this path, which must not be that of the model.
    fn new(path: &Path, model: &str) -> Result<Table> {
        if path == Path::new("-") {
            return Ok(Table::Output);
        }
        let target = Target::any(path)?;
        if target.is_file(Path::new(model)) {
            let message = format!("`--out {}` would overwrite the model", path.display());
            return Err(Diagnostic::new(message).with_help("give another name").into());
        }
        Ok(Table::File(target))
    }

    fn write(&self, text: &str) -> Result<()> {
        match self {
            Table::Output => print(text),
            Table::File(target) => target.write(text.as_bytes()),
        }
    }
}

/// Loads the model that an argument names: a shipped model or a file.
pub fn load(model: &args::Model) -> Result<Model> {
    let path = Path::new(&model.model);
    if let Some(example) = catalogue::find(&model.model)
        && !path.exists()
    {
        return Model::from_text(&format!("{}.toml", example.name), example.text, &model.settings);
    }
    if !path.exists()
        && let Some(near) = carom::lab::model::suggestion(&model.model, catalogue::EXAMPLES.iter().map(|e| e.name))
    {
        let message = format!("`{}` is neither a file nor a shipped model", model.model);
        return Err(Diagnostic::new(message).with_help(format!("did you mean `{near}`?")).into());
    }
    Model::from_file(path, &model.settings)
}
