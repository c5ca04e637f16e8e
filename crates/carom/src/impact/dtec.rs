use super::{Hit, ImpactRule, Tools};
use crate::phase::Phase;
use crate::solve::NoSolution;

/// Discrete-time energy conservation: −D₃L_d of the partial step before the impact = −D₃L_d of the one after it.
/// [BEA eq. 25; VCI in DLM §4.2]
#[derive(Default)]
pub struct Dtec {
    before: f64,
}

impl ImpactRule for Dtec {
    fn prepare(&mut self, hit: &Hit, _window: &[f64], tools: &mut Tools) -> Result<(), NoSolution> {
        // An impact at a node has no partial step on that side: there −D₃L_d is H.
        self.before = match hit.energy_before {
            Some(energy) => energy,
            None => tools.evaluator.hamiltonian(&hit.minus)?,
        };
        Ok(())
    }

    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution> {
        let after = tools.partial_step(plus, hit.tau_left)?.discrete().ok_or(NoSolution::Diverged)?.energy;
        Ok(after - self.before - hit.energy_jump(lambda))
    }
}
