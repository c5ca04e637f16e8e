//! `carom run`.

mod account;
mod diagnostics;
mod energy;
mod object;
mod picture;
mod record;
mod report;
mod rest;
mod resume;
mod rows;

use std::process::ExitCode;
use std::time::Instant;

use carom::{Audience, Diagnostic, Result, Status};

use super::{Table, load};
use crate::args;
use crate::json::text;
use crate::output::print;
use crate::style;
use record::{Interrupt, Record};
use report::Report;

/// Runs a model and prints the results.
pub fn run(arguments: &args::Run) -> Result<ExitCode> {
    let pictures = picture::Pictures::new(&arguments.pictures)?;
    let table = arguments.out.as_deref().map(|path| Table::new(path, &arguments.model.model)).transpose()?;
    let model = load(&with_run_settings(arguments))?;
    let mut simulation = model.simulation().look_for_walls();
    if let Some(path) = &arguments.restart {
        simulation = resume::resume(simulation, path, &model)?;
    }
    let every = arguments.every.map(positive_interval).transpose()?;
    refuse_diagnostics_of_samples(arguments)?;
    // Report a mistake in the list before the search for a step.
    if let Some(list) = &arguments.diagnostics {
        diagnostics::check(list)?;
    }
    let begin = Instant::now();
    let interrupt = Interrupt::new();
    let ready = simulation.prepare_unless(&interrupt)?;
    for note in ready.notes() {
        anstream::eprintln!("{}", style::note(&style::visible(&note)));
    }
    let list = arguments.diagnostics.as_ref();
    let panel = list.map(|list| diagnostics::panel(list, &model, ready.method(), ready.step())).transpose()?;
    let mut record = Record::new(arguments, ready.begin(), ready.until(), panel, interrupt);
    let mut album = pictures.album(&model, &ready)?;
    let mut audience = vec![Audience { watcher: &mut record, every }];
    if let Some(album) = &mut album {
        audience.extend(album.audience());
    }
    let outcome = ready.show(&mut audience)?;
    record.finish();
    let compile = ready.compile_seconds;
    let seconds = [compile, begin.elapsed().as_secs_f64() - compile];
    let (method, until) = (ready.method(), ready.until());
    let report = Report { model: &model, method, until, record: &record, outcome: &outcome, seconds };
    if let Some(table) = &table {
        table.write(&report.csv())?;
    }
    let with_nodes = arguments.nodes || arguments.every.is_some();
    print(&if arguments.json { report.json(with_nodes) + "\n" } else { report.summary() })?;
    for warning in &outcome.warnings {
        anstream::eprintln!("{}", style::warning(warning));
    }
    let drawn = pictures.draw(album, &report, arguments.json);
    match outcome.status {
        Status::Failed(failure) => Err((*failure).into()),
        Status::Completed | Status::Stopped(_) | Status::Zeno(_) | Status::Interrupted => {
            drawn.map(|()| ExitCode::SUCCESS)
        }
    }
}

/// Diagnostics are defined only at the nodes: steps to samples are shorter, and H̃ depends on the step.
fn refuse_diagnostics_of_samples(arguments: &args::Run) -> Result<()> {
    if arguments.diagnostics.is_none() || arguments.every.is_none() {
        return Ok(());
    }
    let error = Diagnostic::new("diagnostics are computed at the nodes, not at the samples of `--every`");
    Err(error.with_help("replace `--every` by `--nodes`").into())
}

/// `--method`, `--step` and `--until` are settings of `[run]`.
fn with_run_settings(arguments: &args::Run) -> args::Model {
    let mut settings = arguments.model.settings.clone();
    if let Some(method) = &arguments.method {
        settings.push(format!("run.method={}", text(method)));
    }
    // Rust formats NaN as `NaN`, but TOML expects `nan`.
    let number = |x: f64| format!("{x:?}").to_lowercase();
    settings.extend(arguments.step.map(|step| format!("run.step={}", number(step))));
    settings.extend(arguments.until.map(|until| format!("run.until={}", number(until))));
    args::Model { model: arguments.model.model.clone(), settings }
}

fn positive_interval(every: f64) -> Result<f64> {
    if every > 0.0 && every.is_finite() {
        return Ok(every);
    }
    Err(Diagnostic::new(format!("`--every` must be positive, not {every}")).into())
}
