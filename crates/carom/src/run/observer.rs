//! Observers of a run.

use crate::mechanics::Node;
use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::solve::Solved;
use crate::step::{Looker, State, StepLog};

/// An observer sees the log of every step.
pub trait Observer {
    /// Sees the initial state. If `is_resumed` is true, the earlier run has already shown that state.
    fn begin(&mut self, _state: &State, _is_resumed: bool, _look: &mut Look) -> Solved<()> {
        Ok(())
    }

    /// Sees a step.
    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()>;

    /// True if each log must record one step only.
    fn wants_single_steps(&self) -> bool {
        false
    }

    /// True to end the run here.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// The working memory of observers. No step uses it.
pub struct Look {
    /// Evaluates the mechanics at a state.
    pub evaluator: Box<dyn Evaluator>,
    /// Computes states inside steps (dense output).
    pub looker: Looker,
    /// Scratch space for a state.
    pub z: Phase,
}

impl Look {
    /// Writes the state z in all coordinates, while these walls hold the motion.
    pub fn node(&mut self, z: &Phase, holding: &[usize], node: &mut Node) {
        self.looker.describe(z, holding, &mut *self.evaluator, node);
    }

    /// Sets the parameters of a run of which states are described that no wall holds.
    pub(crate) fn begin_without_walls(&mut self, parameters: &[f64]) {
        if self.evaluator.wants_forces() {
            return self.begin(parameters);
        }
        self.evaluator.set_parameters(parameters);
        self.evaluator.forget();
        self.evaluator.remember_nothing();
    }

    /// Sets the parameters of a run.
    pub fn begin(&mut self, parameters: &[f64]) {
        self.evaluator.set_parameters(parameters);
        self.evaluator.forget();
        self.evaluator.remember_nothing();
        self.looker.begin(parameters);
    }
}
