//! `carom optimize`.

mod object;
mod restart;
mod table;

use std::path::Path;
use std::process::ExitCode;

use carom::lab::feedback::Through;
use carom::lab::model::Output;
use carom::lab::optimize::{Answer, Progress, Verdict};
use carom::{Diagnostic, Model, Result, Watcher};
use carom_report::file::Target;
use clap::Parser;

use super::interrupt::Interrupt;
use super::run;
use super::{Table, feedback, keep_model, load, warn, with_options, written};
use crate::args::{self, Arguments, Command};
use crate::output::{aside, print};
use crate::style;

/// Solves the control problem of a model and prints the answer.
pub fn optimize(arguments: &args::Optimize) -> Result<ExitCode> {
    check(arguments)?;
    let out = arguments.out.as_deref().map(|path| Table::new(path, "--out", &arguments.model.model)).transpose()?;
    let gains = arguments.feedback.as_deref().map(|path| gains_file(path, &arguments.model.model)).transpose()?;
    let page = arguments.report.as_ref().map(|path| run_arguments(&arguments.model.model, path)).transpose()?;
    let model = load(&with_options(&arguments.model, &[("--method", &arguments.method)]))?;
    let mut problem =
        model.optimize().tolerance(arguments.tolerance).iterations(arguments.iterations).tries(arguments.tries);
    if let Some(tolerance) = arguments.refine {
        problem = problem.refine(tolerance);
    }
    if let Some(path) = &arguments.restart {
        let (found, steps) = restart::read(path, &model)?;
        problem = problem.restart(found, steps);
    }
    let interrupt = Interrupt::new();
    let mut lines = Lines::new(!arguments.json);
    let answer = problem.watch(&mut |progress| {
        lines.show(progress);
        interrupt.wants_to_stop()
    })?;
    if let Some(out) = &out {
        out.write(&table::csv(&model, &answer))?;
    }
    let mut files = out.iter().map(Table::written).collect::<String>();
    if let Some(target) = gains.filter(|_| answer.status == Verdict::Optimal) {
        let design = answer.design(&model, Through::Impact)?;
        target.write(feedback::write(&model, &answer, &design).as_bytes())?;
        files += &written(&target);
    }
    print(&if arguments.json {
        object::json(&model, &answer) + "\n"
    } else {
        table::summary(&model, &answer, page.is_some()) + &files
    })?;
    warn(&model.warnings);
    for warning in &answer.warnings {
        aside(&style::warning(warning));
    }
    if let Some(run_arguments) = page.filter(|_| answer.status != Verdict::Failed) {
        report(&run_arguments, &model, &answer)?;
    }
    let is_done = matches!(answer.status, Verdict::Optimal | Verdict::Interrupted);
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The file of `--feedback`.
fn gains_file(path: &Path, model: &str) -> Result<Target> {
    keep_model(Target::new(path, "--feedback", &["json"])?, model)
}

fn check(arguments: &args::Optimize) -> Result<()> {
    for (option, value) in [("--tolerance", Some(arguments.tolerance)), ("--refine", arguments.refine)] {
        if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
            return Err(Diagnostic::new(format!("`{option}` must be positive, not {value}")).into());
        }
    }
    if arguments.tries == 0 {
        return Err(Diagnostic::new("`--tries` must be at least 1").into());
    }
    Ok(())
}

/// The iterations, on standard error.
struct Lines {
    is_shown: bool,
    count: usize,
}

impl Lines {
    fn new(is_shown: bool) -> Lines {
        Lines { is_shown, count: 0 }
    }

    fn show(&mut self, progress: &Progress) {
        if !self.is_shown {
            return;
        }
        if self.count == 0 {
            anstream::eprintln!(
                "{:>5} {:>20} {:>12} {:>12} {:>15}",
                "",
                "cost",
                "feasibility",
                "optimality",
                "complementarity"
            );
        }
        self.count += 1;
        let Progress { iteration, objective, feasibility, optimality, complementarity, is_restoring } = progress;
        let mark = if *is_restoring { "r" } else { " " };
        let row = format!(
            "{iteration:>4}{mark} {objective:>20.10} {feasibility:>12.2e} {optimality:>12.2e} {complementarity:>15.2e}"
        );
        anstream::eprintln!("{row}");
    }
}

/// The arguments of a `carom run` that draws the report.
fn run_arguments(model: &str, path: &std::path::Path) -> Result<args::Run> {
    let words = ["carom".into(), "run".into(), model.into(), "--report".into(), path.as_os_str().to_owned()];
    let wrong = |e: clap::Error| Diagnostic::new(e.to_string());
    match Arguments::try_parse_from::<_, std::ffi::OsString>(words).map_err(wrong)?.command {
        Command::Run(arguments) => Ok(arguments),
        _ => Err(Diagnostic::new("the report cannot be drawn").into()),
    }
}

/// The model with its controls as outputs.
pub fn with_controls(model: &Model) -> Model {
    let mut model = model.clone();
    let controls = model.problem.controls.clone();
    model.outputs.extend(controls.into_iter().map(|control| Output { name: control.name, value: control.symbol }));
    model
}

/// Runs the model with the controls found, which are outputs of that run, and draws it.
fn report(arguments: &args::Run, model: &Model, answer: &Answer) -> Result<()> {
    let model = with_controls(model);
    let start = &answer.found.nodes[0];
    let simulation = model.simulation().method(&answer.method).controls(answer.settings());
    let simulation = simulation.start_at(start.t, &start.q, &start.p).until(answer.t_end()).step(2.0 * answer.t_end());
    run::report(arguments, &model, &simulation)?;
    if let Some(path) = &arguments.pictures.report {
        aside(&style::note(&format!("the report is in {}", path.display())));
    }
    Ok(())
}
