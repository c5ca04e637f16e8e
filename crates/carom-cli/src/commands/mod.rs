//! One file for each command.

mod check;
mod compare;
mod completions;
mod derive;
mod examples;
mod import;
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
use indicatif::ProgressBar;

use crate::args::{self, Command};
use crate::output::print;
use crate::style;

/// Executes a command.
pub fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Check(model) => check::check(&model),
        Command::Import(arguments) => import::import(&arguments),
        Command::Examples { name } => examples::examples(name.as_deref()),
        Command::Completions { shell } => completions::completions(shell),
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
    /// `-`, or `/dev/stdout`: the summary follows on it.
    Output,
    File(Target),
}

impl Table {
    /// Checks, before anything is computed, that `option` can write a table to this path, which must not be that of the model. A
    /// device or a pipe needs no extension.
    fn new(path: &Path, option: &str, model: &str) -> Result<Table> {
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Ok(Table::Output);
        }
        let is_device = std::fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir());
        let target = if is_device { Target::any(path)? } else { Target::new(path, option, &["csv"])? };
        Ok(Table::File(keep_model(target, model)?))
    }

    fn write(&self, text: &str) -> Result<()> {
        match self {
            Table::Output => print(text),
            Table::File(target) => target.write(text.as_bytes()),
        }
    }

    /// The line that says where the table is.
    fn written(&self) -> String {
        match self {
            Table::Output => String::new(),
            Table::File(target) => written(target),
        }
    }
}

/// The line that says where a file is.
fn written(target: &Target) -> String {
    format!("written    {}\n", target.path().display())
}

/// A number with its noun: `1 impact`, `2 impacts`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Quotes a cell of a CSV file if necessary; the name of a wall may be any text.
fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.into() }
}

/// Adds options that override settings of `[run]`, as they were typed.
fn with_options(model: &args::Model, options: &[(&str, &Option<String>)]) -> args::Model {
    let typed = options.iter().filter_map(|(option, value)| Some(format!("{option} {}", value.as_ref()?)));
    args::Model { model: model.model.clone(), settings: model.settings.iter().cloned().chain(typed).collect() }
}

/// Refuses to write to the file of the model.
fn keep_model(target: Target, model: &str) -> Result<Target> {
    if !target.is_file(Path::new(model)) {
        return Ok(target);
    }
    let message = format!("`{}` is the model, which would be overwritten", target.path().display());
    Err(Diagnostic::new(message).with_help("give another name").into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(quoted("gap_left wall"), "gap_left wall");
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }
}
