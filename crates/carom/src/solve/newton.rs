//! When Newton's method stops, and what it says if there is no solution.

use super::larger;
use crate::limits::{LAST_CORRECTION, MAX_ITERATIONS, STAGNATION};

/// Decides when Newton's method has found a solution. With a correction dx that led to x, it has if
///
/// ```text
/// |dx| ≤ 10⁻⁹ |x|,   or   |dx| ≥ |dx of the last time|/2  and  |dx| ≤ 10⁻¹² max(|x|, unit)
/// ```
///
/// |·| is the largest entry, so that the rule does not depend on how many unknowns there are.
pub(crate) struct StopRule {
    unit: f64,
    previous: f64,
    /// How many corrections there were.
    pub(crate) iterations: usize,
}

impl StopRule {
    /// Roundoff of the unknowns is relative to `unit`, where they are smaller than it.
    pub(crate) fn new(unit: f64) -> StopRule {
        StopRule { unit, previous: f64::INFINITY, iterations: 0 }
    }

    /// True if the correction of the size `step`, which led to unknowns of the size `scale`, is the last.
    pub(crate) fn is_last(&mut self, step: f64, scale: f64) -> Solved<bool> {
        self.iterations += 1;
        if !(step.is_finite() && scale.is_finite()) {
            return Err(NoSolution::Diverged);
        }
        let size = scale.max(self.unit);
        let stagnates = step >= 0.5 * self.previous && step <= STAGNATION * size;
        if step <= LAST_CORRECTION * scale || stagnates {
            return Ok(true);
        }
        self.previous = step;
        match self.iterations < MAX_ITERATIONS {
            true => Ok(false),
            false if step <= LAST_CORRECTION * size => Ok(true),
            false => Err(NoSolution::Diverged),
        }
    }
}

/// The largest absolute entry; what is no number stays one.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| larger(largest, x.abs()))
}

/// What may have no solution.
pub type Solved<T> = std::result::Result<T, NoSolution>;

/// Newton's method found no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoSolution {
    /// The matrix ∂r/∂x cannot be inverted.
    Singular,
    /// The corrections do not become small.
    Diverged,
    /// The gap of a wall, or its rate, is not a number.
    NoGap,
    /// The constraints leave no motion away from a wall.
    Tangent,
    /// No impulse λ > 0 of a wall gives the energy that the impact rule asks for.
    NoImpulse,
    /// Impacts follow each other without an end at one instant.
    Accumulated,
    /// Walls that touch leave no way out.
    Squeezed,
}
