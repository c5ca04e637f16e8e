//! The derivative of one smooth piece of a step.

use super::code::TangentCode;
use super::local::{Columns, Local};
use super::matrix::{Matrix, add, dot};
use super::part::Part;
use crate::flow::Collocation;
use crate::phase::{Flow, MOMENTS, Moments, Phase};
use crate::solve::Solved;

/// z1 = Φ_h(z0) of a discrete Lagrangian and its derivatives by a = (q0, p0, t, h, θ), by the implicit function theorem. With the
/// unknowns x = (U, λ) of the step (see [`crate::flow::Variational`]):
///
/// ```text
/// R(x; a) = 0,   K = R_x,   dx = −K⁻¹R_a da,   dp1 = P_a da + P_x dx
/// ```
///
/// K is evaluated at the solution. Walls that hold the motion are rows like constraints. A composition is the chain rule over its
/// parts. Gauss collocation is the map of the Galerkin discrete Lagrangian with the same nodes.
#[derive(Clone)]
pub(super) struct Piece {
    /// The end of the piece.
    pub(super) end: Phase,
    /// ∂(q1, p1)/∂(q0, p0, t, h, θ).
    pub(super) slopes: Matrix,
    /// The derivatives of −D₃L_d by the same, if asked for.
    pub(super) energy: Vec<f64>,
    /// The running cost and its derivatives by the same; none without a cost.
    pub(super) cost: f64,
    pub(super) cost_slopes: Vec<f64>,
    part: Part,
    /// For a composition: the state and its derivatives so far.
    begin: Phase,
    so_far: Columns,
    /// Makes the step again, to know its stages.
    stages: Option<Stages>,
}

/// Knows the stages of Gauss collocation.
#[derive(Clone)]
struct Stages {
    flow: Box<dyn Flow>,
    moments: Moments,
    /// ∫₀^c ℓⱼ for each point c of the Galerkin polynomial, by rows.
    integrals: Matrix,
}

impl Piece {
    pub(super) fn new(code: &TangentCode, flow: Option<Box<dyn Flow>>) -> Piece {
        let n = code.n;
        let columns = 2 * n + 2 + code.theta.len();
        let nowhere = Phase { t: 0.0, z: vec![0.0; 2 * n] };
        let stages = flow.filter(|flow| flow.moments() > 0 && flow.moments() == code.rule.last()).map(|flow| {
            let collocation = Collocation::gauss(flow.moments());
            let rows: Vec<f64> = code.rule.points.times[1..].iter().flat_map(|&c| collocation.integrals(c)).collect();
            let integrals = Matrix { columns: flow.moments(), data: rows };
            Stages { flow, moments: Moments::new(n), integrals }
        });
        Piece {
            begin: nowhere.clone(),
            end: nowhere,
            slopes: Matrix::zeros(2 * n, columns),
            energy: vec![0.0; columns],
            cost: 0.0,
            cost_slopes: Vec::new(),
            part: Part::new(n, code.theta.len()),
            so_far: Columns::zeros(n, columns),
            stages,
        }
    }

    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        self.stages.iter_mut().for_each(|stages| stages.flow.set_parameters(parameters));
    }

    /// The stages of the last piece, if it is one step of Gauss collocation on no rows.
    pub(super) fn moments(&self) -> Option<&Moments> {
        self.stages.as_ref().map(|stages| &stages.moments).filter(|_| self.part.rows.is_empty())
    }

    /// The piece of length h from z0, on these rows. `q1` is its end, if that is known.
    pub(super) fn follow(
        &mut self,
        local: &mut Local,
        z0: &Phase,
        h: f64,
        rows: &[usize],
        q1: Option<&[f64]>,
        wants_energy: bool,
    ) -> Solved<()> {
        if h == 0.0 && !rows.is_empty() {
            return self.stay(local, z0, rows);
        }
        let (n, columns) = (self.part.n, self.slopes.columns);
        self.part.set_rows(rows, local, columns);
        let has_cost = self.begin_cost(local);
        let code = local.code.clone();
        if code.parts.len() == 1 {
            self.guess(local, z0, h, q1)?;
            let Piece { part, end, slopes, energy, .. } = self;
            part.solve(local, z0, h, wants_energy, end, slopes, energy)?;
            if has_cost {
                self.cost = self.part.cost;
                self.part.cost_slopes(&mut self.cost_slopes);
            }
            return Ok(());
        }
        self.begin.copy_from(z0);
        (self.so_far.q, self.so_far.p) = (Matrix::zeros(n, columns), Matrix::zeros(n, columns));
        for i in 0..n {
            (self.so_far.q.row_mut(i)[i], self.so_far.p.row_mut(i)[n + i]) = (1.0, 1.0);
        }
        let (mut passed, mut total) = (0.0, vec![0.0; columns]);
        for &fraction in code.parts {
            let begin = self.begin.clone();
            self.guess(local, &begin, fraction * h, None)?;
            let Piece { part, end, slopes, energy, .. } = self;
            part.solve(local, &begin, fraction * h, wants_energy, end, slopes, energy)?;
            let chain = |row: &[f64], so_far: &Columns| {
                let mut sum = vec![0.0; columns];
                (0..n).for_each(|j| add(&mut sum, row[j], so_far.q.row(j)));
                (0..n).for_each(|j| add(&mut sum, row[n + j], so_far.p.row(j)));
                sum[2 * n] += row[2 * n];
                sum[2 * n + 1] += passed * row[2 * n] + fraction * row[2 * n + 1];
                add(&mut sum[2 * n + 2..], 1.0, &row[2 * n + 2..]);
                sum
            };
            if wants_energy {
                add(&mut total, fraction, &chain(&self.energy, &self.so_far));
            }
            if has_cost {
                let mut slopes = vec![0.0; columns];
                self.part.cost_slopes(&mut slopes);
                self.cost += self.part.cost;
                add(&mut self.cost_slopes, 1.0, &chain(&slopes, &self.so_far));
            }
            let rows: Vec<Vec<f64>> = (0..2 * n).map(|i| chain(self.slopes.row(i), &self.so_far)).collect();
            for (i, row) in rows.iter().enumerate() {
                let to = if i < n { self.so_far.q.row_mut(i) } else { self.so_far.p.row_mut(i - n) };
                to.copy_from_slice(row);
            }
            passed += fraction;
            self.begin.copy_from(&self.end);
        }
        self.slopes.data[..n * columns].copy_from_slice(&self.so_far.q.data);
        self.slopes.data[n * columns..].copy_from_slice(&self.so_far.p.data);
        self.energy.copy_from_slice(&total);
        self.end.t = z0.t + h;
        Ok(())
    }

    /// No cost so far. True if there is one to sum.
    fn begin_cost(&mut self, local: &Local) -> bool {
        self.cost = 0.0;
        self.cost_slopes.clear();
        self.cost_slopes.resize(if local.cost.is_some() { self.slopes.columns } else { 0 }, 0.0);
        local.cost.is_some()
    }

    /// A guess of the unknowns: the stages of the flow, the line to q1, or the velocity.
    fn guess(&mut self, local: &mut Local, z0: &Phase, h: f64, q1: Option<&[f64]>) -> Solved<()> {
        let Part { n, unknowns, rows, .. } = &mut self.part;
        let n = *n;
        if let Some(Stages { flow, moments, integrals }) = self.stages.as_mut().filter(|_| rows.is_empty()) {
            flow.step(z0, h, &mut self.end)?;
            if flow.write_moments(z0, h, moments) {
                for (k, u) in unknowns.chunks_mut(n).enumerate() {
                    for (i, u) in u.iter_mut().enumerate() {
                        let v = &moments.lanes[(1 + n + i) * MOMENTS..];
                        *u = dot(integrals.row(k), &v[..integrals.columns]);
                    }
                }
                return Ok(());
            }
        }
        let times = local.code.clone();
        let times = &times.rule.points.times[1..];
        let points = unknowns.chunks_mut(n).zip(times);
        match q1.filter(|_| h != 0.0) {
            Some(q1) => points.for_each(|(u, c)| {
                u.iter_mut().zip(q1.iter().zip(z0.q())).for_each(|(u, (q1, q0))| *u = c * (q1 - q0) / h);
            }),
            None => {
                let v = local.velocity(z0, rows)?.v;
                points.for_each(|(u, c)| u.iter_mut().zip(&v).for_each(|(u, v)| *u = c * v));
            }
        }
        Ok(())
    }

    /// A piece without length on rows: dz1 = dz0 + ż dh.
    fn stay(&mut self, local: &mut Local, z0: &Phase, rows: &[usize]) -> Solved<()> {
        let n = self.part.n;
        self.end.copy_from(z0);
        self.slopes.set_unit();
        let v = local.velocity(z0, rows)?;
        local.place(z0.t, z0.q(), &v.v);
        let lambda = local.acceleration(rows, None)?.lambda;
        local.place(z0.t, z0.q(), &v.v);
        let mut rates = local.momenta().1.to_vec();
        v.rows.iter().zip(lambda).for_each(|(row, lambda)| add(&mut rates, -lambda, &row.grad));
        for (i, rate) in v.v.iter().chain(&rates).enumerate() {
            self.slopes.row_mut(i)[2 * n + 1] = *rate;
        }
        self.begin_cost(local);
        if let Some(cost) = local.cost.clone() {
            let (mut value, mut slope) = (Vec::new(), Matrix::zeros(1, self.slopes.columns - 1));
            cost.eval(local.state(), &mut value, &mut slope);
            self.cost_slopes[2 * n + 1] = value[0];
        }
        // −D₃L_d of no step is H.
        let energy = local.energy()?.to_vec();
        self.energy.fill(0.0);
        add(&mut self.energy[..n], -1.0, &energy[1..=n]);
        self.energy[n..2 * n].copy_from_slice(&v.v);
        add(&mut self.energy[2 * n + 2..], -1.0, &energy[n + 2..]);
        Ok(())
    }
}
