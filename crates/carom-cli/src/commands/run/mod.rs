//! `carom run`.

mod energy;
mod picture;
mod record;
mod report;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use carom::error::{Diagnostic, Error, Result};
use carom::method::{DEFAULT, Method};
use carom::model::Model;
use carom::run::{Simulation, Status, Tuned};
use serde_json::Value;

use super::load;
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
    let begin = Instant::now();
    let mut simulation = Simulation::new(&model, &method, model.run.step.unwrap_or(until), until)?;
    if let Some(path) = &arguments.restart {
        restart(&mut simulation, path, &model)?;
    }
    simulation.every = arguments.every.map(positive_interval).transpose()?;
    let compile = begin.elapsed().as_secs_f64();
    let (tuned, record) = match model.run.step {
        Some(step) => {
            let mut record = Record::new(arguments, until);
            let outcome = simulation.run(&mut record)?;
            (Tuned { outcome, step, error: f64::NAN, warning: None }, record)
        }
        None => simulation.run_to_tolerance(model.run.tolerance, || Record::new(arguments, until))?,
    };
    record.finish();
    let seconds = [compile, begin.elapsed().as_secs_f64() - compile];
    let report = Report { model: &model, method: &method, until, record: &record, tuned: &tuned, seconds };
    if let Some(path) = &arguments.out {
        report.write_csv(path)?;
    }
    let with_nodes = arguments.nodes || arguments.every.is_some();
    print(&if arguments.json { report.json(with_nodes) + "\n" } else { report.summary() })?;
    if let Some(warning) = &tuned.warning {
        anstream::eprintln!("{}", style::warning(warning));
    }
    let drawn = pictures.draw(&mut simulation, &report, arguments.json);
    match tuned.outcome.status {
        Status::Failed(failure) => Err((*failure).into()),
        Status::Completed | Status::Stopped(_) | Status::Interrupted => drawn.map(|()| ExitCode::SUCCESS),
    }
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
    let Some(name) = &model.run.method else { return Method::named(DEFAULT, None) };
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
