//! The first step that is tried for a tolerance.

use super::quiet::Quiet;
use super::runner::{Plan, Runner};
use super::scale::extents;
use super::short::longest;
use super::tolerance::{Shortest, Trial, plan, try_out};
use crate::error::{Diagnostic, Result};
use crate::limits::{FINER, MOST_PILOT_WORK, MOST_STEPS, ORDERLESS, UNMOVED};
use crate::run::{Status, Watcher};

/// The search for a first step ends after this number of shorter steps that are no better.
const PILOT_STALLS: usize = 5;
/// So does it after this number of steps that fail after long work.
const COSTLY_FAILURES: usize = 3;

/// Finds a first step: compares short runs with h and h/2, beginning with a large h. If they were not shorter than the whole run,
/// they need not be made again.
pub(super) fn pilot(
    runner: &mut Runner,
    until: f64,
    order: usize,
    tolerance: f64,
    shortest: &Shortest,
    stop: &dyn Watcher,
) -> Result<(f64, Option<Trial>)> {
    let start = runner.start().z.t;
    let time = until - start;
    let smallest = shortest.step;
    let mut h = longest(runner.short(), time);
    if start + h <= start || h <= smallest {
        let message = format!("the time from t = {start:?} to t = {until:?} is too short to be divided into steps");
        return Err(Diagnostic::new(message).with_help("give a later end time").into());
    }
    let before = runner.work();
    let reach = reach(runner, h, stop)?;
    // The step with the smallest error so far, and how many shorter ones were no better.
    let (mut best, mut stalls, mut costly) = ((h, f64::INFINITY), 0, 0);
    while h > smallest && !stop.wants_to_stop() {
        let end = (start + 16.0 * h).min(until);
        let trial = trial_of_step(runner, plan(h, end), tolerance, &reach, stop)?;
        let error = trial.as_ref().map_or(f64::INFINITY, |trial| trial.error);
        // A much shorter step sees less of the motion, and may not fail. If it does, the whole run tells why.
        if trial.is_none() && runner.work() - before > MOST_PILOT_WORK {
            costly += 1;
            if costly == COSTLY_FAILURES {
                return Ok((h, None));
            }
            h = (0.1 * h).max(smallest);
            continue;
        }
        // Relative to the extent of the short run, which grows with its length as the error does.
        if error <= tolerance.max(1e-14) {
            return Ok((h, trial.filter(|_| end == until)));
        }
        (best, stalls) = if error < 0.5 * best.1 { ((h, error), 0) } else { (best, stalls + 1) };
        // What hardly moves at the start has few correct digits there, with any step: the whole run shows more.
        if best.1 < ORDERLESS && stalls >= PILOT_STALLS {
            return Ok(((best.0 * (tolerance / best.1).powf(1.0 / order as f64)).max(smallest), None));
        }
        // For such large errors the order of the method gives no information about the right step.
        let factor = if error > 1e-3 { 0.5 } else { 0.9 * (tolerance / error).powf(1.0 / order as f64) };
        h *= factor.clamp(0.05, 0.9);
    }
    if stop.wants_to_stop() {
        return Ok((h.max(smallest), None));
    }
    let why = match shortest.nodes {
        None => format!("more than {MOST_STEPS:e} steps"),
        Some(most) => format!("a window of `mhc` with more than {most:e} nodes"),
    };
    let message = format!("a run to t = {until:?} with the tolerance {tolerance:e} would take {why}");
    Err(Diagnostic::new(message).with_help("give an earlier end time, a larger tolerance, or the step itself").into())
}

/// How far single steps of different lengths, up to h, move each component of the state. Steps that their halves contradict are left
/// out: a step that is much too long may end anywhere.
fn reach(runner: &mut Runner, h: f64, stop: &dyn Watcher) -> Result<Vec<f64>> {
    let start = runner.start().z.clone();
    let mut reach = vec![0.0; start.z.len()];
    let before = runner.work();
    for k in 0..=16 {
        let step = h * 0.1f64.powi(k);
        let plan = Plan { step, until: start.t + step, ..Plan::default() };
        if plan.until <= start.t {
            break;
        }
        let whole = runner.run(plan, &mut [Quiet::new(stop).audience()])?;
        let halves = runner.run_finer(plan, FINER, &mut [Quiet::new(stop).audience()])?;
        if whole.status != Status::Completed || halves.status != Status::Completed {
            if runner.work() - before > MOST_PILOT_WORK {
                break;
            }
            continue;
        }
        let ends = whole.state.z.z.iter().zip(&halves.state.z.z).zip(&start.z);
        for (most, ((a, b), z)) in reach.iter_mut().zip(ends) {
            let moved = (a - z).abs();
            if (a - b).abs() <= 0.5 * moved {
                *most = f64::max(*most, moved);
            }
        }
    }
    Ok(reach)
}

/// A trial of a step; none if the run fails or does not move.
fn trial_of_step(
    runner: &mut Runner,
    plan: Plan,
    tolerance: f64,
    reach: &[f64],
    stop: &dyn Watcher,
) -> Result<Option<Trial>> {
    let outcome = runner.run(plan, &mut [Quiet::new(stop).audience()])?;
    // Where the solver gives back what it was given, two runs agree on a motion that is none.
    let moves = |(extent, reach): (f64, &f64)| extent >= UNMOVED * reach && *reach > 0.0;
    let is_unmoved = reach.iter().any(|reach| *reach > 0.0) && !extents(&outcome).zip(reach).any(moves);
    if outcome.status != Status::Completed || outcome.missed.is_some() || is_unmoved {
        return Ok(None);
    }
    try_out(runner, plan, outcome, tolerance, stop).map(Some)
}
