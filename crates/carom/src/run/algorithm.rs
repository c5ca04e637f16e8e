//! Algorithm 1. [DLM §4.1]

use super::event::Contact;
use super::projected::Projected;
use super::walls::Walls;
use crate::flow::{Field, Flow, Phase};
use crate::impact::{Hit, ImpactRule, Tools, resolve};
use crate::solve::NoSolution;

/// More impacts than this at one instant are not resolved.
const MAX_AT_ONE_INSTANT: usize = 1000;

/// The three maps of the algorithm (Φ_full, Φ_partial, R_reset), the walls, and room to work in.
pub(super) struct Machine {
    pub(super) full: Box<dyn Flow>,
    /// Where the partial steps are those of another map.
    pub(super) partial: Option<Box<dyn Flow>>,
    pub(super) rule: Box<dyn ImpactRule>,
    pub(super) field: Field,
    pub(super) walls: Walls,
    pub(super) restitution: Vec<f64>,
    pub(super) probe: Phase,
    pub(super) next: Phase,
    pub(super) hit: Hit,
    /// Where the smooth pieces of the last step began: the node, then the state after each impact.
    pub(super) pieces: Pieces,
    /// Where the motion is the projection of a smooth path, that path.
    pub(super) projected: Option<Box<Projected>>,
}

/// A list of states that keeps its memory.
#[derive(Default)]
pub(super) struct Pieces {
    states: Vec<Phase>,
    count: usize,
}

impl Pieces {
    pub(super) fn restart(&mut self, z: &Phase) {
        self.count = 0;
        self.push(z);
    }

    pub(super) fn push(&mut self, z: &Phase) {
        match self.states.get_mut(self.count) {
            Some(state) => state.copy_from(z),
            None => self.states.push(z.clone()),
        }
        self.count += 1;
    }

    pub(super) fn list(&self) -> &[Phase] {
        &self.states[..self.count]
    }
}

impl Machine {
    /// One step of length h from z to z1; numbers are the lines of Algorithm 1. `see` is told of each impact.
    ///
    /// DIFFERENCE: Δτ is the smallest root, and never more than what is left of the step.
    pub(super) fn advance(
        &mut self,
        z: &mut Phase,
        h: f64,
        z1: &mut Phase,
        mut see: impl FnMut(&Hit, f64, &Phase),
    ) -> Result<(), NoSolution> {
        if let Some(mut projected) = self.projected.take() {
            let result = projected.advance(self, z, h, z1, see);
            self.projected = Some(projected);
            return result;
        }
        self.pieces.restart(z);
        if let Some(partial) = &mut self.partial {
            partial.set_full_step(h);
        }
        self.hit.h = h;
        self.full.step(z, h, z1)?; // 1
        let mut contact = self.first_contact(z, z1, h, None)?; // 2
        let (mut tau_left, mut at_once) = (h, 0);
        while let Some(Contact { wall, dtau }) = contact {
            at_once = if dtau > 0.0 { 0 } else { at_once + 1 };
            if at_once > MAX_AT_ONE_INSTANT {
                return Err(NoSolution::Accumulated);
            }
            self.meet(wall, z, dtau, tau_left)?; // 4–5
            tau_left = self.hit.tau_left;
            if self.hit.rate_minus < 0.0 {
                let lambda = self.reset(z)?; // 6
                see(&self.hit, lambda, z);
            } else {
                z.copy_from(&self.hit.minus); // touched, without a push
            }
            self.pieces.push(z);
            self.partial().step(z, tau_left, z1)?; // 7
            contact = if tau_left > 0.0 { self.first_contact(z, z1, tau_left, Some(wall))? } else { None }; // 8
        }
        Ok(())
    }

    /// Is told where a run begins.
    pub(super) fn begin(&mut self, z: &Phase) {
        if let Some(projected) = &mut self.projected {
            projected.begin(z);
        }
    }

    /// Φ_partial.
    pub(super) fn partial(&mut self) -> &mut dyn Flow {
        match &mut self.partial {
            Some(partial) => &mut **partial,
            None => &mut *self.full,
        }
    }

    /// The partial step to the wall.
    fn meet(&mut self, wall: usize, z: &Phase, dtau: f64, tau_left: f64) -> Result<(), NoSolution> {
        let partial = self.partial.as_mut().unwrap_or(&mut self.full);
        let hit = &mut self.hit;
        hit.energy_before = None;
        hit.begin.copy_from(z);
        if dtau > 0.0 {
            partial.step(z, dtau, &mut hit.minus)?;
            hit.energy_before = partial.discrete().map(|discrete| discrete.energy);
        } else {
            hit.minus.copy_from(z);
        }
        hit.wall = wall;
        hit.tau_left = tau_left - dtau;
        hit.restitution = self.restitution[wall];
        hit.phi_t = self.walls.normal(wall, &hit.minus, &mut hit.grad_phi);
        hit.rate_minus = self.walls.gap_and_rate(wall, &hit.minus, &mut self.field)?.1;
        Ok(())
    }

    /// R_reset: z becomes (q_i, p⁻ + λ∇φ).
    fn reset(&mut self, z: &mut Phase) -> Result<f64, NoSolution> {
        let partial = self.partial.as_mut().map(|partial| &mut **partial as &mut dyn Flow);
        let mut tools = Tools { field: &mut self.field, full: &mut *self.full, partial, next: &mut self.next };
        resolve(&mut *self.rule, &self.hit, z, &mut tools)
    }
}
