//! Numerical solution of equations: linear systems, scalar roots, and the stopping rule of Newton's method.

mod eigen;
mod equilibrate;
mod linear;
mod lu;
mod markowitz;
pub mod matrix;
mod newton;
pub mod root;
mod skyline;
mod sparse;

pub use eigen::{eigenvalues, least_squares};
pub(crate) use linear::Linear;
pub use lu::Lu;
pub(crate) use markowitz::MarkowitzLu;
pub use newton::{NoSolution, Solved};
pub(crate) use newton::{StopRule, largest_part};
pub use skyline::{PivotSigns, Skyline};
pub use sparse::SparseLu;

/// The larger of two numbers. Propagates NaN, unlike `f64::max`.
pub fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::larger;

    #[test]
    fn nan_is_not_lost() {
        let fold = |list: [f64; 3]| list.into_iter().fold(0.0, larger);
        assert_eq!(fold([1.0, 3.0, 2.0]), 3.0);
        for list in [[f64::NAN, 1.0, 2.0], [1.0, f64::NAN, 2.0], [1.0, 2.0, f64::NAN]] {
            assert!(fold(list).is_nan(), "{list:?}");
        }
    }
}
