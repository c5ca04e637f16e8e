//! Steps of the projected Hamilton's principle.

use std::sync::Arc;

use super::Stepper;
use super::event::{Ahead, Encounter, Search};
use super::log::StepLog;
use super::maps::{Maps, Variant};
use super::release::Looks;
use super::scheme::Path;
use super::state::{Memory, State};
use super::touching::{Pace, Touching};
use crate::error::Result;
use crate::flow::FlowKind;
use crate::impact::Hit;
use crate::limits::{LOWEST_BOUNCE, MAX_AT_ONE_INSTANT, MAX_IN_ONE_STEP};
use crate::method::Switches;
use crate::phase::Phase;
use crate::plant::{Evaluator, SharedPlant};
use crate::projection::Projector;
use crate::solve::{NoSolution, Solved};

/// The path z with its momentum p_z, and the mechanics on either side of the wall. [GP (5)–(7)]
///
/// The sides are numbered 0 where φ(z) > 0 and P is the identity, 1 where φ(z) < 0.
pub(super) struct Projected {
    sides: [Side; 2],
    path: Arc<Path>,
    projector: Projector,
    /// Evaluates the motion q = P(z).
    motion: Box<dyn Evaluator>,
    hit: Hit,
    /// The current side of z.
    side: usize,
    z: Phase,
    next: Phase,
    /// The motion at z.
    q: Phase,
    touching: Touching,
    /// Room for the walls that may be met.
    ahead: Vec<Ahead>,
}

/// The mechanics on one side of the wall.
struct Side {
    maps: Maps,
    evaluator: Box<dyn Evaluator>,
    probe: Phase,
}

impl Projected {
    pub(super) fn new(plant: &SharedPlant, path: &Arc<Path>, flow: &Arc<FlowKind>) -> Result<Projected> {
        let nowhere = plant.facts().nowhere();
        let side = |plant: &SharedPlant| -> Result<Side> {
            let maps = Maps::new(plant, flow, None, Variant::Whole)?;
            Ok(Side { maps, evaluator: plant.evaluator(), probe: nowhere.clone() })
        };
        Ok(Projected {
            sides: [side(&path.sides[0])?, side(&path.sides[1])?],
            path: path.clone(),
            projector: path.projector.clone(),
            motion: plant.evaluator(),
            hit: Hit::new(&nowhere),
            side: 0,
            z: nowhere.clone(),
            next: nowhere.clone(),
            q: nowhere,
            touching: Touching::new(plant.facts()),
            ahead: Vec::new(),
        })
    }

    /// Records a new arc at z.
    fn push_arc(&self, log: &mut StepLog) {
        log.push_arc(&self.q, &[], &[], Some((self.side, &self.z)));
    }

    /// Advances z by h and switches sides where it crosses the wall.
    fn cross_walls(&mut self, h: f64, log: &mut StepLog) -> Solved<()> {
        let (mut tau_left, mut left, mut at_once, mut events) = (h, None, 0, 0);
        while tau_left > 0.0 {
            let Side { maps, evaluator, probe } = &mut self.sides[self.side];
            maps.full().step(&self.z, tau_left, &mut self.next)?;
            let evaluator = &mut **evaluator;
            // The sides differ in W.
            self.touching.forget_responses();
            let mut search = Search {
                maps,
                evaluator,
                probe,
                touching: &mut self.touching,
                looks: &mut Looks::default(),
                ahead: &mut self.ahead,
                sides: &[],
                of_velocities: 0,
                walls: 1,
                pace: Pace::of(&log.end, h, LOWEST_BOUNCE),
                can_rest: false,
                leaving: &[],
                sinks: 0.0,
                noise: 0.0,
            };
            let found = search.first_encounter(&self.z, &self.next, tau_left, left)?;
            let Some(Encounter { wall, dtau, .. }) = found else {
                self.z.copy_from(&self.next);
                return Ok(());
            };
            // A time too short to move the clock is none.
            at_once = if self.z.t + dtau > self.z.t { 0 } else { at_once + 1 };
            events += 1;
            if at_once > MAX_AT_ONE_INSTANT || events > MAX_IN_ONE_STEP {
                return Err(NoSolution::Accumulated);
            }
            if dtau > 0.0 {
                self.sides[self.side].maps.full().step(&self.z, dtau, &mut self.next)?;
                self.z.copy_from(&self.next);
            }
            if self.sides[self.side].evaluator.gap_and_rate(wall, &self.z)?.1 < 0.0 {
                self.switch(log)?;
            } else {
                push(&mut self.projector, self.side, &self.z, &mut self.q)?; // touches without crossing
            }
            self.push_arc(log);
            (tau_left, left) = (tau_left - dtau, Some(wall));
        }
        Ok(())
    }

    /// True if z is not on the side whose mechanics it follows.
    fn is_across(&mut self) -> Solved<bool> {
        Ok(self.sides[self.side].evaluator.gap_and_rate(0, &self.z)?.0 < 0.0)
    }

    /// Moves z to the other side. Only P' jumps: p_z is continuous, p = P'⁻ᵀp_z is not. [GP (7)]
    ///
    /// λ follows from [p] = λ∇φ, in the metric of the mass: λ = [p]·M⁻¹∇φ / ∇φ·M⁻¹∇φ.
    fn switch(&mut self, log: &mut StepLog) -> Solved<()> {
        let hit = &mut self.hit;
        push(&mut self.projector, self.side, &self.z, &mut hit.minus)?;
        self.side = 1 - self.side;
        let n = self.z.q().len();
        self.projector.change_chart(&mut self.z.z[..n], self.side == 1);
        push(&mut self.projector, self.side, &self.z, &mut self.q)?;
        hit.wall = 0;
        hit.phi_t = self.motion.normal(0, &hit.minus, &mut hit.grad_phi);
        self.next.copy_from(&hit.minus);
        self.next.p_mut().copy_from_slice(&hit.grad_phi);
        let normal = self.motion.velocity(&self.next)?;
        let along = |p: &[f64]| p.iter().zip(normal).map(|(p, n)| p * n).sum::<f64>();
        let lambda = (along(self.q.p()) - along(hit.minus.p())) / along(&hit.grad_phi);
        log.push_impact(hit, lambda, &self.q, None);
        Ok(())
    }

    /// Advances z by h.
    fn advance(&mut self, h: f64, log: &mut StepLog) -> Solved<()> {
        match self.path.switches {
            Switches::Located => self.cross_walls(h, log)?,
            Switches::Unlocated => {
                self.sides[self.side].maps.full().step(&self.z, h, &mut self.next)?;
                self.z.copy_from(&self.next);
                if self.is_across()? {
                    self.switch(log)?;
                }
            }
        }
        push(&mut self.projector, self.side, &self.z, &mut self.q)
    }
}

impl Stepper for Projected {
    fn begin(&mut self, parameters: &[f64]) {
        let all = self.path.parameters(parameters);
        for side in &mut self.sides {
            side.maps.begin(&all);
            side.evaluator.set_parameters(&all);
            side.evaluator.forget();
        }
        self.projector.set_parameters(&all);
        self.motion.set_parameters(parameters);
        self.motion.forget();
    }

    /// The path starts at a feasible state.
    fn start(&mut self, state: &mut State, _h: f64) -> Solved<()> {
        state.memory = Memory::Path { side: 0, z: state.z.clone() };
        Ok(())
    }

    fn step(&mut self, from: &State, until: f64, log: &mut StepLog) -> Solved<()> {
        let h = until - from.z.t;
        log.restart(from, h);
        self.q.copy_from(&from.z);
        match &from.memory {
            Memory::Path { side, z } => {
                self.side = *side;
                self.z.copy_from(z);
            }
            _ => {
                self.side = 0;
                self.z.copy_from(&from.z);
            }
        }
        self.z.t = from.z.t;
        self.push_arc(log);
        let result = self.advance(h, log);
        if result.is_ok() {
            (self.q.t, self.z.t) = (until, until);
        }
        log.end.z.copy_from(&self.q);
        match &mut log.end.memory {
            Memory::Path { side, z } => {
                *side = self.side;
                z.copy_from(&self.z);
            }
            other => *other = Memory::Path { side: self.side, z: self.z.clone() },
        }
        result.and(log.note_energies(&mut *self.motion))
    }

    fn order(&self) -> usize {
        if self.path.switches == Switches::Located { self.sides[0].maps.order() } else { 1 }
    }
}

/// (q, p) of a point of the path: q = P(z), P'ᵀp = p_z.
pub(super) fn push(projector: &mut Projector, side: usize, z: &Phase, to: &mut Phase) -> Solved<()> {
    if side == 0 {
        to.copy_from(z);
        return Ok(());
    }
    to.t = z.t;
    let n = z.q().len();
    let (q, p) = to.z.split_at_mut(n);
    if projector.push(z.q(), z.p(), q, p) { Ok(()) } else { Err(NoSolution::Singular) }
}
