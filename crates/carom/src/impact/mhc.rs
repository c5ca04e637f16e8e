use std::collections::VecDeque;

use super::{Hit, ImpactRule, Tools};
use crate::flow::Phase;
use crate::model::settings::{self, Statistic};
use crate::solve::NoSolution;

/// A modified Hamiltonian H̃(z, h).
pub type Energy = Box<dyn FnMut(&Phase, f64) -> Result<f64, NoSolution> + Send>;

/// Modified-Hamiltonian conservation: the stable value of H̃ in a window of nodes before the impact is that in a window
/// after it. [BEA §III-E]
///
/// The window before ends at the last node z_j and is cut at the previous impact and at the start; the one after begins at
/// z_{j+1}(λ) and runs on through the wall. The paper prints neither their length nor what is taken of them; 0.7 and the
/// median do what it says.
pub struct Mhc {
    ham_mod: Energy,
    settings: settings::Mhc,
    /// H̃ at the last nodes since the last impact, with their times.
    past: VecDeque<(f64, f64)>,
    /// The last node.
    node: Phase,
    before: f64,
    window: Vec<f64>,
    state: [Phase; 2],
}

impl Mhc {
    /// The rule with H̃(z, h); `phase` gives the size of a state.
    pub fn new(ham_mod: Energy, settings: settings::Mhc, phase: &Phase) -> Mhc {
        let state = [phase.clone(), phase.clone()];
        Mhc { ham_mod, settings, past: VecDeque::new(), node: phase.clone(), before: 0.0, window: Vec::new(), state }
    }

    /// What stands for the values in `window`.
    fn stable(&mut self) -> f64 {
        let count = self.window.len();
        match self.settings.statistic {
            Statistic::Mean => self.window.iter().sum::<f64>() / count as f64,
            Statistic::Median => {
                self.window.sort_by(f64::total_cmp);
                0.5 * (self.window[(count - 1) / 2] + self.window[count / 2])
            }
        }
    }

    /// The nodes of a window of full steps.
    fn nodes(&self, h: f64) -> usize {
        ((self.settings.window / h + 1e-9) as usize).max(1)
    }
}

impl ImpactRule for Mhc {
    fn prepare(&mut self, hit: &Hit, _tools: &mut Tools) -> Result<(), NoSolution> {
        self.window.clear();
        // A second impact in one step has no nodes before it.
        if hit.begin == self.node {
            self.window.extend(self.past.iter().map(|(_, value)| value));
        }
        if self.window.is_empty() {
            let value = (self.ham_mod)(&hit.begin, hit.h)?;
            self.window.push(value);
        }
        self.before = self.stable();
        Ok(())
    }

    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution> {
        tools.partial_step(plus, hit.tau_left)?;
        self.state[0].copy_from(tools.next);
        self.window.clear();
        let count = self.nodes(hit.h);
        for node in 0..count {
            let value = (self.ham_mod)(&self.state[0], hit.h)?;
            self.window.push(value);
            if node + 1 < count {
                let [z0, z1] = &mut self.state;
                tools.full.step(z0, hit.h, z1)?;
                self.state.swap(0, 1);
            }
        }
        Ok(self.stable() - self.before - hit.energy_jump(lambda))
    }

    fn node(&mut self, z: &Phase, h: f64, after_impact: bool) -> Result<(), NoSolution> {
        if after_impact {
            self.past.clear();
        }
        self.node.copy_from(z);
        self.past.push_back((z.t, (self.ham_mod)(z, h)?));
        while self.past.len() > self.nodes(h) {
            self.past.pop_front();
        }
        Ok(())
    }
}
