//! A mechanical system: what the mechanics needs to know, whatever it was read from.

use crate::expr::{Expr, directional, substitute};

/// A Lagrangian with its walls, constraints, forces and driven coordinates.
///
/// All expressions are in the coordinates q, the velocities v, the parameters and the time; definitions are expanded.
#[derive(Clone, Debug)]
pub struct System {
    /// The degrees of freedom, in the order in which q, v and p list them.
    pub coordinates: Vec<Coordinate>,
    /// The parameters, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// L(q, v, t).
    pub lagrangian: Lagrangian,
    /// The motion is free while every φ ≥ 0.
    pub walls: Vec<Wall>,
    /// Holonomic constraints g = 0.
    pub constraints: Vec<Constraint>,
    /// The generalized force on each coordinate, pushes included; zero where there is none.
    pub forces: Vec<Expr>,
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
    /// For a driven coordinate, what it is as a function of the time; for one that a constraint was solved for, as a
    /// function of the others.
    pub prescribed: Option<Expr>,
}

/// A number that a model gives a name.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As written in the model.
    pub name: String,
    /// Its symbol in expressions.
    pub symbol: Expr,
    /// Its value.
    pub value: f64,
}

/// L, and T and V where the model gives them apart.
#[derive(Clone, Copy, Debug)]
pub struct Lagrangian {
    /// L = T − V, or what was given.
    pub l: Expr,
    /// T and V, if given.
    pub parts: Option<(Expr, Expr)>,
}

/// A unilateral constraint φ(q, t) ≥ 0 that the system bounces off.
#[derive(Clone, Debug)]
pub struct Wall {
    /// For messages and tables.
    pub name: String,
    /// The gap.
    pub phi: Expr,
    /// e, from 0 (no bounce) to 1 (no loss).
    pub restitution: Expr,
}

/// A holonomic constraint g(q, t) = 0.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// For messages and tables.
    pub name: String,
    /// What must stay zero.
    pub g: Expr,
    /// How the discrete equations enforce it.
    pub enforce: Enforce,
}

/// Where a variational integrator evaluates a holonomic constraint. [TPC]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Enforce {
    /// g(q_k) = 0 at each node.
    OnePoint,
    /// ḡ(q_k, q_{k+1}) = 0 over each step: unstable, kept for study.
    TwoPoint {
        /// The multiplier of the first step, which the equations leave open.
        lambda1: f64,
    },
}

impl Coordinate {
    /// A free coordinate of that name.
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

    /// The numbers of the coordinates that are not driven.
    pub fn free(&self) -> Vec<usize> {
        (0..self.coordinates.len()).filter(|&i| self.coordinates[i].prescribed.is_none()).collect()
    }

    /// df/dt along the motion, with the velocities and accelerations as symbols.
    pub fn time_derivative(&self, f: Expr) -> Expr {
        time_derivative(&self.coordinates, f)
    }

    /// Each fᵢ with the driven coordinates, velocities and accelerations replaced by what they are prescribed to be.
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
