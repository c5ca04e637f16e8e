use super::{DiscreteLagrangian, Sample, Step, secant};

/// Störmer–Verlet A: half a step of SE1, then half a step of SE2. [DLM §3.2]
///
/// ```text
/// L_d(q0, q1, h) = ext_q½ { h/2 · L(q0, (q½ − q0)/(h/2)) + h/2 · L(q1, (q1 − q½)/(h/2)) }
/// ```
///
/// DIFFERENCE: the paper prints the velocities over h and the stationary value as a minimum.
pub struct Sva;

impl DiscreteLagrangian for Sva {
    fn name(&self) -> &'static str {
        "sva"
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
        vec![
            Sample { weight: half, q: q0, v: first, t: step.t },
            Sample { weight: half, q: q1, v: second, t: step.t + step.h },
        ]
    }
}
