//! The estimated error of runs whose steps are known.

use super::quiet::Quiet;
use super::runner::{Plan, Runner};
use super::tolerance::{Estimate, plan, try_out};
use crate::error::Result;
use crate::limits::{CHECKPOINTS, DISTURBED_RUNS};
use crate::run::{Status, Watcher};
use crate::solve::larger;

/// The estimated error of a run with a given step. None if the run does not complete.
pub(super) fn estimate(
    runner: &mut Runner,
    step: f64,
    until: f64,
    tolerance: f64,
    stop: &dyn Watcher,
) -> Result<Option<Estimate>> {
    estimate_of(runner, plan(step, until), tolerance, stop)
}

/// The estimated error of a run with given steps. None if the run does not complete.
pub(super) fn estimate_of(
    runner: &mut Runner,
    plan: Plan,
    tolerance: f64,
    stop: &dyn Watcher,
) -> Result<Option<Estimate>> {
    let plan = Plan { checkpoints: CHECKPOINTS, ..plan };
    let outcome = runner.run(plan, &mut [Quiet::new(stop).audience()])?;
    if outcome.status != Status::Completed {
        return Ok(None);
    }
    let mut trial = try_out(runner, plan, outcome, tolerance, stop)?;
    trial.measure_roundoff(runner, DISTURBED_RUNS, tolerance, stop)?;
    Ok(Some(Estimate { error: larger(trial.error, trial.roundoff.error), scale: trial.scale }))
}
