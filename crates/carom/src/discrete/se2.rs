use super::{DiscreteLagrangian, Sample, Step, secant};

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

    fn order(&self) -> usize {
        1
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let v = secant(step.q0(), step.q1(), step.h);
        vec![Sample { weight: step.h, q: step.q1().to_vec(), v, t: step.t + step.h }]
    }
}
