//! Tracks the energy and counts impacts along a run.

use super::observer::{Look, Observer};
use super::outcome::{Energy, Jump};
use crate::solve::{Solved, larger};
use crate::step::{EventKind, LoggedImpact, State, StepLog};

/// Tracks the energy at the nodes and counts impacts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// True if there are driven coordinates, so that the energy differs from H of the free coordinates.
    is_driven: bool,
    /// The energy at the nodes so far.
    pub energy: Energy,
    /// The number of impacts so far.
    pub impacts: usize,
    /// The sum of λφ̇⁻ of the impacts so far.
    pub exchange: f64,
    /// The longest step so far.
    pub longest_step: f64,
    /// The first time at which a wall began to hold the motion.
    pub first_rest: Option<f64>,
    /// The start, and the integral of the kinetic energy since then.
    begin: f64,
    action: f64,
}

impl Tally {
    /// For a system with driven coordinates, or without.
    pub(crate) fn new(is_driven: bool) -> Tally {
        Tally { is_driven, ..Tally::default() }
    }

    /// Notes the energies at the end of a step.
    fn note(&mut self, t: f64, h: f64, energy: f64, kinetic: f64) {
        let Energy { initial, last: before, max_kinetic, .. } = self.energy;
        if self.energy.jump.is_none() && Jump::is_one(energy - before, max_kinetic, kinetic) {
            self.energy.jump = Some(Jump { t, before, after: energy, kinetic: max_kinetic });
        }
        self.action += kinetic * h;
        self.energy.last = energy;
        self.energy.max_drift = larger(self.energy.max_drift, (energy - initial).abs());
        self.energy.max_kinetic = larger(max_kinetic, kinetic);
        self.energy.mean_kinetic = self.action / (t - self.begin);
    }
}

/// The kinetic energy of the motion along ∇φ before an impact: φ̇²/(2W), with λ = −(1 + e)φ̇/W.
fn normal_kinetic(impact: &LoggedImpact) -> f64 {
    0.5 * (impact.impulse.normal() * impact.rate_minus).abs() / (1.0 + impact.restitution)
}

impl Observer for Tally {
    fn begin(&mut self, state: &State, is_resumed: bool, look: &mut Look) -> Solved<()> {
        let initial = look.evaluator.energy(&state.z)?;
        self.energy = Energy { initial, last: initial, ..Energy::default() };
        let v = look.evaluator.velocity(&state.z)?;
        let twice_kinetic: f64 = state.z.p().iter().zip(v).map(|(p, v)| p * v).sum();
        self.energy.max_kinetic = 0.5 * twice_kinetic.abs();
        self.energy.first_kinetic = self.energy.max_kinetic;
        (self.begin, self.action) = (state.z.t, 0.0);
        self.first_rest = Some(state.z.t).filter(|_| !state.holding.is_empty() && !is_resumed);
        Ok(())
    }

    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        self.longest_step = self.longest_step.max(log.h);
        // A step may begin and end at rest, and have all of its motion between impacts.
        for impact in log.impacts().iter().filter(|impact| impact.phi_t == 0.0) {
            self.energy.max_kinetic = larger(self.energy.max_kinetic, normal_kinetic(impact));
        }
        let mut before = log.begin();
        let inside = log.arcs().iter().filter_map(|arc| arc.node.map(|energies| (&arc.start, energies)));
        for (z, energies) in inside.chain([(&log.end.z, log.energies)]) {
            let energy = if self.is_driven { look.evaluator.energy(z)? } else { energies.hamiltonian };
            self.note(z.t, z.t - before, energy, 0.5 * energies.twice_kinetic.abs());
            before = z.t;
        }
        self.exchange += log.impacts().iter().map(|impact| impact.impulse.normal() * impact.rate_minus).sum::<f64>();
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
