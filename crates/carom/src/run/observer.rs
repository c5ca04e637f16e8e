//! Who looks at a run.

use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::solve::Solved;
use crate::step::{Looker, State, StepLog};

/// Sees the log of every step.
pub trait Observer {
    /// Sees the state at which the run begins; one that is resumed has been seen before.
    fn begin(&mut self, _state: &State, _is_resumed: bool, _look: &mut Look) -> Solved<()> {
        Ok(())
    }

    /// Sees a step.
    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()>;

    /// True if the run is to end here.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// What observers look with: working memory that no step uses.
pub struct Look {
    /// Computes everything that there is to know of a state.
    pub evaluator: Box<dyn Evaluator>,
    /// Finds states inside steps.
    pub looker: Looker,
    /// Room for a state.
    pub z: Phase,
}

impl Look {
    /// Takes the parameters of a run.
    pub fn begin(&mut self, parameters: &[f64]) {
        self.evaluator.set_parameters(parameters);
        self.evaluator.forget();
        self.looker.begin(parameters);
    }
}
