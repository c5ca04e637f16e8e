//! Models in other units.

use carom::Trajectory;
use carom::lab::expr::{Expr, substitute};
use carom::lab::model::{InitialMotion, Model};
use carom::lab::run::Status;
use carom::lab::simulation::Simulation;
use carom::lab::system::{Parameter, time};

/// A quantity whose unit becomes s times as large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// q = s·Q for one coordinate.
    Coordinate(usize),
    /// L and the forces times s.
    Lagrangian,
    /// t = s·τ.
    Time,
    /// φ of every wall times s.
    Gap,
    /// φ of the first of several walls times s.
    FirstGap,
    /// g of every constraint times s.
    Constraint,
}

impl Unit {
    /// All units of a model.
    pub fn all(model: &Model) -> Vec<Unit> {
        let system = &model.system;
        let mut units: Vec<Unit> = (0..system.coordinates.len()).map(Unit::Coordinate).collect();
        units.extend([Unit::Lagrangian, Unit::Time]);
        units.extend((!system.walls.is_empty()).then_some(Unit::Gap));
        units.extend((system.walls.len() > 1).then_some(Unit::FirstGap));
        units.extend((!system.constraints.is_empty()).then_some(Unit::Constraint));
        units
    }

    /// The name of its parameter.
    fn name(self) -> String {
        match self {
            Unit::Coordinate(i) => format!("unit_q{i}"),
            Unit::Lagrangian => "unit_L".into(),
            Unit::Time => "unit_t".into(),
            Unit::Gap => "unit_phi".into(),
            Unit::FirstGap => "unit_phi0".into(),
            Unit::Constraint => "unit_g".into(),
        }
    }

    fn symbol(self) -> Expr {
        Expr::symbol(&self.name())
    }
}

/// A run, in the units of the model.
#[derive(Debug)]
pub struct Seen {
    /// The run reached its end.
    pub is_complete: bool,
    /// The wall, the time and the impulse of each impact.
    pub impacts: Vec<(usize, f64, f64)>,
    /// The coordinates and the momenta at the end.
    pub q: Vec<f64>,
    /// See `q`.
    pub p: Vec<f64>,
    /// The step.
    pub step: f64,
    /// The number of steps.
    pub steps: usize,
    /// The estimated error, if the step was searched.
    pub error: Option<f64>,
}

/// The model with its units as parameters. They are 1 unless they are set: all variants have the same expressions, and share
/// their compiled code.
pub fn with_units(model: &Model) -> Model {
    let mut model = model.clone();
    let [of_l, of_t, of_phi, of_first, of_g] =
        [Unit::Lagrangian, Unit::Time, Unit::Gap, Unit::FirstGap, Unit::Constraint].map(Unit::symbol);
    let system = &mut model.system;
    let of_q: Vec<Expr> = (0..system.coordinates.len()).map(|i| Unit::Coordinate(i).symbol()).collect();
    for &symbol in of_q.iter().chain(&[of_l, of_t, of_phi, of_first, of_g]) {
        let name = symbol.symbol_name().expect("it is a symbol");
        system.parameters.push(Parameter { name, symbol, value: 1.0 });
    }
    // q = s·Q, dq/dt = s·(dQ/dτ)/s_t, t = s_t·τ
    let from: Vec<Expr> = system.q().into_iter().chain(system.v()).chain([time()]).collect();
    let mut to: Vec<Expr> = system.q().into_iter().zip(&of_q).map(|(q, &s)| s * q).collect();
    to.extend(system.v().into_iter().zip(&of_q).map(|(v, &s)| s * v / of_t));
    to.push(of_t * time());
    let put = |f: Expr| substitute(&[f], &from, &to)[0];
    system.lagrangian.l = of_l * put(system.lagrangian.l);
    system.lagrangian.parts = system.lagrangian.parts.map(|(t, v)| (of_l * put(t), of_l * put(v)));
    system.walls.iter_mut().for_each(|wall| wall.phi = of_phi * put(wall.phi));
    system.walls.iter_mut().take(1).for_each(|wall| wall.phi = of_first * wall.phi);
    system.constraints.iter_mut().for_each(|constraint| constraint.g = of_g * put(constraint.g));
    for (force, &s) in system.forces.iter_mut().zip(&of_q).filter(|(force, _)| !force.is_zero()) {
        *force = of_l * s * put(*force);
    }
    for (coordinate, &s) in system.coordinates.iter_mut().zip(&of_q) {
        coordinate.prescribed = coordinate.prescribed.map(|motion| put(motion) / s);
    }
    model.outputs.iter_mut().for_each(|output| output.value = put(output.value));
    model.sections.iter_mut().for_each(|section| section.g = put(section.g));
    if let Some(initial) = &mut model.initial {
        let divide = |list: &mut Vec<Expr>, by: &dyn Fn(Expr) -> Expr| {
            list.iter_mut().zip(&of_q).for_each(|(x, &s)| *x = *x / by(s));
        };
        divide(&mut initial.q, &|s| s);
        match &mut initial.motion {
            InitialMotion::Velocity(v) => divide(v, &|s| s / of_t),
            InitialMotion::Momentum(p) => divide(p, &|s| of_t / (of_l * s)),
            InitialMotion::Next(q) => divide(q, &|s| s),
        }
    }
    model
}

/// A model with units, and how it is run.
pub struct Case {
    /// The model, by [`with_units`].
    model: Model,
    simulation: Simulation,
    /// The step; searched if there is none.
    step: Option<f64>,
    until: f64,
}

impl Case {
    /// Runs a model with a method and a step, or by default.
    pub fn new(model: &Model, fixed: Option<(&str, f64)>, until: f64) -> Case {
        let mut model = with_units(model);
        (model.run.method, model.run.step) = (None, fixed.map(|(_, step)| step));
        let mut simulation = model.simulation();
        if let Some((method, _)) = fixed {
            simulation = simulation.method(method);
        }
        Case { simulation, step: model.run.step, until, model }
    }

    /// Runs it with a unit s times as large.
    pub fn run(&self, unit: Unit, s: f64) -> Result<Seen, String> {
        let s_t = if unit == Unit::Time { s } else { 1.0 };
        let mut simulation = self.simulation.clone();
        let mut model = self.model.clone();
        let has_k = model.projection.as_ref().is_some_and(|projection| projection.k.is_some());
        if unit == Unit::Time || (unit == Unit::Gap && has_k) {
            // A start from two configurations, and the window of a rule, refer to the time of the model.
            model.run.step = self.step.map(|step| step / s_t);
            model.run.mhc.window /= s_t;
            if let Some(k) = model.projection.as_mut().filter(|_| unit == Unit::Gap).and_then(|p| p.k.as_mut()) {
                *k /= s * s;
            }
            let method = match self.step {
                Some(_) => simulation.compiled_scheme().map_err(|e| e.to_string())?.method.name.clone(),
                None => "auto".into(),
            };
            simulation = model.simulation().method(&method);
        }
        simulation = simulation.until(self.until / s_t).set(&unit.name(), s);
        if let Some(step) = self.step {
            simulation = simulation.step(step / s_t);
        }
        simulation.run().map(|run| seen(&run, unit, s)).map_err(|error| error.to_string())
    }

    /// Runs it in its own units.
    pub fn plain(&self) -> Result<Seen, String> {
        self.run(Unit::Lagrangian, 1.0)
    }
}

/// p' = s_L·s_q/s_t·p and λ' = s_L/(s_t·s_φ)·λ.
fn seen(run: &Trajectory, unit: Unit, s: f64) -> Seen {
    let of = |other: Unit| if other == unit { s } else { 1.0 };
    let (s_t, s_l) = (of(Unit::Time), of(Unit::Lagrangian));
    let s_phi = |wall: usize| if wall == 0 { of(Unit::Gap) * of(Unit::FirstGap) } else { of(Unit::Gap) };
    let last = &run.outcome().last;
    Seen {
        is_complete: *run.status() == Status::Completed,
        impacts: run
            .impacts()
            .iter()
            .map(|i| (i.wall, i.minus.t * s_t, i.lambda * (s_t * s_phi(i.wall) / s_l)))
            .collect(),
        q: last.q.iter().enumerate().map(|(i, q)| q * of(Unit::Coordinate(i))).collect(),
        p: last.p.iter().enumerate().map(|(i, p)| p * (s_t / (s_l * of(Unit::Coordinate(i))))).collect(),
        step: run.outcome().longest_step * s_t,
        steps: run.outcome().steps,
        error: run.error_estimate(),
    }
}

impl Seen {
    /// True if two runs are equal to the last bit, whatever their estimates.
    pub fn is_same(&self, other: &Seen) -> bool {
        let key = |seen: &Seen| (seen.is_complete, seen.impacts.clone(), seen.q.clone(), seen.p.clone(), seen.steps);
        key(self) == key(other)
    }

    /// The walls that are met, in order.
    pub fn walls(&self) -> Vec<usize> {
        self.impacts.iter().map(|impact| impact.0).collect()
    }

    /// The largest difference of q, and of p, relative to the largest of either run.
    pub fn distance(&self, other: &Seen) -> f64 {
        let apart = |a: &[f64], b: &[f64]| {
            let size = a.iter().chain(b).fold(0.0, |m: f64, x| m.max(x.abs()));
            a.iter().zip(b).map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() / size }).fold(0.0, f64::max)
        };
        apart(&self.q, &other.q).max(apart(&self.p, &other.p))
    }
}
