//! Reports the events of a run to a watcher.

use super::account::{Account, Accountant};
use super::constraints::Constraints;
use super::mesh::Mesh;
use super::observer::{Look, Observer};
use super::outcome::{Crossing, Holding, Impact};
use super::view::View;
use crate::limits::SAMPLE_AT_NODE;
use crate::mechanics::Node;
use crate::phase::Phase;
use crate::solve::Solved;
use crate::step::{EventKind, State, StepLog};

/// Receives the events of a run.
pub trait Watcher {
    /// Called at each node of the mesh, including the first.
    fn node(&mut self, _view: &mut View) {}
    /// Called at each uniform sample, including the first.
    fn sample(&mut self, _view: &mut View) {}
    /// Called at each impact.
    fn impact(&mut self, _impact: Impact) {}
    /// Called when the motion crosses a section.
    fn crossing(&mut self, _crossing: Crossing) {}
    /// Called when a wall begins or ceases to hold the motion.
    fn holding(&mut self, _holding: Holding) {}
    /// Called after each step, with its log in the free coordinates. The log may record several steps.
    fn step(&mut self, _log: &StepLog) {}
    /// True if each log must record one step only.
    fn wants_single_steps(&self) -> bool {
        false
    }
    /// False if the watcher ignores everything, and never ends the run.
    fn listens(&self) -> bool {
        true
    }
    /// False if the watcher does not need impacts.
    fn wants_impacts(&self) -> bool {
        true
    }
    /// False if the watcher does not need nodes.
    fn wants_nodes(&self) -> bool {
        true
    }
    /// True if the watcher needs the energy account. With forces, the account costs additional partial steps.
    fn wants_account(&self) -> bool {
        false
    }
    /// True to end the run here.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// Ignores all events.
impl Watcher for () {
    fn listens(&self) -> bool {
        false
    }

    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_nodes(&self) -> bool {
        false
    }
}

/// A watcher and its sampling interval.
pub struct Audience<'a> {
    /// The watcher.
    pub watcher: &'a mut dyn Watcher,
    /// The sampling interval, if samples are wanted.
    pub every: Option<f64>,
}

/// Reports each step to a watcher: impacts, contacts, crossings, samples, then the node.
pub struct Stream<'a> {
    watcher: &'a mut dyn Watcher,
    /// The constraints, if there are any.
    pub constraints: Option<Constraints>,
    /// The energy account, if one is kept.
    pub accountant: Option<Accountant>,
    /// The sampling interval, if samples are wanted.
    every: Option<f64>,
    mesh: Mesh<'a>,
    samples: usize,
}

impl<'a> Stream<'a> {
    /// A stream that reports to `watcher`, for a run along `mesh`.
    pub fn new(
        watcher: &'a mut dyn Watcher,
        constraints: Option<Constraints>,
        accountant: Option<Accountant>,
        every: Option<f64>,
        mesh: Mesh<'a>,
    ) -> Stream<'a> {
        Stream { watcher, constraints, accountant, every, mesh, samples: 0 }
    }

    /// Creates the view of a state. `is_node` is true if z is the end of a step.
    fn view<'b>(
        constraints: &'b mut Option<Constraints>,
        look: &'b mut Look,
        (z, holding): (&'b Phase, &'b [usize]),
        (h, is_node): (f64, bool),
        account: Option<Account>,
    ) -> View<'b> {
        View { z, look, constraints: constraints.as_mut(), holding, h, is_node, account }
    }

    fn tell_events(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        for event in log.events() {
            match event.kind {
                EventKind::Impact(number) if self.watcher.wants_impacts() => {
                    let impact = log.impact(number);
                    let mut node = |z: &Phase| {
                        let mut node = Node::default();
                        look.node(z, &[], &mut node);
                        node
                    };
                    let (minus, plus) = (node(&impact.minus), node(&impact.plus));
                    let mut energy = |z: &Phase| look.evaluator.energy(z).unwrap_or(f64::NAN);
                    let (energy_minus, energy_plus) = (energy(&impact.minus), energy(&impact.plus));
                    let (wall, lambda) = (impact.wall, impact.impulse.normal());
                    self.watcher.impact(Impact { wall, lambda, minus, plus, energy_minus, energy_plus });
                }
                EventKind::Holds(wall) => self.watcher.holding(Holding { wall, t: event.t, begins: true }),
                EventKind::LetsGo(wall) => self.watcher.holding(Holding { wall, t: event.t, begins: false }),
                EventKind::Impact(_) | EventKind::Accumulates(_) => {}
            }
        }
        for &(t, section) in &log.crossings {
            let mut node = Node::default();
            let arc = log.arc_at(t);
            look.looker.on_arc(log, arc, t, &mut look.z)?;
            let Look { evaluator, looker, z } = &mut *look;
            looker.describe(z, log.holding(arc), &mut **evaluator, &mut node);
            self.watcher.crossing(Crossing { section, node });
        }
        Ok(())
    }

    fn tell_node(&mut self, node: (&Phase, &[usize]), look: &mut Look) {
        if self.watcher.wants_nodes() {
            let account = self.accountant.as_ref().map(|accountant| accountant.account);
            self.watcher.node(&mut Stream::view(&mut self.constraints, look, node, (self.mesh.step, true), account));
        }
    }

    /// Reports the uniform samples up to a node of the log.
    fn tell_samples(&mut self, log: &StepLog, node: (&Phase, &[usize]), look: &mut Look) -> Solved<()> {
        let Some(every) = self.every else { return Ok(()) };
        let (end, h, near) = (node.0.t, self.mesh.step, SAMPLE_AT_NODE * every);
        loop {
            let t = self.mesh.start + self.samples as f64 * every;
            if t > end + near {
                return Ok(());
            }
            let is_node = (t - end).abs() <= near;
            if is_node {
                self.watcher.sample(&mut Stream::view(&mut self.constraints, look, node, (h, true), None));
            } else {
                let mut z = std::mem::replace(&mut look.z, Phase { t, z: Vec::new() });
                let found = look.looker.at(log, t, &mut z);
                if found.is_ok() {
                    let state = (&z, log.holding(log.arc_at(t)));
                    self.watcher.sample(&mut Stream::view(&mut self.constraints, look, state, (h, false), None));
                }
                look.z = z;
                found?;
            }
            self.samples += 1;
        }
    }
}

impl Observer for Stream<'_> {
    fn begin(&mut self, state: &State, is_resumed: bool, look: &mut Look) -> Solved<()> {
        if let Some(accountant) = &mut self.accountant {
            accountant.begin(state, is_resumed, look)?;
        }
        if let Some(constraints) = &mut self.constraints {
            constraints.begin(state, is_resumed, look)?;
        }
        for &wall in state.holding.iter().filter(|_| !is_resumed) {
            self.watcher.holding(Holding { wall, t: state.z.t, begins: true });
        }
        let account = self.accountant.as_ref().map(|accountant| accountant.account);
        let place = (&state.z, &state.holding[..]);
        let mut view = Stream::view(&mut self.constraints, look, place, (self.mesh.step, true), account);
        if self.watcher.wants_nodes() {
            self.watcher.node(&mut view);
        }
        if self.every.is_some() {
            self.watcher.sample(&mut view);
        }
        self.samples = 1;
        Ok(())
    }

    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        for arc in 1..log.nodes() {
            if let Some(accountant) = &mut self.accountant {
                accountant.pass(log, arc, look)?;
            }
            let node = (&log.arcs()[arc].start, log.holding(arc));
            self.tell_samples(log, node, look)?;
            self.tell_node(node, look);
        }
        if let Some(accountant) = &mut self.accountant {
            accountant.see(log, look)?;
        }
        if let Some(constraints) = &mut self.constraints {
            constraints.see(log, look)?;
        }
        self.watcher.step(log);
        self.tell_events(log, look)?;
        let node = (&log.end.z, &log.end.holding[..]);
        self.tell_samples(log, node, look)?;
        self.tell_node(node, look);
        Ok(())
    }

    fn wants_single_steps(&self) -> bool {
        self.watcher.wants_single_steps()
    }

    fn wants_to_stop(&self) -> bool {
        self.watcher.wants_to_stop()
    }
}
