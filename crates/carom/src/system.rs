//! A mechanical system, independent of the source of the model.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::expr::{Expr, directional, grad, substitute};
use crate::mechanism::{Mechanism, Vector};

/// A Lagrangian with its walls, constraints, forces and driven coordinates.
///
/// All expressions are in the coordinates q, the velocities v, the parameters and the time; definitions are expanded.
#[derive(Clone, Debug)]
pub struct System {
    /// The coordinates, in the order of the entries of q, v and p.
    pub coordinates: Vec<Coordinate>,
    /// The parameters, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// L(q, v, t).
    pub lagrangian: Lagrangian,
    /// The walls; the motion is free while every φ ≥ 0.
    pub walls: Vec<Wall>,
    /// Holonomic constraints g = 0.
    pub constraints: Vec<Constraint>,
    /// The generalized force on each coordinate, including pushes; zero if there is none.
    pub forces: Vec<Expr>,
    /// A force that is a function, beside these.
    pub function: Option<ForceFunction>,
    /// The tree of bodies that the model is made of, if it has one. What it says is contained in all of the above.
    pub mechanism: Option<Arc<Mechanism>>,
}

/// A force F(t, q, v) that is a function of the caller, where no expression will do. It is shared by all clones.
#[derive(Clone)]
pub struct ForceFunction(Arc<Law>);

/// Writes the force on each coordinate at (t, q, v).
type Write = dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync;

struct Law {
    write: Box<Write>,
    /// Where it was not finite for the first time, for each thread that calls it: a run is in one thread.
    trouble: Mutex<HashMap<ThreadId, String>>,
}

impl ForceFunction {
    /// A function that writes the force on each coordinate at (t, q, v). A value that is not finite ends the run.
    pub fn new(write: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> ForceFunction {
        ForceFunction(Arc::new(Law { write: Box::new(write), trouble: Mutex::default() }))
    }

    /// Writes the force at a state.
    pub(crate) fn at(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        (self.0.write)(t, q, v, force);
        if force.iter().any(|f| !f.is_finite()) {
            self.note(t, q, v, force);
        }
    }

    #[cold]
    fn note(&self, t: f64, q: &[f64], v: &[f64], force: &[f64]) {
        let text = format!("the function for the force gives {force:?} at t = {t:?}, q = {q:?}, v = {v:?}");
        self.trouble().entry(thread::current().id()).or_insert(text);
    }

    /// Tells where it was not finite in this thread since it was last asked.
    pub(crate) fn take_trouble(&self) -> Option<String> {
        self.trouble().remove(&thread::current().id())
    }

    fn trouble(&self) -> MutexGuard<'_, HashMap<ThreadId, String>> {
        self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two are equal if they are clones of each other.
impl PartialEq for ForceFunction {
    fn eq(&self, other: &ForceFunction) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for ForceFunction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("F(t, q, v)")
    }
}

/// One degree of freedom.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// As written in the model.
    pub name: String,
    /// The coordinate.
    pub q: Expr,
    /// Its velocity.
    pub v: Expr,
    /// For a driven coordinate, its function of time; for a coordinate that a constraint eliminates, its function of the
    /// others.
    pub prescribed: Option<Expr>,
}

/// A named number of a model.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As written in the model.
    pub name: String,
    /// Its symbol in expressions.
    pub symbol: Expr,
    /// Its value.
    pub value: f64,
}

/// L, with T and V if the model gives them separately.
#[derive(Clone, Copy, Debug)]
pub struct Lagrangian {
    /// L, which is T − V if these are given.
    pub l: Expr,
    /// T and V, if given.
    pub parts: Option<(Expr, Expr)>,
}

/// What is computed beside the motion, as expressions of the state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// The outputs.
    pub outputs: Vec<Expr>,
    /// g of each section.
    pub sections: Vec<Expr>,
    /// g of each section that ends a run.
    pub stops: Vec<Expr>,
}

/// Functions of (t, q, v) of a system, as expressions of all its coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateFunctions {
    /// True if all coordinates, velocities and momenta come first.
    pub has_state: bool,
    /// The functions after these.
    pub others: Vec<Expr>,
}

/// The symbol of the normal force of a wall in outputs. No name of a model has spaces.
pub fn normal_force(wall: usize) -> Expr {
    Expr::symbol(&format!("normal force of wall {wall}"))
}

/// A unilateral constraint φ(q, t) ≥ 0, at which the motion has impacts.
#[derive(Clone, Debug)]
pub struct Wall {
    /// The name in messages and tables.
    pub name: String,
    /// The gap φ.
    pub phi: Expr,
    /// The coefficient of restitution e, from 0 (inelastic) to 1 (elastic).
    pub restitution: Expr,
}

/// A holonomic constraint g(q, t) = 0.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The name in messages and tables.
    pub name: String,
    /// The constraint function.
    pub g: Expr,
    /// Where the discrete equations enforce it.
    pub enforce: Enforce,
    /// How it was made.
    pub form: Form,
}

/// How a constraint was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// From an expression.
    Function,
    /// (A − B)·e for one axis of space.
    Join {
        /// A and B.
        ends: [End; 2],
        /// 0, 1 or 2 for x, y or z.
        axis: usize,
    },
    /// (|A − B|² − length²)/2.
    Distance {
        /// A and B.
        ends: [End; 2],
        /// A function of parameters, the time and driven coordinates.
        length: Expr,
    },
    /// |q|² − 1 of a ball joint, by the index of its link: not shown to users. These come after all others.
    Unit(usize),
}

/// An end of a constraint between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// A point on a body, by its index in [`Mechanism::points`].
    Attached(usize),
    /// A place in world axes, an expression of coordinates and the time.
    At(Vector),
}

/// Where a variational integrator evaluates a holonomic constraint. [TPC]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Enforce {
    /// g(q_k) = 0 at each node.
    OnePoint,
    /// ḡ(q_k, q_{k+1}) = 0 over each step: unstable, kept for study.
    TwoPoint {
        /// The multiplier of the first step, which the equations do not determine.
        lambda1: f64,
    },
}

impl Coordinate {
    /// A free coordinate with this name.
    pub fn new(name: &str) -> Coordinate {
        let (q, v) = (Expr::symbol(name), Expr::symbol(&format!("{name}'")));
        Coordinate { name: name.into(), q, v, prescribed: None }
    }

    /// The symbol of its acceleration, which occurs only in derived equations.
    pub fn acceleration(&self) -> Expr {
        Expr::symbol(&format!("{}''", self.name))
    }
}

/// df/dt = f_t + f_q·v + f_v·a.
pub fn time_derivative(coordinates: &[Coordinate], f: Expr) -> Expr {
    let rates = coordinates.iter().flat_map(|c| [(c.q, c.v), (c.v, c.acceleration())]);
    let seeds: Vec<(Expr, Expr)> = rates.chain([(time(), Expr::constant(1.0))]).collect();
    directional(&[f], &seeds)[0]
}

/// The time.
pub fn time() -> Expr {
    Expr::symbol("t")
}

impl System {
    /// The coordinates q.
    pub fn q(&self) -> Vec<Expr> {
        self.coordinates.iter().map(|c| c.q).collect()
    }

    /// The velocities v.
    pub fn v(&self) -> Vec<Expr> {
        self.coordinates.iter().map(|c| c.v).collect()
    }

    /// The constraints of the model, without those of ball joints.
    pub fn stated_constraints(&self) -> &[Constraint] {
        let is_stated = |constraint: &Constraint| !matches!(constraint.form, Form::Unit(_));
        &self.constraints[..self.constraints.partition_point(is_stated)]
    }

    /// The indices of the coordinates that are not driven.
    pub fn free(&self) -> Vec<usize> {
        (0..self.coordinates.len()).filter(|&i| self.coordinates[i].prescribed.is_none()).collect()
    }

    /// df/dt along the motion, with the velocities and accelerations as symbols.
    pub fn time_derivative(&self, f: Expr) -> Expr {
        time_derivative(&self.coordinates, f)
    }

    /// The expressions of functions, in the free coordinates.
    pub fn functions(&self, of: &StateFunctions) -> Vec<Expr> {
        let state = || [self.q(), self.v(), grad(self.lagrangian.l, &self.v())].concat();
        let state = if of.has_state { state() } else { Vec::new() };
        self.drive(&[&state[..], &of.others].concat())
    }

    /// Substitutes the prescribed functions for the driven coordinates, velocities and accelerations in each fᵢ.
    pub fn drive(&self, fs: &[Expr]) -> Vec<Expr> {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for c in &self.coordinates {
            let Some(motion) = c.prescribed else { continue };
            let velocity = self.time_derivative(motion);
            from.extend([c.q, c.v, c.acceleration()]);
            to.extend([motion, velocity, self.time_derivative(velocity)]);
        }
        substitute(fs, &from, &to)
    }
}
