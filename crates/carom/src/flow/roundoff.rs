//! The roundoff of stage equations.

use super::iteration::Iteration;
use crate::phase::Phase;
use crate::solve::NoSolution;

/// The number of evaluations that tell the roundoff of f.
pub(super) const PROBES: usize = 2;
/// The states are disturbed by this, relative to them: about the roundoff of z0 + h·A·F.
const DISTURBANCE: f64 = 2.0 * f64::EPSILON;
/// A change is roundoff if it is no more than this many times the largest effect of a disturbance.
pub(super) const SAFETY: f64 = 8.0;

/// True if the last change D of F is roundoff in each component: of z0 and F themselves, or of the terms that add up to f. A
/// component that is zero by symmetry is roundoff of the others; no number of its own tells so.
#[cold]
pub(super) fn is_roundoff(iteration: &mut Iteration, z0: &Phase, h: f64) -> Result<bool, NoSolution> {
    let width = iteration.field.width;
    let mut roundoff = own(iteration, z0, h);
    for probe in 0..PROBES {
        disturb(iteration, z0, h, probe)?;
        let effects = roundoff.iter_mut().zip(iteration.residual.chunks(width));
        effects.for_each(|(roundoff, effect)| *roundoff = roundoff.max(SAFETY * largest(effect)));
    }
    Ok(iteration.change.chunks(width).zip(&roundoff).all(|(change, roundoff)| largest(change) <= *roundoff))
}

/// The roundoff of the rates by the numbers z0 and F themselves.
pub(super) fn own(iteration: &Iteration, z0: &Phase, h: f64) -> Vec<f64> {
    let rates = iteration.rates.chunks(iteration.field.width);
    z0.z.iter().zip(rates).map(|(z, rates)| DISTURBANCE * (z.abs() / h.abs() + largest(rates))).collect()
}

/// Writes to `residual` by how much f changes with the last bits of the states.
pub(super) fn disturb(iteration: &mut Iteration, z0: &Phase, h: f64, probe: usize) -> Result<(), NoSolution> {
    let width = iteration.field.width;
    iteration.place_states(z0, h);
    iteration.field.rates(&mut iteration.values)?;
    for (at, x) in iteration.field.states_mut().iter_mut().enumerate() {
        let (component, stage) = (at / width, at % width);
        let sign = if (component + stage + probe * (component / 2 + 1)).is_multiple_of(2) { 1.0 } else { -1.0 };
        *x += sign * DISTURBANCE * *x;
    }
    iteration.field.rates(&mut iteration.residual)?;
    iteration.residual.iter_mut().zip(iteration.values.iter()).for_each(|(disturbed, f)| *disturbed -= f);
    Ok(())
}

/// maxᵢ |xᵢ|.
pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}
