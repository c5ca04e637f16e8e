//! The linear motion around a plan.

use super::riccati::{StepDerivatives, apply};
use crate::run::Feedback;
use crate::tangent::{Matrix, add, dot};

/// The linear motion around a plan, phase by phase.
#[derive(Clone, Debug)]
pub struct Linear {
    /// The phases, in order.
    pub phases: Vec<LinearPhase>,
}

/// The steps of a phase, and the impact at its end.
#[derive(Clone, Debug)]
pub struct LinearPhase {
    /// The steps.
    pub steps: Vec<StepDerivatives>,
    /// The impact; none at the end of the plan.
    pub jump: Option<Saltation>,
}

/// An impact at the end of a step of free length.
///
/// With d'z the change of the end of the step at its planned length, b the derivative by the length and z⁺ = R(z⁻, t):
///
/// ```text
/// dt = −∇φ·d'q/(∇φ·b_q + φ_t),   dz⁻ = d'z + b dt,   dz⁺ = R_z dz⁻ + R_t dt
/// ```
#[derive(Clone, Debug)]
pub struct Saltation {
    /// (R_z, R_t).
    pub reset: Matrix,
    /// ∇φ, then zeros.
    pub normal: Vec<f64>,
    /// ∇φ·b_q + φ_t.
    pub rate: f64,
    /// b.
    pub by_length: Vec<f64>,
}

impl Saltation {
    /// dt and dz⁺.
    fn pass(&self, d: &[f64]) -> (f64, Vec<f64>) {
        let dt = -dot(&self.normal, d) / self.rate;
        let mut minus = d.to_vec();
        add(&mut minus, dt, &self.by_length);
        minus.push(dt);
        (dt, apply(&self.reset, &minus))
    }

    /// Ξ: from d'z to the change δz = dz⁺ − ż̄ dt against the next reference, which goes on with the rate ż̄ before and after its
    /// beginning. It is the saltation matrix of the discrete motion.
    pub fn matrix(&self, rate: &[f64]) -> Matrix {
        self.columns(|jump, unit| {
            let (dt, mut plus) = jump.pass(unit);
            add(&mut plus, -dt, rate);
            plus
        })
    }

    /// R_z alone, as if the time of the impact were fixed.
    pub fn at_fixed_time(&self) -> Matrix {
        self.columns(|jump, unit| apply(&jump.reset, &[unit, &[0.0]].concat()))
    }

    fn columns(&self, image: impl Fn(&Saltation, &[f64]) -> Vec<f64>) -> Matrix {
        let size = self.normal.len();
        let mut matrix = Matrix::zeros(size, size);
        for j in 0..size {
            let unit: Vec<f64> = (0..size).map(|i| f64::from(i == j)).collect();
            image(self, &unit).into_iter().enumerate().for_each(|(i, x)| matrix.row_mut(i)[j] = x);
        }
        matrix
    }
}

impl Linear {
    /// The change of the final state by a change of the start, if the motion follows the plan with these gains.
    pub fn predict(&self, feedback: &Feedback, start: &[f64]) -> Vec<f64> {
        // The change of the state, and of the time at which the phase begins.
        let (mut d, mut dt) = (start.to_vec(), 0.0);
        for (phase, track) in self.phases.iter().zip(&feedback.tracks) {
            for (k, step) in phase.steps.iter().enumerate() {
                let m = track.first + k;
                let mut off = d.clone();
                if k == 0 {
                    add(&mut off, -dt, &track.rate(m));
                }
                let du: Vec<f64> = track.gain[m].iter().map(|row| -dot(row, &off)).collect();
                let mut next = apply(&step.a, &d);
                add(&mut next, 1.0, &apply(&step.b, &du));
                if k == 0 {
                    add(&mut next, dt, &step.by_t);
                    add(&mut next, -dt, &step.by_h);
                }
                d = next;
            }
            dt = 0.0;
            if let Some(jump) = &phase.jump {
                (dt, d) = jump.pass(&d);
            }
        }
        d
    }
}
