//! Many motions of one simulation that differ in their parameters: in lanes where they can be, else one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::compiled::Chosen;
use super::runner::{Plan, Pool, Runner};
use super::{Simulation, explicit, short};
use crate::error::{Diagnostic, Error, Result};
use crate::interval::Piece;
use crate::kernel::Lanes;
use crate::lanes::{Group, Happening, LaneCode, bits};
use crate::mechanics::Node;
use crate::model::QuickStart;
use crate::phase::Phase;
use crate::run::{Audience, Look, Outcome, Sections, Status, Watcher};
use crate::step::{LaneMemory, Memory, Scheme, State, Variant, enter, leave};

/// A compiled simulation whose parameters vary from motion to motion.
pub(crate) struct Ensemble {
    simulation: Simulation,
    scheme: Scheme,
    pool: Arc<Pool>,
    sections: Sections,
    until: f64,
    quick: Option<QuickStart>,
    lanes: Option<Arc<LaneCode>>,
    timed: Timed,
    /// A motion that takes longer is given up.
    limit: Duration,
}

/// What functions of time need.
enum Timed {
    /// The same for all motions.
    Once(Arc<[Piece]>),
    /// A parameter that varies occurs in them.
    Each,
}

/// Writes the parameters of the next motion to run, and returns its number.
pub(crate) type Next<'a> = dyn FnMut(&mut Vec<f64>) -> Option<u64> + 'a;

/// How a motion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStatus {
    /// It reached its end time.
    Completed,
    /// A section, or an accumulation of impacts, ended it.
    Stopped,
    /// A step could not be computed.
    Failed,
    /// It could not begin.
    Refused,
    /// It took too long.
    Timeout,
}

/// A motion that has ended.
pub(crate) struct Ended {
    pub(crate) status: RowStatus,
    pub(crate) message: Option<String>,
    pub(crate) last: Node,
    pub(crate) impacts: usize,
    pub(crate) error: Option<f64>,
}

impl Ended {
    fn refused(error: &Error) -> Ended {
        let message = match error {
            Error::Model(diagnostic) => diagnostic.message.clone(),
            Error::Numerical(failure) => failure.message.clone(),
        };
        Ended { status: RowStatus::Refused, message: Some(message), last: Node::default(), impacts: 0, error: None }
    }
}

impl Ensemble {
    /// Compiles a simulation of which the parameters with these numbers vary.
    pub(crate) fn new(simulation: &Simulation, varied: &[usize], limit: Duration) -> Result<Ensemble> {
        if let Some(trouble) = &simulation.trouble {
            return Err(trouble.clone());
        }
        let no_end = || Diagnostic::new("the run has no end time").with_help("give `until`, or set it in [run]");
        let until = simulation.until.ok_or_else(no_end)?;
        let Chosen { scheme, pool, .. } = simulation.scheme()?;
        // Controls that change with the time are parameters of single runs.
        let in_lanes = simulation.step.is_none() && simulation.controls.is_empty() && scheme.has_lanes();
        let lanes = if in_lanes { scheme.plant.lane_code(Lanes::Eight).ok() } else { None };
        let depends = scheme.plant.functions_of_time()?.contain_any(varied);
        let timed = if depends || lanes.is_none() {
            Timed::Each
        } else {
            let state = State::new(simulation.parameters.clone(), scheme.plant.facts().nowhere());
            Timed::Once(short::find(simulation, &scheme, &state, until)?.pieces)
        };
        let sections = simulation.model.sections.iter().map(|section| (section.direction, section.stop));
        Ok(Ensemble {
            simulation: simulation.clone(),
            sections: Sections::new(sections.collect()),
            until,
            quick: QuickStart::new(&simulation.model).map(QuickStart::compiled),
            lanes,
            timed,
            limit,
            scheme,
            pool,
        })
    }

    /// The name of the method.
    pub(crate) fn method(&self) -> &str {
        &self.scheme.method.name
    }

    /// True if motions are in lanes.
    pub(crate) fn has_lanes(&self) -> bool {
        self.lanes.is_some()
    }

    /// Creates what one thread needs.
    pub(crate) fn worker(&self) -> Result<Worker<'_>> {
        let facts = self.scheme.plant.facts();
        let (evaluator, looker) = (self.scheme.plant.evaluator(), self.scheme.looker(Variant::Whole)?);
        let group = self.lanes.as_ref().map(Group::new);
        let places = group.as_ref().map_or(0, Group::lanes);
        Ok(Worker {
            ensemble: self,
            look: Look { evaluator, looker, z: facts.nowhere() },
            riders: vec![Rider::default(); places],
            group,
            progress: LaneMemory::default(),
            z: facts.nowhere(),
            state: State::new(Arc::default(), facts.nowhere()),
            room: Vec::new(),
            ended: Ended {
                status: RowStatus::Completed,
                message: None,
                last: Node::default(),
                impacts: 0,
                error: None,
            },
            round: 0,
            patience: usize::MAX,
        })
    }

    fn with(&self, parameters: &[f64]) -> Simulation {
        Simulation { parameters: parameters.into(), ..self.simulation.clone() }
    }

    /// The steps of a motion in one pass.
    fn plan(&self, z: &Phase, parameters: &[f64]) -> Result<Plan> {
        let plan = |pieces: &[Piece]| explicit::plan(self.simulation.tolerance, z.t, self.until, pieces, false);
        Ok(match &self.timed {
            Timed::Once(pieces) => plan(pieces),
            Timed::Each => {
                let state = State::new(parameters.into(), z.clone());
                plan(&short::find(&self.with(parameters), &self.scheme, &state, self.until)?.pieces)
            }
        })
    }

    /// Runs a motion outside the lanes, from its start or from where it left its lane.
    fn run_alone(&self, state: State, plan: Plan, is_resumed: bool, stop: &dyn Fn() -> bool) -> Result<Ended> {
        let (sections, none, never) = (self.sections.clone(), Arc::default(), Arc::default());
        let mut runner = Runner::new(&self.scheme, &self.pool, Arc::new(state), is_resumed, sections, none, never);
        let mut clock = Clock::new(self.limit, stop);
        let outcome = runner.run(plan, &mut [Audience { watcher: &mut clock, every: None }])?;
        Ok(self.ended(outcome))
    }

    /// Runs a motion with a method that has no lanes.
    fn run_single(&self, parameters: &[f64], stop: &dyn Fn() -> bool) -> Result<Ended> {
        let mut clock = Clock::new(self.limit, stop);
        let ready = self.with(parameters).prepare_unless(&clock)?;
        Ok(self.ended(ready.watch(&mut clock)?))
    }

    fn ended(&self, outcome: Outcome) -> Ended {
        let (status, message) = match outcome.status {
            Status::Completed => (RowStatus::Completed, None),
            Status::Stopped(section) => {
                (RowStatus::Stopped, Some(self.simulation.model.sections[section].name.clone()))
            }
            Status::Zeno(wall) => {
                let name = &self.simulation.model.system.walls[wall].name;
                (RowStatus::Stopped, Some(format!("impacts accumulate on `{name}`")))
            }
            Status::Interrupted => {
                (RowStatus::Timeout, Some(format!("took longer than {} s", self.limit.as_secs_f64())))
            }
            Status::Failed(failure) => (RowStatus::Failed, Some(failure.message)),
        };
        Ended { status, message, last: outcome.last, impacts: outcome.impacts, error: outcome.error_estimate }
    }
}

/// Stops a run that takes too long.
struct Clock<'a> {
    end: Instant,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Clock<'a> {
    fn new(limit: Duration, stop: &'a dyn Fn() -> bool) -> Clock<'a> {
        Clock { end: Instant::now() + limit, stop }
    }
}

impl Watcher for Clock<'_> {
    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_nodes(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        Instant::now() >= self.end || (self.stop)()
    }
}

/// A motion in a lane.
#[derive(Clone, Default)]
struct Rider {
    /// None if the lane is empty.
    row: Option<u64>,
    parameters: Vec<f64>,
    impacts: usize,
    plan: Plan,
    /// In this round it leaves its lane.
    patience: usize,
}

/// Runs motions in one thread.
pub(crate) struct Worker<'a> {
    ensemble: &'a Ensemble,
    group: Option<Group>,
    riders: Vec<Rider>,
    look: Look,
    progress: LaneMemory,
    z: Phase,
    /// The start of a motion, and room to compute it.
    state: State,
    room: Vec<f64>,
    /// The end of a motion that has stayed in its lane.
    ended: Ended,
    /// The number of trial steps so far.
    round: usize,
    /// The first round in which a motion leaves its lane because it has had too many.
    patience: usize,
}

/// A motion leaves its lane after this number of trial steps, so that its time is limited.
const MOST_TRIALS: usize = 1_000_000;

impl Worker<'_> {
    /// Runs all motions that `next` gives, and hands each to `done` when it has ended, in any order. Ends early if `stop` says so;
    /// motions under way are then dropped.
    pub(crate) fn run(&mut self, next: &mut Next, done: &mut dyn FnMut(u64, &Ended), stop: &dyn Fn() -> bool) {
        let Some(mut group) = self.group.take() else {
            let mut parameters = Vec::new();
            while let Some(row) = next(&mut parameters).filter(|_| !stop()) {
                let ended = self.ensemble.run_single(&parameters, stop);
                done(row, &ended.unwrap_or_else(|error| Ended::refused(&error)));
            }
            return;
        };
        (0..group.lanes()).for_each(|lane| self.fill(&mut group, lane, next, done, stop));
        while group.is_busy() {
            self.round += 1;
            if self.round.is_multiple_of(1024) && stop() {
                break;
            }
            let mut eventful = group.advance();
            if self.round >= self.patience {
                let tired = |rider: &Rider| rider.row.is_some() && rider.patience <= self.round;
                let lanes = self.riders.iter().enumerate().filter(|(_, rider)| tired(rider));
                eventful |= lanes.map(|(lane, _)| 1 << lane).sum::<u32>();
            }
            for lane in bits(eventful) {
                self.look_at(&mut group, lane, next, done, stop);
            }
            if self.round >= self.patience {
                let riders = self.riders.iter().filter(|rider| rider.row.is_some());
                self.patience = riders.map(|rider| rider.patience).min().unwrap_or(usize::MAX);
            }
        }
        for (lane, rider) in self.riders.iter_mut().enumerate() {
            rider.row = None;
            group.unload(lane);
        }
        self.group = Some(group);
    }

    /// Takes out what has ended in a lane or leaves it, and puts the next motion in.
    fn look_at(
        &mut self,
        group: &mut Group,
        lane: usize,
        next: &mut Next,
        done: &mut dyn FnMut(u64, &Ended),
        stop: &dyn Fn() -> bool,
    ) {
        let rider = &mut self.riders[lane];
        let Some(row) = rider.row else { return };
        let happened = group.happened(lane);
        rider.impacts += usize::from(matches!(happened, Happening::Impact(_)));
        let leaves = happened == Happening::Leaves || rider.patience <= self.round;
        if !leaves && !group.is_at_end(lane) {
            return;
        }
        let n = self.z.z.len() / 2;
        self.z.t = group.place(lane, &mut self.z.z[..n]);
        group.momenta(lane, &mut self.z.z[n..]);
        rider.row = None;
        group.unload(lane);
        if leaves {
            group.store(lane, &mut self.progress);
            done(row, &self.finish(lane, stop));
        } else {
            self.describe(lane);
            done(row, &self.ended);
        }
        self.fill(group, lane, next, done, stop);
    }

    /// The end of a motion that has stayed in its lane.
    fn describe(&mut self, lane: usize) {
        let rider = &self.riders[lane];
        self.look.begin_without_walls(&rider.parameters);
        self.look.node(&self.z, &[], &mut self.ended.last);
        self.ended.impacts = rider.impacts;
    }

    /// Goes on where a motion has left its lane.
    fn finish(&mut self, lane: usize, stop: &dyn Fn() -> bool) -> Ended {
        let rider = &self.riders[lane];
        let mut state = State::new(rider.parameters[..].into(), self.z.clone());
        (state.memory, state.fastest) = (leave(&self.progress), self.progress.fastest);
        let ended = self.ensemble.run_alone(state, rider.plan, true, stop);
        let mut ended = ended.unwrap_or_else(|error| Ended::refused(&error));
        ended.impacts += rider.impacts;
        ended
    }

    /// Puts the next motion into a lane. Motions that cannot be in one are run here.
    fn fill(
        &mut self,
        group: &mut Group,
        lane: usize,
        next: &mut Next,
        done: &mut dyn FnMut(u64, &Ended),
        stop: &dyn Fn() -> bool,
    ) {
        while let Some(row) = next(&mut self.riders[lane].parameters) {
            let plan = match self.start(lane) {
                Ok(plan) => plan,
                Err(error) => {
                    done(row, &Ended::refused(&error));
                    continue;
                }
            };
            let can_enter = self.enter(lane, &plan);
            let (rider, z) = (&mut self.riders[lane], &self.state.z);
            if can_enter {
                group.load(lane, z.t, z.q(), &rider.parameters, &self.progress, self.ensemble.until);
                let patience = self.round + MOST_TRIALS;
                self.patience = self.patience.min(patience);
                (rider.row, rider.impacts, rider.plan, rider.patience) = (Some(row), 0, plan, patience);
                return;
            }
            self.state.parameters = rider.parameters[..].into();
            let ended = self.ensemble.run_alone(self.state.clone(), plan, false, stop);
            done(row, &ended.unwrap_or_else(|error| Ended::refused(&error)));
            if stop() {
                return;
            }
        }
    }

    /// Computes the start of the motion of a lane, and plans its steps.
    fn start(&mut self, lane: usize) -> Result<Plan> {
        let Worker { ensemble, state, room, riders, .. } = self;
        let parameters = &riders[lane].parameters;
        match ensemble.quick.as_ref().and_then(|quick| quick.evaluate(parameters, room)) {
            Some([q, _, p]) => {
                state.z.t = 0.0;
                let (to_q, to_p) = state.z.z.split_at_mut(q.len());
                to_q.copy_from_slice(q);
                to_p.copy_from_slice(p);
                (state.holding, state.fastest, state.memory) = (Vec::new(), 0.0, Memory::None);
            }
            None => *state = ensemble.with(parameters).start_state(&ensemble.scheme, ensemble.until)?.state,
        }
        ensemble.plan(&state.z, parameters)
    }

    /// What the motion of a lane carries into it at its start; false if it cannot be in one.
    fn enter(&mut self, lane: usize, plan: &Plan) -> bool {
        let (state, Some(tolerance)) = (&self.state, plan.control) else { return false };
        debug_assert!(state.memory == Memory::None);
        let facts = self.ensemble.scheme.plant.facts();
        let evaluator = &mut *self.look.evaluator;
        evaluator.set_parameters(&self.riders[lane].parameters);
        evaluator.forget();
        let time = self.ensemble.until - state.z.t;
        enter(evaluator, state, facts.walls, [tolerance, plan.step, time], &mut self.progress)
    }
}
