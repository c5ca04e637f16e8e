//! Algorithm 1. [DLM §4.1]

use super::event::Contact;
use super::instant::MAX_AT_ONE_INSTANT;
use super::projected::Projected;
use super::rest::Rest;
use super::walls::Walls;
use crate::error::Error;
use crate::flow::{Field, Flow, FlowKind, Halved, Phase};
use crate::impact::{Built, Hit, ImpactRule};
use crate::mechanics::Mechanics;
use crate::model::settings::Simultaneous;
use crate::solve::NoSolution;

/// A step with more impacts than this is not finished.
const MAX_IN_ONE_STEP: usize = 100_000;

/// The three maps of the algorithm (Φ_full, Φ_partial, R_reset), the walls, and room to work in.
pub(super) struct Machine {
    pub(super) full: Box<dyn Flow>,
    /// Where the partial steps are those of another map.
    pub(super) partial: Option<Box<dyn Flow>>,
    pub(super) rule: Box<dyn ImpactRule>,
    pub(super) field: Field,
    pub(super) walls: Walls,
    pub(super) restitution: Vec<f64>,
    pub(super) simultaneous: Simultaneous,
    /// How walls hold the motion, where that is possible.
    pub(super) rest: Option<Rest>,
    /// The fastest approach to a wall at an impact so far.
    pub(super) fastest: f64,
    /// Walls that touch at an instant, with their rates.
    pub(super) touching: Vec<(usize, f64)>,
    pub(super) probe: Phase,
    pub(super) next: Phase,
    pub(super) hit: Hit,
    /// What the constraints ended the last step with; empty where there are none.
    pub(super) impulses: Vec<f64>,
    /// Where the smooth pieces of the last step began: the node, then the state after each impact.
    pub(super) pieces: Pieces,
    /// Where the motion is the projection of a smooth path, that path.
    pub(super) projected: Option<Box<Projected>>,
}

/// A list of states that keeps its memory.
#[derive(Default)]
pub(super) struct Pieces {
    states: Vec<Phase>,
    /// In which mode of motion each begins.
    modes: Vec<usize>,
    count: usize,
}

impl Pieces {
    pub(super) fn restart(&mut self, z: &Phase, mode: usize) {
        self.count = 0;
        self.modes.clear();
        self.push(z, mode);
    }

    pub(super) fn push(&mut self, z: &Phase, mode: usize) {
        self.modes.push(mode);
        match self.states.get_mut(self.count) {
            Some(state) => state.copy_from(z),
            None => self.states.push(z.clone()),
        }
        self.count += 1;
    }

    pub(super) fn list(&self) -> &[Phase] {
        &self.states[..self.count]
    }

    /// The mode of motion of a piece.
    pub(super) fn mode(&self, piece: usize) -> usize {
        self.modes[piece]
    }
}

impl Machine {
    /// With the maps of a method and the walls of a system.
    pub(super) fn new(
        mechanics: &Mechanics,
        parameters: &[f64],
        flow: &FlowKind,
        rule: Built,
    ) -> Result<Machine, Error> {
        let phase = Phase { t: 0.0, z: vec![0.0; 2 * mechanics.n()] };
        Ok(Machine {
            full: flow.build(mechanics, parameters)?,
            partial: rule.partial,
            rule: rule.rule,
            field: Field::new(mechanics, parameters)?,
            walls: Walls::new(mechanics, parameters)?,
            restitution: vec![1.0; mechanics.walls.len()],
            simultaneous: Simultaneous::Sequential,
            rest: None,
            fastest: 0.0,
            touching: Vec::new(),
            probe: phase.clone(),
            next: phase.clone(),
            hit: Hit::new(&phase),
            impulses: vec![0.0; mechanics.constraints.len()],
            pieces: Pieces::default(),
            projected: None,
        })
    }

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
        self.pieces.restart(z, self.mode());
        if let Some(partial) = &mut self.partial {
            partial.set_full_step(h);
        }
        self.hit.h = h;
        self.full.step(z, h, z1)?; // 1
        note(&*self.full, &mut self.impulses);
        let mut contact = self.first_contact(z, z1, h, None)?; // 2
        let (mut tau_left, mut at_once, mut events) = (h, 0, 0);
        while let Some(Contact { wall, dtau, lets_go }) = contact {
            at_once = if dtau > 0.0 { 0 } else { at_once + 1 };
            events += 1;
            if at_once > MAX_AT_ONE_INSTANT || events > MAX_IN_ONE_STEP {
                return Err(NoSolution::Accumulated);
            }
            self.meet(z, dtau, tau_left)?; // 4–5
            tau_left = self.hit.tau_left;
            let before = self.mode();
            if !lets_go {
                self.switch(0);
                self.reset_all(wall, z, &mut see)?; // 6
            }
            self.settle(z, lets_go.then_some(wall), before)?;
            self.pieces.push(z, self.mode());
            if let Some((_, wait)) = self.rest.as_ref().and_then(|rest| rest.stopped) {
                return self.partial().step(z, wait.min(tau_left), z1);
            }
            self.partial().step(z, tau_left, z1)?; // 7
            note(self.partial.as_deref().unwrap_or(&*self.full), &mut self.impulses);
            contact = if tau_left > 0.0 { self.first_contact(z, z1, tau_left, Some(wall))? } else { None }; // 8
        }
        Ok(())
    }

    /// Is told where a run begins.
    pub(super) fn begin(&mut self, z: &Phase) {
        // An earlier run may have ended at rest on a wall.
        self.switch(0);
        if let Some(projected) = &mut self.projected {
            projected.begin(z);
        }
    }

    /// Makes every step in two halves from now on, or whole again. False if the impact rule does not allow that.
    pub(super) fn halve(&mut self, halves: bool) -> bool {
        if self.partial.is_some() || self.projected.is_some() || self.rule.looks_at_steps() {
            return false;
        }
        let size = self.probe.z.len();
        let flows = self.rest.iter_mut().flat_map(|rest| rest.flows(halves)).chain([&mut self.full]);
        for flow in flows {
            match flow.whole() {
                Some(whole) if !halves => *flow = whole,
                None if halves => *flow = Box::new(Halved::new(flow.boxed_clone(), size)),
                _ => {}
            }
        }
        true
    }

    /// Φ_partial.
    pub(super) fn partial(&mut self) -> &mut dyn Flow {
        match &mut self.partial {
            Some(partial) => &mut **partial,
            None => &mut *self.full,
        }
    }

    /// The partial step to a wall: z becomes (q_i, p⁻).
    fn meet(&mut self, z: &mut Phase, dtau: f64, tau_left: f64) -> Result<(), NoSolution> {
        let partial = self.partial.as_mut().unwrap_or(&mut self.full);
        let hit = &mut self.hit;
        hit.energy_before = None;
        hit.begin.copy_from(z);
        if dtau > 0.0 {
            partial.step(z, dtau, &mut hit.minus)?;
            if self.rule.looks_at_steps() {
                hit.energy_before = partial.discrete().map(|discrete| discrete.energy);
            }
        } else {
            hit.minus.copy_from(z);
        }
        hit.tau_left = tau_left - dtau;
        z.copy_from(&hit.minus);
        Ok(())
    }
}

/// Notes what the constraints ended the last step of `flow` with.
fn note(flow: &dyn Flow, impulses: &mut [f64]) {
    if !impulses.is_empty()
        && let Some(last) = flow.impulses()
    {
        // Those of walls that hold follow.
        impulses.iter_mut().zip(&last.end).for_each(|(impulse, end)| *impulse = *end);
    }
}
