use super::{Hit, ImpactRule, Tools};
use crate::modified::Shadow;
use crate::phase::Phase;
use crate::solve::NoSolution;

/// Conservation of the shadow Hamiltonian of the full steps, from their iterates alone:
///
/// ```text
/// H̃_h(q_i, p⁻ + λ∇φ) = H̃_h(z_j)
/// ```
///
/// where z_j is the last node before the impact, or the state after an earlier impact in the same step. The partial steps
/// interpolate the modified flow through the iterates. Of order 2m for any variational map and any L.
pub struct ShadowRule {
    shadow: Shadow,
    before: f64,
}

impl ShadowRule {
    /// The rule with m iterates on each side.
    pub fn new(m: usize) -> ShadowRule {
        ShadowRule { shadow: Shadow::new(m), before: 0.0 }
    }
}

impl ImpactRule for ShadowRule {
    fn prepare(&mut self, hit: &Hit, _window: &[f64], tools: &mut Tools) -> Result<(), NoSolution> {
        self.before = self.shadow.at(tools.full, &hit.begin, hit.h)?;
        Ok(())
    }

    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution> {
        let after = self.shadow.at(tools.full, plus, hit.h)?;
        Ok(after - self.before - hit.energy_jump(lambda))
    }
}
