use super::{DiscreteLagrangian, Sample, Step};

/// Störmer–Verlet B: half a step of SE2, then half a step of SE1. [DLM §3.2]
///
/// ```text
/// L_d(q0, q1, h) = ext_q½ { h/2 · L(q½, (q½ − q0)/(h/2)) + h/2 · L(q½, (q1 − q½)/(h/2)) }
/// ```
///
/// DIFFERENCE: the paper prints the velocities over h and the stationary value as a minimum.
pub struct Svb;

impl DiscreteLagrangian for Svb {
    fn name(&self) -> &'static str {
        "svb"
    }

    fn about(&self) -> &'static str {
        "Störmer–Verlet as half of se2, then half of se1"
    }

    fn order(&self) -> usize {
        2
    }

    fn inner_points(&self) -> usize {
        1
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        vec![
            Sample { weight: 0.5, q: step.point(1), v: step.secant(0, 1, 0.5), t: step.time(0.5) },
            Sample { weight: 0.5, q: step.point(1), v: step.secant(1, 2, 0.5), t: step.time(0.5) },
        ]
    }
}
