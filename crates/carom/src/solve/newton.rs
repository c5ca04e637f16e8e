//! The stopping rule of Newton's method, and reasons for failure.

use super::larger;
use crate::limits::{LAST_CORRECTION, MAX_ITERATIONS, NOTHING, RESIDUAL_ROUNDOFF, STAGNATION};

/// Decides when Newton's method has converged, in any units: each unknown is compared with itself, and each residual with the sum
/// sᵢ of its absolute terms. It has if
///
/// ```text
/// |dxᵢ| ≤ 10⁻⁹ |xᵢ| for all i,   or   |rᵢ| ≤ 2·10⁻¹⁵ sᵢ for all i,   or   maxᵢ |rᵢ|/sᵢ ≤ 10⁻¹² no longer decreases
/// ```
///
/// An unknown that is roundoff of other terms never meets the first condition; its residual meets one of the others.
#[derive(Default)]
pub(crate) struct StopRule {
    /// The last maxᵢ |rᵢ|/sᵢ.
    previous: Option<f64>,
    /// The number of corrections so far.
    pub(crate) iterations: usize,
}

impl StopRule {
    /// The rule after a number of corrections.
    pub(crate) fn after(iterations: usize) -> StopRule {
        StopRule { previous: None, iterations }
    }

    /// True if the correction dx, which led to x, is the last one.
    pub(crate) fn is_last(&mut self, dx: &[f64], x: &[f64]) -> Solved<bool> {
        self.iterations += 1;
        // A sum, in which no NaN gets lost; x contains those of dx.
        if !x.iter().map(|x| x.abs()).sum::<f64>().is_finite() {
            return Err(NoSolution::Diverged);
        }
        let is_last = dx.iter().zip(x).all(|(dx, x)| dx.abs() - LAST_CORRECTION * x.abs() <= NOTHING);
        if is_last || self.iterations < MAX_ITERATIONS { Ok(is_last) } else { Err(NoSolution::Diverged) }
    }

    /// True if the residuals are roundoff. `part` is maxᵢ |rᵢ|/sᵢ.
    pub(crate) fn is_roundoff(&mut self, part: f64) -> bool {
        let stagnates = part <= STAGNATION && self.previous.is_some_and(|previous| part >= 0.5 * previous);
        self.previous = Some(part);
        part <= RESIDUAL_ROUNDOFF || stagnates
    }
}

/// maxᵢ |rᵢ|/sᵢ. Propagates NaN.
pub(crate) fn largest_part(residuals: &[f64], sizes: &[f64]) -> f64 {
    let part = |(r, size): (&f64, &f64)| if r.abs() <= NOTHING { 0.0 } else { r.abs() / size };
    residuals.iter().zip(sizes).map(part).fold(0.0, larger)
}

/// The result of equations that may have no solution.
pub type Solved<T> = std::result::Result<T, NoSolution>;

/// The reason why there is no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoSolution {
    /// The motion slides along a kink of the equations, or crosses it again and again.
    Kink,
    /// A force that jumps with a velocity holds the motion where that velocity is zero.
    Sticks,
    /// The Jacobian ∂r/∂x is singular.
    Singular,
    /// The corrections do not decrease.
    Diverged,
    /// The solutions for shorter steps form a curve that turns back at this part of the step.
    TurnsBack(f64),
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
    /// No step is short enough for the tolerance.
    TooShort,
    /// A state is not finite.
    NotFinite,
}
