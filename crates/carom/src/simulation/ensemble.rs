//! Many motions of one simulation that differ in their parameters: in lanes where they can be, else one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::compiled::Chosen;
use super::runner::{Plan, Pool, Runner, roots_of_inverse_mass};
use super::{Simulation, explicit, short};
use crate::error::{Diagnostic, Error, Result};
use crate::expr::Expr;
use crate::interval::Piece;
use crate::kernel::Lanes;
use crate::lanes::{Group, Happening, LaneCode};
use crate::mechanics::Node;
use crate::model::QuickStart;
use crate::phase::Phase;
use crate::run::{Audience, Look, Outcome, Sections, Status, Watcher};
use crate::step::{Memory, Progress, Scheme, State, Variant, enter, leave};

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

/// A motion to run: its number and its parameters.
pub(crate) struct Job {
    pub(crate) row: u64,
    pub(crate) parameters: Arc<[f64]>,
}

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
        let no_end = || Diagnostic::new("the run has no end time").with_help("set `until` in [run], or `--until T`");
        let until = simulation.until.ok_or_else(no_end)?;
        let Chosen { scheme, pool, .. } = simulation.scheme()?;
        // Controls that change with the time are parameters of single runs.
        let in_lanes = simulation.step.is_none() && simulation.controls.is_empty() && scheme.has_lanes();
        let lanes = if in_lanes { scheme.plant.lane_code(Lanes::Eight).ok() } else { None };
        let mechanics = scheme.plant.lagrangian()?;
        let symbols: Vec<Expr> = varied.iter().map(|&i| mechanics.parameters[i]).collect();
        let depends = mechanics.functions_of_time().iter().flatten().any(|f| f.depends_on(&symbols));
        let timed = if depends || lanes.is_none() {
            Timed::Each
        } else {
            let state = State::new(simulation.parameters.clone(), scheme.plant.facts().nowhere());
            Timed::Once(short::find(simulation, &scheme, &state, until)?.pieces)
        };
        let sections = simulation.model.sections.iter().map(|section| (section.direction, section.stop));
        Ok(Ensemble {
            simulation: simulation.clone(),
            sections: Sections { list: sections.collect() },
            until,
            quick: QuickStart::new(&simulation.model),
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
            momenta: vec![0.0; facts.n * places],
            riders: (0..places).map(|_| None).collect(),
            group,
            progress: Progress::default(),
            z: facts.nowhere(),
        })
    }

    fn with(&self, parameters: &Arc<[f64]>) -> Simulation {
        Simulation { parameters: parameters.clone(), ..self.simulation.clone() }
    }

    /// The start of a motion.
    fn start(&self, parameters: &Arc<[f64]>) -> Result<State> {
        let start = self.quick.as_ref().and_then(|quick| quick.start(parameters));
        match start {
            Some(start) => Ok(State::new(parameters.clone(), Phase::new(0.0, &start.q, &start.p))),
            None => Ok(self.with(parameters).start_state(&self.scheme, self.until)?.state),
        }
    }

    /// The steps of a motion in one pass.
    fn plan(&self, state: &State) -> Result<Plan> {
        let pieces = match &self.timed {
            Timed::Once(pieces) => pieces.clone(),
            Timed::Each => short::find(&self.with(&state.parameters), &self.scheme, state, self.until)?.pieces,
        };
        Ok(explicit::plan(self.simulation.tolerance, state.z.t, self.until, &pieces, false))
    }

    /// Runs a motion outside the lanes, from its start or from where it left its lane.
    fn run_alone(&self, state: State, plan: Plan, is_resumed: bool, stop: &dyn Fn() -> bool) -> Result<Ended> {
        let (sections, none, never) = (self.sections.clone(), Arc::default(), Arc::default());
        let mut runner = Runner::new(&self.scheme, &self.pool, state, is_resumed, sections, none, never);
        let mut clock = Clock::new(self.limit, stop);
        let outcome = runner.run(plan, &mut [Audience { watcher: &mut clock, every: None }])?;
        Ok(self.ended(outcome))
    }

    /// Runs a motion with a method that has no lanes.
    fn run_single(&self, parameters: &Arc<[f64]>, stop: &dyn Fn() -> bool) -> Result<Ended> {
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
struct Rider {
    row: u64,
    parameters: Arc<[f64]>,
    impacts: usize,
    plan: Plan,
    steps: usize,
}

/// Runs motions in one thread.
pub(crate) struct Worker<'a> {
    ensemble: &'a Ensemble,
    group: Option<Group>,
    riders: Vec<Option<Rider>>,
    look: Look,
    momenta: Vec<f64>,
    progress: Progress,
    z: Phase,
}

/// A motion with so many trial steps leaves its lane, so that its time is limited.
const MOST_TRIALS: usize = 1_000_000;

impl Worker<'_> {
    /// Runs all motions that `next` gives, and hands each to `done` when it has ended, in any order. Ends early if `stop` says so;
    /// motions under way are then dropped.
    pub(crate) fn run(
        &mut self,
        next: &mut dyn FnMut() -> Option<Job>,
        done: &mut dyn FnMut(u64, Ended),
        stop: &dyn Fn() -> bool,
    ) {
        let Some(mut group) = self.group.take() else {
            while let Some(job) = next().filter(|_| !stop()) {
                let ended = self.ensemble.run_single(&job.parameters, stop);
                done(job.row, ended.unwrap_or_else(|error| Ended::refused(&error)));
            }
            return;
        };
        (0..group.lanes()).for_each(|lane| self.fill(&mut group, lane, next, done, stop));
        let mut rounds = 0_usize;
        while self.riders.iter().any(Option::is_some) {
            rounds += 1;
            if rounds.is_multiple_of(1024) && stop() {
                break;
            }
            group.advance();
            for lane in 0..group.lanes() {
                self.look_at(&mut group, lane, next, done, stop);
            }
        }
        for (lane, rider) in self.riders.iter_mut().enumerate() {
            *rider = None;
            group.unload(lane);
        }
        self.group = Some(group);
    }

    /// Takes out what has ended in a lane or leaves it, and puts the next motion in.
    fn look_at(
        &mut self,
        group: &mut Group,
        lane: usize,
        next: &mut dyn FnMut() -> Option<Job>,
        done: &mut dyn FnMut(u64, Ended),
        stop: &dyn Fn() -> bool,
    ) {
        let Some(rider) = &mut self.riders[lane] else { return };
        rider.steps += 1;
        let leaves = match group.happened[lane] {
            Happening::Nothing => rider.steps > MOST_TRIALS,
            Happening::Node => false,
            Happening::Impact(_) => {
                rider.impacts += 1;
                false
            }
            Happening::Leaves => true,
        };
        if !leaves && !group.is_at_end(lane) {
            return;
        }
        let n = self.z.z.len() / 2;
        self.z.t = group.store(lane, &mut self.z.z[..n], &mut self.progress);
        group.momenta(&mut self.momenta);
        for i in 0..n {
            self.z.z[n + i] = self.momenta[i * group.lanes() + lane];
        }
        let Some(rider) = self.riders[lane].take() else { return };
        group.unload(lane);
        let ended = if leaves { self.finish(&rider, stop) } else { self.describe(&rider) };
        done(rider.row, ended);
        self.fill(group, lane, next, done, stop);
    }

    /// The end of a motion that has stayed in its lane.
    fn describe(&mut self, rider: &Rider) -> Ended {
        self.look.begin(&rider.parameters);
        let mut last = Node::default();
        self.look.node(&self.z, &[], &mut last);
        Ended { status: RowStatus::Completed, message: None, last, impacts: rider.impacts, error: None }
    }

    /// Goes on where a motion has left its lane.
    fn finish(&mut self, rider: &Rider, stop: &dyn Fn() -> bool) -> Ended {
        let mut state = State::new(rider.parameters.clone(), self.z.clone());
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
        next: &mut dyn FnMut() -> Option<Job>,
        done: &mut dyn FnMut(u64, Ended),
        stop: &dyn Fn() -> bool,
    ) {
        while let Some(Job { row, parameters }) = next() {
            let started = self.ensemble.start(&parameters).and_then(|state| {
                let plan = self.ensemble.plan(&state)?;
                Ok((state, plan))
            });
            let (state, plan) = match started {
                Ok(started) => started,
                Err(error) => {
                    done(row, Ended::refused(&error));
                    continue;
                }
            };
            match self.enter(&state, &plan) {
                Some(progress) => {
                    let (t, until) = (state.z.t, self.ensemble.until);
                    group.load(lane, t, state.z.q(), &parameters, &progress, until);
                    self.riders[lane] = Some(Rider { row, parameters, impacts: 0, plan, steps: 0 });
                    return;
                }
                None => {
                    let ended = self.ensemble.run_alone(state, plan, false, stop);
                    done(row, ended.unwrap_or_else(|error| Ended::refused(&error)));
                }
            }
            if stop() {
                return;
            }
        }
    }

    fn enter(&mut self, state: &State, plan: &Plan) -> Option<Progress> {
        debug_assert!(state.memory == Memory::None);
        let facts = self.ensemble.scheme.plant.facts();
        let evaluator = &mut *self.look.evaluator;
        evaluator.set_parameters(&state.parameters);
        evaluator.forget();
        let roots = roots_of_inverse_mass(evaluator, &state.z);
        let time = self.ensemble.until - state.z.t;
        enter(evaluator, state, facts.walls, plan.control?, plan.step, roots, time)
    }
}
