//! Finds a step for a tolerance and estimates the error.
//!
//! The estimate has two parts. The error of the method is the difference between a run and one with every step in two halves. The
//! error of roundoff, which both share, is three times the larger difference to two runs with one unit of roundoff more in
//! every step. Both are relative to the size of the motion ([`ErrorScale`]).

use super::runner::{Plan, Runner};
use crate::error::{Diagnostic, Result};
use crate::limits::{CHECKPOINTS, FINER, MEANINGLESS, MOST_STEPS, REST_TIME, ROUNDOFF_SAFETY, TRIES, UNMOVED};
use crate::phase::Phase;
use crate::run::{Audience, ErrorScale, Outcome, Status, Watcher};
use crate::solve::larger;

/// A step and its estimated error.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// The step that was found.
    pub(super) step: f64,
    /// The estimated error. None if a run did not complete.
    pub(super) estimate: Option<Estimate>,
    /// A warning for the user, if the tolerance was not reached.
    pub(super) warning: Option<String>,
}

/// The estimated error of a run: the largest over the coordinates and momenta of the final state and the coordinates on the way.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    pub(super) error: f64,
    pub(super) scale: ErrorScale,
}

/// A step that was tried.
struct Trial {
    plan: Plan,
    outcome: Outcome,
    /// The error of the method.
    error: f64,
    scale: ErrorScale,
}

/// Finds a step with which the final state, and the coordinates on the way, meet the tolerance. The search ends early if `stop`
/// asks for it.
pub(super) fn tune(runner: &mut Runner, until: f64, order: usize, tolerance: f64, stop: &dyn Watcher) -> Result<Tuned> {
    let smallest = (until - runner.start().z.t) / MOST_STEPS;
    let (mut step, mut known) = pilot(runner, until, order, tolerance, stop)?;
    let (mut best, mut previous, mut work) = (None::<Trial>, f64::INFINITY, 0.0);
    for _ in 0..TRIES {
        let plan = plan(step, until);
        let (outcome, compared) = match known.take() {
            Some(Trial { outcome, error, scale, .. }) => (outcome, Some((error, scale))),
            None => (runner.run(plan, &mut [Quiet(stop).audience()])?, None),
        };
        work += outcome.steps as f64;
        // A shorter step may have a solution where this one has none, and may detect a wall that this one missed.
        let fails = matches!(outcome.status, Status::Failed(_)) || outcome.missed.is_some();
        if fails && step > smallest && work < MOST_STEPS {
            step = (0.5 * step).max(smallest);
            continue;
        }
        if outcome.status != Status::Completed {
            return Ok(Tuned { step, estimate: None, warning: None });
        }
        let trial = match compared {
            Some((error, scale)) => Trial { plan, outcome, error, scale },
            None => try_out(runner, plan, outcome, tolerance, stop)?,
        };
        let error = trial.error;
        if best.as_ref().is_none_or(|best| error < best.error) {
            best = Some(trial);
        }
        // A finer run takes as long as two others.
        let is_last = error <= tolerance || step <= smallest || work > MOST_STEPS || stop.wants_to_stop();
        if is_last || (error > 0.25 * previous && is_roundoff(runner, best.as_ref(), stop)?) {
            break;
        }
        let stalls = error > 0.25 * previous;
        previous = error;
        let factor = 0.8 * (tolerance / error).powf(1.0 / order as f64);
        step = (step * factor.clamp(0.05, if stalls { 0.5 } else { 0.9 })).max(smallest);
    }
    let Some(best) = best else { return Ok(Tuned { step, estimate: None, warning: None }) };
    let roundoff = roundoff(runner, &best, stop)?;
    let error = larger(best.error, roundoff);
    let cause = || warning(&best, roundoff, tolerance, best.plan.step <= smallest || work > MOST_STEPS);
    let warning = (!stop.wants_to_stop() && (error.is_nan() || error > tolerance)).then(cause);
    Ok(Tuned { step: best.plan.step, estimate: Some(Estimate { error, scale: best.scale }), warning })
}

/// The estimated error of a run with a given step. None if the run does not complete.
pub(super) fn estimate(
    runner: &mut Runner,
    step: f64,
    until: f64,
    tolerance: f64,
    stop: &dyn Watcher,
) -> Result<Option<Estimate>> {
    let plan = plan(step, until);
    let outcome = runner.run(plan, &mut [Quiet(stop).audience()])?;
    if outcome.status != Status::Completed {
        return Ok(None);
    }
    let trial = try_out(runner, plan, outcome, tolerance, stop)?;
    let error = larger(trial.error, roundoff(runner, &trial, stop)?);
    Ok(Some(Estimate { error, scale: trial.scale }))
}

/// Compares a run with a finer one.
fn try_out(runner: &mut Runner, plan: Plan, outcome: Outcome, tolerance: f64, stop: &dyn Watcher) -> Result<Trial> {
    let finer = runner.run_finer(plan, FINER, &mut [Quiet(stop).audience()])?;
    let failed = matches!(finer.status, Status::Failed(_)) || finer.missed.is_some();
    let scale = scale_of(runner, plan, &outcome, tolerance);
    let error = if failed { f64::INFINITY } else { difference(&outcome, &finer, &scale) };
    Ok(Trial { plan, outcome, error, scale })
}

/// The error of roundoff in a run.
fn roundoff(runner: &mut Runner, trial: &Trial, stop: &dyn Watcher) -> Result<f64> {
    let mut largest = 0.0;
    for seed in [0, 1] {
        if let Some(other) = runner.run_disturbed(trial.plan, seed, &mut [Quiet(stop).audience()])?
            && !stop.wants_to_stop()
        {
            let failed = other.status != trial.outcome.status;
            let apart = if failed { f64::INFINITY } else { difference(&trial.outcome, &other, &trial.scale) };
            largest = larger(largest, apart);
        }
    }
    Ok(ROUNDOFF_SAFETY * largest)
}

/// True if roundoff explains the error of the best trial, so that no step reduces it.
fn is_roundoff(runner: &mut Runner, best: Option<&Trial>, stop: &dyn Watcher) -> Result<bool> {
    let Some(best) = best else { return Ok(false) };
    Ok(roundoff(runner, best, stop)? >= 0.3 * best.error)
}

fn plan(step: f64, until: f64) -> Plan {
    Plan { step, until, checkpoints: CHECKPOINTS }
}

/// Finds a first step: compares short runs with h and h/2, beginning with a large h. If they were not shorter than the whole run,
/// they need not be made again.
fn pilot(
    runner: &mut Runner,
    until: f64,
    order: usize,
    tolerance: f64,
    stop: &dyn Watcher,
) -> Result<(f64, Option<Trial>)> {
    let start = runner.start().z.t;
    let time = until - start;
    let smallest = time / MOST_STEPS;
    let reach = reach(runner, time / 8.0, stop)?;
    let mut h = time / 8.0;
    while h > smallest && !stop.wants_to_stop() {
        let end = (start + 16.0 * h).min(until);
        let part = (end - start) / time;
        let trial = trial_of_step(runner, plan(h, end), tolerance, &reach, stop)?;
        let error = trial.as_ref().map_or(f64::INFINITY, |trial| trial.error);
        if error <= (tolerance * part).max(1e-14) {
            return Ok((h, trial.filter(|_| end == until)));
        }
        // For such large errors the order of the method gives no information about the right step.
        let factor = if error > 1e-3 { 0.5 } else { 0.9 * (tolerance * part / error).powf(1.0 / order as f64) };
        h *= factor.clamp(0.05, 0.9);
    }
    if stop.wants_to_stop() {
        return Ok((h.max(smallest), None));
    }
    let message =
        format!("a run to t = {until:?} with the tolerance {tolerance:e} would take more than {MOST_STEPS:e} steps");
    Err(Diagnostic::new(message).with_help("give an earlier end time, a larger tolerance, or the step itself").into())
}

/// How far single steps of different lengths, up to h, move each component of the state.
fn reach(runner: &mut Runner, h: f64, stop: &dyn Watcher) -> Result<Vec<f64>> {
    let start = runner.start().z.clone();
    let mut reach = vec![0.0; start.z.len()];
    for k in 0..=16 {
        let step = h * 0.1f64.powi(k);
        let plan = Plan { step, until: start.t + step, checkpoints: 0 };
        if plan.until <= start.t {
            break;
        }
        let outcome = runner.run(plan, &mut [Quiet(stop).audience()])?;
        if outcome.status == Status::Completed {
            let moved = outcome.state.z.z.iter().zip(&start.z).map(|(a, b)| (a - b).abs());
            reach.iter_mut().zip(moved).for_each(|(most, moved)| *most = f64::max(*most, moved));
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
    let outcome = runner.run(plan, &mut [Quiet(stop).audience()])?;
    // Where the solver gives back what it was given, two runs agree on a motion that is none.
    let moves = |(extent, reach): (f64, &f64)| extent >= UNMOVED * reach && *reach > 0.0;
    let is_unmoved =
        reach.iter().any(|reach| *reach > 0.0) && !extents(&outcome, &runner.start().z).zip(reach).any(moves);
    if outcome.status != Status::Completed || outcome.missed.is_some() || is_unmoved {
        return Ok(None);
    }
    try_out(runner, plan, outcome, tolerance, stop).map(Some)
}

/// For each coordinate, then for each momentum, the difference of its largest and its least value along a run.
fn extents<'a>(outcome: &'a Outcome, start: &'a Phase) -> impl Iterator<Item = f64> + 'a {
    columns(outcome, start).map(|(low, high, _)| high - low)
}

/// For each component of the state its least, largest and largest absolute value along a run.
fn columns<'a>(outcome: &'a Outcome, start: &'a Phase) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
    let n = start.q().len();
    (0..2 * n).map(move |i| {
        let path = if i < n { outcome.path.iter().skip(i) } else { outcome.momenta.iter().skip(i - n) };
        let values = path.step_by(n).chain([&start.z[i], &outcome.state.z.z[i]]).filter(|x| !x.is_nan());
        values.fold((f64::INFINITY, f64::NEG_INFINITY, 0.0), |(low, high, size), &x| {
            (low.min(x), high.max(x), f64::max(size, x.abs()))
        })
    })
}

/// The size of the motion of a run.
fn scale_of(runner: &Runner, plan: Plan, outcome: &Outcome, tolerance: f64) -> ErrorScale {
    let (start, z) = (&runner.start().z, &outcome.state.z);
    let n = start.q().len();
    let speed = (2.0 * outcome.energy.max_kinetic).sqrt();
    let (mut evaluator, mut moved) = (runner.evaluator(), z.clone());
    let before = evaluator.velocity(z).map(<[f64]>::to_vec).unwrap_or(vec![0.0; n]);
    let mut scale: Vec<f64> = Vec::with_capacity(2 * n);
    // √(M⁻¹)ᵢᵢ, by a small change of each momentum.
    let mut root = |i: usize| {
        let change = Some(z.p()[i].abs()).filter(|p| *p > 0.0).unwrap_or(1.0);
        moved.copy_from(z);
        moved.p_mut()[i] += change;
        let after = evaluator.velocity(&moved).map_or(before[i], |v| v[i]);
        ((after - before[i]) / change).max(0.0).sqrt()
    };
    let roots: Vec<f64> = (0..n).map(&mut root).collect();
    for (i, (low, high, size)) in columns(outcome, start).enumerate() {
        let by_energy = match i < n {
            true => plan.step * speed * roots[i],
            false if roots[i - n] > 0.0 => speed / roots[i - n],
            false => 0.0,
        };
        let by_roundoff = 2f64.powi(-50) * size / tolerance;
        scale.push((high - low).max(by_energy).max(by_roundoff));
    }
    let p = scale.split_off(n);
    ErrorScale { q: scale, p }
}

/// The difference between two runs relative to the size of the motion: of the final states and of the coordinates on the way,
/// because a motion at rest does not depend on its history. Also compares the times at which rest began, with a lower weight
/// because accumulation points are extrapolated.
fn difference(a: &Outcome, b: &Outcome, scale: &ErrorScale) -> f64 {
    let time = (b.state.z.t - a.state.z.t).abs().max(b.state.z.t.abs());
    let rest = match (a.first_rest, b.first_rest) {
        (Some(a), Some(b)) if time > 0.0 => REST_TIME * (a - b).abs() / time,
        _ => 0.0,
    };
    let n = scale.q.len();
    let scales = scale.q.iter().chain(&scale.p);
    let ends = a.state.z.z.iter().zip(&b.state.z.z).zip(scales);
    let path = a.path.iter().zip(&b.path).enumerate().map(|(k, pair)| (pair, &scale.q[k % n]));
    let relative = |((a, b), scale): ((&f64, &f64), &f64)| if a == b { 0.0 } else { (a - b).abs() / scale };
    let worst = ends.chain(path).map(relative).fold(rest, larger);
    if worst.is_finite() { worst } else { f64::INFINITY }
}

/// A watcher that ignores all output but still asks to stop when the wrapped watcher does.
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

/// Why the tolerance was not reached.
fn warning(best: &Trial, roundoff: f64, tolerance: f64, too_many_steps: bool) -> String {
    let error = larger(best.error, roundoff);
    let message = if roundoff > MEANINGLESS {
        "the motion is chaotic over this time: roundoff grows until the final state has no correct digits; averages may still \
         be meaningful"
            .to_string()
    } else if roundoff > tolerance {
        format!("the tolerance {tolerance:e} cannot be reached in double precision: roundoff grows to {roundoff:.1e}")
    } else if too_many_steps {
        format!("the tolerance {tolerance:e} would take more than {MOST_STEPS:e} steps; use a method of higher order")
    } else {
        let step = best.plan.step;
        format!(
            "no step met the tolerance {tolerance:e} in {TRIES} tries, the best is {step:.2e}: the motion may be stiff, or a \
             force may have a kink"
        )
    };
    format!("{message} (estimated error {error:.1e})")
}
