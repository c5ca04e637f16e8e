use super::{DiscreteLagrangian, Sample, Step};

/// The generalized midpoint rule; α = ½ is the midpoint rule, of order 2. [TPC eq. 4]
///
/// ```text
/// L_d(q0, q1, h) = h · L((1 − α) q0 + α q1, v),   v = (q1 − q0)/h
/// ```
pub struct Midpoint {
    /// Where L is evaluated: 0 is q0, 1 is q1.
    pub alpha: f64,
}

impl DiscreteLagrangian for Midpoint {
    fn name(&self) -> &'static str {
        "midpoint"
    }

    fn about(&self) -> &'static str {
        "the midpoint rule, or with run.alpha the generalized one"
    }

    fn order(&self) -> usize {
        if self.is_symmetric() { 2 } else { 1 }
    }

    fn is_symmetric(&self) -> bool {
        self.alpha == 0.5
    }

    fn two_point_part(&self) -> f64 {
        self.alpha
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let (q, v) = (step.blend(1, self.alpha), step.secant(0, 1, 1.0));
        vec![Sample { weight: 1.0, q, v, t: step.time(self.alpha) }]
    }
}
