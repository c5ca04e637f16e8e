//! When Newton's method stops, and what it says if there is no solution.

/// What has not converged after so many iterations does not converge, unless the last correction is still small: in
/// equations that are nearly singular, as in a sharp corner, roundoff moves the solution so far.
pub const MAX_ITERATIONS: usize = 30;
/// After a correction as small as this, relative to the unknowns, the next one would be below roundoff.
pub const LAST_CORRECTION: f64 = 1e-9;
/// Corrections as small as this, relative to the unknowns or to 1, are roundoff if they no longer shrink. Where residuals
/// are divided by a number, so is the 1.
pub const STAGNATION: f64 = 1e-12;

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
