use super::{Hit, ImpactRule, Tools};
use crate::phase::Phase;
use crate::solve::NoSolution;

/// Continuous-time energy conservation: H(q_i, p⁻) = H(q_i, p⁺). [BEA eq. 22; CVA in DLM §4.1]
pub struct Ctec {
    is_quadratic: bool,
    before: f64,
}

impl Ctec {
    /// The rule for a Lagrangian that is quadratic in v, or not.
    pub fn new(is_quadratic: bool) -> Ctec {
        Ctec { is_quadratic, before: 0.0 }
    }
}

impl ImpactRule for Ctec {
    fn looks_at_steps(&self) -> bool {
        false
    }

    fn is_reflection(&self) -> bool {
        self.is_quadratic
    }

    fn prepare(&mut self, hit: &Hit, _window: &[f64], tools: &mut Tools) -> Result<(), NoSolution> {
        self.before = tools.evaluator.hamiltonian(&hit.minus)?;
        Ok(())
    }

    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution> {
        let after = tools.evaluator.hamiltonian(plus)?;
        // r(λ)/λ, so that the trivial root λ = 0 is none.
        Ok((after - self.before - hit.energy_jump(lambda)) / lambda)
    }
}
