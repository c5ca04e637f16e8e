//! Finds the local tolerance with which controlled steps meet the tolerance of a run.

use super::quiet::Quiet;
use super::reason::Limit;
use super::runner::{Plan, Runner};
use super::tolerance::{FIRST_STEPS, Trial, Tuned, finish, try_out};
use crate::error::Result;
use crate::limits::{
    AT_REST, COMPARED, FINER, HOPELESS, LEAST_CONTROL, LOCAL_TOLERANCE, MANY_FROM_REST, MOST_CONTROLLED, ORDERLESS,
    TRIES,
};
use crate::run::{Outcome, Status, Watcher};
use crate::step::State;

/// Controlled steps that meet a tolerance, as far as can be told without a second run.
pub(super) fn quick_plan(state: &State, until: f64, tolerance: f64) -> Plan {
    let longest = (until - state.z.t) / FIRST_STEPS;
    Plan { step: longest, control: Some(LOCAL_TOLERANCE * tolerance), until, ..Plan::default() }
}

/// Finds a local tolerance with which the final state, and the coordinates on the way, meet the tolerance. Returns None if no
/// run completes, or if the run is too long for controlled steps: the energy of a long run needs steps of equal length.
pub(super) fn tune_controlled(
    runner: &mut Runner,
    until: f64,
    order: usize,
    tolerance: f64,
    stop: &dyn Watcher,
) -> Result<Option<Tuned>> {
    let mut plan = quick_plan(runner.start(), until, tolerance);
    plan.checkpoints = COMPARED;
    let (mut best, mut previous, mut stalls, mut limit) = (None::<Trial>, f64::INFINITY, 0, Limit::Stalled);
    // The run of the next try, if it has been made already.
    let mut known = None::<Outcome>;
    for _ in 0..TRIES {
        let outcome = match known.take() {
            Some(outcome) => outcome,
            None => runner.run(plan, &mut [Quiet::until(stop, MOST_CONTROLLED).audience()])?,
        };
        if outcome.steps >= MOST_CONTROLLED {
            return Ok(None);
        }
        if outcome.missed.is_some() {
            plan.step *= 0.5;
            continue;
        }
        match outcome.status {
            Status::Completed => {}
            Status::Failed(_) if best.is_some() => break,
            // Steps of equal length may succeed, or say why they do not.
            Status::Failed(_) => return Ok(Some(Tuned { fails: true, ..Tuned::unknown(plan) })),
            _ => return Ok(Some(Tuned::unknown(plan))),
        }
        let begins_at_rest = outcome.energy.first_kinetic <= AT_REST * outcome.energy.max_kinetic;
        if begins_at_rest && plan.kinetic == 0.0 && outcome.steps > MANY_FROM_REST {
            plan.kinetic = outcome.energy.max_kinetic;
            continue;
        }
        let mut trial = try_out(runner, plan, outcome, tolerance, stop)?;
        let (error, finer) = (trial.error, trial.finer.take());
        // Errors as large as the motion tell nothing: the smaller local error is better, unless the finer run failed. At kinks that
        // are not located any run may fail.
        let tells = error.is_finite() || runner.has_kinks();
        let is_better = |best: &Trial| error < best.error || (best.error > ORDERLESS && tells);
        if best.as_ref().is_none_or(is_better) {
            best = Some(trial);
        }
        if error <= tolerance || stop.wants_to_stop() {
            break;
        }
        let local = plan.control.unwrap_or(tolerance);
        let is_last = local <= LEAST_CONTROL;
        stalls = if error > 0.25 * previous { stalls + 1 } else { 0 };
        if let Some(best) = best.as_mut().filter(|_| stalls > 0 || is_last) {
            let is_roundoff = best.is_roundoff(runner, stop)?;
            limit = if is_roundoff { Limit::Roundoff } else { Limit::Stalled };
            // Smaller local errors no longer help.
            if is_last || stalls > 1 || (is_roundoff && best.roundoff.error > HOPELESS * tolerance) {
                break;
            }
        }
        previous = error;
        let wanted = (local * (0.3 * tolerance / error).clamp(1e-3, 0.3)).max(LEAST_CONTROL);
        match plan.finer(FINER).filter(|finer| finer.control <= Some(wanted)) {
            // The finer run is as good as the next try has to be.
            Some(finer_plan) => (plan, known) = (finer_plan, finer),
            None => (plan.control, plan.step) = (Some(wanted), 0.5 * plan.step),
        }
    }
    let Some(best) = best else { return Ok(None) };
    finish(runner, best, tolerance, (limit, order), stop).map(Some)
}
