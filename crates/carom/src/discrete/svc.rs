use super::{DiscreteLagrangian, Sample, Step, secant};

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

    fn order(&self) -> usize {
        2
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let v = secant(step.q0(), step.q1(), step.h);
        let half = 0.5 * step.h;
        vec![
            Sample { weight: half, q: step.q0().to_vec(), v: v.clone(), t: step.t },
            Sample { weight: half, q: step.q1().to_vec(), v, t: step.t + step.h },
        ]
    }
}
