//! Finds a step for a tolerance and estimates the error.

use super::runner::{Plan, Runner};
use crate::error::Result;
use crate::limits::{CHECKPOINTS, FINER, MEANINGLESS, MOST_STEPS, REST_TIME, TRIES};
use crate::run::{Audience, Outcome, Status, Watcher};
use crate::solve::larger;

/// A step and its estimated error.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    pub(super) step: f64,
    /// The estimated error, relative to 1 + |z|: the largest difference from a finer run, over the final state and the
    /// coordinates at the checkpoints. None if the run did not complete.
    pub(super) error: Option<f64>,
    /// A warning, if the tolerance was not reached.
    pub(super) warning: Option<String>,
}

/// Finds a step for which the errors of the final state and of the coordinates at the checkpoints are at most `tolerance`. The
/// search ends early if `stop` requests it.
pub(super) fn tune(runner: &mut Runner, until: f64, order: usize, tolerance: f64, stop: &dyn Watcher) -> Result<Tuned> {
    let smallest = (until - runner.start().z.t) / MOST_STEPS;
    let mut step = pilot(runner, until, order, tolerance, stop)?;
    let (mut previous, mut tries) = (f64::INFINITY, 0);
    loop {
        let plan = plan(step, until);
        let outcome = runner.run(plan, &mut [Quiet(stop).audience()])?;
        // A shorter step may have a solution, and may find the missed wall.
        let fails = matches!(outcome.status, Status::Failed(_)) || outcome.missed.is_some();
        if fails && tries < TRIES && step > smallest {
            (step, tries) = ((0.5 * step).max(smallest), tries + 1);
            continue;
        }
        if outcome.status != Status::Completed {
            return Ok(Tuned { step, error: None, warning: None });
        }
        let error = error_of(runner, plan, &outcome, stop)?;
        let stuck = error > 0.25 * previous || step <= smallest;
        if error <= tolerance || stuck || stop.wants_to_stop() {
            let warning = (error > tolerance).then(|| warning(error, tolerance, step <= smallest));
            return Ok(Tuned { step, error: Some(error), warning });
        }
        previous = error;
        let factor = 0.8 * (tolerance / error).powf(1.0 / order as f64);
        step = (step * factor.clamp(0.05, 0.9)).max(smallest);
    }
}

/// The estimated error of a run with a given step. None if the run does not complete.
pub(super) fn estimate(runner: &mut Runner, step: f64, until: f64, stop: &dyn Watcher) -> Result<Option<f64>> {
    let plan = plan(step, until);
    let outcome = runner.run(plan, &mut [Quiet(stop).audience()])?;
    if outcome.status != Status::Completed {
        return Ok(None);
    }
    error_of(runner, plan, &outcome, stop).map(Some)
}

/// The estimated error of a run: its difference from a finer run.
fn error_of(runner: &mut Runner, plan: Plan, outcome: &Outcome, stop: &dyn Watcher) -> Result<f64> {
    let finer = runner.run_finer(plan, FINER, &mut [Quiet(stop).audience()])?;
    let failed = matches!(finer.status, Status::Failed(_)) || finer.missed.is_some();
    Ok(if failed { f64::INFINITY } else { difference(outcome, &finer) })
}

fn plan(step: f64, until: f64) -> Plan {
    Plan { step, until, checkpoints: CHECKPOINTS }
}

/// A first guess of the step, from short runs with h and with every step in halves. Starts with a large h.
fn pilot(runner: &mut Runner, until: f64, order: usize, tolerance: f64, stop: &dyn Watcher) -> Result<f64> {
    let start = runner.start().z.t;
    let time = until - start;
    let smallest = time / MOST_STEPS;
    let mut h = time / 8.0;
    while h > smallest && !stop.wants_to_stop() {
        let end = (start + 16.0 * h).min(until);
        let part = (end - start) / time;
        let error = error_of_step(runner, h, end, stop)?;
        if error <= (tolerance * part).max(1e-14) {
            return Ok(h);
        }
        // Such a large error is outside the asymptotic range, so the order says nothing about the step.
        let factor = if error > 1e-3 { 0.5 } else { 0.9 * (tolerance * part / error).powf(1.0 / order as f64) };
        h *= factor.clamp(0.05, 0.9);
    }
    Ok(h.max(smallest))
}

fn error_of_step(runner: &mut Runner, h: f64, until: f64, stop: &dyn Watcher) -> Result<f64> {
    let plan = plan(h, until);
    let ends = [
        runner.run(plan, &mut [Quiet(stop).audience()])?,
        runner.run_finer(plan, FINER, &mut [Quiet(stop).audience()])?,
    ];
    let fails = |end: &Outcome| end.status != Status::Completed || end.missed.is_some();
    Ok(if ends.iter().any(fails) { f64::INFINITY } else { difference(&ends[0], &ends[1]) })
}

/// The largest difference of two runs, relative to 1 + |z|, over the final state and the coordinates at the checkpoints. A
/// final state at rest alone would hide earlier errors. The times at which rest begins are also compared, with a smaller weight
/// because they are extrapolated.
fn difference(a: &Outcome, b: &Outcome) -> f64 {
    let gap = |(a, b): (&f64, &f64)| (a - b).abs() / (1.0 + b.abs());
    let rest = match (a.first_rest, b.first_rest) {
        (Some(a), Some(b)) => REST_TIME * (a - b).abs(),
        _ => 0.0,
    };
    let pairs = a.state.z.z.iter().zip(&b.state.z.z).chain(a.path.iter().zip(&b.path));
    let worst = pairs.map(gap).fold(rest, larger);
    if worst.is_finite() { worst } else { f64::INFINITY }
}

/// Records nothing, and stops the run when the other watcher requests it.
struct Quiet<'a>(&'a dyn Watcher);

impl Quiet<'_> {
    fn audience(&mut self) -> Audience<'_> {
        Audience { watcher: self, every: None }
    }
}

impl Watcher for Quiet<'_> {
    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_nodes(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        self.0.wants_to_stop()
    }
}

fn warning(error: f64, tolerance: f64, too_many_steps: bool) -> String {
    let message = if error > MEANINGLESS {
        "the motion is chaotic over this time: the final state has no correct digits, averages may still be meaningful"
            .to_string()
    } else if too_many_steps {
        format!("the tolerance {tolerance:e} would take more than {MOST_STEPS:e} steps; use a method of higher order")
    } else {
        format!("the tolerance {tolerance:e} cannot be reached in double precision here")
    };
    format!("{message} (estimated error {error:.1e})")
}
