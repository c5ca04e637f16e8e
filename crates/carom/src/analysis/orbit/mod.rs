//! Periodic orbits of impacting systems.

mod branch;
mod newton;
mod shoot;

use super::results::tangent_of;
use crate::error::{Diagnostic, Error, Failure, Result};
use crate::mechanics::Node;
use crate::model::{Model, ParameterFormula};
use crate::phase::Phase;
use crate::run::{Impact, Status};
use crate::simulation::{Record, RunError, Simulation};
use newton::{Closed, Equations, Point, multipliers};
use shoot::Shooter;

/// A periodic orbit of a simulation. See [`Simulation::orbit`].
#[derive(Clone, Debug)]
pub struct Orbit {
    simulation: Simulation,
    period: Option<ParameterFormula>,
    impacts: Option<usize>,
    discard: f64,
    along: Option<Along>,
}

/// A parameter that varies.
#[derive(Clone, Debug)]
struct Along {
    name: String,
    from: f64,
    to: f64,
}

/// A periodic orbit that was found.
#[derive(Clone, Debug)]
pub struct ClosedOrbit {
    /// The method.
    pub method: String,
    /// The length of a step.
    pub step: f64,
    /// The period.
    pub period: f64,
    /// The state at its start.
    pub start: Node,
    /// Its impacts, with absolute times.
    pub impacts: Vec<Impact>,
    /// Its multipliers (re, im), the largest first.
    pub multipliers: Vec<(f64, f64)>,
    /// True if no multiplier is outside the unit circle. Those of the phase and of conserved quantities are 1.
    pub is_stable: bool,
    /// How far it is from closed, relative to the sizes of the components.
    pub residual: f64,
    /// The number of iterations of Newton's method.
    pub iterations: usize,
    /// Orbits along the parameter that varies.
    pub branch: Vec<BranchPoint>,
    /// Why the branch ended early.
    pub ended: Option<String>,
    /// The time for compiling, in seconds.
    pub compile_seconds: f64,
}

/// An orbit on a branch.
#[derive(Clone, Debug)]
pub struct BranchPoint {
    /// The parameter.
    pub value: f64,
    /// The period.
    pub period: f64,
    /// The multipliers.
    pub multipliers: Vec<(f64, f64)>,
    /// The number of impacts in a period.
    pub impacts: usize,
    /// The start, in the free coordinates.
    pub start: Phase,
    /// What happens there.
    pub mark: Option<Mark>,
}

/// What happens at an orbit of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The branch turns back in the parameter: a multiplier is 1.
    Fold,
    /// A multiplier is −1: the period doubles.
    Flip,
    /// Two complex multipliers are on the unit circle.
    Torus,
    /// The orbit touches a wall without speed.
    Grazing,
}

impl Mark {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Fold => "fold",
            Mark::Flip => "flip",
            Mark::Torus => "torus",
            Mark::Grazing => "grazing",
        }
    }
}

/// Multipliers within this of the unit circle count as on it.
const ON_CIRCLE: f64 = 1e-6;
/// The least number of steps of a period.
const FEWEST_STEPS: usize = 16;

impl Simulation {
    /// A periodic orbit near the motion, by Newton's method, through impacts.
    pub fn orbit(&self) -> Orbit {
        Orbit { simulation: self.clone(), period: None, impacts: None, discard: 0.0, along: None }
    }
}

impl Orbit {
    /// Sets the period, as a number or an expression of the parameters such as `2*pi/omega`: a multiple of the period of the drive, by
    /// default that of its sines and cosines. A system that is not driven finds its own, and this is the first guess.
    pub fn period(mut self, period: &str) -> Result<Orbit> {
        self.period = Some(self.simulation.model().formula(period)?);
        Ok(self)
    }

    /// Sets the number of impacts in a period.
    pub fn impacts(mut self, count: usize) -> Orbit {
        self.impacts = Some(count);
        self
    }

    /// Starts Newton's method from the state after this time.
    pub fn discard(mut self, time: f64) -> Orbit {
        self.discard = time;
        self
    }

    /// Follows the orbit along a parameter.
    pub fn along(mut self, name: &str, from: f64, to: f64) -> Orbit {
        self.along = Some(Along { name: name.into(), from, to });
        self
    }

    /// Finds the orbit.
    pub fn find(&self) -> Result<ClosedOrbit> {
        let mut simulation = self.simulation.clone().with_equal_steps();
        if let Some(along) = &self.along {
            let is_range = along.from.is_finite() && along.to.is_finite() && along.from != along.to;
            if !is_range {
                let error =
                    Diagnostic::new(format!("`{}` cannot vary from {} to {}", along.name, along.from, along.to));
                return Err(error.with_help("give two different numbers: `name=from:to`").into());
            }
            simulation = simulation.set(&along.name, along.from);
        }
        let model = simulation.model().clone();
        let varies = self.along.as_ref().map(|along| index_of(&model, &along.name)).transpose()?;
        let is_driven = model.is_driven();
        let wanted = match &self.period {
            Some(given) if is_driven => Some(model.follow_drive(given, simulation.parameters())),
            None if is_driven => model.period_of_drive(simulation.parameters()),
            given => given.clone(),
        };
        let period_of = |parameters: &[f64]| -> [f64; 2] {
            let Some(period) = &wanted else { return [f64::NAN, 0.0] };
            [period.at(parameters), varies.map_or(0.0, |k| period.slope(parameters, k))]
        };
        let given = wanted.as_ref().map(|period| period.at(simulation.parameters()));
        if given.is_some_and(|period| !(period > 0.0 && period.is_finite())) {
            return Err(Diagnostic::new("the period must be positive").with_help("give a positive `period`").into());
        }
        if is_driven && given.is_none() {
            let help = "give a multiple of the period of the drive, such as `2*pi/omega`";
            return Err(Diagnostic::new("the system depends on the time, so its orbits need a period")
                .with_help(help)
                .into());
        }
        let theta: Vec<usize> = varies.into_iter().collect();
        let begun = std::time::Instant::now();
        let code = simulation.tangent_code(&*simulation.chosen_method()?, &theta)?;
        let compile_seconds = begun.elapsed().as_secs_f64();
        let begin = self.begin(&simulation, given, is_driven)?;
        let simulation = simulation.until(begin.z.t + begin.period.max(1e-300));
        let ready = simulation.prepare()?;
        let tangent = tangent_of(ready.scheme(), &code, simulation.parameters())?;
        let compile_seconds = compile_seconds + ready.compile_seconds;
        let step = ready.step().unwrap_or(begin.period / FEWEST_STEPS as f64);
        let steps = ((begin.period / step * (1.0 - 1e-9)).ceil() as usize).max(FEWEST_STEPS);
        let mut shooter = Shooter::new(ready.scheme(), tangent, steps)?;
        shooter.looks_for_misses = self.along.is_some();
        let failed = |message: &str, z: &Phase| Failure {
            message: message.into(),
            t: z.t,
            q: z.q().to_vec(),
            p: z.p().to_vec(),
            hint: "start nearer to an orbit (`discard`, [initial]), or give `period` and `impacts`".into(),
        };
        let parameters = simulation.parameters().to_vec();
        let value = varies.map_or(0.0, |k| parameters[k]);
        let point = Point { z: begin.z.clone(), period: begin.period, value };
        let mut equations = Equations {
            shooter: &mut shooter,
            period: is_driven.then_some(&period_of),
            parameters,
            varies,
            impacts: None,
            scales: vec![1.0; begin.z.z.len() + 2],
        };
        let first = equations.shoot(&point).map_err(|e| crate::run::failure(e, &point.z))?;
        equations.impacts = Some(self.impacts.unwrap_or(first.impacts.len()));
        let range = self.along.as_ref().map_or(1.0, |along| (along.to - along.from).abs());
        equations.scales = scales(&first.sizes, begin.period, range);
        if first.impacts.len() != equations.impacts.unwrap_or(0) {
            let message = format!(
                "the motion has {} impacts in the period, not {}",
                first.impacts.len(),
                equations.impacts.unwrap_or(0)
            );
            return Err(Error::Numerical(Box::new(failed(&message, &point.z))));
        }
        let Some(closed) = equations.solve(&point, None) else {
            let message = "Newton's method finds no orbit with this number of impacts";
            return Err(Error::Numerical(Box::new(failed(message, &point.z))));
        };
        let mut evaluator = ready.scheme().plant.evaluator();
        evaluator.set_parameters(&equations.parameters_at(closed.point.value));
        let mut node = |z: &Phase| {
            let mut node = Node::default();
            evaluator.node(z, &mut node);
            node
        };
        let start = node(&closed.point.z);
        let impacts = closed.shot.impacts.iter().map(|(impact, plus)| Impact {
            wall: impact.wall,
            lambda: impact.lambda,
            minus: node(&impact.minus),
            plus: node(plus),
            energy_minus: f64::NAN,
            energy_plus: f64::NAN,
        });
        let impacts = impacts.collect();
        let multipliers = multipliers(&closed.shot);
        let Closed { point, residual, iterations, .. } = closed.clone();
        let (branch, ended) = match &self.along {
            Some(along) => branch::follow(&mut equations, closed, [along.from, along.to]),
            None => (Vec::new(), None),
        };
        Ok(ClosedOrbit {
            method: ready.method().name.clone(),
            step: point.period / steps as f64,
            period: point.period,
            start,
            impacts,
            is_stable: multipliers.iter().all(|m| m.0.hypot(m.1) <= 1.0 + ON_CIRCLE),
            multipliers,
            residual,
            iterations,
            branch,
            ended,
            compile_seconds,
        })
    }

    /// Where Newton's method begins: the state after the transient. Driven systems begin at t = 0 after whole periods, others
    /// halfway between two impacts, or at the first crossing of a section.
    fn begin(&self, simulation: &Simulation, period: Option<f64>, is_driven: bool) -> Result<Begin> {
        let wrong = |error: RunError| match error {
            RunError::Refused(error) => error,
            RunError::Failed(run) => match &run.outcome().status {
                Status::Failed(failure) => Error::Numerical(failure.clone()),
                _ => Diagnostic::new("the run fails").into(),
            },
        };
        if let (true, Some(period)) = (is_driven, period) {
            let periods = (self.discard / period - 1e-9).ceil().max(0.0);
            if periods == 0.0 {
                let z = simulation.initial()?.z;
                return Ok(Begin { z, period });
            }
            let run = simulation.clone().until(periods * period).record(Record::Every(periods * period)).run();
            let mut z = run.map_err(wrong)?.outcome().state.z.clone();
            z.t = 0.0;
            return Ok(Begin { z, period });
        }
        let until = simulation.end_time().unwrap_or(0.0).max(self.discard + 2.0 * period.unwrap_or(0.0));
        let run = simulation.clone().until(until).run().map_err(wrong)?;
        let state = |t: f64| -> Result<Phase> {
            let node = run.at(t)?;
            let mut evaluator = simulation.compiled_scheme()?.plant.evaluator();
            evaluator.set_parameters(simulation.parameters());
            let mut z = evaluator.free_phase(node.t, &node.q, &node.p);
            z.t = 0.0;
            Ok(z)
        };
        let times: Vec<f64> = run.impacts().iter().map(|i| i.minus.t).filter(|t| *t >= self.discard).collect();
        let crossings: Vec<f64> = run.crossings().iter().map(|c| c.node.t).filter(|t| *t >= self.discard).collect();
        let count = self.impacts.unwrap_or(1).max(1);
        let (t, guess) = match (crossings.as_slice(), times.as_slice()) {
            ([first, rest @ ..], _) => (*first, rest.first().map(|next| next - first)),
            (_, [first, second, ..]) => (0.5 * (first + second), times.get(count).map(|next| next - first)),
            _ => (self.discard, None),
        };
        let Some(period) = period.or(guess) else {
            let help = "give a `period`, a first guess, or a later end time";
            return Err(Diagnostic::new("the run does not tell the period of an orbit").with_help(help).into());
        };
        Ok(Begin { z: state(t)?, period })
    }
}

/// Where Newton's method begins.
struct Begin {
    z: Phase,
    period: f64,
}

/// The sizes of the unknowns: of coordinates and momenta the largest of their kind where one of them is always 0.
fn scales(sizes: &[f64], period: f64, range: f64) -> Vec<f64> {
    let n = sizes.len() / 2;
    let largest = |part: &[f64]| Some(part.iter().fold(0.0, |a: f64, b| a.max(*b))).filter(|x| *x > 0.0).unwrap_or(1.0);
    let (q, p) = (largest(&sizes[..n]), largest(&sizes[n..]));
    let floor = |(i, x): (usize, &f64)| x.max(1e-3 * if i < n { q } else { p });
    sizes.iter().enumerate().map(floor).chain([period, range]).collect()
}

fn index_of(model: &Model, name: &str) -> Result<usize> {
    let found = model.system.parameters.iter().position(|parameter| parameter.name == name);
    Ok(found.ok_or_else(|| Diagnostic::new(format!("the model has no parameter `{name}`")))?)
}
