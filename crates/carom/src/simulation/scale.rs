//! The size of a motion, and the difference between two runs relative to it.

use super::runner::{Plan, Runner};
use crate::limits::REST_TIME;
use crate::run::{ErrorScale, Outcome};
use crate::solve::larger;

/// For each coordinate, then for each momentum, the difference of its largest and its least value along a run.
pub(super) fn extents(outcome: &Outcome) -> impl Iterator<Item = f64> {
    outcome.bounds.iter().map(|[low, high, _]| high - low)
}

/// The size of the motion of a run.
pub(super) fn scale_of(runner: &Runner, plan: Plan, outcome: &Outcome, tolerance: f64) -> ErrorScale {
    let (start, z) = (&runner.start().z, &outcome.state.z);
    let n = start.q().len();
    let speed = (2.0 * outcome.energy.max_kinetic).sqrt();
    let step = match plan.control {
        Some(_) => (z.t - start.t) / outcome.steps.max(1) as f64,
        None => plan.step,
    };
    let roots = runner.evaluator().roots_of_inverse_mass(z);
    let mut scale: Vec<f64> = Vec::with_capacity(2 * n);
    for (i, [low, high, size]) in outcome.bounds.iter().enumerate() {
        let by_energy = match i < n {
            true => step * speed * roots[i],
            false if roots[i - n] > 0.0 => speed / roots[i - n],
            // A momentum that moves nothing, as along a quaternion, is roundoff.
            false => f64::INFINITY,
        };
        let by_roundoff = 2f64.powi(-50) * size / tolerance;
        scale.push((high - low).max(by_energy).max(by_roundoff));
    }
    let p = scale.split_off(n);
    ErrorScale { q: scale, p }
}

/// The difference between two runs relative to the size of the motion: of the final states and of the coordinates on the way,
/// because a motion at rest does not depend on its history. Nor does one after an impact without rebound, so that what impacts exchange,
/// about 4K of one body, is compared too, on average over the impacts; and the times at which rest began, with a lower weight because
/// accumulation points are extrapolated.
pub(super) fn difference(a: &Outcome, b: &Outcome, scale: &ErrorScale) -> f64 {
    let time = (b.state.z.t - a.state.z.t).abs().max(b.state.z.t.abs());
    let rest = match (a.first_rest, b.first_rest) {
        (Some(a), Some(b)) if time > 0.0 => REST_TIME * (a - b).abs() / time,
        _ => 0.0,
    };
    let exchanged = 4.0 * a.energy.max_kinetic * a.impacts.max(1) as f64;
    let impacts = relative(((&a.exchange, &b.exchange), &exchanged));
    let scales = scale.q.iter().chain(&scale.p);
    let ends = a.state.z.z.iter().zip(&b.state.z.z).zip(scales).map(relative);
    let worst = ends.chain(differences(a, b, scale)).fold(larger(rest, impacts), larger);
    if worst.is_finite() { worst } else { f64::INFINITY }
}

/// The difference of the coordinates of two runs at each checkpoint, relative to the size of the motion.
fn differences(a: &Outcome, b: &Outcome, scale: &ErrorScale) -> impl Iterator<Item = f64> {
    let n = scale.q.len();
    let rows = a.path.chunks(n).zip(b.path.chunks(n));
    rows.map(move |(a, b)| a.iter().zip(b).zip(&scale.q).map(relative).fold(0.0, larger))
}

fn relative(((a, b), scale): ((&f64, &f64), &f64)) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / scale }
}

/// The largest difference of the coordinates of two runs up to each checkpoint, relative to the size of the motion.
pub(super) fn growth(a: &Outcome, b: &Outcome, scale: &ErrorScale) -> Vec<f64> {
    let so_far = |most: &mut f64, apart: f64| {
        *most = larger(*most, apart);
        Some(*most)
    };
    differences(a, b, scale).scan(0.0, so_far).collect()
}
