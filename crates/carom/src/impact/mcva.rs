use super::{Hit, ImpactRule, Tools};
use crate::modified::ModifiedHamiltonian;
use crate::phase::Phase;
use crate::solve::NoSolution;

/// Conservation of the modified Hamiltonian of the full steps: H̃(q_i, p⁻) = H̃(q_i, p⁺), where the partial steps follow
/// Hamilton's equations of the same H̃. [MCVA in DLM §4.3; generalized in §4.4]
pub struct Mcva {
    ham_mod: Box<dyn ModifiedHamiltonian>,
    before: f64,
}

impl Mcva {
    /// The rule that keeps `ham_mod`.
    pub fn new(ham_mod: Box<dyn ModifiedHamiltonian>) -> Mcva {
        Mcva { ham_mod, before: 0.0 }
    }
}

impl ImpactRule for Mcva {
    fn prepare(&mut self, hit: &Hit, _window: &[f64], _tools: &mut Tools) -> Result<(), NoSolution> {
        self.before = self.ham_mod.value(&hit.minus, hit.h)?;
        Ok(())
    }

    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, _tools: &mut Tools) -> Result<f64, NoSolution> {
        let after = self.ham_mod.value(plus, hit.h)?;
        Ok((after - self.before - hit.energy_jump(lambda)) / lambda)
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.ham_mod.set_parameters(parameters);
    }
}
