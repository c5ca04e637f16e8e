//! Steps of the explicit pair, in a lane.

use std::sync::Arc;

use super::Stepper;
use super::algorithm::EventDriven;
use super::control::Control;
use super::log::StepLog;
use super::state::{Memory, State};
use crate::flow::disturb;
use crate::impact::Hit;
use crate::lanes::{Group, Happening, LaneCode, LaneMemory};
use crate::limits::EXPLICIT_FIRST;
use crate::phase::{Phase, Polynomial};
use crate::plant::{Evaluator, Facts};
use crate::solve::{NoSolution, Solved};

/// Steps of `dop853`: of controlled length in a lane; by Algorithm 1 where the lane cannot go on; by Algorithm 1 with the flow itself
/// if the length of steps is given. The memory of the state says which.
pub(super) struct Explicit {
    group: Option<Group>,
    /// Algorithm 1 with a Gauss flow, for what leaves the lane.
    finish: EventDriven,
    /// Algorithm 1 with the explicit flow, for steps of given length.
    equal: EventDriven,
    evaluator: Box<dyn Evaluator>,
    parameters: Vec<f64>,
    hit: Hit,
    plus: Phase,
    /// The seed of disturbances by roundoff.
    seed: Option<u64>,
    /// What the lane carries at the time `at.0` on its way to `at.1`; NaN if nothing.
    carried: LaneMemory,
    at: (f64, f64),
}

/// Writes what a motion carries into a lane; false if it touches a wall, so that it cannot begin there. `time` is that of the run.
pub(crate) fn enter(
    evaluator: &mut dyn Evaluator,
    state: &State,
    walls: usize,
    [tolerance, longest, time]: [f64; 3],
    into: &mut LaneMemory,
) -> bool {
    let z = &state.z;
    let is_free = state.holding.is_empty()
        && (0..walls).all(|wall| evaluator.gap_and_rate(wall, z).is_ok_and(|(gap, _)| gap > 0.0));
    let Some(velocity) = evaluator.velocity(z).ok().filter(|_| is_free) else { return false };
    for (to, from) in [(&mut into.v, velocity), (&mut into.low, z.q()), (&mut into.high, z.q())] {
        to.clear();
        to.extend_from_slice(from);
    }
    into.roots.clear();
    (into.tolerance, into.longest, into.h) = (tolerance, longest, (EXPLICIT_FIRST * time).min(longest));
    (into.twice_kinetic, into.fastest) = (0.0, state.fastest);
    (into.last_impact, into.touched) = (None, None);
    true
}

/// The control of steps by Algorithm 1 that goes on where a lane ends.
pub(crate) fn leave(progress: &LaneMemory) -> Memory {
    let extent = progress.low.iter().zip(&progress.high).map(|(low, high)| [*low, *high]).collect();
    let LaneMemory { tolerance, longest, h, twice_kinetic, .. } = *progress;
    let (roots, past) = (progress.roots.clone(), Polynomial::default());
    Memory::Control(Control { tolerance, longest, h, extent, roots, twice_kinetic, past, late: 0.0 })
}

impl Explicit {
    pub(super) fn new(
        facts: &Facts,
        code: Option<Arc<LaneCode>>,
        [finish, equal]: [EventDriven; 2],
        evaluator: Box<dyn Evaluator>,
        seed: Option<u64>,
    ) -> Explicit {
        let group = code.map(|code| Group::new(&code));
        Explicit {
            group,
            finish,
            equal,
            evaluator,
            parameters: vec![0.0; facts.parameters],
            hit: Hit::new(&facts.nowhere()),
            plus: facts.nowhere(),
            seed,
            carried: LaneMemory::default(),
            at: (f64::NAN, f64::NAN),
        }
    }

    /// One accepted step in the lane, or by Algorithm 1 from the same state if the lane cannot make it.
    fn step_in_lane(&mut self, from: &State, progress: &LaneMemory, until: f64, log: &mut StepLog) -> Solved<()> {
        let Some(group) = &mut self.group else { return Err(NoSolution::Diverged) };
        if self.at != (from.z.t, until) || self.carried != *progress {
            group.load(0, from.z.t, from.z.q(), &self.parameters, progress, until);
        }
        self.at.0 = f64::NAN;
        let happened = loop {
            group.advance();
            if group.happened(0) != Happening::Nothing {
                break group.happened(0);
            }
        };
        if happened == Happening::Leaves {
            group.store(0, &mut self.carried);
            let state = State { memory: leave(&self.carried), ..from.clone() };
            self.finish.begin(&self.parameters);
            return self.finish.step(&state, until, log);
        }
        log.restart(from, until - from.z.t);
        log.push_arc(&from.z, &[], &[], None);
        let n = from.z.q().len();
        let end = &mut log.end;
        let (q, p) = end.z.z.split_at_mut(n);
        end.z.t = group.place(0, q);
        group.store(0, &mut self.carried);
        group.momenta(0, p);
        if let Some(seed) = self.seed {
            disturb(seed, from.z.t, end.z.t, from.z.q(), q);
            disturb(seed, end.z.t, from.z.t, &progress.v, &mut self.carried.v);
        } else {
            self.at = (end.z.t, until);
        }
        end.fastest = self.carried.fastest;
        match &mut end.memory {
            Memory::Explicit(memory) => memory.copy_from(&self.carried),
            memory => *memory = Memory::Explicit(Box::new(self.carried.clone())),
        }
        log.h = log.end.z.t - from.z.t;
        if let Happening::Impact(wall) = happened {
            self.log_impact(wall, log);
        }
        log.note_energies(&mut *self.evaluator)
    }

    fn log_impact(&mut self, wall: usize, log: &mut StepLog) {
        let Some(group) = &mut self.group else { return };
        let (state, lambda, rate) = group.impact(0);
        let (hit, n) = (&mut self.hit, state.len() / 2);
        group.momenta_at_impact(0, &mut hit.minus.z[n..]);
        hit.minus.t = log.end.z.t;
        hit.minus.z[..n].copy_from_slice(&state[..n]);
        hit.v_minus.copy_from_slice(&state[n..]);
        (hit.wall, hit.rate_minus) = (wall, rate);
        hit.phi_t = self.evaluator.normal(wall, &hit.minus, &mut hit.grad_phi);
        hit.restitution = self.evaluator.restitution()[wall];
        self.plus.copy_from(&log.end.z);
        log.push_impact(hit, lambda, &self.plus, None);
        log.push_arc(&self.plus, &[], &[], None);
    }
}

impl Stepper for Explicit {
    fn begin(&mut self, parameters: &[f64]) {
        self.finish.begin(parameters);
        self.equal.begin(parameters);
        self.evaluator.set_parameters(parameters);
        self.evaluator.forget();
        self.parameters.copy_from_slice(parameters);
        self.at.0 = f64::NAN;
    }

    fn start(&mut self, state: &mut State, h: f64) -> Solved<()> {
        self.equal.start(state, h)
    }

    fn step(&mut self, from: &State, until: f64, log: &mut StepLog) -> Solved<()> {
        match &from.memory {
            Memory::Explicit(progress) => self.step_in_lane(from, progress, until, log),
            Memory::Control(_) => self.finish.step(from, until, log),
            _ => self.equal.step(from, until, log),
        }
    }

    fn order(&self) -> usize {
        self.equal.order()
    }
}
