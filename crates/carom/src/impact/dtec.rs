use super::{Hit, ImpactRule, Tools};
use crate::flow::Phase;
use crate::solve::NoSolution;

/// Discrete-time energy conservation: −D₃L_d of the partial step before the impact = −D₃L_d of the one after it.
/// [BEA eq. 25; VCI in DLM §4.2]
pub struct Dtec;

impl ImpactRule for Dtec {
    fn name(&self) -> &'static str {
        "dtec"
    }

    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution> {
        // An impact at a node has no partial step on that side: there −D₃L_d is H.
        let before = match hit.energy_before {
            Some(energy) => energy,
            None => tools.field.energy(hit.minus.t, &hit.minus.z)?,
        };
        tools.partial.step(plus, hit.tau_left, tools.next)?;
        let after = tools.partial.discrete().ok_or(NoSolution::Diverged)?.energy;
        Ok(after - before - hit.energy_jump(lambda))
    }
}
