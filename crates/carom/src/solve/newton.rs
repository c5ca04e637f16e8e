//! The stopping rule of Newton's method, and reasons for failure.

use super::larger;
use crate::limits::{LAST_CORRECTION, MAX_ITERATIONS, STAGNATION};

/// Decides when Newton's method has converged. After a correction dx that led to x, it has if
///
/// ```text
/// |dx| ≤ 10⁻⁹ |x|,   or   |dx| ≥ |dx of the last time|/2  and  |dx| ≤ 10⁻¹² max(|x|, unit)
/// ```
///
/// |·| is the maximum norm, so the rule does not depend on the number of unknowns.
pub(crate) struct StopRule {
    unit: f64,
    previous: f64,
    /// The number of corrections so far.
    pub(crate) iterations: usize,
}

impl StopRule {
    /// `unit` is the scale of roundoff for unknowns that are smaller.
    pub(crate) fn new(unit: f64) -> StopRule {
        StopRule { unit, previous: f64::INFINITY, iterations: 0 }
    }

    /// True if the correction of size `step`, which led to unknowns of size `scale`, is the last one.
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

/// The largest absolute entry. Propagates NaN.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| larger(largest, x.abs()))
}

/// The result of equations that may have no solution.
pub type Solved<T> = std::result::Result<T, NoSolution>;

/// The reason why there is no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoSolution {
    /// The Jacobian ∂r/∂x is singular.
    Singular,
    /// The corrections do not decrease.
    Diverged,
    /// The gap of a wall, or its rate, is not a number.
    NoGap,
    /// The constraints block the normal direction of a wall.
    Tangent,
    /// No impulse λ > 0 meets the energy condition of the impact rule.
    NoImpulse,
    /// Impacts accumulate, and the motion cannot come to rest.
    Accumulated,
    /// Touching walls leave no admissible motion.
    Squeezed,
}
