//! `carom run`.

mod account;
mod caution;
mod diagnostics;
mod energy;
mod object;
mod picture;
mod record;
mod report;
mod rest;
mod rows;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use carom::error::{Diagnostic, Error, Result};
use carom::method::{Method, default_for};
use carom::model::Model;
use carom::run::{CHECKPOINTS, Simulation, Status, Tuned};
use serde_json::Value;

use super::{load, warn, write};
use crate::args;
use crate::json::text;
use crate::output::print;
use crate::style;
use record::Record;
use report::Report;

/// Runs a model and tells what happened.
pub fn run(arguments: &args::Run) -> Result<ExitCode> {
    let pictures = picture::Pictures::new(&arguments.pictures)?;
    let model = load(&with_run_settings(arguments))?;
    let method = method(&model)?;
    let until = model
        .run
        .until
        .ok_or_else(|| Diagnostic::new("the run has no horizon").with_help("give `--until T`, or `until` in [run]"))?;
    note_constraints(&model)?;
    let begin = Instant::now();
    let mut simulation = Simulation::new(&model, &method, model.run.step.unwrap_or(until), until)?;
    if let Some(path) = &arguments.restart {
        restart(&mut simulation, path, &model)?;
    }
    simulation.every = arguments.every.map(positive_interval).transpose()?;
    refuse_diagnostics_of_samples(arguments)?;
    let compile = begin.elapsed().as_secs_f64();
    let (tuned, record) = simulate(&mut simulation, arguments, &model, &method)?;
    record.finish();
    let seconds = [compile, begin.elapsed().as_secs_f64() - compile];
    let report = Report { model: &model, method: &method, until, record: &record, tuned: &tuned, seconds };
    if let Some(path) = &arguments.out {
        write(path, &report.csv())?;
    }
    let with_nodes = arguments.nodes || arguments.every.is_some();
    print(&if arguments.json { report.json(with_nodes) + "\n" } else { report.summary() })?;
    let start = model.start()?;
    warn(&start.warnings);
    start.notes.iter().for_each(|note| anstream::eprintln!("{}", style::note(note)));
    let energy = caution::about_energy(&model, tuned.outcome.energy, record.kinetic, tuned.step);
    let walls = caution::about_walls(&model, tuned.outcome.missed, tuned.step);
    for warning in simulation.warnings.iter().chain(&tuned.warning).chain(&walls).chain(&energy) {
        anstream::eprintln!("{}", style::warning(warning));
    }
    let drawn = pictures.draw(&mut simulation, &report, arguments.json);
    match tuned.outcome.status {
        Status::Failed(failure) => Err((*failure).into()),
        Status::Completed | Status::Stopped(_) | Status::Zeno(_) | Status::Interrupted => {
            drawn.map(|()| ExitCode::SUCCESS)
        }
    }
}

/// Tells of a start that was moved, and of constraints that are known to fail.
fn note_constraints(model: &Model) -> Result<()> {
    if let Some([q, v]) = model.start()?.moved {
        let text = format!("the start was moved onto the constraints, q by {q:.3e}, v by {v:.3e}");
        anstream::eprintln!("{}", style::note(&text));
    }
    for (name, growth) in model.two_point_growth()? {
        let name = style::visible(&name);
        let text = format!("the two-point constraint `{name}` is for study: theory says that an error in it grows by");
        anstream::eprintln!("{}", style::warning(&format!("{text} a factor of {growth:.4} in each step at the start")));
    }
    Ok(())
}

/// Runs with the step of the model; without one, with a step for its tolerance.
fn simulate(
    simulation: &mut Simulation,
    arguments: &args::Run,
    model: &Model,
    method: &Method,
) -> Result<(Tuned, Record)> {
    let until = simulation.until;
    let panel = |step: f64| {
        let list = arguments.diagnostics.as_ref();
        list.map(|list| diagnostics::panel(list, model, method, step)).transpose()
    };
    if let Some(step) = model.run.step {
        let mut record = Record::new(arguments, until, panel(step)?);
        // Nodes that are nearer to each other see as much.
        let far = step * CHECKPOINTS as f64 > until - simulation.start().t;
        simulation.checkpoints = if far { CHECKPOINTS } else { 0 };
        let outcome = simulation.run(&mut record)?;
        return Ok((Tuned { outcome, step, error: f64::NAN, warning: None }, record));
    }
    // A mistake in the list is told before the long search.
    panel(until)?;
    let (mut tuned, mut record) =
        simulation.run_to_tolerance(model.run.tolerance, || Record::new(arguments, until, None))?;
    // H̃ is that of the step, which is known only now.
    if let Some(panel) = panel(tuned.step)? {
        record.finish();
        record = Record::new(arguments, until, Some(panel));
        simulation.step = tuned.step;
        tuned.outcome = simulation.run(&mut record)?;
    }
    Ok((tuned, record))
}

/// Diagnostics are numbers at the nodes: between them the steps are shorter, and so H̃ is another.
fn refuse_diagnostics_of_samples(arguments: &args::Run) -> Result<()> {
    if arguments.diagnostics.is_none() || arguments.every.is_none() {
        return Ok(());
    }
    let error = Diagnostic::new("diagnostics are at the nodes, not at the samples of `--every`");
    Err(error.with_help("leave out `--every`, and give `--nodes`").into())
}

/// `--method`, `--step` and `--until` are settings of `[run]`.
fn with_run_settings(arguments: &args::Run) -> args::Model {
    let mut settings = arguments.model.settings.clone();
    if let Some(method) = &arguments.method {
        settings.push(format!("run.method={}", text(method)));
    }
    // TOML writes `nan` where Rust writes `NaN`.
    let number = |x: f64| format!("{x:?}").to_lowercase();
    settings.extend(arguments.step.map(|step| format!("run.step={}", number(step))));
    settings.extend(arguments.until.map(|until| format!("run.until={}", number(until))));
    args::Model { model: arguments.model.model.clone(), settings }
}

fn method(model: &Model) -> Result<Method> {
    let Some(name) = &model.run.method else { return Method::named(default_for(model), None) };
    Method::named(name, model.run.alpha).map_err(|error| match error {
        Error::Model(diagnostic) => model.method_error(diagnostic.message, diagnostic.help.unwrap_or_default()),
        other => other,
    })
}

fn positive_interval(every: f64) -> Result<f64> {
    if every > 0.0 && every.is_finite() {
        return Ok(every);
    }
    Err(Diagnostic::new(format!("`--every` must be positive, not {every}")).into())
}

/// Goes on from the final state of an earlier run.
fn restart(simulation: &mut Simulation, path: &Path, model: &Model) -> Result<()> {
    let name = path.display();
    let wrong = |what: &str| Diagnostic::new(format!("cannot restart from `{name}`: {what}"));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e.to_string()))?;
    let run: Value = serde_json::from_str(&text).map_err(|e| wrong(&format!("it is not JSON ({e})")))?;
    let numbers = |key: &str| -> Option<Vec<f64>> {
        let list = run["final"][key].as_array()?;
        list.iter()
            .map(Value::as_f64)
            .collect::<Option<Vec<f64>>>()
            .filter(|x| x.len() == model.system.coordinates.len())
    };
    let (Some(t), Some(q), Some(p)) = (run["final"]["t"].as_f64(), numbers("q"), numbers("p")) else {
        return Err(wrong("it has no final state of this model; write one with `carom run --json`").into());
    };
    if t >= simulation.until {
        let help = format!("give a later `--until` than {t}");
        return Err(wrong(&format!("it ends at t = {t}, which is the horizon")).with_help(help).into());
    }
    simulation.resume(t, &q, &p);
    Ok(())
}
