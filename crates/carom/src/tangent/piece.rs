//! The derivative of one smooth piece of a step.

use super::code::TangentCode;
use super::collocation::Collocated;
use super::local::{Columns, Local};
use super::part::Part;
use crate::phase::{Flow, Moments, Phase, Polynomial};
use crate::solve::matrix::{Matrix, add};
use crate::solve::{NoSolution, Solved};

/// z1 = Φ_h(z0) of a discrete Lagrangian and its derivatives by a = (q0, p0, t, h, θ), by the implicit function theorem. With the
/// unknowns x = (U, λ) of the step (see [`crate::flow::Variational`]):
///
/// ```text
/// R(x; a) = 0,   K = R_x,   dx = −K⁻¹R_a da,   dp1 = P_a da + P_x dx
/// ```
///
/// K is evaluated at the solution. Walls that hold the motion are rows like constraints. A composition is the chain rule over its
/// parts. Gauss collocation has equations of its own (`collocation.rs`) while no rows hold; on rows it is the map of the Galerkin
/// discrete Lagrangian with the same nodes.
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
    /// For Gauss collocation.
    stages: Option<Stages>,
}

/// What is known of a piece that was made.
#[derive(Clone, Copy)]
pub(super) struct Made<'a> {
    /// Its end.
    pub(super) q1: &'a [f64],
    /// Its polynomial, if the flow has one.
    pub(super) polynomial: Option<&'a Polynomial>,
}

/// Steps of Gauss collocation.
#[derive(Clone)]
struct Stages {
    /// Makes steps that are not known.
    flow: Box<dyn Flow>,
    moments: Moments,
    collocated: Collocated,
}

impl Piece {
    pub(super) fn new(code: &TangentCode, flow: Box<dyn Flow>) -> Piece {
        let (n, m) = (code.slopes.n, code.parameters());
        let columns = 2 * n + 2 + m;
        let nowhere = Phase { t: 0.0, z: vec![0.0; 2 * n] };
        let stages = code.stages.as_ref().map(|stages| {
            let collocated = Collocated::new(stages, n, columns);
            Stages { flow, moments: Moments::new(n), collocated }
        });
        Piece {
            begin: nowhere.clone(),
            end: nowhere,
            slopes: Matrix::zeros(2 * n, columns),
            energy: vec![0.0; columns],
            cost: 0.0,
            cost_slopes: Vec::new(),
            part: Part::new(n, m),
            so_far: Columns::zeros(n, columns),
            stages,
        }
    }

    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        self.stages.iter_mut().for_each(|stages| stages.flow.set_parameters(parameters));
    }

    /// The piece of length h from z0, on these rows.
    pub(super) fn follow(
        &mut self,
        local: &mut Local,
        z0: &Phase,
        h: f64,
        rows: &[usize],
        made: Option<Made>,
        wants_energy: bool,
    ) -> Solved<()> {
        if h == 0.0 && !rows.is_empty() {
            return self.stay(local, z0, rows);
        }
        if self.stages.is_some() && rows.is_empty() {
            return self.collocate(local, z0, h, made.and_then(|made| made.polynomial), wants_energy);
        }
        let (n, columns) = (self.part.n, self.slopes.columns);
        self.part.set_rows(rows, local, columns);
        let has_cost = self.begin_cost(local);
        let code = local.steps.clone();
        if code.parts.len() == 1 {
            self.guess(local, z0, h, made.map(|made| made.q1))?;
            let Piece { part, end, slopes, energy, .. } = self;
            part.solve(local, z0, h, made.is_some() && h != 0.0, wants_energy, end, slopes, energy)?;
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
            part.solve(local, &begin, fraction * h, false, wants_energy, end, slopes, energy)?;
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

    /// The piece as a step of Gauss collocation, whose stages are those of its polynomial, if that is known.
    fn collocate(
        &mut self,
        local: &mut Local,
        z0: &Phase,
        h: f64,
        polynomial: Option<&Polynomial>,
        wants_energy: bool,
    ) -> Solved<()> {
        let has_cost = self.begin_cost(local);
        let code = local.steps.clone();
        let (Some(Stages { flow, moments, collocated }), Some(code)) = (&mut self.stages, &code.stages) else {
            return Err(NoSolution::Diverged);
        };
        let is_known = polynomial.is_some_and(|polynomial| flow.read_moments(z0, polynomial, moments));
        // The difference of two times has lost digits of a short length.
        let h = polynomial.filter(|_| is_known).map_or(h, |polynomial| polynomial.h);
        if !is_known {
            flow.step(z0, h, &mut self.end)?;
            if !flow.write_moments(z0, h, moments) {
                return Err(NoSolution::Diverged);
            }
        }
        collocated.solve(code, local, z0, h, moments, wants_energy)?;
        self.end.t = z0.t + h;
        collocated.write_end(&mut self.end, &mut self.slopes);
        if wants_energy {
            collocated.energy_slopes(&mut self.energy);
        }
        if has_cost {
            self.cost = collocated.cost_slopes(&mut self.cost_slopes);
        }
        Ok(())
    }

    /// A guess of the unknowns: the line to q1, or the velocity.
    fn guess(&mut self, local: &mut Local, z0: &Phase, h: f64, q1: Option<&[f64]>) -> Solved<()> {
        let Part { n, unknowns, rows, .. } = &mut self.part;
        let n = *n;
        let times = local.steps.clone();
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
