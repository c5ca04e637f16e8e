//! Jets: truncated Taylor polynomials in several variables, and the evaluation of expressions on them.
//!
//! A jet of f at x is the list of f^(α)(x)/α! for |α| ≤ d. Arithmetic on jets is arithmetic on functions, so all derivatives,
//! including mixed ones, are exact to roundoff, and no expression grows.

mod algebra;
mod sweep;
mod taylor;

pub(super) use algebra::Algebra;
pub(super) use sweep::JetSweep;
