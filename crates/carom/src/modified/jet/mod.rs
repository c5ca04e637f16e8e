//! Jets: Taylor polynomials in several variables, cut above a degree, and expressions evaluated in them.
//!
//! A jet of f at x is the list of f^(α)(x)/α! for |α| ≤ d. Arithmetic on jets is arithmetic on functions, so that every
//! derivative is exact to roundoff, mixed ones too, and no expression grows.

mod algebra;
mod sweep;
mod taylor;

pub(super) use algebra::Algebra;
pub(super) use sweep::Sweep;
