use super::{DiscreteLagrangian, Sample, Step};
use crate::expr::Expr;

/// The adjoint of another discrete Lagrangian: its map is the inverse of the other's at −h. [Marsden & West 2001, §2.4]
///
/// ```text
/// L_d*(q0, q1, h) = −L_d(q1, q0, −h),   Φ*_h = (Φ_{−h})⁻¹
/// ```
///
/// The points of the step, seen from its end, are q1 + (−h)·(U_last − U).
pub struct Adjoint<'a>(
    /// The other one.
    pub &'a dyn DiscreteLagrangian,
);

impl DiscreteLagrangian for Adjoint<'_> {
    fn name(&self) -> &'static str {
        "adjoint"
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn order(&self) -> usize {
        self.0.order()
    }

    fn is_symmetric(&self) -> bool {
        self.0.is_symmetric()
    }

    fn inner_points(&self) -> usize {
        self.0.inner_points()
    }

    fn inner_times(&self) -> Vec<f64> {
        self.0.inner_times().into_iter().rev().map(|c| 1.0 - c).collect()
    }

    fn constrains_inner_points(&self) -> bool {
        self.0.constrains_inner_points()
    }

    fn two_point_part(&self) -> f64 {
        1.0 - self.0.two_point_part()
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let last = step.u.len() - 1;
        let seen = |u: &Vec<Expr>| u.iter().zip(&step.u[last]).map(|(&u, &end)| end - u).collect();
        let u = step.u.iter().rev().map(seen).collect();
        self.0.samples(&Step { t: step.time(1.0), h: -step.h, q0: step.point(last), u })
    }
}
