//! Finds the local tolerance with which controlled steps meet the tolerance of a run.

use super::reason::Limit;
use super::runner::{Plan, Runner};
use super::tolerance::{Quiet, Trial, Tuned, finish, try_out};
use crate::error::Result;
use crate::limits::{CHECKPOINTS, LEAST_CONTROL, LOCAL_TOLERANCE, MOST_CONTROLLED, TRIES};
use crate::run::{Status, Watcher};

/// What controlled steps can do for a run.
pub(super) enum Controlled {
    /// They make the run, to the tolerance or with a warning.
    Tuned(Box<Tuned>),
    /// The run fails with these.
    Failed(Plan),
    /// The run is too long for them: the energy of a long run needs steps of equal length.
    TooLong,
}

/// Finds a local tolerance with which the final state, and the coordinates on the way, meet the tolerance.
pub(super) fn tune_controlled(
    runner: &mut Runner,
    until: f64,
    order: usize,
    tolerance: f64,
    stop: &dyn Watcher,
) -> Result<Controlled> {
    let longest = (until - runner.start().z.t) / 8.0;
    let mut plan = Plan { step: longest, control: Some(LOCAL_TOLERANCE * tolerance), until, checkpoints: CHECKPOINTS };
    let (mut best, mut previous, mut stalls) = (None::<Trial>, f64::INFINITY, 0);
    for _ in 0..TRIES {
        let mut quiet = Quiet::until(stop, MOST_CONTROLLED);
        let outcome = runner.run(plan, &mut [quiet.audience()])?;
        if outcome.steps >= MOST_CONTROLLED {
            return Ok(Controlled::TooLong);
        }
        if outcome.missed.is_some() {
            plan.step *= 0.5;
            continue;
        }
        match outcome.status {
            Status::Completed => {}
            Status::Failed(_) if best.is_some() => break,
            Status::Failed(_) => return Ok(Controlled::Failed(plan)),
            _ => return Ok(Controlled::Tuned(Box::new(Tuned::unknown(plan)))),
        }
        let trial = try_out(runner, plan, outcome, tolerance, stop)?;
        let error = trial.error;
        if best.as_ref().is_none_or(|best| error < best.error) {
            best = Some(trial);
        }
        let local = plan.control.unwrap_or(tolerance);
        if error <= tolerance || local <= LEAST_CONTROL || stop.wants_to_stop() {
            break;
        }
        // Smaller local errors no longer help.
        stalls = if error > 0.25 * previous { stalls + 1 } else { 0 };
        if stalls > 1 {
            break;
        }
        previous = error;
        plan.control = Some((local * (0.3 * tolerance / error).clamp(1e-3, 0.3)).max(LEAST_CONTROL));
        plan.step *= 0.5;
    }
    let Some(mut best) = best else { return Ok(Controlled::Failed(plan)) };
    let limit = if stalls > 1 && best.is_roundoff(runner, stop)? { Limit::Roundoff } else { Limit::Tries };
    finish(runner, best, tolerance, (limit, order), stop).map(|tuned| Controlled::Tuned(Box::new(tuned)))
}
