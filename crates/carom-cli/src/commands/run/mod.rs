//! `carom run`.

mod account;
mod diagnostics;
mod energy;
mod file;
mod object;
mod picture;
mod record;
mod report;
mod rest;
pub mod restart;
mod resume;
mod rows;

use std::process::ExitCode;
use std::time::Instant;

use carom::lab::diagnostic::Panel;
use carom::{Audience, Diagnostic, Model, Result, Simulation, Status};

use super::interrupt::Interrupt;
use super::optimize::with_controls;
use super::{Table, feedback, load, with_options};
use crate::args;
use crate::output::{aside, print};
use crate::style;
use file::RowFile;
use record::Record;
use report::Report;

/// Runs a model and prints the results.
pub fn run(arguments: &args::Run) -> Result<ExitCode> {
    let pictures = picture::Pictures::new(&arguments.pictures, &arguments.model.model)?;
    let tables = Tables::new(arguments)?;
    let args::Run { method, step, tolerance, until, .. } = arguments;
    let options = [("--method", method), ("--step", step), ("--tolerance", tolerance), ("--until", until)];
    let model = load(&with_options(&arguments.model, &options))?;
    let feedback = arguments.follow.as_deref().map(|path| feedback::read(path, &model)).transpose()?;
    let model = if feedback.is_some() { with_controls(&model) } else { model };
    // Report a mistake in the lists before the search for a step.
    pictures.choices(&model)?;
    if let Some(feedback) = &feedback {
        return show(arguments, &model, &model.simulation().follow(feedback), &pictures, &tables);
    }
    let mut simulation = model.simulation().look_for_walls();
    if model.run.step.is_none() {
        simulation = simulation.estimate();
    }
    if let Some(path) = &arguments.restart {
        simulation = resume::from_file(simulation, path, &model)?;
    }
    show(arguments, &model, &simulation, &pictures, &tables)
}

fn show(
    arguments: &args::Run,
    model: &Model,
    simulation: &Simulation,
    pictures: &picture::Pictures,
    tables: &Tables,
) -> Result<ExitCode> {
    let every = arguments.every.map(positive_interval).transpose()?;
    if let Some(list) = &arguments.diagnostics {
        diagnostics::check(list)?;
    }
    let begin = Instant::now();
    let interrupt = Interrupt::new();
    let ready = simulation.prepare_unless(&interrupt)?;
    for note in ready.notes() {
        aside(&style::note(&style::visible(&note)));
    }
    let list = arguments.diagnostics.as_ref();
    let panel = list.map(|list| diagnostics::panel(list, model, &ready)).transpose()?;
    let file = tables.begin(model, panel.as_ref())?;
    let mut record = Record::new(arguments, [ready.begin(), ready.until()], panel, file, interrupt);
    let preparing = Instant::now();
    let mut album = pictures.album(model, &ready)?;
    // The plot of the energy can do without it.
    let mut dense = if arguments.json { None } else { ready.dense(energy::MOST_ARCS).ok() };
    let preparing = preparing.elapsed().as_secs_f64();
    let mut audience = vec![Audience { watcher: &mut record, every }];
    audience.extend(dense.iter_mut().map(|dense| Audience { watcher: dense, every: None }));
    if let Some(album) = &mut album {
        audience.extend(album.audience());
    }
    let outcome = ready.show(&mut audience)?;
    record.finish();
    let is_written = record.has_file();
    record.finish_file()?;
    let compile_seconds = ready.compile_seconds;
    let run_seconds = begin.elapsed().as_secs_f64() - compile_seconds - preparing;
    dense.iter_mut().for_each(|dense| record.look_between_nodes(dense));
    let (method, until) = (ready.method(), ready.until());
    let is_recursive = ready.is_recursive();
    let report =
        Report { model, method, is_recursive, until, record: &record, outcome: &outcome, compile_seconds, run_seconds };
    tables.write(&report, is_written)?;
    let with_nodes = arguments.nodes || arguments.every.is_some();
    match arguments.json {
        true => print(&(report.json(with_nodes) + "\n"))?,
        false if tables.take_output() => anstream::eprint!("{}{}", report.summary(), tables.written()),
        false => print(&(report.summary() + &tables.written()))?,
    }
    for note in &outcome.notes {
        aside(&style::note(&style::visible(note)));
    }
    for warning in &outcome.warnings {
        aside(&style::warning(warning));
    }
    let drawn = pictures.draw(album, &report, arguments.json || tables.take_output());
    match outcome.status {
        Status::Failed(failure) => Err((*failure).into()),
        Status::Completed | Status::Stopped(_) | Status::Zeno(_) | Status::Interrupted => {
            drawn.map(|()| ExitCode::SUCCESS)
        }
    }
}

/// The tables of `--out` and `--impacts`.
struct Tables {
    out: Option<Table>,
    impacts: Option<Table>,
}

impl Tables {
    fn new(arguments: &args::Run) -> Result<Tables> {
        if let (Some(out), Some(impacts)) = (&arguments.out, &arguments.impacts)
            && out == impacts
        {
            let message = format!("`--out` and `--impacts` both write `{}`", out.display());
            return Err(Diagnostic::new(message).with_help("give two names").into());
        }
        let table = |path: &Option<std::path::PathBuf>, option: &str, extensions: &[&str]| {
            let table = |path| Table::with_extensions(path, option, &arguments.model.model, extensions);
            path.as_deref().map(table).transpose()
        };
        let out = table(&arguments.out, "--out", &["csv", "parquet"])?;
        let tables = Tables { out, impacts: table(&arguments.impacts, "--impacts", &["csv"])? };
        if arguments.json && tables.take_output() {
            let message = "`--json` and a table cannot both go to the standard output";
            return Err(Diagnostic::new(message).with_help("give the table the name of a file").into());
        }
        Ok(tables)
    }

    /// True if a table goes to the standard output; the summary then goes to the standard error.
    fn take_output(&self) -> bool {
        [&self.out, &self.impacts].into_iter().flatten().any(|table| matches!(table, Table::Output))
    }

    /// Begins the file of `--out`.
    fn begin(&self, model: &Model, panel: Option<&Panel>) -> Result<Option<RowFile>> {
        let Some(Table::File(target)) = &self.out else { return Ok(None) };
        RowFile::begin(target, &rows::columns(model, panel)).map(Some)
    }

    fn write(&self, report: &Report, is_written: bool) -> Result<()> {
        if let Some(out) = self.out.as_ref().filter(|_| !is_written) {
            out.write(&report.csv())?;
        }
        self.impacts.as_ref().map_or(Ok(()), |impacts| impacts.write(&report.impacts_csv()))
    }

    fn written(&self) -> String {
        [&self.out, &self.impacts].into_iter().flatten().map(Table::written).collect()
    }
}

fn positive_interval(every: f64) -> Result<f64> {
    if every > 0.0 && every.is_finite() {
        return Ok(every);
    }
    Err(Diagnostic::new(format!("`--every` must be positive, not {every}")).into())
}
