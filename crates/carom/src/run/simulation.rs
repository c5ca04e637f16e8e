//! A model, made ready to run.

use super::algorithm::Machine;
use super::walls::Walls;
use crate::error::{Diagnostic, Error, Failure, Result};
use crate::expr::eval;
use crate::flow::{Field, Phase};
use crate::impact::Hit;
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::method::Method;
use crate::model::{Model, Start};
use crate::solve::NoSolution;
use crate::system::time;

/// A compiled model with its method and step.
pub struct Simulation {
    machine: Machine,
    start: Start,
    step: f64,
    until: f64,
    lift: Lift,
}

/// A state in all coordinates, driven ones included.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The time.
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Momenta L_v.
    pub p: Vec<f64>,
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

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It reached its horizon.
    Completed,
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
    /// How many steps were made.
    pub steps: usize,
    /// H at the start, at the end, and the largest |H − H(0)| over the nodes.
    pub energy: [f64; 3],
}

/// Is told what happens during a run.
pub trait Watcher {
    /// A node of the mesh, the first one included.
    fn node(&mut self, _node: &dyn Fn() -> Node) {}
    /// An impact.
    fn impact(&mut self, _impact: Impact) {}
    /// True if the run is to end here.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// From free coordinates to all of them.
#[derive(Clone)]
struct Lift {
    free: Vec<usize>,
    n: usize,
    parameters: Vec<f64>,
    /// (parameters, t, q, v of the free coordinates) → q, v, L_v of all, and the energy.
    kernel: Kernel,
}

impl Simulation {
    /// Compiles `model` for a method and a step.
    pub fn new(model: &Model, method: &Method, step: f64, until: f64) -> Result<Simulation> {
        let start = model.start()?;
        refuse_what_is_missing(model, &start)?;
        let mechanics = Mechanics::new(&model.system);
        let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
        let size = 2 * mechanics.n();
        let phase = Phase { t: 0.0, z: vec![0.0; size] };
        let values = model.parameter_values();
        let restitution: Vec<_> = model.system.walls.iter().map(|wall| wall.restitution).collect();
        let hit = Hit {
            wall: 0,
            minus: phase.clone(),
            grad_phi: vec![0.0; mechanics.n()],
            phi_t: 0.0,
            rate_minus: 0.0,
            restitution: 1.0,
            energy_before: None,
            tau_left: 0.0,
        };
        let machine = Machine {
            full: method.flow.build(&mechanics, &parameters)?,
            partial: method.flow.build(&mechanics, &parameters)?,
            rule: method.rule(),
            field: Field::new(&mechanics, &parameters)?,
            walls: Walls::new(&mechanics, &parameters)?,
            restitution: eval(&restitution, &values),
            probe: phase.clone(),
            free: phase.clone(),
            next: phase,
            hit,
        };
        let lift = Lift::new(model, &mechanics, parameters)?;
        Ok(Simulation { machine, start, step, until, lift })
    }

    /// Runs to the horizon, or until it fails or is told to stop.
    pub fn run(&mut self, watcher: &mut dyn Watcher) -> Result<Outcome> {
        let free = &self.lift.free;
        let pick = |all: &[f64]| free.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        let mut z = Phase::new(0.0, &pick(&self.start.q), &pick(&self.start.p));
        let count = steps(self.until, self.step);
        let field = self.machine.field.clone();
        let initial = self.lift.energy(&z, &mut field.clone()).map_err(|e| failure(e, &z))?;
        let mut energy = [initial, initial, 0.0];
        let mut done = 0;
        let mut status = Status::Completed;
        let show = |lift: &Lift, z: &Phase, watcher: &mut dyn Watcher| {
            watcher.node(&|| lift.node(z, &mut field.clone()));
        };
        show(&self.lift, &z, watcher);
        while done < count {
            if watcher.wants_to_stop() {
                status = Status::Interrupted;
                break;
            }
            let end = if done + 1 == count { self.until } else { (done + 1) as f64 * self.step };
            let before = z.clone();
            let lift = &self.lift;
            let see = |hit: &Hit, lambda: f64, plus: &Phase| {
                let mut field = field.clone();
                let (minus, plus) = (lift.node(&hit.minus, &mut field), lift.node(plus, &mut field));
                watcher.impact(Impact { wall: hit.wall, lambda, minus, plus });
            };
            if let Err(e) = self.machine.advance(&mut z, end - before.t, see) {
                status = Status::Failed(Box::new(failure(e, &before)));
                z = before;
                break;
            }
            z.t = end;
            done += 1;
            energy[1] = self.lift.energy(&z, &mut self.machine.field).map_err(|e| failure(e, &z))?;
            energy[2] = energy[2].max((energy[1] - initial).abs());
            show(&self.lift, &z, watcher);
        }
        Ok(Outcome { status, last: self.lift.node(&z, &mut self.machine.field), steps: done, energy })
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

/// How many steps reach `until`; the last may be shorter. A ratio within 1e-9 of a whole number is that number.
fn steps(until: f64, step: f64) -> usize {
    let ratio = until / step;
    let nearest = ratio.round();
    if (ratio - nearest).abs() <= 1e-9 * nearest.max(1.0) { nearest as usize } else { ratio.ceil() as usize }
}

fn failure(e: NoSolution, z: &Phase) -> Failure {
    let message = match e {
        NoSolution::Singular => "the equations of a step are singular",
        NoSolution::Diverged => "the equations of a step have no solution near the last state",
    };
    Failure { message: message.into(), t: z.t, q: z.q().to_vec(), p: z.p().to_vec(), hint: "try a smaller step".into() }
}

impl From<NoSolution> for Error {
    fn from(e: NoSolution) -> Error {
        failure(e, &Phase { t: 0.0, z: Vec::new() }).into()
    }
}

impl Lift {
    fn new(model: &Model, mechanics: &Mechanics, parameters: Vec<f64>) -> Result<Lift> {
        let system = &model.system;
        let momenta = crate::expr::grad(system.lagrangian.l, &system.v());
        let power = momenta.iter().zip(system.v()).map(|(&p, v)| p * v).sum::<crate::expr::Expr>();
        // With driven coordinates the energy is T + V; elsewhere it is v·L_v − L.
        let energy = match system.lagrangian.parts {
            Some((t, v)) if system.free().len() < system.coordinates.len() => t + v,
            _ => power - system.lagrangian.l,
        };
        let outputs: Vec<_> = system.q().into_iter().chain(system.v()).chain(momenta).chain([energy]).collect();
        let inputs: Vec<_> = [time()].iter().chain(&mechanics.q).chain(&mechanics.v).copied().collect();
        let kernel = mechanics.kernel(&inputs, &system.drive(&outputs))?;
        Ok(Lift { free: system.free(), n: system.coordinates.len(), parameters, kernel })
    }

    fn values(&self, z: &Phase, field: &mut Field) -> std::result::Result<Vec<f64>, NoSolution> {
        let v = field.velocity(z.t, &z.z)?;
        let inputs: Vec<f64> = self.parameters.iter().chain(&[z.t]).chain(z.q()).chain(v).copied().collect();
        let mut values = vec![0.0; 3 * self.n + 1];
        self.kernel.eval(&inputs, &mut values);
        Ok(values)
    }

    fn energy(&self, z: &Phase, field: &mut Field) -> std::result::Result<f64, NoSolution> {
        Ok(self.values(z, field)?[3 * self.n])
    }

    fn node(&self, z: &Phase, field: &mut Field) -> Node {
        let values = self.values(z, field).unwrap_or_else(|_| vec![f64::NAN; 3 * self.n + 1]);
        let part = |k: usize| values[k * self.n..(k + 1) * self.n].to_vec();
        Node { t: z.t, q: part(0), v: part(1), p: part(2) }
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Simulation").field("step", &self.step).field("until", &self.until).finish_non_exhaustive()
    }
}
