//! Finds a step for a tolerance and estimates the error.
//!
//! The estimate has two parts. The error of the method is the difference between a run and one with every step in two halves. The
//! error of roundoff, which both share, is measured by disturbed runs ([`Roundoff`]). Both are relative to the size of the motion
//! ([`ErrorScale`]).

use super::departure::Departure;
use super::reason::{Limit, Reason};
use super::roundoff::Roundoff;
use super::runner::{Plan, Runner};
use super::scale::{difference, extents, scale_of};
use super::scout::{Scouted, scout};
use super::short::longest;
use crate::error::{Diagnostic, Result};
use crate::limits::{
    CHECKPOINTS, COMPARED_TRIES, DISTURBED_RUNS, FINER, HOPELESS, MEANINGLESS, MOST_SCOUTED, MOST_STEPS, NEGLIGIBLE,
    ORDERLESS, SAME_FAILURES, TRIES, UNMOVED,
};
use crate::run::{Audience, ErrorScale, Outcome, Status, Watcher};
use crate::solve::larger;
use crate::step::StepLog;

/// Steps and their estimated error.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// The steps that were found.
    pub(super) plan: Plan,
    /// The estimated error. None if a run did not complete.
    pub(super) estimate: Option<Estimate>,
    /// A warning for the user, if the tolerance was not reached.
    pub(super) warning: Option<String>,
    /// The best run, if it did not meet the tolerance and no shorter step that the search knows of would.
    pub(super) lost: Option<Outcome>,
    /// True if shorter steps, and not roundoff, might have reached the tolerance.
    pub(super) is_slow: bool,
    /// True if roundoff is so large that no other steps will reach the tolerance.
    pub(super) is_hopeless: bool,
    /// True if the run with these steps fails.
    pub(super) fails: bool,
}

impl Tuned {
    /// Steps with which no run completes.
    pub(super) fn unknown(plan: Plan) -> Tuned {
        let (is_slow, is_hopeless, fails) = (false, false, false);
        Tuned { plan, estimate: None, warning: None, lost: None, is_slow, is_hopeless, fails }
    }
}

/// The shortest step that is tried.
pub(super) struct Shortest {
    pub(super) step: f64,
    /// The largest window of `mhc`, if a shorter step would make it larger; else there would be too many steps.
    pub(super) nodes: Option<f64>,
}

/// The first step that is tried is this part of the time.
pub(super) const FIRST_STEPS: f64 = 8.0;

/// So many shorter steps that are no better end the search for a first step.
const PILOT_STALLS: usize = 5;

/// The estimated error of a run: the largest over the coordinates and momenta of the final state and the coordinates on the way.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    pub(super) error: f64,
    pub(super) scale: ErrorScale,
}

/// A step that was tried.
pub(super) struct Trial {
    pub(super) plan: Plan,
    outcome: Outcome,
    /// The error of the method.
    pub(super) error: f64,
    pub(super) scale: ErrorScale,
    pub(super) roundoff: Roundoff,
}

impl Trial {
    /// Measures the error of roundoff by so many disturbed runs; by one, if roundoff is far below the error of the method.
    pub(super) fn measure_roundoff(&mut self, runner: &mut Runner, runs: usize, stop: &dyn Watcher) -> Result<()> {
        let compared = (&self.outcome, &self.scale);
        self.roundoff.measure(runner, self.plan, compared, 1, stop)?;
        if self.roundoff.error >= NEGLIGIBLE * self.error {
            self.roundoff.measure(runner, self.plan, compared, runs, stop)?;
        }
        Ok(())
    }

    /// True if roundoff explains the error, so that no step reduces it. Large errors say nothing by their size: there both runs
    /// must depart at the same time.
    pub(super) fn is_roundoff(&mut self, runner: &mut Runner, stop: &dyn Watcher) -> Result<bool> {
        self.measure_roundoff(runner, DISTURBED_RUNS / 2, stop)?;
        let is_as_large = self.roundoff.error >= 0.3 * self.error || self.roundoff.error > ORDERLESS;
        Ok(is_as_large && (self.error <= ORDERLESS || Departure::of(runner, self, stop)?.is_roundoff()))
    }
}

/// Finds a step with which the final state, and the coordinates on the way, meet the tolerance. The search ends early if `stop`
/// asks for it, or if it can tell that no step will do.
pub(super) fn tune(
    runner: &mut Runner,
    until: f64,
    order: usize,
    tolerance: f64,
    shortest: &Shortest,
    stop: &dyn Watcher,
) -> Result<Tuned> {
    let time = until - runner.start().z.t;
    let smallest = shortest.step;
    let (mut step, mut known) = pilot(runner, until, order, tolerance, shortest, stop)?;
    let mut stuck = Stuck { t: f64::NAN, count: 0 };
    let (mut best, mut previous, mut work) = (None::<Trial>, f64::INFINITY, 0.0);
    let (mut scouted, mut tries, mut limit) = (None, Vec::new(), Limit::Tries(TRIES));
    for _ in 0..TRIES {
        let plan = plan(step, until);
        let (outcome, compared) = match known.take() {
            Some(Trial { outcome, error, scale, .. }) => (outcome, Some((error, scale))),
            None => (runner.run(plan, &mut [Quiet::new(stop).audience()])?, None),
        };
        work += outcome.steps as f64;
        // A shorter step may have a solution where this one has none, and may detect a wall that this one missed.
        let fails = matches!(outcome.status, Status::Failed(_)) || outcome.missed.is_some();
        if fails && step > smallest && work < MOST_STEPS && !stuck.sees(&outcome, step) {
            step = (0.5 * step).max(smallest);
            continue;
        }
        if outcome.status != Status::Completed {
            return Ok(Tuned::unknown(plan));
        }
        let trial = match compared {
            Some((error, scale)) => Trial { plan, outcome, error, scale, roundoff: Roundoff::default() },
            None => try_out(runner, plan, outcome, tolerance, stop)?,
        };
        let error = trial.error;
        let best = match best.take() {
            // Errors as large as the motion tell nothing: the shorter step is better.
            Some(known) if known.error <= error && known.error <= ORDERLESS => best.insert(known),
            _ => best.insert(trial),
        };
        if error <= tolerance || stop.wants_to_stop() {
            break;
        }
        tries.push((step, error));
        let stalls = error > 0.25 * previous;
        if (stalls || error > ORDERLESS) && best.is_roundoff(runner, stop)? {
            limit = Limit::Roundoff;
            break;
        }
        if error > ORDERLESS && scouted.is_none() {
            scouted = Some(scout(runner, until, order, (tolerance, &best.scale), stop)?);
        }
        // The motion may need a shorter step for a short time: then no other error tells anything.
        let needed = scouted.flatten().filter(|found| error > ORDERLESS && found.shortest < 0.7 * step);
        if let Some(found) = needed {
            if time / found.shortest > MOST_SCOUTED {
                limit = Limit::Scouted(found);
                break;
            }
            (step, previous) = (found.shortest, f64::INFINITY);
            continue;
        }
        let observed = observed_order(&tries);
        let falls = observed.unwrap_or(order as f64);
        let predicted = time / (step * (tolerance / error).powf(1.0 / falls));
        if step <= smallest || work > MOST_STEPS || (error < ORDERLESS && predicted > MOST_STEPS) {
            // The order of the method predicts nothing where the shortest steps do not follow it.
            let is_known = observed.is_some() || (step > smallest && work <= MOST_STEPS);
            limit = if is_known { Limit::Steps { predicted, order: falls } } else { Limit::Tries(tries.len()) };
            break;
        }
        previous = error;
        let factor = 0.8 * (tolerance / error).powf(1.0 / order as f64);
        step = (step * factor.clamp(0.05, if stalls { 0.5 } else { 0.9 })).max(smallest);
    }
    match best {
        Some(best) => finish(runner, best, tolerance, (limit, order), stop),
        None => Ok(Tuned::unknown(plan(step, until))),
    }
}

/// The result of a search whose best trial is known: measures the error of roundoff, and says why the tolerance was not met.
pub(super) fn finish(
    runner: &mut Runner,
    mut best: Trial,
    tolerance: f64,
    (mut limit, order): (Limit, usize),
    stop: &dyn Watcher,
) -> Result<Tuned> {
    best.measure_roundoff(runner, DISTURBED_RUNS, stop)?;
    let roundoff = best.roundoff.error;
    let error = larger(best.error, roundoff);
    let (mut warning, mut lost) = (None, None);
    if !stop.wants_to_stop() && (error.is_nan() || error > tolerance) {
        if best.error <= tolerance {
            limit = Limit::Roundoff;
        }
        let is_large = limit == Limit::Roundoff && roundoff > MEANINGLESS;
        let tenfold = if is_large { Departure::of(runner, &best, stop)?.tenfold_time() } else { None };
        let reason = Reason { limit, tolerance, order, step: best.plan.step, error, roundoff, tenfold };
        warning = Some(reason.to_string());
        let could_be_mended = matches!(limit, Limit::Scouted(Scouted { shortest, .. }) if shortest > 0.0);
        lost = Some(best.outcome).filter(|_| !could_be_mended);
    }
    let estimate = Some(Estimate { error, scale: best.scale });
    let (is_slow, is_hopeless) = (limit != Limit::Roundoff, roundoff > HOPELESS * tolerance);
    Ok(Tuned { plan: best.plan, estimate, warning, lost, is_slow, is_hopeless, fails: false })
}

/// Failures of runs with shorter and shorter steps.
struct Stuck {
    /// The time of the last failure.
    t: f64,
    /// How many in a row were at that time, to a step.
    count: usize,
}

impl Stuck {
    /// Notes a failure, or a wall that was missed; true if so many shorter steps came no further that the step is not the cause.
    fn sees(&mut self, outcome: &Outcome, step: f64) -> bool {
        let t = match (&outcome.status, outcome.missed) {
            (Status::Failed(failure), _) => failure.t,
            (_, Some(missed)) => missed.t,
            _ => f64::NAN,
        };
        self.count = if (t - self.t).abs() <= 2.0 * step { self.count + 1 } else { 0 };
        self.t = t;
        self.count >= SAME_FAILURES
    }
}

/// The order with which errors fall, from the last tries. None if they are too few or too close.
fn observed_order(tries: &[(f64, f64)]) -> Option<f64> {
    let last = tries.len().checked_sub(COMPARED_TRIES).map(|from| &tries[from..])?;
    let ((long, large), (short, small)) = (last[0], last[COMPARED_TRIES - 1]);
    let order = (large / small).ln() / (long / short).ln();
    (large < 0.1 && long > 4.0 * short && order > 0.0 && order.is_finite()).then_some(order)
}

/// Compares a run with a finer one; where kinks are not located, also with one whose steps end elsewhere.
pub(super) fn try_out(
    runner: &mut Runner,
    plan: Plan,
    outcome: Outcome,
    tolerance: f64,
    stop: &dyn Watcher,
) -> Result<Trial> {
    let scale = scale_of(runner, plan, &outcome, tolerance);
    let apart = |other: &Outcome| match matches!(other.status, Status::Failed(_)) || other.missed.is_some() {
        true => f64::INFINITY,
        false => difference(&outcome, other, &scale),
    };
    let mut error = apart(&runner.run_finer(plan, FINER, &mut [Quiet::new(stop).audience()])?);
    if runner.has_kinks() {
        error = larger(error, apart(&runner.run_otherwise(plan, FINER, &mut [Quiet::new(stop).audience()])?));
    }
    Ok(Trial { plan, outcome, error, scale, roundoff: Roundoff::default() })
}

pub(super) fn plan(step: f64, until: f64) -> Plan {
    Plan { step, until, checkpoints: CHECKPOINTS, ..Plan::default() }
}

/// Finds a first step: compares short runs with h and h/2, beginning with a large h. If they were not shorter than the whole run,
/// they need not be made again.
fn pilot(
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
    let reach = reach(runner, h, stop)?;
    // The step with the smallest error so far, and how many shorter ones were no better.
    let (mut best, mut stalls) = ((h, f64::INFINITY), 0);
    while h > smallest && !stop.wants_to_stop() {
        let end = (start + 16.0 * h).min(until);
        let trial = trial_of_step(runner, plan(h, end), tolerance, &reach, stop)?;
        let error = trial.as_ref().map_or(f64::INFINITY, |trial| trial.error);
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
    for k in 0..=16 {
        let step = h * 0.1f64.powi(k);
        let plan = Plan { step, until: start.t + step, ..Plan::default() };
        if plan.until <= start.t {
            break;
        }
        let whole = runner.run(plan, &mut [Quiet::new(stop).audience()])?;
        let halves = runner.run_finer(plan, FINER, &mut [Quiet::new(stop).audience()])?;
        if whole.status != Status::Completed || halves.status != Status::Completed {
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

/// A watcher that ignores all output, and asks to stop when the wrapped watcher does or after a number of steps.
pub(super) struct Quiet<'a> {
    stop: &'a dyn Watcher,
    left: usize,
}

impl<'a> Quiet<'a> {
    /// Stops when `stop` does.
    pub(super) fn new(stop: &'a dyn Watcher) -> Quiet<'a> {
        Quiet::until(stop, usize::MAX)
    }

    /// Stops also after so many steps.
    pub(super) fn until(stop: &'a dyn Watcher, steps: usize) -> Quiet<'a> {
        Quiet { stop, left: steps }
    }

    pub(super) fn audience(&mut self) -> Audience<'_> {
        Audience { watcher: self, every: None }
    }
}

impl Watcher for Quiet<'_> {
    fn step(&mut self, _log: &StepLog) {
        self.left = self.left.saturating_sub(1);
    }

    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_nodes(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        self.left == 0 || self.stop.wants_to_stop()
    }
}
