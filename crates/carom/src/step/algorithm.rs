//! Algorithm 1. [DLM §4.1]

use super::Stepper;
use super::control::{Spectrum, two_sum};
use super::event::{Ahead, Encounter, Kind, Search};
use super::events::Events;
use super::flight::{Flown, Takeoff};
use super::instant::Resolver;
use super::kink::Sides;
use super::log::StepLog;
use super::maps::Maps;
use super::release::Looks;
use super::rest::{Rest, Surroundings};
use super::stages::Shown;
use super::state::{Memory, State};
use super::touching::Pace;
use crate::impact::ImpactRule;
use crate::limits::LOOK_AHEAD;
use crate::phase::{Flight, Flow, Phase};
use crate::plant::{Evaluator, Facts};
use crate::solve::Solved;

/// The three maps of the algorithm, Φ_full, Φ_partial and R_reset, with what finds the walls between them.
pub(super) struct EventDriven {
    pub(super) maps: Maps,
    pub(super) evaluator: Box<dyn Evaluator>,
    pub(super) resolver: Resolver,
    /// How walls hold the motion, where the method can rest.
    pub(super) rest: Option<Rest>,
    pub(super) facts: Facts,
    pub(super) probe: Phase,
    looks: Looks,
    ahead: Vec<Ahead>,
    /// The walls that have let go at this instant. None of them holds again at it: where walls are nearly redundant, roundoff
    /// decides on the signs of their forces, and they would take turns without an end.
    released: Vec<usize>,
    /// The walls that have let go, as long as nothing else has happened in the step.
    pub(super) leaving: Vec<usize>,
    /// The sides of the kinks.
    pub(super) sides: Vec<f64>,
    pub(super) z: Phase,
    pub(super) z1: Phase,
    pub(super) spectrum: Spectrum,
    pub(super) flight: Flight,
    /// What was rounded off from what is left of the step: a step may have many events.
    lost: f64,
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
        let (looks, probe, z1, sides) = (Looks::default(), z.clone(), z.clone(), vec![0.0; facts.kinks]);
        let (facts, released, spectrum) = (facts.clone(), Vec::new(), Spectrum::new(facts.n));
        let flight = Flight::new(facts.n);
        let (lost, leaving, ahead) = (0.0, Vec::new(), Vec::new());
        EventDriven {
            maps,
            evaluator,
            resolver,
            rest,
            facts,
            looks,
            ahead,
            released,
            leaving,
            sides,
            probe,
            z,
            z1,
            spectrum,
            flight,
            lost,
        }
    }

    /// One step of length h; numbers are the lines of Algorithm 1. The state after the last event is in `self.z`, the end of
    /// the step in `self.z1`, where the full step is already if it `is_solved`.
    ///
    /// DIFFERENCE: Δτ is the smallest root, and never more than what is left of the step.
    fn advance(&mut self, h: f64, is_solved: bool, log: &mut StepLog) -> Solved<()> {
        self.leaving.clear();
        if !is_solved {
            self.maps.full().step(&self.z, h, &mut self.z1)?; // 1
        }
        self.keep_polynomial(h, log);
        note_impulses(self.maps.full(), log);
        let mut next = self.encounter_within(h, None, log)?; // 2
        let (mut tau_left, mut events) = (h, Events::default());
        while let Some(encounter) = next {
            events.count(&encounter, self.z.t, tau_left)?;
            let stop = self.resolve(&encounter, tau_left, &events, h, log)?; // 4–6
            match encounter.kind {
                Kind::LetsGo => self.leaving.push(encounter.wall),
                Kind::Opens => {}
                Kind::Meets | Kind::Presses | Kind::Passes => self.leaving.clear(),
            }
            tau_left = self.resolver.hit.tau_left;
            if let Some(wait) = stop {
                return self.maps.partial().step(&self.z, wait.min(tau_left), &mut self.z1);
            }
            next = self.next_encounter(tau_left, encounter.wall, events.interval(&encounter), log)?; // 7–8
        }
        Ok(())
    }

    /// What happens at an event: the partial step to it, R_reset, and the walls that hold from there on. Returns the time after
    /// which the step must end, if impacts accumulate and the run ends there.
    pub(super) fn resolve(
        &mut self,
        encounter: &Encounter,
        tau_left: f64,
        events: &Events,
        h: f64,
        log: &mut StepLog,
    ) -> Solved<Option<f64>> {
        let Encounter { wall, dtau, kind, is_alone } = *encounter;
        if dtau > 0.0 || events.total == 1 {
            self.released.clear();
        }
        self.meet(encounter, tau_left, events.total == 1, log)?; // 4–5
        if matches!(kind, Kind::Passes | Kind::Opens) {
            if kind == Kind::Passes {
                let kink = wall - self.facts.walls;
                let (z, mut sides) = self.sides();
                sides.pass(kink, z, h)?;
            }
            log.push_arc(&self.z, self.maps.holding(), &self.sides, None);
            log.set_cause(kind, wall);
            return Ok(None);
        }
        if kind == Kind::Meets {
            let EventDriven { resolver, maps, evaluator, z, probe: before, .. } = self;
            before.copy_from(z);
            let rebounds = is_alone && resolver.reset_alone(wall, z, maps, &mut **evaluator, log)?;
            if !rebounds {
                resolver.reset_all(wall, z, maps, &mut **evaluator, log)?; // 6
            }
            maps.disturb_impact(before, z);
            if rebounds {
                log.push_arc(&self.z, &[], &self.sides, None);
                log.set_cause(kind, wall);
                return Ok(None);
            }
        }
        if kind == Kind::LetsGo {
            self.released.push(wall);
        }
        let stop = self.settle(Some(wall).filter(|_| kind == Kind::Presses), h, log)?;
        if self.facts.kinks_of_velocities > 0 {
            // Impulses and walls that hold change velocities, and forces of walls accelerations.
            self.find_sides(h)?;
        }
        log.push_arc(&self.z, self.maps.holding(), &self.sides, None);
        log.set_cause(kind, wall);
        Ok(stop)
    }

    /// The rest of the step after an event, z1 = Φ_τ(z), and the first event in it. In a sequence of bounces the next event
    /// follows after about the `interval` between the last two, so the search begins with short steps. The interval is 0 for the
    /// first event of a step.
    fn next_encounter(&mut self, tau: f64, left: usize, interval: f64, log: &mut StepLog) -> Solved<Option<Encounter>> {
        let mut near = LOOK_AHEAD * interval;
        while near > 0.0 && near < 0.5 * tau {
            self.maps.partial().step(&self.z, near, &mut self.z1)?;
            let encounter = self.first_encounter(near, Some(left), &log.end)?;
            if encounter.is_some() {
                return Ok(encounter);
            }
            near *= LOOK_AHEAD;
        }
        self.maps.partial().step(&self.z, tau, &mut self.z1)?; // 7
        self.keep_polynomial(tau, log);
        note_impulses(self.maps.partial(), log);
        if tau > 0.0 { self.encounter_within(tau, Some(left), log) } else { Ok(None) } // 8
    }

    /// The first event on the way from z to z1 = Φ_τ(z): if moments inside the step show it, there, else where the search finds it.
    fn encounter_within(&mut self, tau: f64, left: Option<usize>, log: &StepLog) -> Solved<Option<Encounter>> {
        match self.shown_by_moments(tau, left)? {
            Shown::Open => return Ok(None),
            Shown::Meets(met) => {
                let (mut search, z, _) = self.search(&log.end);
                if let Some(dtau) = search.closing(met.wall, z, met.open, met.shut)? {
                    return Ok(Some(met.at(dtau)));
                }
            }
            Shown::Unclear => {}
        }
        self.first_encounter(tau, left, &log.end)
    }

    /// The first wall that is met or lets go on the way from z to z1 = Φ_τ(z).
    pub(super) fn first_encounter(
        &mut self,
        tau: f64,
        left: Option<usize>,
        state: &State,
    ) -> Solved<Option<Encounter>> {
        let (mut search, z, z1) = self.search(state);
        search.first_encounter(z, z1, tau, left)
    }

    /// A search along the step from z to z1.
    fn search(&mut self, state: &State) -> (Search<'_>, &Phase, &Phase) {
        let EventDriven { maps, evaluator, resolver, probe, looks, ahead, z, z1, facts, rest, sides, leaving, .. } =
            self;
        let (walls, of_velocities) = (facts.walls, facts.kinks_of_velocities);
        let (can_rest, leaving) = (rest.is_some(), &leaving[..]);
        let evaluator = &mut **evaluator;
        let pace = Pace::of(state, resolver.hit.h, resolver.lowest);
        let touching = &mut resolver.touching;
        let (sinks, noise) = (0.0, 0.0);
        let search = Search {
            maps,
            evaluator,
            probe,
            touching,
            looks,
            ahead,
            walls,
            sides,
            of_velocities,
            pace,
            can_rest,
            leaving,
            sinks,
            noise,
        };
        (search, z, z1)
    }

    /// Keeps the polynomial of the step from z with length h for the arc that has just begun.
    pub(super) fn keep_polynomial(&mut self, h: f64, log: &mut StepLog) {
        log.keep_polynomial(self.maps.partial(), &self.z, h);
    }

    /// The state z, and the sides of the kinks on which the motion is.
    fn sides(&mut self) -> (&Phase, Sides<'_>) {
        let EventDriven { sides, facts, maps, evaluator, probe, z, .. } = self;
        (z, Sides { sides, facts, maps, evaluator: &mut **evaluator, probe })
    }

    /// Takes the sides of the kinks on which the motion is after the state z.
    fn find_sides(&mut self, h: f64) -> Solved<()> {
        let (z, mut sides) = self.sides();
        sides.find(z, h)
    }

    /// The partial step to a wall: z becomes (q_i, p⁻).
    fn meet(&mut self, encounter: &Encounter, tau_left: f64, begins_at_node: bool, log: &mut StepLog) -> Solved<()> {
        let mut dtau = encounter.dtau;
        let (partial, hit) = (self.maps.partial(), &mut self.resolver.hit);
        hit.energy_before = None;
        hit.begin.copy_from(&self.z);
        hit.begins_at_node = begins_at_node;
        if let Memory::Control(control) = &mut log.end.memory {
            control.past.forget();
        }
        if dtau > 0.0 && partial.quick().is_some() {
            dtau = self.arrive(encounter, log)?;
        } else if dtau > 0.0 {
            partial.step(&self.z, dtau, &mut hit.minus)?;
            log.keep_polynomial(partial, &self.z, dtau);
            if self.resolver.rule.looks_at_steps() {
                hit.energy_before = partial.discrete().map(|discrete| discrete.energy);
            }
        } else {
            hit.minus.copy_from(&self.z);
        }
        let hit = &mut self.resolver.hit;
        let (left, lost) = two_sum(tau_left, -dtau);
        (hit.tau_left, self.lost) = two_sum(left, lost + self.lost);
        if let Memory::Control(control) = &mut log.end.memory {
            hit.minus.t = control.after(self.z.t, dtau);
        }
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
        self.resolver.touching.forget();
        self.resolver.hit.h = 0.0;
        self.released.clear();
        self.spectrum.forget();
    }

    fn start(&mut self, state: &mut State, h: f64) -> Solved<()> {
        let mut log = StepLog::new(state, 0);
        self.z.copy_from(&state.z);
        self.resolver.hit.h = h;
        self.maps.select(&[])?;
        self.find_sides(h)?;
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
        self.step_along(from, &[until], log)
    }

    fn step_along(&mut self, from: &State, nodes: &[f64], log: &mut StepLog) -> Solved<()> {
        let until = nodes[0];
        let h = until - from.z.t;
        log.restart(from, h);
        self.resolver.touching.forget_responses();
        self.maps.select(&from.holding)?;
        let ahead = match &from.memory {
            Memory::Control(control) if control.h > 0.0 => control.h.min(h),
            Memory::Control(control) => control.longest.min(h),
            _ => h,
        };
        self.z.copy_from(&from.z);
        if let Err(e) = self.find_sides(ahead) {
            log.end.z.copy_from(&from.z);
            return Err(e);
        }
        log.push_arc(&from.z, &from.holding, &self.sides, None);
        self.maps.set_full_step(h);
        self.resolver.hit.h = h;
        self.lost = 0.0;
        let result = match &from.memory {
            Memory::FirstStep { end, impulses } => {
                self.z1.copy_from(end);
                log.impulses.copy_from_slice(impulses);
                log.end.memory = Memory::None;
                Ok(())
            }
            Memory::Control(_) => match self.fly(until, log) {
                Ok(Takeoff::Flown) => return Ok(()),
                Ok(Takeoff::Tried { h, predicted }) => self.advance_controlled(until, Some((h, predicted)), log),
                Ok(Takeoff::None) => self.advance_controlled(until, None, log),
                Err(e) => Err(e),
            },
            _ => match self.fly_along(nodes, log) {
                Flown::Some => return Ok(()),
                Flown::None { is_solved } => self.advance(h, is_solved, log).map(|()| {
                    if log.accumulation().is_none() {
                        self.z1.t = until;
                    }
                }),
            },
        };
        if result.is_err() {
            // The last event of the step, if it had one.
            log.end.z.copy_from(&self.z);
            // Without velocities there is no energy.
            let _ = log.note_energies(&mut *self.evaluator);
            return result;
        }
        log.end.z.copy_from(&self.z1);
        let after_impact = !log.impacts().is_empty();
        remember(&mut *self.resolver.rule, &self.z1, h, after_impact, &mut log.end.memory)?;
        log.note_energies(&mut *self.evaluator)?;
        if let Memory::Control(control) = &mut log.end.memory {
            control.see(&log.end.z, log.energies.twice_kinetic);
        }
        Ok(())
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
