use super::{DiscreteLagrangian, Sample, Step, secant};

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

    fn order(&self) -> usize {
        2
    }

    fn inner_points(&self) -> usize {
        1
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let half = 0.5 * step.h;
        let [q0, middle, q1] = [0, 1, 2].map(|i| step.points[i].clone());
        let (first, second) = (secant(&q0, &middle, half), secant(&middle, &q1, half));
        let t = step.t + half;
        vec![Sample { weight: half, q: middle.clone(), v: first, t }, Sample { weight: half, q: middle, v: second, t }]
    }
}
