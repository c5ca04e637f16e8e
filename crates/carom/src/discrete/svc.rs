use super::{DiscreteLagrangian, Sample, Step};

/// Störmer–Verlet as a variational integrator: the trapezoidal rule. [DLM eq. 26]
///
/// ```text
/// L_d(q0, q1, h) = h/2 · [ L(q0, v) + L(q1, v) ],   v = (q1 − q0)/h
/// ```
pub struct Svc;

impl DiscreteLagrangian for Svc {
    fn name(&self) -> &'static str {
        "svc"
    }

    fn about(&self) -> &'static str {
        "Störmer–Verlet by the trapezoidal rule"
    }

    fn order(&self) -> usize {
        2
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let v = step.secant(0, 1, 1.0);
        vec![
            Sample { weight: 0.5, q: step.point(0), v: v.clone(), t: step.t },
            Sample { weight: 0.5, q: step.point(1), v, t: step.time(1.0) },
        ]
    }
}
