//! Finds a step for a tolerance and estimates the error.
//!
//! The estimate has two parts. The error of the method is the difference between a run and one with every step in two halves. The
//! error of roundoff, which both share, is measured by disturbed runs ([`Roundoff`]). Both are relative to the size of the motion
//! ([`ErrorScale`]).

use super::departure::Departure;
use super::pilot::pilot;
use super::quiet::Quiet;
use super::reason::{Limit, Reason};
use super::roundoff::Roundoff;
use super::runner::{Plan, Runner};
use super::scale::{difference, scale_of};
use super::scout::{Scouted, passes, scout};
use crate::error::{Diagnostic, Error, Result};
use crate::limits::{
    COMPARED, COMPARED_TRIES, DISTURBED_BESIDE_FINER, DISTURBED_RUNS, FAR_BELOW, FINER, HOPELESS, MANY_STEPS,
    MEANINGLESS, MOST_SCOUTED, MOST_STEPS, MOST_WORK, MOST_WORK_OF_RUN, NEAR, NEGLIGIBLE, ORDERLESS, ROUNDOFF_SAFETY,
    SAME_FAILURES, TRIES, VERY_MANY_STEPS, WORK_OF_IMPACT,
};
use crate::run::{ErrorScale, Outcome, Status, Watcher};
use crate::solve::larger;

/// Steps and their estimated error.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// The steps that were found.
    pub(super) plan: Plan,
    /// The estimated error. None if a run did not complete.
    pub(super) estimate: Option<Estimate>,
    /// A warning for the user, if the tolerance was not reached.
    pub(super) warning: Option<Reason>,
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
    /// The finer run with which it was compared.
    pub(super) finer: Option<Outcome>,
}

impl Trial {
    /// Measures the error of roundoff by `runs` disturbed runs; by one, if roundoff is far below the error of the method.
    ///
    /// Where the length of steps is controlled, the finer run has other steps and so a roundoff of its own. If the disturbed runs
    /// differ by as much, it is one more of them, and fewer are enough.
    ///
    /// With equal steps two are enough, if even a much larger error would be far below the tolerance: that is the estimate then.
    pub(super) fn measure_roundoff(
        &mut self,
        runner: &mut Runner,
        runs: usize,
        tolerance: f64,
        stop: &dyn Watcher,
    ) -> Result<()> {
        let compared = (&self.outcome, &self.scale);
        let is_controlled = self.plan.control.is_some();
        let runs = if is_controlled { runs.min(DISTURBED_BESIDE_FINER) } else { runs };
        self.roundoff.measure(runner, self.plan, compared, 1, stop)?;
        if self.roundoff.error >= NEGLIGIBLE * self.error {
            self.roundoff.measure(runner, self.plan, compared, runs.min(2), stop)?;
            if !is_controlled && self.roundoff.is_settled_by_two(FAR_BELOW * tolerance) {
                return Ok(());
            }
            self.roundoff.measure(runner, self.plan, compared, runs, stop)?;
        }
        if is_controlled && self.roundoff.error >= self.error {
            self.roundoff.error = larger(self.roundoff.error, ROUNDOFF_SAFETY * self.error);
        }
        Ok(())
    }

    /// True if disturbed runs differ by more than roundoff: controlled steps pass kinks that are not located elsewhere.
    fn passes_kinks(&self, runner: &Runner) -> bool {
        self.plan.control.is_some() && runner.has_kinks()
    }

    /// True if roundoff explains the error, so that no step reduces it. Large errors say nothing by their size: there both runs
    /// must depart at the same time.
    pub(super) fn is_roundoff(&mut self, runner: &mut Runner, stop: &dyn Watcher) -> Result<bool> {
        if self.passes_kinks(runner) {
            return Ok(false);
        }
        self.measure_roundoff(runner, DISTURBED_RUNS / 2, 0.0, stop)?;
        let is_as_large = self.roundoff.error >= 0.3 * self.error || self.roundoff.error > ORDERLESS;
        Ok(is_as_large && (self.error <= ORDERLESS || Departure::of(runner, self, stop)?.is_roundoff()))
    }
}

/// Finds a step with which the final state, and the coordinates on the way, meet the tolerance. The search ends early if `stop`
/// asks for it, or if it can tell that no step will do: `chaos` measures whether the motion is chaotic, and then says why no
/// step meets the tolerance.
pub(super) fn tune(
    runner: &mut Runner,
    until: f64,
    order: usize,
    tolerance: f64,
    shortest: &Shortest,
    chaos: &dyn Fn() -> Option<Reason>,
    stop: &dyn Watcher,
) -> Result<Tuned> {
    let time = until - runner.start().z.t;
    let smallest = shortest.step;
    let (mut step, mut known) = pilot(runner, until, order, tolerance, shortest, stop)?;
    let mut verdict = None;
    if time / step > MANY_STEPS {
        verdict = Some(chaos());
        // Fewer steps tell, by the order of the method, whether so many are enough.
        if verdict.flatten().is_some() || time / step > VERY_MANY_STEPS {
            (step, known) = (step.max(time / MANY_STEPS), None);
        }
    }
    let mut stuck = Stuck { t: f64::NAN, count: 0 };
    let (mut best, mut previous) = (None::<Trial>, f64::INFINITY);
    let (mut scouted, mut tries, mut limit) = (None, Vec::new(), Limit::Tries(TRIES));
    for _ in 0..TRIES {
        let (plan, before) = (plan(step, until), runner.work());
        let (outcome, compared) = match known.take() {
            Some(Trial { outcome, error, scale, .. }) => (outcome, Some((error, scale))),
            None => {
                let mut quiet = Quiet::within(stop, MOST_WORK_OF_RUN / runner.work_of_step());
                let outcome = runner.run(plan, &mut [quiet.audience()])?;
                if quiet.is_spent() {
                    limit = Limit::Work(tries.len());
                    break;
                }
                (outcome, None)
            }
        };
        // A shorter step may have a solution where this one has none, and may detect a wall that this one missed.
        let fails = matches!(outcome.status, Status::Failed(_)) || outcome.missed.is_some();
        if fails && step > smallest && !is_too_much(runner, before, 2.0) && !stuck.sees(&outcome, step) {
            step = (0.5 * step).max(smallest);
            continue;
        }
        if outcome.status != Status::Completed {
            return Ok(Tuned::unknown(plan));
        }
        let trial = match compared {
            Some((error, scale)) => Trial { plan, outcome, error, scale, roundoff: Roundoff::default(), finer: None },
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
        if error > ORDERLESS
            && let Some(reason) = verdict.get_or_insert_with(chaos)
        {
            (best.roundoff.error, limit) = (larger(best.roundoff.error, reason.roundoff), Limit::Roundoff);
            break;
        }
        let stalls = error > 0.25 * previous;
        // Where the energy jumps, steps are too long: both the finer and the disturbed runs depart there, so they tell nothing. Shorter
        // steps tell whether the motion needs them.
        let jumps = error > ORDERLESS && best.outcome.energy.jump.is_some();
        if jumps && scouted.is_none() {
            scouted = Some(scout(runner, until, order, (tolerance, &best.scale), stop)?);
        }
        // The motion may need a shorter step for a short time: then no other error tells anything.
        let is_needed = |found: &Scouted| error > ORDERLESS && found.shortest < 0.7 * step;
        let is_too_long = jumps && scouted.flatten().as_ref().is_some_and(is_needed);
        // Shorter steps reduce neither an error that is roundoff nor roundoff that alone exceeds the tolerance.
        if !is_too_long
            && (stalls || error > ORDERLESS)
            && (best.is_roundoff(runner, stop)? || (error <= ORDERLESS && best.roundoff.error > tolerance))
        {
            limit = Limit::Roundoff;
            break;
        }
        if error > ORDERLESS && scouted.is_none() {
            scouted = Some(scout(runner, until, order, (tolerance, &best.scale), stop)?);
        }
        let needed = scouted.flatten().filter(is_needed);
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
        if step <= smallest || (error < ORDERLESS && predicted > MOST_STEPS) {
            // The order of the method predicts nothing where the shortest steps do not follow it.
            let is_known = observed.is_some() || step > smallest;
            limit = if is_known { Limit::Steps { predicted, order: falls } } else { Limit::Tries(tries.len()) };
            break;
        }
        previous = error;
        let factor = 0.8 * (tolerance / error).powf(1.0 / order as f64);
        // Where impacts are most of the work, much shorter steps cost little more, and one more try costs as much again.
        let is_work_of_impacts = WORK_OF_IMPACT * best.outcome.impacts as f64 > best.outcome.steps as f64;
        let next = (step * factor.clamp(0.05, if stalls || is_work_of_impacts { 0.5 } else { 0.9 })).max(smallest);
        let is_far = tries.len() > 2 && (stalls || error > NEAR * tolerance);
        if is_far && is_too_much(runner, before, step / next) {
            limit = Limit::Work(tries.len());
            break;
        }
        step = next;
    }
    match best {
        Some(best) => finish(runner, best, tolerance, (limit, order), stop),
        None if limit == Limit::Work(0) => Err(too_long(until, tolerance, step)),
        None => Ok(Tuned::unknown(plan(step, until))),
    }
}

/// True if one more try with `times` as many steps as the last one would exceed the work that a search may do. `before` is the work
/// that had been done before the last try.
fn is_too_much(runner: &Runner, before: f64, times: f64) -> bool {
    runner.work() + times * (runner.work() - before) > MOST_WORK
}

/// The error for a run that would take too long.
fn too_long(until: f64, tolerance: f64, step: f64) -> Error {
    let message = format!(
        "a run to t = {until:?} with the tolerance {tolerance:e} would take too long: it needs steps of {step:.1e} or less"
    );
    Diagnostic::new(message).with_help("give an earlier end time, a larger tolerance, or the step itself").into()
}

/// The result of a search whose best trial is known: measures the error of roundoff, and says why the tolerance was not met.
pub(super) fn finish(
    runner: &mut Runner,
    mut best: Trial,
    tolerance: f64,
    (mut limit, order): (Limit, usize),
    stop: &dyn Watcher,
) -> Result<Tuned> {
    best.measure_roundoff(runner, DISTURBED_RUNS, tolerance, stop)?;
    let (roundoff, missed) = (best.roundoff.error, best.outcome.missed);
    let error = larger(best.error, roundoff);
    let (mut warning, mut lost) = (None, None);
    if !stop.wants_to_stop() && (error.is_nan() || error > tolerance) {
        let is_alone =
            roundoff > tolerance && best.error <= ORDERLESS && matches!(limit, Limit::Work(_) | Limit::Tries(_));
        if best.error <= tolerance || is_alone {
            limit = if best.passes_kinks(runner) { Limit::Stalled } else { Limit::Roundoff };
        }
        let is_large = limit == Limit::Roundoff && roundoff > MEANINGLESS;
        let tenfold = if is_large { Departure::of(runner, &best, stop)?.tenfold_time() } else { None };
        let reason = Reason { limit, tolerance, order, step: best.plan.step, error, roundoff, tenfold };
        warning = Some(reason);
        let could_be_mended = match (limit, &best.outcome.energy.jump) {
            (Limit::Scouted(Scouted { shortest, .. }), _) => shortest > 0.0,
            (_, Some(jump)) if runner.is_conservative(&best.outcome) => {
                passes(runner, best.plan, jump, order, (tolerance, &best.scale), stop)?
            }
            _ => false,
        };
        lost = Some(best.outcome).filter(|_| !could_be_mended);
    }
    // The run with these steps has been looked at, and no wall is missed.
    let checkpoints = if missed.is_none() { 0 } else { best.plan.checkpoints };
    let plan = Plan { checkpoints, ..best.plan };
    let estimate = Some(Estimate { error, scale: best.scale });
    let is_slow = limit != Limit::Roundoff;
    let is_hopeless = !is_slow && roundoff > HOPELESS * tolerance;
    Ok(Tuned { plan, estimate, warning, lost, is_slow, is_hopeless, fails: false })
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
    let finer = runner.run_finer(plan, FINER, &mut [Quiet::new(stop).audience()])?;
    let mut error = apart(&finer);
    if runner.has_kinks() {
        error = larger(error, apart(&runner.run_otherwise(plan, FINER, &mut [Quiet::new(stop).audience()])?));
    }
    Ok(Trial { plan, outcome, error, scale, roundoff: Roundoff::default(), finer: Some(finer) })
}

pub(super) fn plan(step: f64, until: f64) -> Plan {
    Plan { step, until, checkpoints: COMPARED, ..Plan::default() }
}
