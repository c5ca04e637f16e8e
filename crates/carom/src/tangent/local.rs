//! The derivatives of a system at a state.

use std::sync::Arc;

use super::code::TangentCode;
use crate::limits::MAX_ITERATIONS;
use crate::phase::Phase;
use crate::slopes::{OutputCode, Row, Slopes};
use crate::solve::matrix::{Matrix, add, dot, solve};
use crate::solve::{NoSolution, Solved};

/// A correction as small as this, relative to the largest component, leaves derivatives that are right to roundoff.
pub(super) const SETTLED: f64 = 1e-13;

/// Evaluates [`Slopes`] at a sequence of states.
#[derive(Clone)]
pub(super) struct Local {
    pub(super) code: Arc<Slopes>,
    /// What steps are made of.
    pub(super) steps: Arc<TangentCode>,
    /// The parameters, the sides of the kinks, t, q, v, a.
    inputs: Vec<f64>,
    /// The index of t.
    first: usize,
    room: Vec<f64>,
    /// ∂(L_v, ṗ)/∂(q, v, t, θ), by rows.
    pub(super) slopes: Matrix,
    /// e of each wall, then its derivatives by θ.
    restitution: Vec<f64>,
    /// The velocity from which the next implicit velocity is sought.
    guess: Vec<f64>,
    /// The running cost.
    pub(super) cost: Option<Arc<OutputCode>>,
}

/// Derivatives of a state by some variables, one column for each; the columns of θ are the last.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) q: Matrix,
    pub(super) p: Matrix,
    pub(super) t: Vec<f64>,
}

/// The velocity of a phase point on the tangent space of some rows: p = L_v(q, v) + Gᵀμ, G v + g_t = 0.
pub(super) struct Velocity {
    pub(super) v: Vec<f64>,
    pub(super) mu: Vec<f64>,
    /// L_v.
    pub(super) p: Vec<f64>,
    /// ∂(L_v, ṗ)/∂(q, v, t, θ).
    pub(super) slopes: Matrix,
    pub(super) rows: Vec<Row>,
}

impl Columns {
    pub(super) fn zeros(n: usize, columns: usize) -> Columns {
        Columns { q: Matrix::zeros(n, columns), p: Matrix::zeros(n, columns), t: vec![0.0; columns] }
    }
}

impl Local {
    pub(super) fn new(steps: &Arc<TangentCode>) -> Local {
        let code = &steps.slopes;
        let (n, m) = (code.n, code.theta.len());
        let first = code.parameters_and_sides();
        Local {
            inputs: vec![0.0; first + 1 + 3 * n],
            first,
            room: Vec::new(),
            slopes: Matrix::zeros(2 * n, 2 * n + 1 + m),
            restitution: vec![0.0; code.walls * (1 + m)],
            guess: vec![0.0; n],
            cost: None,
            code: code.clone(),
            steps: steps.clone(),
        }
    }

    /// Sets the parameters of the system.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs[..self.code.parameters].copy_from_slice(parameters);
        self.code.restitution.eval(&self.inputs[..self.first], &mut self.restitution);
    }

    /// Sets the sides of the kinks.
    pub(super) fn set_sides(&mut self, sides: &[f64]) {
        self.inputs[self.code.parameters..self.first].copy_from_slice(sides);
    }

    /// e of a wall and its derivatives by θ.
    pub(super) fn restitution(&self, wall: usize) -> (f64, &[f64]) {
        let (e, slopes) = self.restitution.split_at(self.code.walls);
        let m = self.code.theta.len();
        (e[wall], &slopes[wall * m..(wall + 1) * m])
    }

    pub(super) fn place(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let n = self.code.n;
        self.inputs[self.first] = t;
        self.inputs[self.first + 1..][..n].copy_from_slice(q);
        self.inputs[self.first + 1 + n..][..n].copy_from_slice(v);
    }

    /// The parameters and the sides of the kinks.
    pub(super) fn parameters(&self) -> &[f64] {
        &self.inputs[..self.first]
    }

    /// The time, the coordinates and the velocities, to be written.
    pub(super) fn state_mut(&mut self, t: f64) -> (&mut [f64], &mut [f64]) {
        let n = self.code.n;
        self.inputs[self.first] = t;
        self.inputs[self.first + 1..][..2 * n].split_at_mut(n)
    }

    /// Takes t, q, v from lane k of a list of states.
    pub(super) fn take_lane(&mut self, states: &[f64], lanes: usize, k: usize) {
        let to = &mut self.inputs[self.first..];
        to.iter_mut().zip(states[k..].iter().step_by(lanes)).for_each(|(to, x)| *to = *x);
    }

    /// v of the state.
    pub(super) fn v(&self) -> &[f64] {
        &self.inputs[self.first + 1 + self.code.n..][..self.code.n]
    }

    /// The inputs of kernels that depend on no acceleration.
    pub(super) fn state(&self) -> &[f64] {
        &self.inputs[..self.first + 1 + 2 * self.code.n]
    }

    /// Evaluates L_v and ṗ, and returns them; their slopes are then in `slopes`.
    pub(super) fn momenta(&mut self) -> (&[f64], &[f64]) {
        let state = &self.inputs[..self.first + 1 + 2 * self.code.n];
        self.code.momenta.eval(state, &mut self.room, &mut self.slopes);
        self.last_momenta()
    }

    /// L_v and ṗ of the last evaluation.
    pub(super) fn last_momenta(&self) -> (&[f64], &[f64]) {
        let (p, rest) = self.room.split_at(self.code.n);
        (p, &rest[..self.code.n])
    }

    /// L, L_q, L_t, L_θ.
    pub(super) fn energy(&mut self) -> Solved<&[f64]> {
        self.room.resize(2 + self.code.n + self.code.theta.len(), 0.0);
        let state = &self.inputs[..self.first + 1 + 2 * self.code.n];
        self.code.energy()?.eval(state, &mut self.room);
        Ok(&self.room)
    }

    /// A row at the state.
    pub(super) fn row(&self, number: usize, row: &mut Row) -> Solved<()> {
        self.code.row(number, self.state(), row)
    }

    /// The rows of the constraints and of these walls.
    pub(super) fn rows_with(&self, walls: &[usize]) -> Vec<usize> {
        (0..self.code.constraints).chain(walls.iter().map(|wall| self.code.constraints + wall)).collect()
    }

    /// The velocity of z on the tangent space of these rows.
    pub(super) fn velocity(&mut self, z: &Phase, rows: &[usize]) -> Solved<Velocity> {
        let (n, m) = (self.code.n, rows.len());
        self.place(z.t, z.q(), &self.guess.clone());
        let mut values = vec![Row::default(); m];
        for (row, &number) in values.iter_mut().zip(rows) {
            self.row(number, row)?;
        }
        let (mut v, mut mu) = (self.guess.clone(), vec![0.0; m]);
        let (mut matrix, mut right) = (Matrix::zeros(n + m, n + m), Matrix::zeros(n + m, 1));
        let mut last = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            self.place(z.t, z.q(), &v);
            let balance: Vec<f64> = self.momenta().0.iter().zip(z.p()).map(|(p, given)| p - given).collect();
            self.border(&values, &mut matrix);
            for i in 0..n {
                right.data[i] = balance[i] + values.iter().zip(&mu).map(|(row, mu)| mu * row.grad[i]).sum::<f64>();
            }
            for (k, row) in values.iter().enumerate() {
                right.data[n + k] = dot(&row.grad, &v) + row.g_t;
            }
            if !solve(&mut matrix, &mut right) {
                return Err(NoSolution::Singular);
            }
            add(&mut v, -1.0, &right.data[..n]);
            add(&mut mu, -1.0, &right.data[n..]);
            let part = size(&right.data[..n]) / size(&v).max(f64::MIN_POSITIVE);
            if part <= SETTLED || (self.code.is_quadratic && part >= last) || part >= last && part < 1e-9 {
                break;
            }
            last = part;
        }
        self.guess.copy_from_slice(&v);
        self.place(z.t, z.q(), &v);
        let p = self.momenta().0.to_vec();
        Ok(Velocity { v, mu, p, slopes: self.slopes.clone(), rows: values })
    }

    /// L_vv bordered by the gradients of rows, from the slopes of the last momenta.
    fn border(&self, rows: &[Row], matrix: &mut Matrix) {
        let n = self.code.n;
        matrix.clear();
        for i in 0..n {
            matrix.row_mut(i)[..n].copy_from_slice(&self.slopes.row(i)[n..2 * n]);
        }
        for (k, row) in rows.iter().enumerate() {
            matrix.row_mut(n + k)[..n].copy_from_slice(&row.grad);
            (0..n).for_each(|i| matrix.row_mut(i)[n + k] = row.grad[i]);
        }
    }

    /// The acceleration a and the multipliers at z with the velocity v, on these rows: M a + Gᵀλ = ṗ − L_vq v − L_vt, d²g/dt² = 0.
    /// Then the derivatives of both, if columns of (q, v, t) are given.
    pub(super) fn acceleration(
        &mut self,
        rows: &[usize],
        of: Option<(&Matrix, &Matrix, &[f64])>,
    ) -> Solved<Acceleration> {
        let (n, m) = (self.code.n, rows.len());
        let mut values = vec![Row::default(); m];
        for (row, &number) in values.iter_mut().zip(rows) {
            self.row(number, row)?;
        }
        self.momenta();
        let mut mass = Matrix::zeros(n + m, n + m);
        self.border(&values, &mut mass);
        let code = self.code.clone();
        let (balance, mut room) = (code.balance()?, Vec::new());
        let columns = 2 * n + 1 + code.theta.len();
        let (mut slopes, mut bends) = (Matrix::zeros(n, columns), Matrix::zeros(1, columns));
        self.inputs[self.first + 1 + 2 * n..].fill(0.0);
        let mut right = Matrix::zeros(n + m, 1);
        balance.eval(&self.inputs, &mut room, &mut slopes);
        right.data[..n].iter_mut().zip(&room).for_each(|(r, x)| *r = -x);
        for (k, &number) in rows.iter().enumerate() {
            code.second(number)?.eval(&self.inputs, &mut room, &mut bends);
            right.data[n + k] = -room[0];
        }
        if !solve(&mut mass.clone(), &mut right) {
            return Err(NoSolution::Singular);
        }
        let (a, lambda) = right.data.split_at(n);
        self.inputs[self.first + 1 + 2 * n..].copy_from_slice(a);
        let mut slope = Matrix::default();
        if let Some((dq, dv, dt)) = of {
            slope = Matrix::zeros(n + m, dt.len());
            balance.eval(&self.inputs, &mut room, &mut slopes);
            for i in 0..n {
                let mut sum = vec![0.0; dt.len()];
                chain(slopes.row(i), dq, dv, dt, &mut sum);
                let unit: Vec<f64> = (0..n).map(|j| f64::from(i == j)).collect();
                for (row, lambda) in values.iter().zip(lambda) {
                    let mut turn = vec![0.0; dt.len()];
                    row.turn(&unit, dq, dt, &mut turn);
                    add(&mut sum, *lambda, &turn);
                }
                add(slope.row_mut(i), -1.0, &sum);
            }
            for (k, &number) in rows.iter().enumerate() {
                code.second(number)?.eval(&self.inputs, &mut room, &mut bends);
                let mut sum = vec![0.0; dt.len()];
                chain(bends.row(0), dq, dv, dt, &mut sum);
                add(slope.row_mut(n + k), -1.0, &sum);
            }
            if !solve(&mut mass, &mut slope) {
                return Err(NoSolution::Singular);
            }
        }
        Ok(Acceleration { lambda: lambda.to_vec(), slope })
    }

    /// d²g/dt² of a row at the last acceleration, and its derivatives for columns of (q, v, t) and of the acceleration.
    pub(super) fn second(
        &self,
        row: usize,
        acceleration: &Acceleration,
        of: Option<(&Matrix, &Matrix, &[f64])>,
    ) -> Solved<(f64, Vec<f64>)> {
        let (mut room, mut bends) = (Vec::new(), Matrix::zeros(1, 2 * self.code.n + 1 + self.code.theta.len()));
        self.code.second(row)?.eval(&self.inputs, &mut room, &mut bends);
        let Some((dq, dv, dt)) = of else { return Ok((room[0], Vec::new())) };
        let mut sum = vec![0.0; dt.len()];
        chain(bends.row(0), dq, dv, dt, &mut sum);
        let mut value = Row::default();
        self.row(row, &mut value)?;
        for (i, slope) in value.grad.iter().enumerate() {
            add(&mut sum, *slope, acceleration.slope.row(i));
        }
        Ok((room[0], sum))
    }
}

/// The multipliers of some rows at a state, and what is known of the acceleration.
pub(super) struct Acceleration {
    pub(super) lambda: Vec<f64>,
    /// The derivatives of the acceleration and of the multipliers.
    pub(super) slope: Matrix,
}

impl Velocity {
    /// The derivatives of v and μ, where those of z are given.
    pub(super) fn slope(&self, of: &Columns) -> Solved<Matrix> {
        let (n, m, columns) = (self.v.len(), self.rows.len(), of.t.len());
        let mut right = Matrix::zeros(n + m, columns);
        for i in 0..n {
            let mut sum = vec![0.0; columns];
            self.momentum_at_rest(i, of, &mut sum);
            let unit: Vec<f64> = (0..n).map(|j| f64::from(i == j)).collect();
            for (row, mu) in self.rows.iter().zip(&self.mu).filter(|(_, mu)| **mu != 0.0) {
                let mut turn = vec![0.0; columns];
                row.turn(&unit, &of.q, &of.t, &mut turn);
                add(&mut sum, *mu, &turn);
            }
            right.row_mut(i).copy_from_slice(of.p.row(i));
            add(right.row_mut(i), -1.0, &sum);
        }
        for (k, row) in self.rows.iter().enumerate() {
            let mut sum = vec![0.0; columns];
            row.turn(&self.v, &of.q, &of.t, &mut sum);
            row.slope_t(&of.q, &of.t, &mut sum);
            add(right.row_mut(n + k), -1.0, &sum);
        }
        let mut matrix = self.bordered();
        if solve(&mut matrix, &mut right) { Ok(right) } else { Err(NoSolution::Singular) }
    }

    /// L_vv bordered by the gradients of the rows.
    pub(super) fn bordered(&self) -> Matrix {
        let (n, m) = (self.v.len(), self.rows.len());
        let mut matrix = Matrix::zeros(n + m, n + m);
        for i in 0..n {
            matrix.row_mut(i)[..n].copy_from_slice(&self.slopes.row(i)[n..2 * n]);
        }
        for (k, row) in self.rows.iter().enumerate() {
            matrix.row_mut(n + k)[..n].copy_from_slice(&row.grad);
            (0..n).for_each(|i| matrix.row_mut(i)[n + k] = row.grad[i]);
        }
        matrix
    }

    /// The derivative of component i of L_v at fixed v.
    pub(super) fn momentum_at_rest(&self, i: usize, of: &Columns, into: &mut [f64]) {
        let (n, slopes) = (self.v.len(), self.slopes.row(i));
        (0..n).for_each(|j| add(into, slopes[j], of.q.row(j)));
        add(into, slopes[2 * n], &of.t);
        let first = of.t.len() - (slopes.len() - 2 * n - 1);
        add(&mut into[first..], 1.0, &slopes[2 * n + 1..]);
    }

    /// The derivatives of L_v, where those of (q, t) and of v are given.
    pub(super) fn momentum(&self, of: &Columns, dv: &Matrix, into: &mut Matrix) {
        let n = self.v.len();
        into.clear();
        for i in 0..n {
            self.momentum_at_rest(i, of, into.row_mut(i));
            (0..n).for_each(|j| add(into.row_mut(i), self.slopes.row(i)[n + j], dv.row(j)));
        }
    }
}

/// Σ of slopes by (q, v, t, θ) times the derivatives of these.
pub(super) fn chain(slopes: &[f64], dq: &Matrix, dv: &Matrix, dt: &[f64], into: &mut [f64]) {
    let n = dq.rows();
    (0..n).for_each(|j| add(into, slopes[j], dq.row(j)));
    (0..n).for_each(|j| add(into, slopes[n + j], dv.row(j)));
    add(into, slopes[2 * n], dt);
    let first = dt.len() - (slopes.len() - 2 * n - 1);
    add(&mut into[first..], 1.0, &slopes[2 * n + 1..]);
}

/// The largest absolute value.
pub(super) fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |size: f64, x| size.max(x.abs()))
}
