//! The modified Hamiltonian from H and the discrete energy.

use super::finite;
use crate::mechanics::Field;
use crate::phase::{Discrete, Flow, Phase};
use crate::solve::{NoSolution, Solved};

/// H̃ without derivatives, from one step of a symmetric variational map of order r, up to O(h^(r+2)):
///
/// ```text
/// H̃ ≈ [ −D₃L_d(q0, q1, h) + r/2 · (H(q0, p0) + H(q1, p1)) ] / (1 + r)
/// ```
///
/// With H̃ = H + h^r E + O(h^(r+2)), and L_d the action of H̃, −D₃L_d = H̃ + ∫ ∂H̃/∂h dt over the step. So −D₃L_d exceeds H̃ by
/// r h^r E, and H is less than H̃ by h^r E.
pub fn from_one_step(step: Discrete, ham0: f64, ham1: f64, order: usize) -> f64 {
    let r = order as f64;
    (step.energy + 0.5 * r * (ham0 + ham1)) / (1.0 + r)
}

/// H(q, p) at a phase point.
type Hamiltonian = dyn FnMut(&Phase) -> Solved<f64> + Send;

/// The mean of [`from_one_step`] over the steps before and after a node.
pub struct Cheap {
    ham: Box<Hamiltonian>,
    other: Phase,
}

impl Cheap {
    /// Creates the estimator for the equations of a system.
    pub fn new(mut field: Field) -> Cheap {
        Cheap::from_energy(move |z| field.energy(z.t, &z.z))
    }

    /// Creates the estimator for a system with the Hamiltonian `ham`.
    pub fn from_energy(ham: impl FnMut(&Phase) -> Solved<f64> + Send + 'static) -> Cheap {
        Cheap { ham: Box::new(ham), other: Phase { t: 0.0, z: Vec::new() } }
    }

    /// H̃_h(z) of the map `flow`, which must be symmetric. Returns `NoSolution::Diverged` also if it is not variational.
    pub fn at(&mut self, flow: &mut dyn Flow, z: &Phase, h: f64) -> Result<f64, NoSolution> {
        let other = &mut self.other;
        other.z.resize(z.z.len(), 0.0);
        let (ham, mut sum) = ((self.ham)(z)?, 0.0);
        for back in [false, true] {
            if back {
                flow.step_back(z, h, other)?
            } else {
                flow.step(z, h, other)?
            }
            let step = flow.discrete().ok_or(NoSolution::Diverged)?;
            sum += from_one_step(step, ham, (self.ham)(other)?, flow.order());
        }
        finite(0.5 * sum)
    }
}
