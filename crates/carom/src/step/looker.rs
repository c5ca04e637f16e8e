//! Dense output: states between nodes.

use std::sync::Arc;

use super::log::StepLog;
use super::maps::Maps;
use super::projected::push;
use super::scheme::Path;
use crate::mechanics::Node;
use crate::phase::{Moments, Phase, Polynomial};
use crate::plant::{Contact, Evaluator};
use crate::projection::Projector;
use crate::solve::Solved;

/// Computes states inside steps by a partial step from the start of the arc: to the order of the flow, in the contact mode that
/// is active there. It has its own maps, so it never changes a step.
#[derive(Clone)]
pub struct Looker {
    way: Way,
}

#[derive(Clone)]
enum Way {
    Events(Box<Maps>),
    /// The motion is the projection of a path that is on one of two sides.
    Path {
        sides: Box<[Maps; 2]>,
        projector: Box<Projector>,
        path: Arc<Path>,
        on_path: Phase,
    },
}

/// The start of an arc.
#[derive(Clone, Copy, Debug)]
pub struct ArcStart<'a> {
    /// The state.
    pub start: &'a Phase,
    /// The walls that hold.
    pub holding: &'a [usize],
    /// The sides of the kinks.
    pub sides: &'a [f64],
    /// The side and the point of the projected path.
    pub path: Option<(usize, &'a Phase)>,
    /// The full step of which the arc is a part.
    pub h: f64,
}

impl Looker {
    pub(super) fn on_events(maps: Maps) -> Looker {
        Looker { way: Way::Events(Box::new(maps)) }
    }

    pub(super) fn on_path(sides: [Maps; 2], path: Arc<Path>, nowhere: Phase) -> Looker {
        let (sides, projector) = (Box::new(sides), Box::new(path.projector.clone()));
        Looker { way: Way::Path { sides, projector, path, on_path: nowhere } }
    }

    /// Takes the parameters of a run.
    pub fn begin(&mut self, parameters: &[f64]) {
        match &mut self.way {
            Way::Events(maps) => maps.begin(parameters),
            Way::Path { sides, projector, path, .. } => {
                let parameters = path.parameters(parameters);
                sides.iter_mut().for_each(|maps| maps.begin(&parameters));
                projector.set_parameters(&parameters);
            }
        }
    }

    /// The state at time t of a step; at an impact the state after it.
    pub fn at(&mut self, log: &StepLog, t: f64, z: &mut Phase) -> Solved<()> {
        self.on_arc(log, log.arc_at(t), t, z)
    }

    /// The state at time t on an arc of a step, on the polynomial of the motion if there is one: accurate enough to look for walls.
    pub fn near(&mut self, log: &StepLog, arc: usize, t: f64, z: &mut Phase) -> Solved<()> {
        if self.read(log, arc, t, z)? { Ok(()) } else { self.from(place(log, arc), t, z) }
    }

    /// The state at time t on an arc of a step. The polynomial of the motion, if there is one, is the guess of the partial step to it.
    pub fn on_arc(&mut self, log: &StepLog, arc: usize, t: f64, z: &mut Phase) -> Solved<()> {
        match &mut self.way {
            Way::Events(maps) => step(maps, place(log, arc), Some(&log.arcs()[arc].polynomial), t, z),
            Way::Path { .. } => self.from(place(log, arc), t, z),
        }
    }

    /// Writes the moments inside an arc at which its polynomial is known. Returns false if there is none.
    pub fn moments(&mut self, log: &StepLog, arc: usize, moments: &mut Moments) -> Solved<bool> {
        let (Way::Events(maps), Some(polynomial)) = (&mut self.way, log.polynomial(arc)) else { return Ok(false) };
        maps.set_sides(log.sides(arc));
        maps.select(log.holding(arc))?;
        Ok(maps.partial().read_moments(&log.arcs()[arc].start, polynomial, moments))
    }

    /// Writes the state at time t on the polynomial of an arc. Returns false if there is none.
    pub fn read(&mut self, log: &StepLog, arc: usize, t: f64, z: &mut Phase) -> Solved<bool> {
        let begin = &log.arcs()[arc];
        let Way::Events(maps) = &mut self.way else { return Ok(false) };
        if begin.polynomial.h <= 0.0 {
            return Ok(false);
        }
        maps.set_sides(log.sides(arc));
        maps.select(log.holding(arc))?;
        Ok(maps.partial().read(&begin.start, &begin.polynomial, t - begin.start.t, z))
    }

    /// The state at time t on the arc that begins at a place.
    pub fn from(&mut self, place: ArcStart, t: f64, z: &mut Phase) -> Solved<()> {
        match (&mut self.way, place.path) {
            (Way::Path { sides, projector, on_path, .. }, Some((side, start))) => {
                if t > start.t {
                    sides[side].full().step(start, t - start.t, on_path)?;
                } else {
                    on_path.copy_from(start);
                }
                push(projector, side, on_path, z)
            }
            (Way::Path { sides: maps, .. }, None) => step(&mut maps[0], place, None, t, z),
            (Way::Events(maps), _) => step(maps, place, None, t, z),
        }
    }

    /// The point of the projected path that belongs to the last state computed.
    pub fn path(&self) -> Option<&Phase> {
        match &self.way {
            Way::Path { on_path, .. } => Some(on_path),
            Way::Events(_) => None,
        }
    }

    /// The contact mode in which these walls hold; none if the motion is free. It knows nothing of what was looked at before.
    pub fn contact(&mut self, holding: &[usize]) -> Solved<Option<&mut dyn Contact>> {
        let maps = match &mut self.way {
            Way::Events(maps) => &mut **maps,
            Way::Path { sides, .. } => &mut sides[0],
        };
        maps.select(holding)?;
        let mut contact = maps.contact();
        contact.iter_mut().for_each(|contact| contact.forget());
        Ok(contact)
    }

    /// Writes the state z in all coordinates, while these walls hold the motion.
    pub fn describe(&mut self, z: &Phase, holding: &[usize], evaluator: &mut dyn Evaluator, node: &mut Node) {
        if evaluator.wants_forces() {
            match self
                .contact(holding)
                .map(|contact| contact.map(|contact| (contact.walls().to_vec(), contact.forces(z))))
            {
                Ok(Some((walls, Ok(forces)))) => evaluator.set_forces(&walls, forces),
                Ok(None) => evaluator.set_forces(&[], &[]),
                // Unknown forces are NaN.
                Ok(Some((_, Err(_)))) | Err(_) => evaluator.set_forces(holding, &[]),
            }
        }
        evaluator.node(z, node);
    }

    /// Φ_full in the contact mode in which these walls hold.
    pub fn full(&mut self, holding: &[usize]) -> Solved<&mut dyn crate::phase::Flow> {
        let maps = match &mut self.way {
            Way::Events(maps) => &mut **maps,
            Way::Path { sides, .. } => &mut sides[0],
        };
        maps.select(holding)?;
        Ok(maps.full())
    }

    /// True if the motion is the projection of a path.
    pub fn is_projected(&self) -> bool {
        matches!(self.way, Way::Path { .. })
    }
}

/// The start of an arc of a step.
pub(super) fn place(log: &StepLog, arc: usize) -> ArcStart<'_> {
    let begin = &log.arcs()[arc];
    let path = begin.path.as_ref().map(|(side, z)| (*side, z));
    ArcStart { start: &begin.start, holding: log.holding(arc), sides: log.sides(arc), path, h: log.h }
}

fn step(maps: &mut Maps, place: ArcStart, polynomial: Option<&Polynomial>, t: f64, z: &mut Phase) -> Solved<()> {
    if t <= place.start.t {
        z.copy_from(place.start);
        return Ok(());
    }
    maps.set_sides(place.sides);
    maps.select(place.holding)?;
    maps.set_full_step(place.h);
    if !place.holding.is_empty() || !maps.is_quick() {
        // The last bits of a step depend on its guess, and so on what was looked at before. Quick steps begin with a polynomial of the
        // log, or with none.
        maps.partial().forget();
    }
    if let Some(polynomial) = polynomial.filter(|polynomial| polynomial.h > 0.0) {
        maps.partial().read(place.start, polynomial, t - place.start.t, z);
    }
    maps.partial().step(place.start, t - place.start.t, z)
}
