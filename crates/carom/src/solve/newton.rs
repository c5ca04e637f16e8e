//! When Newton's method stops, and what it says if there is no solution.

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
