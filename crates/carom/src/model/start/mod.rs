//! The start of a motion in numbers, checked.

mod angle;
mod bodies;
mod closing;
mod constraints;
mod quick;
mod recursive;
mod slopes;
mod velocities;
mod walls;

pub(crate) use quick::QuickStart;

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use self::recursive::Recursive;
use super::control::Span;
use super::document::MOST_MISTAKES;
use super::{Initial, InitialMotion, Model};
use crate::error::{Diagnostic, Error, Result};
use crate::expr::{Expr, eval, grad, jacobian};
use crate::limits::{ON_DRIVE, ROUNDOFF};
use crate::mechanics::{size_at, sum_of_terms};
use crate::solve::Lu;
use crate::system::time;

/// The largest number of coordinates that a note names.
const NAMED: usize = 4;

/// The state at t = 0, every coordinate in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities; for a start from two configurations, their difference over the step.
    pub v: Vec<f64>,
    /// Momenta L_v(q, v).
    pub p: Vec<f64>,
    /// The configuration one step later, if the model gives it instead of v or p.
    pub next: Option<Vec<f64>>,
    /// How far `initial.project` moved q and v, if by more than roundoff.
    pub moved: Option<[f64; 2]>,
    /// What is allowed but seldom meant.
    pub warnings: Vec<Diagnostic>,
    /// What was filled in.
    pub notes: Vec<String>,
}

impl Model {
    /// A copy of the model that starts with these coordinates and velocities, one of each for every coordinate.
    pub fn starting_at(&self, q: &[f64], v: &[f64]) -> Model {
        let constants = |numbers: &[f64]| numbers.iter().map(|&x| Expr::constant(x)).collect();
        let initial = Initial {
            q: constants(q),
            motion: InitialMotion::Velocity(constants(v)),
            project: false,
            missing: [const { Vec::new() }; 2],
        };
        Model { initial: Some(initial), ..self.clone() }
    }

    /// A copy of the model whose free entries of `[initial]` are these coordinates and velocities or momenta, one of each for every
    /// coordinate. None if no entry is free.
    pub(crate) fn with_free_start(&self, q: &[f64], v: &[f64], p: &[f64]) -> Option<Model> {
        let free = &self.problem.free_start;
        if free.iter().flatten().all(Option::is_none) {
            return None;
        }
        let mut model = self.clone();
        let set = |entries: &mut [Expr], free: &[Option<Span>], values: &[f64]| {
            for (i, entry) in entries.iter_mut().enumerate() {
                if let (Some(Some(_)), Some(&value)) = (free.get(i), values.get(i)) {
                    *entry = Expr::constant(value);
                }
            }
        };
        if let Some(initial) = &mut model.initial {
            set(&mut initial.q, &free[0], q);
            match &mut initial.motion {
                InitialMotion::Velocity(entries) => set(entries, &free[1], v),
                InitialMotion::Momentum(entries) => set(entries, &free[1], p),
                InitialMotion::Next(_) => {}
            }
        }
        Some(model)
    }

    /// Evaluates the start and checks it: on the drives and the constraints, outside the walls, with a regular L_vv along
    /// which every wall can push. The error is the first mistake, which carries the others.
    pub fn start(&self) -> Result<Start> {
        let initial = self.initial.as_ref().ok_or_else(|| {
            Diagnostic::new(format!("`{}` has no [initial]", self.source.name()))
                .with_help("add `[initial]` with `q` and `v` (or `p`)")
        })?;
        let check = Check::new(self);
        let mut given_q = check.numbers(&initial.q, &self.places.q)?;
        check.follow(&mut given_q, &initial.missing[0], 0.0, |motion| motion);
        let mut q = given_q.clone();
        if initial.project {
            check.project_q(&mut q)?;
        }
        let (given_v, next) = check.motion(initial, &q)?;
        let mut v = given_v.clone();
        if initial.project && next.is_none() {
            check.project_v(&mut q, &mut v)?;
        }
        check.drives(&q, &v, next.as_deref());
        check.finite(&q, &v);
        check.sum()?;
        let is_regular = check.note(check.independent(&q).and_then(|()| check.regular(&q, &v))).is_some();
        check.walls(&q);
        let mut warnings: Vec<Diagnostic> = check.angles(&q);
        if is_regular {
            check.note(check.walls_can_push(&q));
        }
        check.restitutions();
        if is_regular {
            warnings.extend(check.note(check.definite(&q, &v)).flatten());
        }
        check.constraints(&q, &v, next.as_deref());
        check.sum()?;
        let p = check.momenta(&q, &v);
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let moved = initial.project.then(|| [distance(&q, &given_q), distance(&v, &given_v)]);
        let roundoff = |given: &[f64]| 8.0 * f64::EPSILON * distance(given, &vec![0.0; given.len()]);
        let moved = moved.filter(|[by_q, by_v]| *by_q > roundoff(&q) || *by_v > roundoff(&v));
        Ok(Start { q, v, p, next, moved, warnings, notes: self.filled_in(initial) })
    }

    /// What the start leaves out. An empty `q` or `v` says that all is 0. Joints have a natural zero: only coordinates of a Lagrangian
    /// are missed.
    fn filled_in(&self, initial: &Initial) -> Vec<String> {
        let motion = match initial.motion {
            InitialMotion::Velocity(_) => "v",
            InitialMotion::Momentum(_) => "p",
            InitialMotion::Next(_) => "q1",
        };
        let of_bodies = self.system.mechanism.iter().flat_map(|mechanism| &mechanism.links);
        let written = of_bodies.map(|link| link.coordinate).min().unwrap_or(usize::MAX);
        let mut notes = Vec::new();
        for (key, missing) in ["q", motion].into_iter().zip(&initial.missing) {
            if missing.len() == self.system.coordinates.len() {
                continue;
            }
            let coordinates = missing.iter().filter(|&&i| i < written).map(|&i| &self.system.coordinates[i]);
            let (driven, free): (Vec<_>, Vec<_>) = coordinates.partition(|c| c.prescribed.is_some());
            for (coordinates, value) in [(free, "0"), (driven, "as prescribed")] {
                let names: Vec<&str> = coordinates.iter().map(|c| c.name.as_str()).collect();
                let verb = if names.len() == 1 { "it is" } else { "they are" };
                match names.as_slice() {
                    [] => {}
                    [first, .., last] if names.len() > NAMED => {
                        notes.push(format!("`initial.{key}` has no {first}, …, {last}: {verb} {value}"));
                    }
                    names => notes.push(format!("`initial.{key}` has no {}: {verb} {value}", names.join(", "))),
                }
            }
        }
        notes
    }
}

pub(super) struct Check<'a> {
    pub(super) model: &'a Model,
    parameters: Vec<(Expr, f64)>,
    /// The tree of a large mechanism.
    recursive: Option<Recursive>,
    mistakes: RefCell<Vec<Diagnostic>>,
    /// L_vv of the free coordinates, once it is derived.
    mass: OnceCell<Vec<Vec<Expr>>>,
}

impl<'a> Check<'a> {
    fn new(model: &'a Model) -> Check<'a> {
        let parameters = model.parameter_values();
        let recursive = Recursive::new(&model.system, &parameters);
        Check { model, parameters, recursive, mistakes: RefCell::default(), mass: OnceCell::new() }
    }

    /// Notes a mistake, so that checking can go on.
    fn note<T>(&self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.mistake(error)).ok()
    }

    fn mistake(&self, error: Error) {
        if let Error::Model(mistake) = error
            && self.mistakes.borrow().len() < MOST_MISTAKES
        {
            self.mistakes.borrow_mut().push(*mistake);
        }
    }

    /// The mistakes that were noted, as one error.
    fn sum(&self) -> Result<()> {
        match Diagnostic::first_of(self.mistakes.take()) {
            Some(mistakes) => Err(mistakes.into()),
            None => Ok(()),
        }
    }

    /// Lets driven coordinates without an entry follow what `of` makes of their prescription, at the time t.
    fn follow(&self, values: &mut [f64], missing: &[usize], t: f64, of: impl Fn(Expr) -> Expr) {
        for &i in missing {
            if let Some(motion) = self.model.system.coordinates[i].prescribed {
                let known: Vec<(Expr, f64)> = self.parameters.iter().copied().chain([(time(), t)]).collect();
                values[i] = eval(&[of(motion)], &known)[0];
            }
        }
    }

    /// The values of `fs` at t = 0.
    pub(super) fn at(&self, fs: &[Expr], q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut values = self.parameters.clone();
        values.push((time(), 0.0));
        values.extend(self.model.system.q().into_iter().zip(q.iter().copied()));
        values.extend(self.model.system.v().into_iter().zip(v.iter().copied()));
        eval(fs, &values)
    }

    /// True for a large mechanism, whose masses come from sweeps over its tree.
    pub(super) fn is_recursive(&self) -> bool {
        self.recursive.is_some()
    }

    /// L_v(q, v).
    fn momenta(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        match &self.recursive {
            Some(recursive) => recursive.momenta(q, v),
            None => self.at(&grad(self.model.system.lagrangian.l, &self.model.system.v()), q, v),
        }
    }

    fn numbers(&self, fs: &[Expr], span: &Range<usize>) -> Result<Vec<f64>> {
        let values = eval(fs, &self.parameters);
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(values),
            Some(i) => {
                let name = &self.model.system.coordinates[i].name;
                Err(self.model.error(span, format!("the start of `{name}` is {}", values[i]), ""))
            }
        }
    }

    /// The velocities, and the next configuration where the model gives that.
    fn motion(&self, initial: &Initial, q: &[f64]) -> Result<(Vec<f64>, Option<Vec<f64>>)> {
        let span = &self.model.places.motion;
        match &initial.motion {
            InitialMotion::Velocity(v) => {
                let mut v = self.numbers(v, span)?;
                self.follow(&mut v, &initial.missing[1], 0.0, |motion| motion.diff(time()));
                Ok((v, None))
            }
            InitialMotion::Momentum(p) => {
                let p = self.numbers(p, span)?;
                let v = self.velocities(q, &p)?;
                self.driven_momenta(q, &v, &p, &initial.missing[1])?;
                Ok((v, None))
            }
            InitialMotion::Next(q1) => {
                let mut q1 = self.numbers(q1, span)?;
                let Some(h) = self.model.run.step else {
                    let label = "give `run.step` too";
                    return Err(self.model.error(span, "`q1` is one step after `q`, but there is no step", label));
                };
                self.follow(&mut q1, &initial.missing[1], h, |motion| motion);
                let v = q1.iter().zip(q).map(|(b, a)| (b - a) / h).collect();
                Ok((v, Some(q1)))
            }
        }
    }

    /// The momenta of driven coordinates must be those of their motion, unless they are `missing`.
    fn driven_momenta(&self, q: &[f64], v: &[f64], p: &[f64], missing: &[usize]) -> Result<()> {
        let system = &self.model.system;
        let values = self.momenta(q, v);
        for (i, c) in system.coordinates.iter().enumerate() {
            let is_given = c.prescribed.is_some() && !missing.contains(&i);
            if is_given && (values[i] - p[i]).abs() > ON_DRIVE * (values[i].abs() + p[i].abs()) {
                let message = format!("the momentum of the driven coordinate `{}` is {}", c.name, values[i]);
                return Err(self.model.error(&self.model.places.motion, message, format!("not {}", p[i])));
            }
        }
        Ok(())
    }

    /// Driven coordinates must start as prescribed: q and v, or q and the next configuration.
    fn drives(&self, q: &[f64], v: &[f64], next: Option<&[f64]>) {
        let h = self.model.run.step.unwrap_or(0.0);
        for (i, c) in self.model.system.coordinates.iter().enumerate() {
            let Some(motion) = c.prescribed else { continue };
            let rate = self.at(&[motion.diff(time())], q, v)[0];
            let second = match next {
                None => ("v", v[i], rate),
                Some(q1) => ("q1", q1[i], self.later(motion, q1, h)),
            };
            let first = ("q", q[i], self.later(motion, q, 0.0));
            let places = [&self.model.places.q, &self.model.places.motion];
            let size = |f: Expr| ON_DRIVE * self.size(f, q, v) + ROUNDOFF * self.amplitude(f, q);
            let functions = [motion, if next.is_none() { motion.diff(time()) } else { motion }];
            for (((letter, value, due), span), f) in [first, second].into_iter().zip(places).zip(functions) {
                if value != due && (value - due).abs() > size(f) {
                    let message = format!("`{}` is driven and starts at {letter} = {due}", c.name);
                    self.mistake(self.model.error(span, message, format!("this says {value}")));
                }
            }
        }
    }

    /// The size of what adds up to f at the start: the sum of its absolute terms, and Σ|∂f/∂qᵢ qᵢ|.
    pub(super) fn size(&self, f: Expr, q: &[f64], v: &[f64]) -> f64 {
        size_at(f, &self.model.system.q(), q, |fs| self.at(fs, q, v))
    }

    /// True if |value| is more than this part of the size of f. What takes longer to compute comes last.
    pub(super) fn exceeds(&self, value: f64, part: f64, f: Expr, q: &[f64], v: &[f64]) -> bool {
        value != 0.0
            && value.abs() > part * self.at(&[sum_of_terms(f)], q, v)[0]
            && value.abs() > part * self.size(f, q, v)
    }

    /// The largest |f| of a function of time, at some times up to the end time.
    fn amplitude(&self, f: Expr, q: &[f64]) -> f64 {
        let until = self.model.run.until.unwrap_or(1.0);
        (0..=16).map(|k| self.later(f, q, until * f64::from(k) / 16.0).abs()).fold(0.0, f64::max)
    }

    fn finite(&self, q: &[f64], v: &[f64]) {
        let (system, places) = (&self.model.system, &self.model.places);
        let (qs, vs) = (system.q(), system.v());
        let energies = match system.lagrangian.parts {
            Some((t, v)) => vec![("T", t, &places.kinetic), ("V", v, &places.potential)],
            None => vec![("L", system.lagrangian.l, &places.lagrangian)],
        };
        let mut groups = Vec::new();
        for (name, energy, span) in energies {
            groups.push((format!("`{name}`"), vec![energy], span));
            let derivatives = match &self.recursive {
                // What the bodies have is finite with its derivatives; they would be large.
                Some(_) if name == "T" => Vec::new(),
                Some(recursive) => grad(recursive.added, &qs),
                None => {
                    let momenta = grad(energy, &vs);
                    let masses = jacobian(&momenta, &vs).concat();
                    grad(energy, &qs).into_iter().chain(masses).chain(momenta).collect()
                }
            };
            groups.push((format!("a derivative of `{name}`"), derivatives, span));
        }
        if let Some(span) = places.forces.first() {
            groups.push(("a force".into(), system.forces.clone(), span));
        }
        for (wall, span) in system.walls.iter().zip(&places.walls) {
            groups.push((format!("the gap of the wall `{}`", wall.name), with_gradient(wall.phi, &qs), span));
        }
        for (constraint, span) in system.constraints.iter().zip(&places.constraints) {
            groups.push((format!("the constraint `{}`", constraint.name), with_gradient(constraint.g, &qs), span));
        }
        for (what, expressions, span) in groups {
            if let Some(bad) = self.at(&expressions, q, v).into_iter().find(|x| !x.is_finite()) {
                let place = format!("at q = {q:?}, v = {v:?}");
                self.mistake(self.model.error(span, format!("{what} is {bad} at the start"), place));
            }
        }
    }

    /// L_vv of the free coordinates, by rows.
    pub(super) fn mass(&self) -> &[Vec<Expr>] {
        self.mass.get_or_init(|| {
            let system = &self.model.system;
            let vs: Vec<Expr> = system.free().iter().map(|&i| system.coordinates[i].v).collect();
            jacobian(&grad(system.lagrangian.l, &vs), &vs)
        })
    }

    /// L_vv of the n free coordinates, bordered by the gradients of the m constraints, by rows.
    pub(super) fn bordered(&self) -> (Vec<Expr>, usize, usize) {
        let system = &self.model.system;
        let free = system.free();
        let qs: Vec<Expr> = free.iter().map(|&i| system.coordinates[i].q).collect();
        let mass = self.mass();
        let gradients: Vec<Vec<Expr>> = system.constraints.iter().map(|c| grad(c.g, &qs)).collect();
        let (n, m) = (free.len(), gradients.len());
        let zero = Expr::constant(0.0);
        let bordered: Vec<Expr> = (0..n + m)
            .flat_map(|i| (0..n + m).map(move |j| (i, j)))
            .map(|(i, j)| match (i < n, j < n) {
                (true, true) => mass[i][j],
                (true, false) => gradients[j - n][i],
                (false, true) => gradients[i - n][j],
                (false, false) => zero,
            })
            .collect();
        (bordered, n, m)
    }

    /// L_vv must be invertible in the free coordinates; with constraints, on their tangent space.
    fn regular(&self, q: &[f64], v: &[f64]) -> Result<()> {
        let system = &self.model.system;
        if let Some(recursive) = &self.recursive {
            let massless = recursive.massless(q).and_then(|coordinate| self.moves_no_mass(coordinate));
            return massless.map_or(Ok(()), Err);
        }
        let (bordered, n, m) = self.bordered();
        if Lu::new(n + m).factor(&self.at(&bordered, q, v)) {
            return Ok(());
        }
        if let Some(error) = self.massless_body(&self.at(&bordered, q, v), n, m) {
            return Err(error);
        }
        let row = |i: usize| &bordered[i * (n + m)..i * (n + m) + n];
        let massless = (0..n).find(|&i| row(i).iter().all(|entry| entry.is_zero()));
        let (message, label) = match (massless, m) {
            (Some(i), 0) => {
                let name = &system.coordinates[system.free()[i]].name;
                ("the mass matrix L_vv is singular".to_string(), format!("`{name}'` does not occur in it"))
            }
            (_, 0) => ("the mass matrix L_vv is singular at the start".into(), format!("at q = {q:?}, v = {v:?}")),
            _ => {
                let label = "a coordinate has no mass, or constraints repeat each other";
                ("the mass matrix L_vv is singular on the constraints".into(), label.to_string())
            }
        };
        Err(self.model.error(&self.model.places.lagrangian, message, label))
    }
}

fn with_gradient(f: Expr, q: &[Expr]) -> Vec<Expr> {
    grad(f, q).into_iter().chain([f]).collect()
}
