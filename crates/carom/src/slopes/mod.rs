//! What a system computes from (parameters, t, q, v), compiled with its slopes by (q, v, t, θ), where θ are some of the parameters.
//!
//! One kernel with the derivatives of L serves every flow and every set of walls: the derivatives of steps are algebra on these
//! numbers (`tangent/`).

mod block;
mod functions;
mod lanes;
mod row;
mod whole;

use std::sync::{Arc, Mutex, OnceLock};

pub(crate) use block::Block;
pub use functions::OutputCode;
pub(crate) use lanes::LaneSlopes;
pub(crate) use row::Row;
pub(crate) use whole::{Places, WholeStep};

use self::row::RowCode;
use crate::error::Result;
use crate::expr::{Expr, directional, grad, jacobian};
use crate::kernel::Kernel;
use crate::mechanics::{LocalCode, Mechanics, numbered};
use crate::solve::{NoSolution, Solved};
use crate::system::{StateFunctions, System, time};

/// The slopes of a system, compiled. On kinks it has the sides of these as further parameters, after those of the system.
pub struct Slopes {
    pub(crate) n: usize,
    /// The indices of the parameters θ.
    pub(crate) theta: Vec<usize>,
    /// The number of parameters of the system, without the sides of kinks.
    pub(crate) parameters: usize,
    pub(crate) is_quadratic: bool,
    /// (L_v, ṗ), with ṗ = L_q + F.
    pub(crate) momenta: Block,
    /// The number of kinks whose arguments contain no velocities.
    pub(crate) kinks: usize,
    /// The number of constraints.
    pub(crate) constraints: usize,
    /// The number of walls.
    pub(crate) walls: usize,
    /// e of each wall, then its derivatives by θ.
    pub(crate) restitution: Kernel,
    system: System,
    mechanics: Mechanics,
    /// (L_v, ṗ) and their slopes at eight states at once. Compiled on first use.
    lanes: OnceLock<Result<Arc<LaneSlopes>>>,
    /// L, then L_q, L_t, L_θ. Compiled on first use.
    energy: OnceLock<Option<Kernel>>,
    /// M a − (ṗ − L_vq v − L_vt), where a is a further input. Compiled on first use.
    balance: OnceLock<Option<Block>>,
    /// The constraints, the walls, the arguments of kinks that contain no velocities.
    rows: Vec<RowCode>,
    /// The arguments of the other kinks. Compiled on first use.
    arguments: Vec<(Expr, OnceLock<Option<Block>>)>,
    /// The functions of a state that were asked for.
    functions: Mutex<Vec<(StateFunctions, Arc<OutputCode>)>>,
}

impl Slopes {
    /// Derives and compiles the slopes of a system with these equations.
    pub(crate) fn new(system: &System, equations: &Mechanics, theta: &[usize]) -> Result<Slopes> {
        let kinks = equations.kinks();
        let mechanics = equations.on_sides(&kinks);
        let symbols: Vec<Expr> = theta.iter().map(|&k| mechanics.parameters[k]).collect();
        let rows = mechanics.constraints.iter().map(|c| c.g).chain(mechanics.walls.iter().copied());
        let (arguments, of_velocities) = kinks.arguments.split_at(kinks.arguments.len() - kinks.of_velocities);
        let rows = rows.chain(arguments.iter().copied());
        let e: Vec<Expr> = system.walls.iter().map(|wall| wall.restitution).collect();
        let slopes = jacobian(&e, &symbols).concat();
        Ok(Slopes {
            n: mechanics.n(),
            theta: theta.to_vec(),
            parameters: system.parameters.len(),
            is_quadratic: mechanics.is_quadratic(),
            momenta: Block::new(&mechanics, &momenta_and_rates(&mechanics), &symbols, &[])?,
            kinks: arguments.len(),
            constraints: mechanics.constraints.len(),
            walls: system.walls.len(),
            restitution: mechanics.interpreted().kernel(&[], &[e, slopes].concat())?,
            system: system.clone(),
            lanes: OnceLock::new(),
            energy: OnceLock::new(),
            balance: OnceLock::new(),
            rows: rows.map(RowCode::new).collect(),
            arguments: of_velocities.iter().map(|&u| (u, OnceLock::new())).collect(),
            functions: Mutex::default(),
            mechanics,
        })
    }

    /// The number of parameters of the system and of sides of kinks.
    pub(crate) fn parameters_and_sides(&self) -> usize {
        self.mechanics.parameters.len()
    }

    /// The kernels of the same equations, without slopes by θ.
    pub(crate) fn local(&self) -> Result<Arc<LocalCode>> {
        LocalCode::new(&self.mechanics).map(Arc::new)
    }

    /// (L_v, ṗ) with their slopes at eight states at once.
    pub(crate) fn lanes(&self) -> Result<Arc<LaneSlopes>> {
        let compile = || LaneSlopes::new(&self.mechanics, &self.symbols()).map(Arc::new);
        self.lanes.get_or_init(compile).clone()
    }

    /// The kernel of L, L_q, L_t, L_θ.
    pub(crate) fn energy(&self) -> Solved<&Kernel> {
        let compile = || {
            let Mechanics { l, q, .. } = &self.mechanics;
            let outputs = [vec![*l], grad(*l, q), vec![l.diff(time())], grad(*l, &self.symbols())].concat();
            self.mechanics.kernel(&self.mechanics.state_symbols(), &outputs).ok()
        };
        self.energy.get_or_init(compile).as_ref().ok_or(NoSolution::Singular)
    }

    /// The block of M a − (ṗ − L_vq v − L_vt).
    pub(crate) fn balance(&self) -> Solved<&Block> {
        let compile = || {
            let functions = momenta_and_rates(&self.mechanics);
            let (momenta, rates) = functions.split_at(self.n);
            let (a, seeds) = self.along_motion();
            let total = directional(momenta, &seeds);
            let balance: Vec<Expr> = total.into_iter().zip(rates).map(|(p_dot, &rate)| p_dot - rate).collect();
            Block::new(&self.mechanics, &balance, &self.symbols(), &a).ok()
        };
        self.balance.get_or_init(compile).as_ref().ok_or(NoSolution::Singular)
    }

    /// The block of d²g/dt² of a row, with the acceleration as a further input.
    pub(crate) fn second(&self, row: usize) -> Solved<&Block> {
        let compile = |g: Expr| {
            let (a, seeds) = self.along_motion();
            let rate = directional(&[g], &seeds);
            Block::new(&self.mechanics, &directional(&rate, &seeds), &self.symbols(), &a).ok()
        };
        self.rows[row].second(compile).ok_or(NoSolution::Singular)
    }

    /// The block of the argument of a kink that contains velocities.
    pub(crate) fn argument(&self, number: usize) -> Solved<&Block> {
        let (u, block) = &self.arguments[number];
        let compile = || Block::new(&self.mechanics, &[*u], &self.symbols(), &[]).ok();
        block.get_or_init(compile).as_ref().ok_or(NoSolution::Singular)
    }

    /// Evaluates a row at the inputs (parameters, t, q, v).
    pub(crate) fn row(&self, number: usize, inputs: &[f64], row: &mut Row) -> Solved<()> {
        self.rows[number].eval(self, inputs, row)
    }

    fn symbols(&self) -> Vec<Expr> {
        self.theta.iter().map(|&k| self.mechanics.parameters[k]).collect()
    }

    /// Symbols a of the acceleration, and the direction of the motion: q̇ = v, ṫ = 1, v̇ = a.
    fn along_motion(&self) -> (Vec<Expr>, Vec<(Expr, Expr)>) {
        let Mechanics { q, v, .. } = &self.mechanics;
        let a = numbered("a", self.n);
        let places = q.iter().copied().zip(v.iter().copied()).chain([(time(), Expr::constant(1.0))]);
        let seeds = places.chain(v.iter().copied().zip(a.iter().copied())).collect();
        (a, seeds)
    }
}

/// (L_v, ṗ), with ṗ = L_q + F.
fn momenta_and_rates(mechanics: &Mechanics) -> Vec<Expr> {
    let mut rates = grad(mechanics.l, &mechanics.q);
    if let Some(forces) = &mechanics.forces {
        rates.iter_mut().zip(forces).for_each(|(rate, &force)| *rate = *rate + force);
    }
    [mechanics.momenta(), rates].concat()
}
