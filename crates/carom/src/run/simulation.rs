//! A model, made ready to run.

use super::algorithm::{Machine, Pieces};
use super::lift::{Lift, Node, View};
use super::projected::Projected;
use super::walls::Walls;
use crate::error::{Diagnostic, Failure, Result};
use crate::expr::eval;
use crate::flow::{Field, Phase};
use crate::impact::{Built, Hit};
use crate::mechanics::Mechanics;
use crate::method::Method;
use crate::model::{Direction, Model, Start};
use crate::projection::Principle;
use crate::solve::NoSolution;

/// A compiled model with its method and step.
pub struct Simulation {
    machine: Machine,
    lift: Lift,
    start: Phase,
    /// The step h.
    pub step: f64,
    /// The horizon.
    pub until: f64,
    /// The distance of uniform samples, if they are wanted.
    pub every: Option<f64>,
    /// What the user should know before the run.
    pub warnings: Vec<String>,
    /// Direction of each section, and whether the run ends there.
    sections: Vec<(Direction, bool)>,
}

/// One impact.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// The number of the wall.
    pub wall: usize,
    /// The impulse λ along ∇φ.
    pub lambda: f64,
    /// The state before.
    pub minus: Node,
    /// The state after.
    pub plus: Node,
}

/// One crossing of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The number of the section.
    pub section: usize,
    /// The state there.
    pub node: Node,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It reached its horizon.
    Completed,
    /// It met a section that ends it, by number.
    Stopped(usize),
    /// It was told to stop.
    Interrupted,
    /// A step could not be computed.
    Failed(Box<Failure>),
}

/// What is left of a run when it is over.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The last state.
    pub last: Node,
    /// The last state in the free coordinates.
    pub end: Phase,
    /// How many steps were made.
    pub steps: usize,
    /// How many impacts there were.
    pub impacts: usize,
    /// H at the start, at the end, and the largest |H − H(0)| over the nodes.
    pub energy: [f64; 3],
}

/// Is told what happens during a run.
pub trait Watcher {
    /// A node of the mesh, the first one included.
    fn node(&mut self, _view: &mut View) {}
    /// A uniform sample, the first one included.
    fn sample(&mut self, _view: &mut View) {}
    /// An impact.
    fn impact(&mut self, _impact: Impact) {}
    /// A section is crossed.
    fn crossing(&mut self, _crossing: Crossing) {}
    /// False if impacts need not be described.
    fn wants_impacts(&self) -> bool {
        true
    }
    /// True if the run is to end here.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// Looks at nothing.
impl Watcher for () {
    fn wants_impacts(&self) -> bool {
        false
    }
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
        refuse_what_is_missing(model, start)?;
        let mechanics = Mechanics::new(&model.system);
        let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
        let phase = Phase { t: 0.0, z: vec![0.0; 2 * mechanics.n()] };
        let restitution: Vec<_> = model.system.walls.iter().map(|wall| wall.restitution).collect();
        let Built { rule, partial } = method.rule(model, &mechanics, &parameters)?;
        let machine = Machine {
            full: method.flow.build(&mechanics, &parameters)?,
            partial,
            rule,
            field: Field::new(&mechanics, &parameters)?,
            walls: Walls::new(&mechanics, &parameters)?,
            restitution: eval(&restitution, &model.parameter_values()),
            probe: phase.clone(),
            next: phase.clone(),
            hit: Hit::new(&phase),
            pieces: Pieces::default(),
            projected: None,
        };
        let mut lift = Lift::new(model, &mechanics, &parameters)?;
        let start = lift.free_phase(0.0, &start.q, &start.p);
        let sections = model.sections.iter().map(|section| (section.direction, section.stop)).collect();
        Ok(Simulation { machine, lift, start, step, until, every: None, warnings: Vec::new(), sections })
    }

    /// The state from which it starts, in the free coordinates.
    pub fn start(&self) -> &Phase {
        &self.start
    }

    /// The order of its flow; 1 where the switches of a projected path are not located.
    pub fn order(&self) -> usize {
        self.machine.projected.as_ref().map_or(self.machine.full.order(), |projected| projected.order())
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
                Ok(Some(section)) => break Status::Stopped(section),
                Err(e) => break Status::Failed(Box::new(failure(e, &run.z))),
            }
        };
        let last = self.lift.node(&run.z, &mut self.machine.field);
        Ok(Outcome { status, last, end: run.z, steps: run.steps, impacts: run.impacts, energy: run.energy })
    }
}

/// A run under way.
struct Progress {
    z: Phase,
    next: Phase,
    work: Phase,
    steps: usize,
    impacts: usize,
    samples: usize,
    energy: [f64; 3],
    crossings: Vec<(f64, usize)>,
}

impl Progress {
    fn begin(simulation: &mut Simulation, watcher: &mut dyn Watcher) -> Result<Progress> {
        let z = simulation.start.clone();
        let Simulation { lift, machine, .. } = simulation;
        let initial = lift.energy(&z, &mut machine.field).map_err(|e| failure(e, &z))?;
        machine.begin(&z);
        machine.rule.node(&z, simulation.step, true).map_err(|e| failure(e, &z))?;
        let mut view = View { z: &z, lift, field: &mut machine.field };
        watcher.node(&mut view);
        watcher.sample(&mut view);
        let (next, work) = (z.clone(), z.clone());
        let energy = [initial, initial, 0.0];
        Ok(Progress { z, next, work, steps: 0, impacts: 0, samples: 1, energy, crossings: Vec::new() })
    }

    /// One step to the node at `end`. Returns the section that ends the run, if one does.
    fn step(
        &mut self,
        simulation: &mut Simulation,
        end: f64,
        watcher: &mut dyn Watcher,
    ) -> std::result::Result<Option<usize>, NoSolution> {
        let Simulation { machine, lift, sections, every, start, until, .. } = simulation;
        self.work.copy_from(&self.z);
        let mut field = watcher.wants_impacts().then(|| machine.field.clone());
        let mut impacts = 0;
        let see = |hit: &Hit, lambda: f64, plus: &Phase| {
            impacts += 1;
            if let Some(field) = &mut field {
                let (minus, plus) = (lift.node(&hit.minus, field), lift.node(plus, field));
                watcher.impact(Impact { wall: hit.wall, lambda, minus, plus });
            }
        };
        let h = end - self.z.t;
        machine.advance(&mut self.work, h, &mut self.next, see)?;
        self.impacts += impacts;
        self.next.t = end;
        std::mem::swap(&mut self.z, &mut self.next);
        self.steps += 1;
        machine.rule.node(&self.z, h, impacts > 0)?;
        self.energy[1] = lift.energy(&self.z, &mut machine.field)?;
        self.energy[2] = self.energy[2].max((self.energy[1] - self.energy[0]).abs());
        if let Some(section) = self.cross(machine, lift, sections, watcher)? {
            return Ok(Some(section));
        }
        if let Some(every) = *every {
            self.sample(machine, lift, start.t, every, *until, watcher)?;
        }
        watcher.node(&mut View { z: &self.z, lift, field: &mut machine.field });
        Ok(None)
    }

    /// Tells of the sections that the step crossed; goes back to one that ends the run.
    fn cross(
        &mut self,
        machine: &mut Machine,
        lift: &mut Lift,
        sections: &[(Direction, bool)],
        watcher: &mut dyn Watcher,
    ) -> std::result::Result<Option<usize>, NoSolution> {
        if sections.is_empty() {
            return Ok(None);
        }
        let directions: Vec<Direction> = sections.iter().map(|(direction, _)| *direction).collect();
        machine.crossings(lift, &directions, self.z.t, &mut self.crossings)?;
        for &(t, section) in &self.crossings {
            machine.state_at(t)?;
            let node = lift.node(&machine.probe, &mut machine.field);
            watcher.crossing(Crossing { section, node });
            if sections[section].1 {
                self.z.copy_from(&machine.probe);
                return Ok(Some(section));
            }
        }
        Ok(None)
    }

    /// Tells of the uniform samples up to the node.
    fn sample(
        &mut self,
        machine: &mut Machine,
        lift: &mut Lift,
        start: f64,
        every: f64,
        until: f64,
        watcher: &mut dyn Watcher,
    ) -> std::result::Result<(), NoSolution> {
        loop {
            let t = start + self.samples as f64 * every;
            let near = 1e-9 * every;
            if t > self.z.t + near || t > until + near {
                return Ok(());
            }
            if (t - self.z.t).abs() <= near {
                watcher.sample(&mut View { z: &self.z, lift, field: &mut machine.field });
            } else {
                machine.state_at(t)?;
                watcher.sample(&mut View { z: &machine.probe, lift, field: &mut machine.field });
            }
            self.samples += 1;
        }
    }
}

/// Constraints, and starts from two configurations, are read and checked but cannot be run yet.
fn refuse_what_is_missing(model: &Model, start: &Start) -> Result<()> {
    let what = match (model.system.constraints.first(), &start.next) {
        (Some(constraint), _) => format!("the constraint `{}` cannot be simulated yet", constraint.name),
        (None, Some(_)) => "a start from two configurations cannot be simulated yet".into(),
        (None, None) => return Ok(()),
    };
    Err(Diagnostic::new(what).with_help("`carom derive` shows its equations").into())
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
        NoSolution::NoGap => "the gap of a wall is not a number near the last state",
        NoSolution::Diverged => "the equations of a step have no solution near the last state",
    };
    Failure {
        message: message.into(),
        t: z.t,
        q: z.q().to_vec(),
        p: z.p().to_vec(),
        hint: match e {
            NoSolution::Accumulated => "rest on a wall cannot be simulated yet; end the run before it".into(),
            NoSolution::NoGap => "write the gap so that it has a value on both sides of the wall".into(),
            _ => "try a smaller step, or another method".into(),
        },
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Simulation").field("step", &self.step).field("until", &self.until).finish_non_exhaustive()
    }
}
