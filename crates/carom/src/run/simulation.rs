//! A model, made ready to run.

use super::account::Ledger;
use super::algorithm::Machine;
use super::constrained::Constraints;
use super::lift::Lift;
use super::outcome::{Outcome, Status, Watcher};
use super::progress::Progress;
use super::projected::Projected;
use super::rest::Rest;
use super::two_configurations::{Second, aim, two_states};
use crate::error::{Failure, Result};
use crate::expr::eval;
use crate::flow::Phase;
use crate::mechanics::Mechanics;
use crate::method::Method;
use crate::model::settings::Zeno;
use crate::model::{Direction, Model, Start};
use crate::projection::Principle;
use crate::solve::NoSolution;

/// A compiled model with its method and step.
pub struct Simulation {
    pub(super) machine: Machine,
    pub(super) lift: Lift,
    pub(super) start: Phase,
    /// The state after the first step, where the start is from two configurations that no step need connect.
    pub(super) second: Option<Second>,
    /// The constraints, if there are any.
    pub(super) constraints: Option<Constraints>,
    /// The step h.
    pub step: f64,
    /// The horizon.
    pub until: f64,
    /// The distance of uniform samples, if they are wanted.
    pub every: Option<f64>,
    /// At so many times on the way it is looked whether a wall has been missed.
    pub checkpoints: usize,
    /// What the user should know before the run.
    pub warnings: Vec<String>,
    /// Direction of each section, and whether the run ends there.
    pub(super) sections: Vec<(Direction, bool)>,
    /// Keeps the energy account, where anything can change the energy.
    pub(super) ledger: Option<Ledger>,
}

impl Simulation {
    /// Compiles `model` for a method and a step.
    pub fn new(model: &Model, method: &Method, step: f64, until: f64) -> Result<Simulation> {
        let start = model.start()?;
        let Some(switches) = method.switches else { return Simulation::compile(model, &start, method, step, until) };
        let study = super::study(model)?;
        let projected = Projected::new(Principle::new(&study)?, &method.flow, switches, &study.parameters())?;
        let mut simulation = Simulation::compile(&study.model, &start, method, step, until)?;
        simulation.machine.projected = Some(Box::new(projected));
        simulation.warnings = study.warnings();
        Ok(simulation)
    }

    /// Compiles `model` to run from `start`, event by event.
    pub(super) fn compile(model: &Model, start: &Start, method: &Method, step: f64, until: f64) -> Result<Simulation> {
        let mechanics = Mechanics::new(&model.system);
        let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
        let mut machine =
            Machine::new(&mechanics, &parameters, &method.flow, method.rule(model, &mechanics, &parameters)?)?;
        let restitution: Vec<_> = model.system.walls.iter().map(|wall| wall.restitution).collect();
        machine.restitution = eval(&restitution, &model.parameter_values());
        machine.simultaneous = model.run.simultaneous;
        if machine.partial.is_none() && method.flow.is_symplectic && !mechanics.walls.is_empty() {
            let (flow, free) = ((method.flow.name.clone(), model.run.alpha), (&*machine.full, &machine.field));
            let stops = model.run.zeno == Zeno::Stop;
            machine.rest = Some(Rest::new(&mechanics, &parameters, flow, free, stops));
        }
        let constraints = match mechanics.constraints.is_empty() {
            true => None,
            false => Some(Constraints::new(&mechanics, &*machine.full, &parameters)?),
        };
        let mut simulation = Simulation {
            start: machine.probe.clone(),
            second: None,
            constraints,
            step,
            until,
            every: None,
            checkpoints: 0,
            warnings: Vec::new(),
            sections: model.sections.iter().map(|section| (section.direction, section.stop)).collect(),
            ledger: Ledger::new(model, &mechanics, &parameters, &*machine.full)?,
            lift: Lift::new(model, &mechanics, &parameters)?,
            machine,
        };
        simulation.place(model, method, &mechanics, start)?;
        Ok(simulation)
    }

    /// Sets the state from which it starts.
    fn place(&mut self, model: &Model, method: &Method, mechanics: &Mechanics, start: &Start) -> Result<()> {
        self.start = self.lift.free_phase(0.0, &start.q, &start.p);
        let Some(q1) = start.next.as_ref().map(|q1| self.lift.free_of(q1)) else { return Ok(()) };
        let parameters = model.parameter_values();
        if mechanics.tangent_constraints().len() < mechanics.constraints.len() {
            let q = [self.start.q(), &q1];
            let (first, second) = two_states(mechanics, &parameters, &method.flow, q, self.step)?;
            (self.start, self.second) = (first, Some(second));
        } else {
            let Machine { full, field, .. } = &mut self.machine;
            self.start = aim(mechanics, &parameters, &mut **full, field, self.start.clone(), &q1, self.step)?;
        }
        Ok(())
    }

    /// The state from which it starts, in the free coordinates.
    pub fn start(&self) -> &Phase {
        &self.start
    }

    /// The order of its flow; 1 where the switches of a projected path are not located.
    pub fn order(&self) -> usize {
        self.machine.projected.as_ref().map_or(self.machine.full.order(), |projected| projected.order())
    }

    /// The times of the checkpoints.
    pub(super) fn checkpoints(&self) -> impl Fn(usize) -> Option<f64> + use<> {
        let (start, time, count) = (self.start.t, self.until - self.start.t, self.checkpoints);
        move |k| (k < count).then(|| start + time * (k + 1) as f64 / (count + 1) as f64)
    }

    /// Starts from another state, in the free coordinates.
    pub fn start_from(&mut self, z: Phase) {
        self.start = z;
    }

    /// Starts from a state in all coordinates.
    pub fn resume(&mut self, t: f64, q: &[f64], p: &[f64]) {
        self.start = self.lift.free_phase(t, q, p);
    }

    /// Runs to the horizon, or until it fails or is told to stop.
    pub fn run(&mut self, watcher: &mut dyn Watcher) -> Result<Outcome> {
        let mut run = Progress::begin(self, watcher)?;
        let count = steps(self.until - self.start.t, self.step);
        let status = loop {
            if run.steps == count {
                break Status::Completed;
            }
            if watcher.wants_to_stop() {
                break Status::Interrupted;
            }
            let last = run.steps + 1 == count;
            let end = if last { self.until } else { self.start.t + (run.steps + 1) as f64 * self.step };
            match run.step(self, end, watcher) {
                Ok(None) => {}
                Ok(Some(status)) => break status,
                Err(e) => {
                    run.stay_where_it_failed(self);
                    break Status::Failed(Box::new(failure(e, &run.z)));
                }
            }
        };
        let last = self.lift.node(&run.z, &mut self.machine.field);
        let violation = self.constraints.as_ref().map(Constraints::largest_violation);
        Ok(Outcome {
            status,
            last,
            end: run.z,
            steps: run.steps,
            impacts: run.impacts,
            first_rest: run.first_rest,
            violation,
            energy: run.energy,
            path: run.path,
            missed: run.missed,
            account: run.account,
        })
    }
}

/// How many steps cover `time`; the last may be shorter. A ratio within 1e-9 of a whole number is that number.
fn steps(time: f64, step: f64) -> usize {
    let ratio = time / step;
    let nearest = ratio.round();
    let count = if (ratio - nearest).abs() <= 1e-9 * nearest.max(1.0) { nearest } else { ratio.ceil() };
    (count as usize).max(1)
}

/// What a step that could not be computed tells the user.
pub(crate) fn failure(e: NoSolution, z: &Phase) -> Failure {
    let message = match e {
        NoSolution::Singular => "the equations of a step are singular",
        NoSolution::Accumulated => "impacts accumulate on a wall, or the motion rests on it",
        NoSolution::Squeezed => "walls close on each other and leave the motion no way out",
        NoSolution::Tangent => "a wall is met along which the constraints hold the motion: it cannot push",
        NoSolution::NoGap => "the gap of a wall is not a number near the last state",
        NoSolution::NoImpulse => "the impact rule finds no impulse λ > 0 of the wall",
        NoSolution::Diverged => "the equations of a step have no solution near the last state",
    };
    Failure {
        message: message.into(),
        t: z.t,
        q: z.q().to_vec(),
        p: z.p().to_vec(),
        hint: match e {
            NoSolution::Accumulated => {
                "with the rule `ctec` and a flow other than `rk4` the motion can rest, unless walls squeeze \
                                        it; or end the run before it"
                    .into()
            }
            NoSolution::Squeezed => "end the run before it, or move the walls so that there is room".into(),
            NoSolution::NoGap => "write the gap so that it has a value on both sides of the wall".into(),
            NoSolution::NoImpulse => {
                "the impact is so slow that no λ gives the energy that the rule asks for: try a smaller \
                                      step, or the rule `ctec`, which always finds one"
                    .into()
            }
            _ => "try a smaller step, or another method".into(),
        },
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Simulation").field("step", &self.step).field("until", &self.until).finish_non_exhaustive()
    }
}
