//! Which steps a motion needs, and where.

use super::quiet::Quiet;
use super::runner::{Pair, Plan, Runner};
use crate::error::Result;
use crate::limits::{LOCAL_ERROR, ROUNDOFF, SCOUT_SAFETY, SCOUT_STEPS, SHORTEST};
use crate::run::{ErrorScale, Jump, Watcher};
use crate::solve::larger;
use crate::step::State;

/// The steps that a motion needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scouted {
    /// The shortest step that it needs.
    pub(super) shortest: f64,
    /// When it needs that.
    pub(super) at: f64,
    /// The mean step.
    pub(super) mean: f64,
    /// The order with which the local error falls there, if such steps have solutions.
    pub(super) order: Option<f64>,
}

/// Follows the motion with steps of different lengths: each as long as its local error allows, which is the difference to the same
/// step in two halves. Unlike a run with equal steps this is cheap where a motion is fast for a short time only. None if steps
/// cannot be halved. If that takes too many of them, only a part of the motion is seen.
pub(super) fn scout(
    runner: &mut Runner,
    until: f64,
    order: usize,
    (tolerance, scale): (f64, &ErrorScale),
    stop: &dyn Watcher,
) -> Result<Option<Scouted>> {
    let Some(mut pair) = runner.pair()? else { return Ok(None) };
    let Some(state) = pair.start((until - runner.start().z.t) / SCOUT_STEPS) else { return Ok(None) };
    Ok(follow(&mut pair, state, until, order, (tolerance, scale), stop).0)
}

/// True if shorter steps pass where a run with equal steps jumps in energy, and no energy jumps then. They begin at the node before the
/// jump.
pub(super) fn passes(
    runner: &mut Runner,
    plan: Plan,
    jump: &Jump,
    order: usize,
    compared: (f64, &ErrorScale),
    stop: &dyn Watcher,
) -> Result<bool> {
    let begin = jump.t - plan.step;
    let before = match begin > runner.start().z.t {
        true => Some(runner.run(Plan { until: begin, checkpoints: 0, ..plan }, &mut [Quiet::new(stop).audience()])?),
        false => None,
    };
    let Some(mut pair) = runner.pair()? else { return Ok(false) };
    let state = match before {
        Some(before) => Some(pair.go_on(before.state)),
        None => pair.start(plan.step / SCOUT_STEPS),
    };
    let Some(state) = state else { return Ok(false) };
    let (found, end) = follow(&mut pair, state, jump.t, order, compared, stop);
    let is_passed = found.is_some_and(|found| found.shortest > 0.0) && end.z.t >= jump.t;
    let energies = |state: &State| {
        let mut evaluator = runner.evaluator();
        let energy = evaluator.energy(&state.z)?;
        evaluator.hamiltonian_and_power(&state.z).map(|(_, power)| (energy, 0.5 * power.abs()))
    };
    let jumps = |(energy, kinetic): (f64, f64)| Jump::is_one(energy - jump.before, jump.kinetic, kinetic);
    Ok(is_passed && energies(&end).is_ok_and(|after| !jumps(after)))
}

/// Follows the motion from a state. Returns what it needs, if a step was made, and how far it was followed.
fn follow(
    pair: &mut Pair,
    mut state: State,
    until: f64,
    order: usize,
    (tolerance, scale): (f64, &ErrorScale),
    stop: &dyn Watcher,
) -> (Option<Scouted>, State) {
    let begin = state.z.t;
    let time = until - begin;
    let allowed = (LOCAL_ERROR * tolerance).max(4.0 * ROUNDOFF);
    let power = 1.0 / (order + 1) as f64;
    let (mut h, mut steps) = (time / 64.0, 0.0);
    let mut found = Scouted { shortest: f64::INFINITY, at: begin, mean: time, order: None };
    // Where the shortest step begins.
    let mut hardest = None;
    for _ in 0..SCOUT_STEPS as usize {
        if state.z.t >= until || stop.wants_to_stop() {
            break;
        }
        let end = if state.z.t + 1.01 * h >= until { until } else { state.z.t + h };
        let (error, next) = match pair.step(&state, end) {
            Some((whole, halves)) => (local_error(whole, halves, scale), Some(halves.clone())),
            None => (f64::INFINITY, None),
        };
        let factor = SCOUT_SAFETY * (allowed / error.max(1e-3 * allowed)).powf(power);
        // What this step should have been, as far as the order tells.
        let needed = (end - state.z.t) * factor;
        match next {
            Some(next) if error <= allowed => {
                let is_shortest = needed < found.shortest && end < until;
                let from = std::mem::replace(&mut state, next);
                if is_shortest {
                    (found.shortest, found.at) = (needed, from.z.t);
                    hardest = Some(from);
                }
                steps += 1.0;
                h *= factor.clamp(0.5, 4.0);
            }
            _ => h *= factor.clamp(0.1, 0.8),
        }
        if h < SHORTEST * (time + state.z.t.abs()) {
            (found.shortest, found.at) = (0.0, state.z.t);
            break;
        }
    }
    if let Some(from) = hardest.filter(|_| found.shortest > 0.0) {
        found.order = local_order(pair, &from, found.shortest / SCOUT_SAFETY, scale);
    }
    found.mean = (state.z.t - begin) / f64::max(steps, 1.0);
    (Some(found).filter(|_| steps > 0.0), state)
}

/// The order with which the local error from a state falls, from a step that is just allowed, and one twice as long. Longer ones, as
/// those across a whole close encounter, tell no order.
fn local_order(pair: &mut Pair, from: &State, h: f64, scale: &ErrorScale) -> Option<f64> {
    let mut error = |h: f64| {
        let (whole, halves) = pair.step(from, from.z.t + h)?;
        Some(local_error(whole, halves, scale))
    };
    let (short, long) = (error(h)?, error(2.0 * h)?);
    Some((long / short).log2())
}

/// The difference of two states relative to the size of the motion.
fn local_error(a: &State, b: &State, scale: &ErrorScale) -> f64 {
    let scales = scale.q.iter().chain(&scale.p);
    let relative = |((a, b), scale): ((&f64, &f64), &f64)| if a == b { 0.0 } else { (a - b).abs() / scale };
    let worst = a.z.z.iter().zip(&b.z.z).zip(scales).map(relative).fold(0.0, larger);
    if worst.is_finite() { worst } else { f64::INFINITY }
}
