//! One application of a discrete Lagrangian, with its derivatives.

use super::code::TangentCode;
use super::local::{Columns, Local, SETTLED, size};
use crate::flow::SampleCode;
use crate::limits::{MAX_ITERATIONS, RESIDUAL_ROUNDOFF, STAGNATION};
use crate::phase::Phase;
use crate::slopes::{Places, Row, WholeStep};
use crate::solve::matrix::{Matrix, add, dot, solve};
use crate::solve::{NoSolution, Solved, largest_part};

/// One application of the discrete Lagrangian.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) n: usize,
    pub(super) unknowns: Vec<f64>,
    /// The rows that hold, by number.
    pub(super) rows: Vec<usize>,
    row: Row,
    residuals: Vec<f64>,
    /// The sum of the absolute terms of each residual.
    sizes: Vec<f64>,
    k: Matrix,
    /// R_a, and in its last column R.
    a: Matrix,
    p1: Vec<f64>,
    p_x: Matrix,
    p_a: Matrix,
    /// The derivatives of −D₃L_d by x and a.
    energy_x: Vec<f64>,
    energy_a: Vec<f64>,
    /// The running cost of the step, and its derivatives by x and a.
    pub(super) cost: f64,
    cost_x: Vec<f64>,
    cost_a: Vec<f64>,
    cost_value: Vec<f64>,
    cost_slope: Matrix,
    combined: Vec<f64>,
    swept: Vec<f64>,
    /// For the code of the whole step.
    inputs: Vec<f64>,
    room: Vec<f64>,
}

impl Part {
    pub(super) fn new(n: usize, theta: usize) -> Part {
        let columns = 2 * n + 2 + theta;
        Part {
            n,
            unknowns: Vec::new(),
            rows: Vec::new(),
            row: Row::default(),
            residuals: Vec::new(),
            sizes: Vec::new(),
            k: Matrix::default(),
            a: Matrix::default(),
            p1: vec![0.0; n],
            p_x: Matrix::default(),
            p_a: Matrix::zeros(n, columns),
            energy_x: Vec::new(),
            energy_a: vec![0.0; columns],
            cost: 0.0,
            cost_x: Vec::new(),
            cost_a: vec![0.0; columns],
            cost_value: Vec::new(),
            cost_slope: Matrix::zeros(1, 2 * n + 1 + theta),
            combined: vec![0.0; 2 * n + 1 + theta],
            swept: vec![0.0; n],
            inputs: Vec::new(),
            room: Vec::new(),
        }
    }

    /// Makes room for these rows, and forgets their multipliers.
    pub(super) fn set_rows(&mut self, rows: &[usize], local: &Local, columns: usize) {
        let rule = &local.steps.rule;
        let count = self.n * rule.last() + rule.constrained.len() * rows.len();
        if self.rows != rows || self.unknowns.len() != count {
            self.rows = rows.to_vec();
            self.unknowns = vec![0.0; count];
            self.residuals = vec![0.0; count];
            self.sizes = vec![0.0; count];
            self.k = Matrix::zeros(count, count);
            self.a = Matrix::zeros(count, columns + 1);
            self.p_x = Matrix::zeros(self.n, count);
            self.energy_x = vec![0.0; count];
            self.cost_x = vec![0.0; count];
        }
        self.unknowns[self.n * rule.last()..].fill(0.0);
    }

    /// Solves R = 0 from the guess, and for the derivatives at the solution. If the guess `is_known` to be the solution but for
    /// roundoff, the code of the whole step is tried first.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn solve(
        &mut self,
        local: &mut Local,
        z0: &Phase,
        h: f64,
        is_known: bool,
        wants_energy: bool,
        end: &mut Phase,
        slopes: &mut Matrix,
        energy: &mut [f64],
    ) -> Solved<()> {
        let (n, points) = (self.n, self.n * local.steps.rule.last());
        let columns = slopes.columns;
        let mut last = f64::INFINITY;
        let code = local.steps.clone();
        let is_plain = is_known && !wants_energy && self.rows.is_empty() && local.cost.is_none();
        let mut whole = if is_plain { code.step() } else { None };
        for count in 0.. {
            let part = match whole.take() {
                Some(step) => {
                    self.assemble_whole(step, local, z0, h);
                    f64::INFINITY
                }
                None => {
                    self.assemble(local, z0, h, wants_energy)?;
                    for (i, r) in self.residuals.iter().enumerate() {
                        self.a.row_mut(i)[columns] = *r;
                    }
                    largest_part(&self.residuals, &self.sizes)
                }
            };
            if !solve(&mut self.k, &mut self.a) {
                return Err(NoSolution::Singular);
            }
            let (mut change, a) = (0.0f64, &self.a);
            let largest = [size(&self.unknowns[..points]), size(&self.unknowns[points..])];
            for (i, x) in self.unknowns.iter_mut().enumerate() {
                let dx = a.at(i, columns);
                *x -= dx;
                change = change.max(dx.abs() / (largest[usize::from(i >= points)] + x.abs()).max(f64::MIN_POSITIVE));
            }
            if !change.is_finite() || count >= MAX_ITERATIONS {
                return Err(NoSolution::Diverged);
            }
            // The derivatives belong to the unknowns before this correction.
            let is_roundoff = part <= 2.0 * RESIDUAL_ROUNDOFF || (part <= STAGNATION && change >= 0.5 * last);
            if change <= SETTLED || is_roundoff {
                break;
            }
            last = change;
        }
        end.t = z0.t + h;
        let u = &self.unknowns[points - n..points];
        for i in 0..n {
            end.z[i] = z0.q()[i] + h * u[i];
            let row = slopes.row_mut(i);
            row.copy_from_slice(&self.a.row(points - n + i)[..columns]);
            row.iter_mut().for_each(|x| *x *= -h);
            row[i] += 1.0;
            row[2 * n + 1] += u[i];
        }
        end.p_mut().copy_from_slice(&self.p1);
        for i in 0..n {
            let row = slopes.row_mut(n + i);
            row.copy_from_slice(self.p_a.row(i));
            for (j, x) in self.p_x.row(i).iter().enumerate() {
                add(row, -x, &self.a.row(j)[..columns]);
            }
        }
        if wants_energy {
            energy.copy_from_slice(&self.energy_a);
            for (j, x) in self.energy_x.iter().enumerate() {
                add(energy, -x, &self.a.row(j)[..columns]);
            }
        }
        if !self.rows.is_empty() {
            self.project(local, end, slopes)?;
        }
        Ok(())
    }

    /// The derivatives of the running cost of the step that was solved last, by a.
    pub(super) fn cost_slopes(&self, into: &mut [f64]) {
        into.copy_from_slice(&self.cost_a);
        for (j, x) in self.cost_x.iter().enumerate() {
            add(into, -x, &self.a.row(j)[..into.len()]);
        }
    }

    /// p1 becomes tangent to the rows.
    fn project(&self, local: &mut Local, end: &mut Phase, slopes: &mut Matrix) -> Solved<()> {
        let (n, columns) = (self.n, slopes.columns);
        let velocity = local.velocity(end, &self.rows)?;
        let mut of = Columns::zeros(n, columns);
        of.q.data.copy_from_slice(&slopes.data[..n * columns]);
        of.p.data.copy_from_slice(&slopes.data[n * columns..]);
        (of.t[2 * n], of.t[2 * n + 1]) = (1.0, 1.0);
        let dv = velocity.slope(&of)?;
        end.p_mut().copy_from_slice(&velocity.p);
        let mut p = Matrix::zeros(n, columns);
        velocity.momentum(&of, &dv, &mut p);
        slopes.data[n * columns..].copy_from_slice(&p.data);
        Ok(())
    }

    /// R, K, R_a, p1 and its derivatives at the unknowns, from the code of the whole step.
    fn assemble_whole(&mut self, step: &WholeStep, local: &Local, z0: &Phase, h: f64) {
        let Part { unknowns, inputs, room, k, a, p1, p_x, p_a, .. } = self;
        inputs.clear();
        inputs.extend_from_slice(local.parameters());
        inputs.push(z0.t);
        inputs.extend_from_slice(&z0.z);
        inputs.push(h);
        inputs.extend_from_slice(unknowns);
        step.eval(inputs, room, Places { k, a, p1, p_x, p_a });
    }

    /// R, K, R_a, p1 and its derivatives at the unknowns.
    fn assemble(&mut self, local: &mut Local, z0: &Phase, h: f64, wants_energy: bool) -> Solved<()> {
        self.residuals.fill(0.0);
        self.sizes.fill(0.0);
        self.p1.fill(0.0);
        [&mut self.k, &mut self.a, &mut self.p_x, &mut self.p_a].into_iter().for_each(Matrix::clear);
        self.energy_x.fill(0.0);
        self.energy_a.fill(0.0);
        self.cost = 0.0;
        self.cost_x.fill(0.0);
        self.cost_a.fill(0.0);
        for i in 0..self.n {
            self.residuals[i] = z0.p()[i];
            self.sizes[i] = z0.p()[i].abs();
            self.a.row_mut(i)[self.n + i] = 1.0;
        }
        let code = local.steps.clone();
        for sample in &code.rule.samples {
            self.add_sample(local, sample, z0, h, wants_energy)?;
        }
        self.add_rows(local, &code, z0, h)
    }

    fn add_sample(
        &mut self,
        local: &mut Local,
        sample: &SampleCode,
        z0: &Phase,
        h: f64,
        wants_energy: bool,
    ) -> Solved<()> {
        let (n, last) = (self.n, sample.alpha.len() - 1);
        let swept = &mut self.swept;
        swept.fill(0.0);
        let (q, v) = local.state_mut(z0.t + sample.c * h);
        v.fill(0.0);
        for (k, u) in (1..=last).zip(self.unknowns.chunks(n)) {
            add(swept, sample.alpha[k], u);
            add(v, sample.beta[k], u);
        }
        q.copy_from_slice(z0.q());
        add(q, h, swept);
        let energy = if wants_energy { local.energy()?.to_vec() } else { Vec::new() };
        local.momenta();
        let ((p, rates), slopes) = (local.last_momenta(), &local.slopes);
        for e in 0..=last {
            let (alpha, beta) = (sample.b * sample.alpha[e], sample.b * sample.beta[e]);
            if alpha == 0.0 && beta == 0.0 {
                continue;
            }
            for i in 0..n {
                let combined = &mut self.combined;
                combined.fill(0.0);
                add(combined, h * alpha, slopes.row(n + i));
                add(combined, beta, slopes.row(i));
                let value = h * alpha * rates[i] + beta * p[i];
                let (to, by_x, by_a) = if e < last {
                    let row = e * n + i;
                    self.sizes[row] += (h * alpha * rates[i]).abs() + (beta * p[i]).abs();
                    (&mut self.residuals[row], self.k.row_mut(row), self.a.row_mut(row))
                } else {
                    (&mut self.p1[i], self.p_x.row_mut(i), self.p_a.row_mut(i))
                };
                *to += value;
                spread(combined, sample, swept, h, n, by_x, by_a);
                by_a[2 * n + 1] += alpha * rates[i];
            }
        }
        if let Some(cost) = &local.cost {
            cost.eval(local.state(), &mut self.cost_value, &mut self.cost_slope);
            let l = self.cost_value[0];
            self.cost += h * sample.b * l;
            self.cost_a[2 * n + 1] += sample.b * l;
            self.combined.fill(0.0);
            add(&mut self.combined, h * sample.b, self.cost_slope.row(0));
            spread(&self.combined, sample, swept, h, n, &mut self.cost_x, &mut self.cost_a);
        }
        if wants_energy {
            // d(L_v·v − L) = v·dL_v − L_q·dq − L_θ dθ.
            let combined = &mut self.combined;
            combined.fill(0.0);
            let v = local.v();
            (0..n).for_each(|i| add(combined, sample.b * v[i], slopes.row(i)));
            add(&mut combined[..n], -sample.b, &energy[1..=n]);
            add(&mut combined[2 * n + 1..], -sample.b, &energy[n + 2..]);
            spread(combined, sample, swept, h, n, &mut self.energy_x, &mut self.energy_a);
        }
        Ok(())
    }

    /// The rows g = 0 at the constrained points, and their forces λ∇g at the points before.
    fn add_rows(&mut self, local: &mut Local, code: &TangentCode, z0: &Phase, h: f64) -> Solved<()> {
        let (n, count) = (self.n, self.rows.len());
        if count == 0 {
            return Ok(());
        }
        let (first, m) = (n * code.rule.last(), code.parameters());
        for (link, &to) in code.rule.constrained.iter().enumerate() {
            let from = if link == 0 { 0 } else { code.rule.constrained[link - 1] };
            for k in 0..count {
                let at = first + link * count + k;
                let lambda = self.unknowns[at];
                self.see_row(local, k, from, z0, h)?;
                let c = code.rule.points.times[from];
                for i in 0..n {
                    let equation = from * n + i;
                    self.residuals[equation] -= lambda * self.row.grad[i];
                    self.sizes[equation] += (lambda * self.row.grad[i]).abs();
                    self.k.row_mut(equation)[at] -= self.row.grad[i];
                    let bend = self.row.hessian.row(i);
                    let a = self.a.row_mut(equation);
                    add(&mut a[..n], -lambda, bend);
                    a[2 * n] -= lambda * self.row.grad_t[i];
                    a[2 * n + 1] -= lambda * (c * self.row.grad_t[i] + dot(bend, &self.swept));
                    add(&mut a[2 * n + 2..2 * n + 2 + m], -lambda, self.row.grad_theta.row(i));
                    if from > 0 {
                        add(&mut self.k.row_mut(equation)[(from - 1) * n..from * n], -lambda * h, bend);
                    }
                }
                self.see_row(local, k, to, z0, h)?;
                let (row, c) = (&self.row, code.rule.points.times[to]);
                self.residuals[at] = row.g / h;
                let ways = z0.q().iter().zip(&self.swept).map(|(q, u)| (q / h).abs() + u.abs());
                self.sizes[at] = row.grad.iter().zip(ways).map(|(slope, way)| slope.abs() * way).sum();
                self.k.row_mut(at)[(to - 1) * n..to * n].copy_from_slice(&row.grad);
                let a = self.a.row_mut(at);
                add(&mut a[..n], 1.0 / h, &row.grad);
                a[2 * n] = row.g_t / h;
                a[2 * n + 1] = (dot(&row.grad, &self.swept) + c * row.g_t - row.g / h) / h;
                add(&mut a[2 * n + 2..2 * n + 2 + m], 1.0 / h, &row.g_theta);
            }
        }
        Ok(())
    }

    /// Evaluates row k at a point of the step; U of the point is then in `swept`.
    fn see_row(&mut self, local: &mut Local, k: usize, point: usize, z0: &Phase, h: f64) -> Solved<()> {
        let (n, c) = (self.n, local.steps.rule.points.times[point]);
        self.swept.fill(0.0);
        if point > 0 {
            self.swept.copy_from_slice(&self.unknowns[(point - 1) * n..point * n]);
        }
        let (q, _) = local.state_mut(z0.t + c * h);
        q.copy_from_slice(z0.q());
        add(q, h, &self.swept);
        local.row(self.rows[k], &mut self.row)
    }
}

/// Passes derivatives by (q, v, t, θ) of a sample on to the unknowns and to (q0, p0, t, h, θ): q = q0 + h ΣαU, v = ΣβU, t + c h.
fn spread(slopes: &[f64], sample: &SampleCode, swept: &[f64], h: f64, n: usize, by_x: &mut [f64], by_a: &mut [f64]) {
    let (by_q, rest) = slopes.split_at(n);
    let (by_v, rest) = rest.split_at(n);
    for ((x, alpha), beta) in by_x.chunks_mut(n).zip(&sample.alpha[1..]).zip(&sample.beta[1..]) {
        add(x, h * alpha, by_q);
        add(x, *beta, by_v);
    }
    add(&mut by_a[..n], 1.0, by_q);
    by_a[2 * n] += rest[0];
    by_a[2 * n + 1] += dot(by_q, swept) + sample.c * rest[0];
    add(&mut by_a[2 * n + 2..2 * n + 1 + rest.len()], 1.0, &rest[1..]);
}
