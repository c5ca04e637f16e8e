//! The compiled derivatives of a system.

use std::sync::{Arc, Mutex, OnceLock};

use super::collocation::StageCode;
use super::known::StepCode;
use super::matrix::{Matrix, add};
use super::output::OutputCode;
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, directional, grad, jacobian};
use crate::flow::HeldCode;
use crate::kernel::Kernel;
use crate::mechanics::{LocalCode, Mechanics, numbered};
use crate::method::Method;
use crate::solve::{NoSolution, Solved};
use crate::system::{Enforce, System, time};

/// The derivatives of a system by (q, v, t, θ), compiled; θ are the parameters by which is differentiated. Together with the
/// quadrature of a flow they give the derivatives of its steps.
pub struct TangentCode {
    pub(super) n: usize,
    /// The indices of the parameters θ.
    pub(super) theta: Vec<usize>,
    /// The parameters of the system, without the sides of kinks.
    pub(super) parameters: usize,
    pub(super) mechanics: Mechanics,
    pub(super) is_quadratic: bool,
    /// The quadrature of the flow.
    pub(super) rule: HeldCode,
    /// The fractions of a step in which it is made.
    pub(super) parts: &'static [f64],
    /// (L_v, ṗ), with ṗ = L_q + F.
    pub(super) momenta: Block,
    /// (L_v, ṗ) and their slopes at all stages of a step at once; none if the flow is not Gauss collocation.
    pub(super) stages: Option<StageCode>,
    /// The equations of a whole step; none if it has many unknowns. Compiled on first use.
    step: OnceLock<Option<StepCode>>,
    /// L, then L_q, L_t, L_θ. Compiled on first use.
    energy: OnceLock<Option<Kernel>>,
    /// M a − (ṗ − L_vq v − L_vt), where a is a further input. Compiled on first use.
    balance: OnceLock<Option<Block>>,
    /// The constraints, the walls, the arguments of kinks that contain no velocities.
    rows: Vec<RowCode>,
    /// The number of these kinks.
    pub(super) kinks: usize,
    /// The arguments of the other kinks. Compiled on first use.
    arguments: Vec<(Expr, OnceLock<Option<Block>>)>,
    /// The number of constraints.
    pub(super) constraints: usize,
    /// e of each wall, then its derivatives by θ.
    pub(super) restitution: Kernel,
    pub(super) walls: usize,
    /// The functions of a state that were asked for, and the expressions with which they were.
    pub(super) outputs: Mutex<Vec<(Vec<Expr>, Arc<OutputCode>)>>,
}

/// Functions of (parameters, t, q, v, …), followed by their derivatives by (q, v, t, θ).
pub(super) struct Block {
    kernel: Kernel,
    values: usize,
    /// Where the entries that are not zero belong in the matrix of derivatives.
    places: Vec<usize>,
}

/// A constraint, a wall, or the argument of a kink: g(q, t).
struct RowCode {
    g: Expr,
    code: OnceLock<Option<Compiled>>,
    /// d²g/dt² with the acceleration as a further input, and its derivatives by (q, v, t, θ).
    second: OnceLock<Option<Block>>,
}

struct Compiled {
    /// The coordinates on which g depends.
    support: Vec<usize>,
    /// → g, g_t, g_tt, g_θ, g_tθ, then for each coordinate of the support: g_q, g_qt, g_qθ, g_qq.
    kernel: Kernel,
}

/// The values of a row, dense.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) g: f64,
    pub(super) g_t: f64,
    pub(super) g_tt: f64,
    pub(super) g_theta: Vec<f64>,
    pub(super) g_t_theta: Vec<f64>,
    pub(super) grad: Vec<f64>,
    pub(super) grad_t: Vec<f64>,
    /// By rows of coordinates.
    pub(super) grad_theta: Matrix,
    pub(super) hessian: Matrix,
    values: Vec<f64>,
}

impl TangentCode {
    /// Derives and compiles. Says by name what cannot be differentiated.
    pub fn new(system: &System, method: &Method, theta: &[usize]) -> Result<TangentCode> {
        refuse(system, method)?;
        let whole = Mechanics::new(system);
        let kinks = whole.kinks();
        let mechanics = whole.on_sides(&kinks);
        let rule = method.flow.held_code(&Arc::new(LocalCode::new(&mechanics)?))?;
        let symbols: Vec<Expr> = theta.iter().map(|&k| mechanics.parameters[k]).collect();
        let functions = momenta_and_rates(&mechanics);
        let rows = mechanics.constraints.iter().map(|c| c.g).chain(mechanics.walls.iter().copied());
        let (arguments, of_velocities) = kinks.arguments.split_at(kinks.arguments.len() - kinks.of_velocities);
        let rows = rows.chain(arguments.iter().copied());
        let e: Vec<Expr> = system.walls.iter().map(|wall| wall.restitution).collect();
        let slopes = jacobian(&e, &symbols).concat();
        let stages = method.flow.stages().filter(|_| mechanics.constraints.is_empty());
        Ok(TangentCode {
            n: mechanics.n(),
            theta: theta.to_vec(),
            parameters: system.parameters.len(),
            is_quadratic: mechanics.is_quadratic(),
            rule,
            parts: method.flow.parts(),
            momenta: Block::new(&mechanics, &functions, &symbols, &[])?,
            stages: stages.map(|s| StageCode::new(&mechanics, &functions, &symbols, s)).transpose()?,
            step: OnceLock::new(),
            energy: OnceLock::new(),
            balance: OnceLock::new(),
            rows: rows.map(|g| RowCode { g, code: OnceLock::new(), second: OnceLock::new() }).collect(),
            kinks: arguments.len(),
            arguments: of_velocities.iter().map(|&u| (u, OnceLock::new())).collect(),
            constraints: mechanics.constraints.len(),
            restitution: mechanics.interpreted().kernel(&[], &[e, slopes].concat())?,
            walls: system.walls.len(),
            outputs: Mutex::default(),
            mechanics,
        })
    }

    /// The number of parameters θ.
    pub fn parameters(&self) -> usize {
        self.theta.len()
    }

    pub(super) fn symbols(&self) -> Vec<Expr> {
        self.theta.iter().map(|&k| self.mechanics.parameters[k]).collect()
    }

    /// The equations of a whole step on no rows; none if it has many unknowns.
    pub(super) fn step(&self) -> Option<&StepCode> {
        self.step.get_or_init(|| StepCode::new(self)).as_ref()
    }

    /// The kernel of L, L_q, L_t, L_θ.
    pub(super) fn energy(&self) -> Solved<&Kernel> {
        let compile = || {
            let Mechanics { l, q, .. } = &self.mechanics;
            let outputs = [vec![*l], grad(*l, q), vec![l.diff(time())], grad(*l, &self.symbols())].concat();
            self.mechanics.kernel(&self.mechanics.state_symbols(), &outputs).ok()
        };
        self.energy.get_or_init(compile).as_ref().ok_or(NoSolution::Singular)
    }

    /// The block of M a − (ṗ − L_vq v − L_vt).
    pub(super) fn balance(&self) -> Solved<&Block> {
        let compile = || {
            let Mechanics { q, v, .. } = &self.mechanics;
            let a = numbered("a", self.n);
            let functions = momenta_and_rates(&self.mechanics);
            let (momenta, rates) = functions.split_at(self.n);
            let seeds = along(q, v).chain(v.iter().copied().zip(a.iter().copied())).collect::<Vec<_>>();
            let total = directional(momenta, &seeds);
            let balance: Vec<Expr> = total.into_iter().zip(rates).map(|(p_dot, &rate)| p_dot - rate).collect();
            Block::new(&self.mechanics, &balance, &self.symbols(), &a).ok()
        };
        self.balance.get_or_init(compile).as_ref().ok_or(NoSolution::Singular)
    }

    /// The block of d²g/dt² of a row.
    pub(super) fn second(&self, row: usize) -> Solved<&Block> {
        let compile = || {
            let Mechanics { q, v, .. } = &self.mechanics;
            let a = numbered("a", self.n);
            let seeds = along(q, v).chain(v.iter().copied().zip(a.iter().copied())).collect::<Vec<_>>();
            let rate = directional(&[self.rows[row].g], &seeds);
            Block::new(&self.mechanics, &directional(&rate, &seeds), &self.symbols(), &a).ok()
        };
        self.rows[row].second.get_or_init(compile).as_ref().ok_or(NoSolution::Singular)
    }

    /// The block of the argument of a kink that contains velocities.
    pub(super) fn argument(&self, number: usize) -> Solved<&Block> {
        let (u, block) = &self.arguments[number];
        let compile = || Block::new(&self.mechanics, &[*u], &self.symbols(), &[]).ok();
        block.get_or_init(compile).as_ref().ok_or(NoSolution::Singular)
    }

    /// Evaluates a row at the inputs (parameters, t, q, v).
    pub(super) fn row(&self, number: usize, inputs: &[f64], row: &mut Row) -> Solved<()> {
        let code = &self.rows[number];
        let compiled = code.code.get_or_init(|| Compiled::new(&self.mechanics, code.g, &self.symbols()));
        let Compiled { support, kernel } = compiled.as_ref().ok_or(NoSolution::Singular)?;
        let (n, m, s) = (self.n, self.theta.len(), support.len());
        row.values.resize(3 + 2 * m + s * (2 + m + s), 0.0);
        kernel.eval(inputs, &mut row.values);
        if row.hessian.columns != n || row.grad_theta.columns != m {
            (row.grad, row.grad_t) = (vec![0.0; n], vec![0.0; n]);
            (row.grad_theta, row.hessian) = (Matrix::zeros(n, m), Matrix::zeros(n, n));
        }
        row.grad.fill(0.0);
        row.grad_t.fill(0.0);
        row.grad_theta.clear();
        row.hessian.clear();
        let (numbers, rest) = row.values.split_at(3);
        (row.g, row.g_t, row.g_tt) = (numbers[0], numbers[1], numbers[2]);
        row.g_theta.clear();
        row.g_theta.extend_from_slice(&rest[..m]);
        row.g_t_theta.clear();
        row.g_t_theta.extend_from_slice(&rest[m..2 * m]);
        for (&i, values) in support.iter().zip(rest[2 * m..].chunks(2 + m + s)) {
            (row.grad[i], row.grad_t[i]) = (values[0], values[1]);
            row.grad_theta.row_mut(i).copy_from_slice(&values[2..2 + m]);
            let hessian = row.hessian.row_mut(i);
            support.iter().zip(&values[2 + m..]).for_each(|(&j, &x)| hessian[j] = x);
        }
        Ok(())
    }
}

impl Row {
    /// The derivative of ∇g·x in the direction of one column: (∇²g dq + ∇g_t dt + ∇g_θ dθ)·x, for all columns at once. `dq` has
    /// one row for each coordinate, and the columns of θ are the last.
    pub(super) fn turn(&self, x: &[f64], dq: &Matrix, dt: &[f64], into: &mut [f64]) {
        let first = dt.len() - self.g_theta.len();
        for (i, &x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            for (j, &bend) in self.hessian.row(i).iter().enumerate().filter(|(_, bend)| **bend != 0.0) {
                add(into, x * bend, dq.row(j));
            }
            add(into, x * self.grad_t[i], dt);
            add(&mut into[first..], x, self.grad_theta.row(i));
        }
    }

    /// The derivative of g for all columns.
    pub(super) fn slope(&self, dq: &Matrix, dt: &[f64], into: &mut [f64]) {
        let first = dt.len() - self.g_theta.len();
        self.grad.iter().enumerate().for_each(|(i, &slope)| add(into, slope, dq.row(i)));
        add(into, self.g_t, dt);
        add(&mut into[first..], 1.0, &self.g_theta);
    }

    /// The derivative of g_t for all columns.
    pub(super) fn slope_t(&self, dq: &Matrix, dt: &[f64], into: &mut [f64]) {
        let first = dt.len() - self.g_theta.len();
        self.grad_t.iter().enumerate().for_each(|(i, &slope)| add(into, slope, dq.row(i)));
        add(into, self.g_tt, dt);
        add(&mut into[first..], 1.0, &self.g_t_theta);
    }
}

impl Compiled {
    fn new(mechanics: &Mechanics, g: Expr, theta: &[Expr]) -> Option<Compiled> {
        let q = &mechanics.q;
        let support: Vec<usize> = (0..q.len()).filter(|&i| g.depends_on(&q[i..=i])).collect();
        let coordinates: Vec<Expr> = support.iter().map(|&i| q[i]).collect();
        let (g_t, slopes) = (g.diff(time()), grad(g, &coordinates));
        let mut outputs = vec![g, g_t, g_t.diff(time())];
        outputs.extend(grad(g, theta).into_iter().chain(grad(g_t, theta)));
        for slope in slopes {
            outputs.extend([slope, slope.diff(time())]);
            outputs.extend(grad(slope, theta).into_iter().chain(grad(slope, &coordinates)));
        }
        Some(Compiled { kernel: mechanics.kernel(&mechanics.state_symbols(), &outputs).ok()?, support })
    }
}

impl Block {
    pub(super) fn new(mechanics: &Mechanics, functions: &[Expr], theta: &[Expr], further: &[Expr]) -> Result<Block> {
        let (outputs, places) = with_slopes(mechanics, functions, theta);
        let inputs = [&mechanics.state_symbols()[..], further].concat();
        Ok(Block { kernel: mechanics.kernel(&inputs, &outputs)?, values: functions.len(), places })
    }

    /// Evaluates the functions and their derivatives; `room` is overwritten, and the first of it are the values.
    pub(super) fn eval(&self, inputs: &[f64], room: &mut Vec<f64>, slopes: &mut Matrix) {
        room.resize(self.values + self.places.len(), 0.0);
        self.kernel.eval(inputs, room);
        slopes.clear();
        self.places.iter().zip(&room[self.values..]).for_each(|(&place, &x)| slopes.data[place] = x);
    }
}

/// Functions, followed by their derivatives by (q, v, t, θ) that are not zero, and the places of these in the matrix of derivatives.
pub(super) fn with_slopes(mechanics: &Mechanics, functions: &[Expr], theta: &[Expr]) -> (Vec<Expr>, Vec<usize>) {
    let by: Vec<Expr> = [&mechanics.q[..], &mechanics.v, &[time()], theta].concat();
    let slopes = jacobian(functions, &by).concat();
    let places: Vec<usize> = (0..slopes.len()).filter(|&k| !slopes[k].is_zero()).collect();
    (functions.iter().copied().chain(places.iter().map(|&k| slopes[k])).collect(), places)
}

/// (L_v, ṗ), with ṗ = L_q + F.
pub(super) fn momenta_and_rates(mechanics: &Mechanics) -> Vec<Expr> {
    let mut rates = grad(mechanics.l, &mechanics.q);
    if let Some(forces) = &mechanics.forces {
        rates.iter_mut().zip(forces).for_each(|(rate, &force)| *rate = *rate + force);
    }
    [mechanics.momenta(), rates].concat()
}

/// The derivative along the motion, without the acceleration: q̇ = v, ṫ = 1.
fn along(q: &[Expr], v: &[Expr]) -> impl Iterator<Item = (Expr, Expr)> {
    q.iter().copied().zip(v.iter().copied()).chain([(time(), Expr::constant(1.0))])
}

/// Says by name what cannot be differentiated.
fn refuse(system: &System, method: &Method) -> Result<()> {
    let refused = |what: String, help: &str| Err(Diagnostic::new(what).with_help(help).into());
    if method.switches.is_some() {
        return refused("derivatives through `php` are not supported".into(), "use a rule such as `ctec`");
    }
    let rule = method.rule_name();
    if !["ctec", "dtec"].contains(&rule) {
        return refused(
            format!("derivatives through the impact rule `{rule}` are not supported"),
            "use `ctec` or `dtec`",
        );
    }
    if !method.flow.is_symplectic {
        let what = format!("derivatives of the flow `{}` are not supported", method.flow.name);
        return refused(what, "use a variational flow, such as `svc` or `gauss4`");
    }
    if system.constraints.iter().any(|c| c.enforce != Enforce::OnePoint) {
        return refused("derivatives of two-point constraints are not supported".into(), "use one-point constraints");
    }
    Ok(())
}
