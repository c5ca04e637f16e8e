use super::{Hit, ImpactRule, Tools};
use crate::model::settings::{self, Statistic};
use crate::modified::{ModifiedHamiltonian, Shadow};
use crate::phase::{Flow, Phase};
use crate::solve::NoSolution;

/// The modified Hamiltonian H̃(z, h) whose stable value is matched.
pub enum Stable {
    /// A closed form.
    Closed(Box<dyn ModifiedHamiltonian>),
    /// From iterates of a flow.
    Shadow(Box<dyn Flow>, Shadow),
}

impl Stable {
    fn value(&mut self, z: &Phase, h: f64) -> Result<f64, NoSolution> {
        match self {
            Stable::Closed(ham_mod) => ham_mod.value(z, h),
            Stable::Shadow(flow, shadow) => shadow.at(&mut **flow, z, h),
        }
    }
}

/// Modified-Hamiltonian conservation: the stable value of H̃ in a window of nodes before the impact is that in a window
/// after it. [BEA §III-E]
///
/// The window before ends at the last node z_j and is cut at the previous impact and at the start; the one after begins at
/// z_{j+1}(λ) and runs on through the wall. The paper prints neither their length nor what is taken of them; 0.7 and the
/// median do what it says.
pub struct Mhc {
    ham_mod: Stable,
    settings: settings::MhcSettings,
    before: f64,
    values: Vec<f64>,
    state: [Phase; 2],
}

impl Mhc {
    /// The rule with H̃(z, h); `phase` gives the size of a state.
    pub fn new(ham_mod: Stable, settings: settings::MhcSettings, phase: &Phase) -> Mhc {
        Mhc { ham_mod, settings, before: 0.0, values: Vec::new(), state: [phase.clone(), phase.clone()] }
    }

    /// What stands for `values`.
    fn stable(&mut self) -> f64 {
        let count = self.values.len();
        match self.settings.statistic {
            Statistic::Mean => self.values.iter().sum::<f64>() / count as f64,
            Statistic::Median => {
                self.values.sort_by(f64::total_cmp);
                0.5 * (self.values[(count - 1) / 2] + self.values[count / 2])
            }
        }
    }

    /// The nodes of a window of full steps.
    fn nodes(&self, h: f64) -> usize {
        ((self.settings.window / h + 1e-9) as usize).max(1)
    }
}

impl ImpactRule for Mhc {
    fn prepare(&mut self, hit: &Hit, window: &[f64], _tools: &mut Tools) -> Result<(), NoSolution> {
        self.values.clear();
        // A second impact in one step has no nodes before it.
        if hit.begins_at_node {
            self.values.extend_from_slice(window);
        }
        if self.values.is_empty() {
            self.values.push(self.ham_mod.value(&hit.begin, hit.h)?);
        }
        self.before = self.stable();
        Ok(())
    }

    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution> {
        tools.partial_step(plus, hit.tau_left)?;
        self.state[0].copy_from(tools.next);
        self.values.clear();
        let count = self.nodes(hit.h);
        for node in 0..count {
            self.values.push(self.ham_mod.value(&self.state[0], hit.h)?);
            if node + 1 < count {
                let [z0, z1] = &mut self.state;
                tools.full.step(z0, hit.h, z1)?;
                self.state.swap(0, 1);
            }
        }
        Ok(self.stable() - self.before - hit.energy_jump(lambda))
    }

    fn remembers(&self) -> bool {
        true
    }

    fn remember(&mut self, z: &Phase, h: f64, after_impact: bool, window: &mut Vec<f64>) -> Result<(), NoSolution> {
        if after_impact {
            window.clear();
        }
        window.push(self.ham_mod.value(z, h)?);
        let excess = window.len().saturating_sub(self.nodes(h));
        window.drain(..excess);
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        match &mut self.ham_mod {
            Stable::Closed(ham_mod) => ham_mod.set_parameters(parameters),
            Stable::Shadow(flow, _) => flow.set_parameters(parameters),
        }
    }

    fn forget(&mut self) {
        if let Stable::Shadow(flow, _) = &mut self.ham_mod {
            flow.forget();
        }
    }
}
