//! Constraints, walls and the arguments of kinks: functions g(q, t) with their first and second derivatives.

use std::sync::OnceLock;

use super::{Block, Slopes};
use crate::expr::{Expr, grad};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::solve::matrix::{Matrix, add};
use crate::solve::{NoSolution, Solved};
use crate::system::time;

/// A constraint, a wall, or the argument of a kink: g(q, t).
pub(super) struct RowCode {
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
pub(crate) struct Row {
    pub(crate) g: f64,
    pub(crate) g_t: f64,
    pub(crate) g_tt: f64,
    pub(crate) g_theta: Vec<f64>,
    pub(crate) g_t_theta: Vec<f64>,
    pub(crate) grad: Vec<f64>,
    pub(crate) grad_t: Vec<f64>,
    /// By rows of coordinates.
    pub(crate) grad_theta: Matrix,
    pub(crate) hessian: Matrix,
    values: Vec<f64>,
}

impl RowCode {
    pub(super) fn new(g: Expr) -> RowCode {
        RowCode { g, code: OnceLock::new(), second: OnceLock::new() }
    }

    /// The block of d²g/dt², compiled on first use.
    pub(super) fn second(&self, compile: impl FnOnce(Expr) -> Option<Block>) -> Option<&Block> {
        self.second.get_or_init(|| compile(self.g)).as_ref()
    }

    /// Evaluates the row at the inputs (parameters, t, q, v).
    pub(super) fn eval(&self, slopes: &Slopes, inputs: &[f64], row: &mut Row) -> Solved<()> {
        let compiled = self.code.get_or_init(|| Compiled::new(&slopes.mechanics, self.g, &slopes.symbols()));
        let Compiled { support, kernel } = compiled.as_ref().ok_or(NoSolution::Singular)?;
        let (n, m, s) = (slopes.n, slopes.theta.len(), support.len());
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
    pub(crate) fn turn(&self, x: &[f64], dq: &Matrix, dt: &[f64], into: &mut [f64]) {
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
    pub(crate) fn slope(&self, dq: &Matrix, dt: &[f64], into: &mut [f64]) {
        let first = dt.len() - self.g_theta.len();
        self.grad.iter().enumerate().for_each(|(i, &slope)| add(into, slope, dq.row(i)));
        add(into, self.g_t, dt);
        add(&mut into[first..], 1.0, &self.g_theta);
    }

    /// The derivative of g_t for all columns.
    pub(crate) fn slope_t(&self, dq: &Matrix, dt: &[f64], into: &mut [f64]) {
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
