use super::{DiscreteLagrangian, Sample, Step};

/// Symplectic Euler 2: the right rectangle, the adjoint of [`Se1`](super::Se1). [DLM §3.2]
///
/// ```text
/// L_d(q0, q1, h) = h · L(q1, v),   v = (q1 − q0)/h
/// ```
pub struct Se2;

impl DiscreteLagrangian for Se2 {
    fn name(&self) -> &'static str {
        "se2"
    }

    fn about(&self) -> &'static str {
        "symplectic Euler, the right rectangle"
    }

    fn order(&self) -> usize {
        1
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        vec![Sample { weight: 1.0, q: step.point(1), v: step.secant(0, 1, 1.0), t: step.time(1.0) }]
    }
}
