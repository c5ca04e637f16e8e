//! Algorithm 1. [DLM §4.1]

use super::Stepper;
use super::event::{Encounter, Kind, Search};
use super::instant::Resolver;
use super::log::StepLog;
use super::maps::Maps;
use super::release::Looks;
use super::rest::{Rest, Surroundings};
use super::state::{Memory, State};
use super::touching::Pace;
use crate::impact::ImpactRule;
use crate::limits::{LOOK_AHEAD, MAX_AT_ONE_INSTANT, MAX_IN_ONE_STEP};
use crate::phase::{Flow, Phase};
use crate::plant::{Evaluator, Facts};
use crate::solve::{NoSolution, Solved};

/// The three maps of the algorithm, Φ_full, Φ_partial and R_reset, with what finds the walls between them.
pub(super) struct EventDriven {
    pub(super) maps: Maps,
    pub(super) evaluator: Box<dyn Evaluator>,
    pub(super) resolver: Resolver,
    /// How walls hold the motion, where the method can rest.
    pub(super) rest: Option<Rest>,
    facts: Facts,
    probe: Phase,
    looks: Looks,
    /// The walls that have let go at this instant. None of them holds again at it: where walls are nearly redundant, roundoff
    /// decides on the signs of their forces, and they would take turns without an end.
    released: Vec<usize>,
    z: Phase,
    z1: Phase,
}

impl EventDriven {
    pub(super) fn new(
        facts: &Facts,
        maps: Maps,
        evaluator: Box<dyn Evaluator>,
        resolver: Resolver,
        rest: Option<Rest>,
    ) -> EventDriven {
        let z = facts.nowhere();
        let (facts, looks, probe, z1) = (facts.clone(), Looks::default(), z.clone(), z.clone());
        EventDriven { maps, evaluator, resolver, rest, facts, looks, released: Vec::new(), probe, z, z1 }
    }

    /// One step of length h; numbers are the lines of Algorithm 1. The state after the last event is in `self.z`, the end of
    /// the step in `self.z1`.
    ///
    /// DIFFERENCE: Δτ is the smallest root, and never more than what is left of the step.
    fn advance(&mut self, h: f64, log: &mut StepLog) -> Solved<()> {
        self.maps.full().step(&self.z, h, &mut self.z1)?; // 1
        note_impulses(self.maps.full(), log);
        let mut encounter = self.first_encounter(h, None, log.end.fastest)?; // 2
        let (mut tau_left, mut at_once, mut events) = (h, 0, 0);
        while let Some(Encounter { wall, dtau, kind }) = encounter {
            at_once = if dtau > 0.0 { 0 } else { at_once + 1 };
            if dtau > 0.0 || events == 0 {
                self.released.clear();
            }
            events += 1;
            if at_once > MAX_AT_ONE_INSTANT || events > MAX_IN_ONE_STEP {
                return Err(NoSolution::Accumulated);
            }
            self.meet(dtau, tau_left, events == 1)?; // 4–5
            tau_left = self.resolver.hit.tau_left;
            if kind == Kind::Meets {
                let EventDriven { resolver, maps, evaluator, z, .. } = self;
                resolver.reset_all(wall, z, maps, &mut **evaluator, log)?; // 6
            }
            if kind == Kind::LetsGo {
                self.released.push(wall);
            }
            let stop = self.settle(Some(wall).filter(|_| kind == Kind::Presses), h, log)?;
            log.push_arc(&self.z, self.maps.holding(), None);
            if let Some(wait) = stop {
                return self.maps.partial().step(&self.z, wait.min(tau_left), &mut self.z1);
            }
            encounter = self.next_encounter(tau_left, wall, dtau, log)?; // 7–8
        }
        Ok(())
    }

    /// The rest of the step after an event, z1 = Φ_τ(z), and the first event in it. The next event often follows about as soon as
    /// this one did, so that times near to `dtau` are looked at first.
    fn next_encounter(&mut self, tau: f64, left: usize, dtau: f64, log: &mut StepLog) -> Solved<Option<Encounter>> {
        let mut near = LOOK_AHEAD * dtau;
        while near > 0.0 && near < 0.5 * tau {
            self.maps.partial().step(&self.z, near, &mut self.z1)?;
            let encounter = self.first_encounter(near, Some(left), log.end.fastest)?;
            if encounter.is_some() {
                return Ok(encounter);
            }
            near *= LOOK_AHEAD;
        }
        self.maps.partial().step(&self.z, tau, &mut self.z1)?; // 7
        note_impulses(self.maps.partial(), log);
        if tau > 0.0 { self.first_encounter(tau, Some(left), log.end.fastest) } else { Ok(None) } // 8
    }

    /// The first wall that is met or lets go on the way from z to z1 = Φ_τ(z).
    fn first_encounter(&mut self, tau: f64, left: Option<usize>, fastest: f64) -> Solved<Option<Encounter>> {
        let EventDriven { maps, evaluator, resolver, probe, looks, z, z1, facts, rest, .. } = self;
        let (walls, can_rest) = (facts.walls, rest.is_some());
        let evaluator = &mut **evaluator;
        let pace = Pace { fastest, h: resolver.hit.h };
        let touching = &mut resolver.touching;
        let mut search = Search { maps, evaluator, probe, touching, looks, walls, pace, can_rest, sinks: 0.0 };
        search.first_encounter(z, z1, tau, left)
    }

    /// The partial step to a wall: z becomes (q_i, p⁻).
    fn meet(&mut self, dtau: f64, tau_left: f64, begins_at_node: bool) -> Solved<()> {
        let (partial, hit) = (self.maps.partial(), &mut self.resolver.hit);
        hit.energy_before = None;
        hit.begin.copy_from(&self.z);
        hit.begins_at_node = begins_at_node;
        if dtau > 0.0 {
            partial.step(&self.z, dtau, &mut hit.minus)?;
            if self.resolver.rule.looks_at_steps() {
                hit.energy_before = partial.discrete().map(|discrete| discrete.energy);
            }
        } else {
            hit.minus.copy_from(&self.z);
        }
        hit.tau_left = tau_left - dtau;
        self.z.copy_from(&hit.minus);
        Ok(())
    }

    /// Decides which walls hold from here on; says after which time the step is to end, if it is to end early.
    /// The motion presses on the wall `pressed` though it has no acceleration towards it yet.
    fn settle(&mut self, pressed: Option<usize>, h: f64, log: &mut StepLog) -> Solved<Option<f64>> {
        let EventDriven { maps, evaluator, resolver, rest: Some(rest), z, released, .. } = self else {
            return Ok(None);
        };
        let before = maps.holding().to_vec();
        let around = Surroundings { resolver, maps, evaluator: &mut **evaluator, log, h };
        match pressed {
            Some(wall) => rest.hold(z, wall, &before, around).map(|()| None),
            None => rest.settle(z, released, &before, around),
        }
    }
}

impl Stepper for EventDriven {
    fn begin(&mut self, parameters: &[f64]) {
        self.maps.begin(parameters);
        self.evaluator.set_parameters(parameters);
        self.evaluator.forget();
        self.resolver.rule.set_parameters(parameters);
        self.resolver.rule.forget();
        self.resolver.restitution.copy_from_slice(self.evaluator.restitution());
    }

    fn start(&mut self, state: &mut State, h: f64) -> Solved<()> {
        let mut log = StepLog::new(state, 0);
        self.z.copy_from(&state.z);
        self.resolver.hit.h = h;
        self.maps.select(&[])?;
        self.released.clear();
        self.settle(None, h, &mut log)?;
        state.z.copy_from(&self.z);
        state.holding.clone_from(&log.end.holding);
        match state.memory {
            Memory::FirstStep { .. } => Ok(()),
            _ => remember(&mut *self.resolver.rule, &self.z, h, true, &mut state.memory),
        }
    }

    fn step(&mut self, from: &State, until: f64, log: &mut StepLog) -> Solved<()> {
        let h = until - from.z.t;
        log.restart(from, h);
        self.maps.select(&from.holding)?;
        log.push_arc(&from.z, &from.holding, None);
        self.maps.set_full_step(h);
        self.resolver.hit.h = h;
        self.z.copy_from(&from.z);
        let result = match &from.memory {
            Memory::FirstStep { end, impulses } => {
                self.z1.copy_from(end);
                log.impulses.copy_from_slice(impulses);
                log.end.memory = Memory::None;
                Ok(())
            }
            _ => self.advance(h, log),
        };
        if result.is_err() {
            // Where the step came to: its last event, if it had one.
            log.end.z.copy_from(&self.z);
            // What has no velocities there has no energy either.
            let _ = log.note_energies(&mut *self.evaluator);
            return result;
        }
        if log.accumulation().is_none() {
            self.z1.t = until;
        }
        log.end.z.copy_from(&self.z1);
        let after_impact = !log.impacts().is_empty();
        remember(&mut *self.resolver.rule, &self.z1, h, after_impact, &mut log.end.memory)?;
        log.note_energies(&mut *self.evaluator)
    }

    fn order(&self) -> usize {
        self.maps.order()
    }
}

/// Writes what a rule remembers at the node z to the memory of the state.
fn remember(rule: &mut dyn ImpactRule, z: &Phase, h: f64, after_impact: bool, memory: &mut Memory) -> Solved<()> {
    if !rule.remembers() {
        return Ok(());
    }
    if !matches!(memory, Memory::Window(_)) {
        *memory = Memory::Window(Vec::new());
    }
    match memory {
        Memory::Window(window) => rule.remember(z, h, after_impact, window),
        _ => Ok(()),
    }
}

/// Notes what the constraints ended the last step of `flow` with. Those of walls that hold follow, and are left out.
fn note_impulses(flow: &dyn Flow, log: &mut StepLog) {
    if !log.impulses.is_empty()
        && let Some(last) = flow.impulses()
    {
        log.impulses.iter_mut().zip(&last.end).for_each(|(impulse, end)| *impulse = *end);
    }
}
