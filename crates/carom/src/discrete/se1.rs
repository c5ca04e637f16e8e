use super::{DiscreteLagrangian, Sample, Step};

/// Symplectic Euler 1: the left rectangle. [DLM §3.2]
///
/// ```text
/// L_d(q0, q1, h) = h · L(q0, v),   v = (q1 − q0)/h
/// ```
pub struct Se1;

impl DiscreteLagrangian for Se1 {
    fn name(&self) -> &'static str {
        "se1"
    }

    fn about(&self) -> &'static str {
        "symplectic Euler, the left rectangle"
    }

    fn order(&self) -> usize {
        1
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        vec![Sample { weight: 1.0, q: step.point(0), v: step.secant(0, 1, 1.0), t: step.t }]
    }
}
