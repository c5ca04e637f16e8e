//! Which steps a motion needs, and where.

use super::runner::Runner;
use crate::error::Result;
use crate::limits::{LOCAL_ERROR, ORDERLESS, ROUNDOFF, SCOUT_STEPS, SHORTEST};
use crate::run::{ErrorScale, Watcher};
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
    /// The order with which the local error falls there or shortly before, if it was seen.
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
    let begin = runner.start().z.t;
    let time = until - begin;
    let Some(mut state) = pair.start(time / SCOUT_STEPS) else { return Ok(None) };
    let allowed = (LOCAL_ERROR * tolerance).max(4.0 * ROUNDOFF);
    let power = 1.0 / (order + 1) as f64;
    let (mut h, mut steps) = (time / 64.0, 0.0);
    let mut found = Scouted { shortest: f64::INFINITY, at: begin, mean: time, order: None };
    // The length and the error of a step from here that was too long.
    let mut too_long = None::<(f64, f64)>;
    let mut order_here = None;
    for _ in 0..SCOUT_STEPS as usize {
        if state.z.t >= until || stop.wants_to_stop() {
            break;
        }
        let end = if state.z.t + 1.01 * h >= until { until } else { state.z.t + h };
        let (error, next) = match pair.step(&state, end) {
            Some((whole, halves)) => (local_error(whole, halves, scale), Some(halves.clone())),
            None => (f64::INFINITY, None),
        };
        let factor = 0.9 * (allowed / error.max(1e-3 * allowed)).powf(power);
        // What this step should have been, as far as the order tells.
        let needed = (end - state.z.t) * factor;
        match next {
            Some(next) if error <= allowed => {
                if needed < found.shortest && end < until {
                    (found.shortest, found.at) = (needed, state.z.t);
                    found.order = order_here;
                }
                too_long = None;
                (state, steps) = (next, steps + 1.0);
                h *= factor.clamp(0.5, 4.0);
            }
            _ => {
                // Of two steps from here that were too long; large errors tell no order.
                let tried = (end - state.z.t, error);
                if let Some((h, large)) = too_long.filter(|(_, large)| *large < ORDERLESS) {
                    order_here = Some((large / error).ln() / (h / tried.0).ln());
                }
                too_long = Some(tried);
                h *= factor.clamp(0.1, 0.8);
            }
        }
        if h < SHORTEST * (time + state.z.t.abs()) {
            (found.shortest, found.at, found.order) = (0.0, state.z.t, None);
            break;
        }
    }
    found.mean = (state.z.t - begin) / f64::max(steps, 1.0);
    Ok(Some(found).filter(|_| steps > 0.0))
}

/// The difference of two states relative to the size of the motion.
fn local_error(a: &State, b: &State, scale: &ErrorScale) -> f64 {
    let scales = scale.q.iter().chain(&scale.p);
    let relative = |((a, b), scale): ((&f64, &f64), &f64)| if a == b { 0.0 } else { (a - b).abs() / scale };
    let worst = a.z.z.iter().zip(&b.z.z).zip(scales).map(relative).fold(0.0, larger);
    if worst.is_finite() { worst } else { f64::INFINITY }
}
