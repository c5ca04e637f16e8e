//! The record of a step.

use std::ops::Range;

use super::control::Control;
use super::event::Kind;
use super::state::{Memory, State};
use crate::phase::{Flow, Phase, Polynomial};
use crate::plant::Evaluator;
use crate::solve::Solved;

/// The record of a step, or of several steps without events: arcs, events and the end. It is reused from step to step, so a long run does not allocate.
#[derive(Clone, Debug)]
pub struct StepLog {
    /// The nominal step h; this step may be shorter.
    pub h: f64,
    /// The state at the end of the step; if the step failed, the last state that was reached.
    pub end: State,
    /// The energies there.
    pub energies: Energies,
    /// The change of the energy by coming to rest on walls.
    pub settling: Settling,
    /// The impulse of each constraint at the end of the step.
    pub impulses: Vec<f64>,
    events: Vec<Event>,
    impacts: Pool<LoggedImpact>,
    arcs: Pool<Arc>,
    walls: Vec<usize>,
    /// The sides of all kinks on each arc.
    sides: Vec<f64>,
    /// The times at which sections are crossed, with their numbers, in order.
    pub(crate) crossings: Vec<(f64, usize)>,
}

/// Something that happens in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub t: f64,
    /// What.
    pub kind: EventKind,
}

/// What can happen in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An impact, by its number in [`StepLog::impact`].
    Impact(usize),
    /// A wall begins to hold the motion. For a wall on which impacts accumulate, the time is that of the accumulation point.
    Holds(usize),
    /// A wall lets go.
    LetsGo(usize),
    /// Impacts accumulate on a wall, and the step ends there.
    Accumulates(usize),
}

/// An impact in the free coordinates.
#[derive(Clone, Debug)]
pub struct LoggedImpact {
    /// The number of the wall.
    pub wall: usize,
    /// The impulse.
    pub impulse: Impulse,
    /// The state before.
    pub minus: Phase,
    /// The state after.
    pub plus: Phase,
    /// φ̇ before.
    pub rate_minus: f64,
    /// ∂φ/∂t.
    pub phi_t: f64,
    /// e of this impact.
    pub restitution: f64,
    /// If several impulses act at once by the law of velocities, the number of this one among them; none for an impact by the rule
    /// of the method.
    pub at_once: Option<usize>,
}

/// An impulse along the directions of a contact, the normal ∇φ first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impulse {
    components: [f64; 3],
    count: usize,
}

/// A smooth part of a step: one motion of one contact mode, from an event to the next.
#[derive(Clone, Debug)]
pub struct Arc {
    /// Where it begins.
    pub start: Phase,
    /// The side and the point of the projected path that belong to the start, if the motion is a projection.
    pub path: Option<(usize, Phase)>,
    /// The polynomial of the motion, if the flow has one.
    pub polynomial: Polynomial,
    /// What began it, and the number of the wall or kink; none for the first arc of a step, and at nodes.
    pub cause: Option<(Kind, usize)>,
    /// The energies at its start, if that is a node within the log.
    pub node: Option<Energies>,
    /// The number of events before it.
    pub events: usize,
    holding: Range<usize>,
}

/// The energies at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energies {
    /// H of the free coordinates.
    pub hamiltonian: f64,
    /// p·v: twice the kinetic energy if T is quadratic in v.
    pub twice_kinetic: f64,
}

/// The change of the energy by coming to rest on walls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settling {
    /// The work of walls and constraints that move.
    pub work: f64,
    /// The energy that the omitted last bounces would have dissipated; not positive.
    pub loss: f64,
}

impl Impulse {
    /// An impulse λ along the normal.
    pub fn normal_only(lambda: f64) -> Impulse {
        Impulse { components: [lambda, 0.0, 0.0], count: 1 }
    }

    /// λ, the impulse along the normal.
    pub fn normal(&self) -> f64 {
        self.components[0]
    }

    /// All components.
    pub fn components(&self) -> &[f64] {
        &self.components[..self.count]
    }
}

/// A list whose items keep their memory when the list is cleared.
#[derive(Clone, Debug)]
struct Pool<T> {
    items: Vec<T>,
    count: usize,
}

impl<T> Pool<T> {
    fn new() -> Pool<T> {
        Pool { items: Vec::new(), count: 0 }
    }

    fn list(&self) -> &[T] {
        &self.items[..self.count]
    }

    /// Appends an item: overwrites a cleared one by `reuse`, or creates one by `new`.
    fn push(&mut self, new: impl FnOnce() -> T, reuse: impl FnOnce(&mut T)) {
        match self.items.get_mut(self.count) {
            Some(item) => reuse(item),
            None => self.items.push(new()),
        }
        self.count += 1;
    }
}

impl StepLog {
    /// An empty log for steps from states like this one.
    pub fn new(state: &State, constraints: usize) -> StepLog {
        StepLog {
            h: 0.0,
            end: state.clone(),
            energies: Energies { hamiltonian: f64::NAN, twice_kinetic: f64::NAN },
            settling: Settling::default(),
            impulses: vec![0.0; constraints],
            events: Vec::new(),
            impacts: Pool::new(),
            arcs: Pool::new(),
            walls: Vec::new(),
            sides: Vec::new(),
            crossings: Vec::new(),
        }
    }

    /// Clears the log for a step from a state.
    pub(super) fn restart(&mut self, from: &State, h: f64) {
        self.h = h;
        self.end.copy_all_but_z(from);
        self.settling = Settling::default();
        self.events.clear();
        (self.impacts.count, self.arcs.count) = (0, 0);
        self.walls.clear();
        self.sides.clear();
        self.crossings.clear();
    }

    /// Appends an arc.
    pub(super) fn push_arc(&mut self, start: &Phase, holding: &[usize], sides: &[f64], path: Option<(usize, &Phase)>) {
        self.sides.extend_from_slice(sides);
        let first = self.walls.len();
        self.walls.extend_from_slice(holding);
        let holding = first..self.walls.len();
        let events = self.events.len();
        let new = || Arc {
            start: start.clone(),
            path: path.map(|(side, z)| (side, z.clone())),
            polynomial: Polynomial::default(),
            cause: None,
            node: None,
            events,
            holding: holding.clone(),
        };
        self.arcs.push(new, |arc| {
            arc.start.copy_from(start);
            arc.polynomial.forget();
            (arc.cause, arc.node, arc.events) = (None, None, events);
            arc.holding = holding.clone();
            match (&mut arc.path, path) {
                (Some((side, z)), Some((from_side, from))) => {
                    *side = from_side;
                    z.copy_from(from);
                }
                (to, from) => *to = from.map(|(side, z)| (side, z.clone())),
            }
        });
    }

    /// Writes the polynomial of the last arc.
    pub(super) fn set_polynomial(&mut self, polynomial: &Polynomial) {
        if let Some(arc) = self.arcs.items[..self.arcs.count].last_mut() {
            arc.polynomial.copy_from(polynomial);
        }
    }

    /// Appends an arc of a free motion that begins at a node.
    pub(super) fn push_node(&mut self, start: &Phase, energies: Energies) {
        self.push_arc(start, &[], &[], None);
        if let Some(arc) = self.arcs.items[..self.arcs.count].last_mut() {
            arc.node = Some(energies);
        }
    }

    /// Records what began the last arc.
    pub(super) fn set_cause(&mut self, kind: Kind, wall: usize) {
        if let Some(arc) = self.arcs.items[..self.arcs.count].last_mut() {
            arc.cause = Some((kind, wall));
        }
    }

    /// Keeps the polynomial of the last arc, if the last step of the flow was the one from z with length h.
    pub(super) fn keep_polynomial(&mut self, flow: &dyn Flow, z: &Phase, h: f64) {
        let last = self.arcs.count - 1;
        let polynomial = &mut self.arcs.items[last].polynomial;
        if !flow.write_polynomial(z, h, polynomial) {
            polynomial.forget();
        }
    }

    /// The control of the length of steps at the end, and the polynomial of the last arc, if it has one.
    pub(super) fn control_and_polynomial(&mut self) -> (Option<&mut Control>, Option<&Polynomial>) {
        let control = match &mut self.end.memory {
            Memory::Control(control) => Some(control),
            _ => None,
        };
        let last = self.arcs.items[..self.arcs.count].last();
        (control, last.map(|arc| &arc.polynomial).filter(|polynomial| polynomial.h != 0.0))
    }

    /// Records an event.
    pub(super) fn push_event(&mut self, t: f64, kind: EventKind) {
        self.events.push(Event { t, kind });
    }

    /// Records an impact and the state `plus` after it.
    pub(super) fn push_impact(&mut self, hit: &crate::impact::Hit, lambda: f64, plus: &Phase, at_once: Option<usize>) {
        let number = self.impacts.count;
        let note = |impact: &mut LoggedImpact| {
            (impact.wall, impact.at_once) = (hit.wall, at_once);
            impact.impulse = Impulse::normal_only(lambda);
            impact.minus.copy_from(&hit.minus);
            impact.plus.copy_from(plus);
            (impact.rate_minus, impact.phi_t, impact.restitution) = (hit.rate_minus, hit.phi_t, hit.restitution);
        };
        let new = || LoggedImpact {
            wall: hit.wall,
            impulse: Impulse::normal_only(lambda),
            minus: hit.minus.clone(),
            plus: plus.clone(),
            rate_minus: hit.rate_minus,
            phi_t: hit.phi_t,
            restitution: hit.restitution,
            at_once,
        };
        self.impacts.push(new, note);
        self.push_event(hit.minus.t, EventKind::Impact(number));
    }

    /// Records the energies at the end of the step.
    pub(crate) fn note_energies(&mut self, evaluator: &mut dyn Evaluator) -> Solved<()> {
        let (hamiltonian, twice_kinetic) = evaluator.hamiltonian_and_power(&self.end.z)?;
        self.energies = Energies { hamiltonian, twice_kinetic };
        Ok(())
    }

    /// The time at which the step began.
    pub fn begin(&self) -> f64 {
        self.arcs.list().first().map_or(self.end.z.t, |arc| arc.start.t)
    }

    /// The events, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The impacts, in order.
    pub fn impacts(&self) -> &[LoggedImpact] {
        self.impacts.list()
    }

    /// An impact by its number.
    pub fn impact(&self, number: usize) -> &LoggedImpact {
        &self.impacts.list()[number]
    }

    /// The smooth parts of the step, in order.
    pub fn arcs(&self) -> &[Arc] {
        self.arcs.list()
    }

    /// The number of nodes that it reaches: more than one if it records a flight.
    pub fn nodes(&self) -> usize {
        1 + self.arcs().iter().filter(|arc| arc.node.is_some()).count()
    }

    /// The polynomial of an arc, if the flow has one that ends where the arc ends.
    pub fn polynomial(&self, arc: usize) -> Option<&Polynomial> {
        let (Arc { start, polynomial, .. }, end) = (&self.arcs()[arc], self.end_of(arc));
        let roundoff = 4.0 * f64::EPSILON * start.t.abs().max(end.abs());
        (polynomial.h > 0.0 && (start.t + polynomial.h - end).abs() <= roundoff).then_some(polynomial)
    }

    /// The walls that hold the motion on an arc.
    pub fn holding(&self, arc: usize) -> &[usize] {
        &self.walls[self.arcs()[arc].holding.clone()]
    }

    /// The sides of the kinks on an arc.
    pub fn sides(&self, arc: usize) -> &[f64] {
        let count = self.sides.len() / self.arcs().len();
        &self.sides[arc * count..(arc + 1) * count]
    }

    /// The time at which an arc ends.
    pub fn end_of(&self, arc: usize) -> f64 {
        self.arcs().get(arc + 1).map_or(self.end.z.t, |next| next.start.t)
    }

    /// The arc that contains a time; at an event, the arc after it.
    pub fn arc_at(&self, t: f64) -> usize {
        self.arcs().iter().rposition(|arc| arc.start.t <= t).unwrap_or(0)
    }

    /// The wall on which impacts accumulate, if the step ends there.
    pub fn accumulation(&self) -> Option<usize> {
        self.events.iter().find_map(|event| match event.kind {
            EventKind::Accumulates(wall) => Some(wall),
            _ => None,
        })
    }

    /// Ends the step at an earlier state `z` on one of its arcs and discards what follows. `path` is the point of the projected
    /// path there.
    pub(crate) fn cut(&mut self, arc: usize, z: &Phase, path: Option<&Phase>) {
        let t = z.t;
        self.end.z.copy_from(z);
        // A window of nodes cannot end between two nodes.
        self.end.memory = match (&self.arcs()[arc].path, path) {
            (Some((side, _)), Some(z)) => Memory::Path { side: *side, z: z.clone() },
            _ => match std::mem::replace(&mut self.end.memory, Memory::None) {
                Memory::Control(mut control) => {
                    control.past.forget();
                    Memory::Control(control)
                }
                Memory::Explicit(progress) => super::leave(&progress),
                _ => Memory::None,
            },
        };
        let Range { start, end } = self.arcs()[arc].holding;
        self.end.holding.clear();
        self.end.holding.extend_from_slice(&self.walls[start..end]);
        self.sides.truncate((arc + 1) * (self.sides.len() / self.arcs.count));
        self.arcs.count = arc + 1;
        // An event at the time of the cut stays if it begins an arc that stays.
        let last = self.arcs()[arc].start.t;
        self.events.retain(|event| event.t <= last || event.t < t);
        let impacts = self.events.iter().filter(|event| matches!(event.kind, EventKind::Impact(_))).count();
        self.impacts.count = impacts;
    }
}
