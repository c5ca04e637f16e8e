//! One file for each command.

mod check;
mod compare;
mod completions;
mod derive;
mod dynamics;
mod examples;
mod feedback;
mod import;
mod interrupt;
mod lyapunov;
mod methods;
mod optimize;
mod orbit;
mod paper;
mod picture;
pub mod run;
mod sensitivity;
mod sweep;

use std::path::Path;
use std::process::ExitCode;

use carom::Watcher;
use carom::lab::catalogue;
use carom::lab::error::{Diagnostic, Result};
use carom::lab::model::Model;
use carom_report::file::Target;
use indicatif::ProgressBar;

use crate::args::{self, Command};
use crate::output::{aside, print};
use crate::{session, style};

/// Executes a command.
pub fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Check(model) => check::check(&model),
        Command::Import(arguments) => import::import(&arguments),
        Command::Examples { name } => examples::examples(name.as_deref()),
        Command::Completions { shell } => completions::completions(shell),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Lyapunov(arguments) => lyapunov::lyapunov(&arguments),
        Command::Orbit(arguments) => orbit::orbit(&arguments),
        Command::Sensitivity(arguments) => sensitivity::sensitivity(&arguments),
        Command::Paper(arguments) => paper::paper(&arguments),
        Command::Methods => methods::methods(),
        Command::Run(arguments) => run::run(&arguments),
        Command::Optimize(arguments) => optimize::optimize(&arguments),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Bifurcation(arguments) => dynamics::bifurcation(&arguments),
        Command::Basins(arguments) => dynamics::basins(&arguments),
        Command::Poincare(arguments) => dynamics::poincare(&arguments),
        Command::Derive(arguments) => derive::derive(&arguments),
    }
}

/// Shows progress on a terminal.
fn spinner() -> ProgressBar {
    if session::is_called() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar
}

/// Lets Ctrl-C end a command in an orderly way: what is returned tells whether it should end.
fn watch_for_interrupt() -> impl Fn() -> bool + Send + Sync {
    let interrupt = interrupt::Interrupt::new();
    move || interrupt.wants_to_stop()
}

/// Prints warnings about input that is allowed but rarely intended.
fn warn(warnings: &[Diagnostic]) {
    for warning in warnings {
        aside(&style::warning(&warning.body()));
    }
}

/// Where a table goes.
enum Table {
    /// `-`, or `/dev/stdout`.
    Output,
    File(Target),
}

impl Table {
    /// A table of CSV; see [`Table::with_extensions`].
    fn new(path: &Path, option: &str, model: &str) -> Result<Table> {
        Table::with_extensions(path, option, model, &["csv"])
    }

    /// Checks, before anything is computed, that `option` can write a table to this path, which must not be that of the model. A
    /// device or a pipe needs no extension.
    fn with_extensions(path: &Path, option: &str, model: &str, extensions: &[&str]) -> Result<Table> {
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Ok(Table::Output);
        }
        let is_device = std::fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir());
        let target = if is_device { Target::any(path)? } else { Target::new(path, option, extensions)? };
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

/// Adds the options of a run with steps of equal length.
fn with_equal_steps(model: &args::Model, run: &args::EqualSteps) -> args::Model {
    with_options(model, &[("--method", &run.method), ("--step", &run.step), ("--until", &run.until)])
}

/// Checks, before anything is computed, that `--plot` can write to this path, which must not be that of the model.
fn plot_target(plot: Option<&Path>, model: &str) -> Result<Option<Target>> {
    let target = plot.map(|path| Target::new(path, "--plot", &picture::PLOTS)).transpose()?;
    target.map(|target| keep_model(target, model)).transpose()
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
    if let Some(given) = session::model(&model.model, &model.settings) {
        return given;
    }
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
