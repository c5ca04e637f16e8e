//! Tracks the energy and counts impacts along a run.

use super::observer::{Look, Observer};
use super::outcome::Energy;
use crate::solve::{Solved, larger};
use crate::step::{EventKind, State, StepLog};

/// Tracks the energy at the nodes and counts impacts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// True if there are driven coordinates, so that the energy differs from H of the free coordinates.
    pub(crate) is_driven: bool,
    /// The energy at the nodes so far.
    pub energy: Energy,
    /// The number of impacts so far.
    pub impacts: usize,
    /// The first time at which a wall began to hold the motion.
    pub first_rest: Option<f64>,
}

impl Observer for Tally {
    fn begin(&mut self, state: &State, is_resumed: bool, look: &mut Look) -> Solved<()> {
        let initial = look.evaluator.energy(&state.z)?;
        self.energy = Energy { initial, last: initial, ..Energy::default() };
        let v = look.evaluator.velocity(&state.z)?;
        let twice_kinetic: f64 = state.z.p().iter().zip(v).map(|(p, v)| p * v).sum();
        self.energy.max_kinetic = 0.5 * twice_kinetic.abs();
        self.first_rest = Some(state.z.t).filter(|_| !state.holding.is_empty() && !is_resumed);
        Ok(())
    }

    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        let energy = if self.is_driven { look.evaluator.energy(&log.end.z)? } else { log.hamiltonian };
        self.energy.last = energy;
        self.energy.max_drift = larger(self.energy.max_drift, (energy - self.energy.initial).abs());
        self.energy.max_kinetic = larger(self.energy.max_kinetic, 0.5 * log.twice_kinetic.abs());
        for event in log.events() {
            match event.kind {
                EventKind::Impact(_) => self.impacts += 1,
                EventKind::Holds(_) => self.first_rest = self.first_rest.or(Some(event.t)),
                EventKind::LetsGo(_) | EventKind::Accumulates(_) => {}
            }
        }
        Ok(())
    }
}
