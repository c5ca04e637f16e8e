//! `carom optimize`.

mod object;
mod page;
mod restart;
mod table;

pub use page::with_controls;

use std::path::PathBuf;
use std::process::ExitCode;

use carom::lab::feedback::Through;
use carom::lab::optimize::{Progress, Verdict};
use carom::{Diagnostic, Result, Watcher};
use carom_report::file::Target;

use super::interrupt::Interrupt;
use super::{Table, feedback, keep_model, load, warn, with_options, written};
use crate::args;
use crate::output::{aside, print};
use crate::style;

/// Solves the control problem of a model and prints the answer.
pub fn optimize(arguments: &args::Optimize) -> Result<ExitCode> {
    check(arguments)?;
    let out = arguments.out.as_deref().map(|path| Table::new(path, "--out", &arguments.model.model)).transpose()?;
    let file = |path: &Option<PathBuf>, option: &str, extension: &str| {
        let target = path.as_deref().map(|path| Target::new(path, option, &[extension])).transpose()?;
        target.map(|target| keep_model(target, &arguments.model.model)).transpose()
    };
    let gains = file(&arguments.feedback, "--feedback", "json")?;
    let report = file(&arguments.report, "--report", "html")?;
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
        table::summary(&model, &answer, report.is_some()) + &files
    })?;
    warn(&model.warnings);
    for warning in &answer.warnings {
        aside(&style::warning(warning));
    }
    if let Some(target) = report.filter(|_| answer.status != Verdict::Failed) {
        if let Some(failure) = page::draw(&target, &model, &answer)? {
            aside(&style::warning(&format!("the report ends early: {failure}")));
        }
        aside(&style::note(&format!("the report is in {}", target.path().display())));
    }
    let is_done = matches!(answer.status, Verdict::Optimal | Verdict::Interrupted);
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(1) })
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
