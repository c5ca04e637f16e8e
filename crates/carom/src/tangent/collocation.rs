//! The derivative of a step of Gauss collocation, from its stages.

use std::sync::Arc;

use super::eliminate::{LANES, Rows};
use super::local::Local;
use crate::flow::Collocation;
use crate::flow::vector::{EightLanes, Registers, Vector};
use crate::phase::{MOMENTS, Moments, Phase};
use crate::slopes::{LaneSlopes, OutputCode};
use crate::solve::matrix::Matrix;
use crate::solve::{NoSolution, Solved};

/// The method with s stages, and the slopes at all stages of a step at once.
pub(super) struct StageCode {
    s: usize,
    /// The rows of the matrix a of the method, its weights b and its nodes c. Lanes beyond the stages are zero.
    a: [[f64; LANES]; LANES],
    b: [f64; LANES],
    c: [f64; LANES],
    /// (L_v, ṗ) and their derivatives by (q, v, t, θ).
    slopes: Arc<LaneSlopes>,
}

/// A step of Gauss collocation and its derivatives by a = (q0, p0, t, h, θ). The unknowns x are the velocities V of the stages:
///
/// ```text
/// Rᵢ = L_v(Qᵢ, Vᵢ, tᵢ) − p0 − h Σⱼ aᵢⱼ ṗⱼ = 0,   Qᵢ = q0 + h Σⱼ aᵢⱼ Vⱼ,   tᵢ = t + cᵢh
/// q1 = q0 + h Σᵢ bᵢ Vᵢ,   p1 = p0 + h Σᵢ bᵢ ṗᵢ
/// ```
///
/// The flow has solved R = 0 to roundoff. K = R_x, R_a and below them the derivatives of q1 and p1 by x and a are one list of rows,
/// from which x is eliminated. Row r·s + i is component r of Rᵢ; in each row, a group of lanes has one component of all Vⱼ.
#[derive(Clone)]
pub(super) struct Collocated {
    registers: Registers,
    n: usize,
    columns: usize,
    /// t, q, v of the stages; component i of stage k is at i·LANES + k, as in all lists of lanes. Lanes beyond the stages repeat the
    /// first.
    states: Vec<f64>,
    /// (L_v, ṗ) and the entries of their derivatives.
    values: Vec<f64>,
    /// (Qᵢ − q0)/h.
    swept: Vec<[f64; LANES]>,
    /// R, then the forms q1, p1, −D₃L_d and the running cost.
    rows: Rows,
    end: Vec<f64>,
    cost: f64,
    /// The derivatives of −D₃L_d or of the cost at the stages by (q, v, t, θ).
    slopes: Vec<[f64; LANES]>,
    cost_value: Vec<f64>,
    cost_slope: Matrix,
}

impl StageCode {
    /// The Gauss method with s stages.
    pub(super) fn new(slopes: Arc<LaneSlopes>, s: usize) -> StageCode {
        let rule = Collocation::gauss(s);
        let padded = |x: &[f64]| std::array::from_fn(|k| x.get(k).copied().unwrap_or(0.0));
        let mut a = [[0.0; LANES]; LANES];
        a.iter_mut().zip(rule.a.chunks(s)).for_each(|(to, row)| *to = padded(row));
        StageCode { s, a, b: padded(&rule.b), c: padded(&rule.c), slopes }
    }
}

impl Collocated {
    pub(super) fn new(code: &StageCode, n: usize, columns: usize) -> Collocated {
        Collocated {
            registers: Registers::detect(),
            n,
            columns,
            states: vec![0.0; (1 + 2 * n) * LANES],
            values: vec![0.0; (2 * n + code.slopes.entries.len()) * LANES],
            swept: vec![[0.0; LANES]; n],
            rows: Rows::zeros(n, code.s, 2 * n + 2, columns),
            end: vec![0.0; 2 * n],
            cost: 0.0,
            slopes: vec![[0.0; LANES]; columns - 1],
            cost_value: Vec::new(),
            cost_slope: Matrix::zeros(1, columns - 1),
        }
    }

    /// Solves for the derivatives of the step from z0 with length h and these stages.
    pub(super) fn solve(
        &mut self,
        code: &StageCode,
        local: &mut Local,
        z0: &Phase,
        h: f64,
        stages: &Moments,
        wants_energy: bool,
    ) -> Solved<()> {
        for (to, from) in self.states.chunks_mut(LANES).zip(stages.lanes.chunks(MOMENTS)) {
            to[..code.s].copy_from_slice(&from[..code.s]);
            to[code.s..].fill(from[0]);
        }
        code.slopes.eval(&self.states, local.parameters(), &mut self.values);
        let is_solved = self.registers.run_eight(Solve { of: self, code, local, z0, h, wants_energy })?;
        if is_solved { Ok(()) } else { Err(NoSolution::Singular) }
    }

    /// The end of the step that was solved last, and ∂(q1, p1)/∂(q0, p0, t, h, θ).
    pub(super) fn write_end(&self, end: &mut Phase, slopes: &mut Matrix) {
        end.z.copy_from_slice(&self.end);
        for i in 0..2 * self.n {
            slopes.row_mut(i).copy_from_slice(&self.rows.form(i)[..self.columns]);
        }
    }

    /// The derivatives of −D₃L_d, if they were asked for.
    pub(super) fn energy_slopes(&self, into: &mut [f64]) {
        into.copy_from_slice(&self.rows.form(self.energy())[..self.columns]);
    }

    /// The running cost; writes its derivatives.
    pub(super) fn cost_slopes(&self, into: &mut [f64]) -> f64 {
        into.copy_from_slice(&self.rows.form(self.running_cost())[..self.columns]);
        self.cost
    }

    /// The number of the form −D₃L_d.
    fn energy(&self) -> usize {
        2 * self.n
    }

    /// The number of the form of the running cost.
    fn running_cost(&self) -> usize {
        2 * self.n + 1
    }

    /// Writes the derivatives of the equations and of q1 and p1.
    #[inline(always)]
    fn assemble<V: Vector<LANES>>(&mut self, code: &StageCode, z0: &Phase, h: f64) {
        let (n, s) = (self.n, code.s);
        let (states, values) = (self.states.as_chunks::<LANES>().0, self.values.as_chunks::<LANES>().0);
        let b = V::load(&code.b);
        self.rows.clear();
        for r in 0..n {
            let (v, rates) = (V::load(&states[1 + n + r]), V::load(&values[n + r]));
            for i in 0..s {
                let a = V::load(&code.a[i]);
                self.swept[r][i] = a.mul(v).sum();
                let by_a = self.rows.row_mut(r * s + i).1;
                (by_a[n + r], by_a[2 * n + 1]) = (-1.0, -a.mul(rates).sum());
            }
            let (mean, force) = (b.mul(v).sum(), b.mul(rates).sum());
            (self.end[r], self.end[n + r]) = (z0.z[r] + h * mean, z0.z[n + r] + h * force);
            let (by_x, by_a) = self.rows.row_mut(n * s + r);
            b.mul(V::splat(h)).store(&mut by_x[r]);
            (by_a[r], by_a[2 * n + 1]) = (1.0, mean);
            let by_a = self.rows.row_mut(n * s + n + r).1;
            (by_a[n + r], by_a[2 * n + 1]) = (1.0, force);
        }
        for (&(of, by), lanes) in code.slopes.entries.iter().zip(&values[2 * n..]) {
            let (r, x) = (of % n, V::load(lanes));
            if of < n {
                for i in 0..s {
                    spread_one::<V>(code, &self.swept, h, by, (i, lanes[i]), self.rows.row_mut(r * s + i));
                }
                continue;
            }
            for i in 0..s {
                let weights = x.mul(V::load(&code.a[i])).mul(V::splat(-h));
                spread(code, &self.swept, h, by, weights, self.rows.row_mut(r * s + i));
            }
            spread(code, &self.swept, h, by, x.mul(b).mul(V::splat(h)), self.rows.row_mut(n * s + of));
        }
    }

    /// The derivatives of −D₃L_d = Σᵢ bᵢ(L_v·v − L)ᵢ: those of v·dL_v − L_q·dq − L_θ dθ.
    #[inline(always)]
    fn add_energy<V: Vector<LANES>>(&mut self, code: &StageCode, local: &mut Local, h: f64) -> Solved<()> {
        let (n, b) = (self.n, V::load(&code.b));
        let (states, values) = (self.states.as_chunks::<LANES>().0, self.values.as_chunks::<LANES>().0);
        let row = n * code.s + self.energy();
        for (&(of, by), x) in code.slopes.entries.iter().zip(&values[2 * n..]).filter(|((of, _), _)| *of < n) {
            let weights = V::load(x).mul(V::load(&states[1 + n + of])).mul(b);
            spread(code, &self.swept, h, by, weights, self.rows.row_mut(row));
        }
        for i in 0..code.s {
            local.take_lane(&self.states, LANES, i);
            let values = local.energy()?;
            let by_theta = values[n + 2..].iter().enumerate().map(|(k, x)| (2 * n + 1 + k, x));
            values[1..=n].iter().enumerate().chain(by_theta).for_each(|(by, x)| self.slopes[by][i] = *x);
        }
        for by in (0..n).chain(2 * n + 1..self.columns - 1) {
            let weights = V::load(&self.slopes[by]).mul(b).mul(V::splat(-1.0));
            spread(code, &self.swept, h, by, weights, self.rows.row_mut(row));
        }
        Ok(())
    }

    /// The running cost h Σᵢ bᵢlᵢ and its derivatives.
    #[inline(always)]
    fn add_cost<V: Vector<LANES>>(&mut self, code: &StageCode, local: &mut Local, cost: &OutputCode, h: f64) {
        let row = self.n * code.s + self.running_cost();
        let mut mean = 0.0;
        for i in 0..code.s {
            local.take_lane(&self.states, LANES, i);
            cost.eval(local.state(), &mut self.cost_value, &mut self.cost_slope);
            mean += code.b[i] * self.cost_value[0];
            self.slopes.iter_mut().zip(self.cost_slope.row(0)).for_each(|(to, x)| to[i] = *x);
        }
        self.cost = h * mean;
        self.rows.row_mut(row).1[2 * self.n + 1] = mean;
        for by in 0..self.columns - 1 {
            let weights = V::load(&self.slopes[by]).mul(V::load(&code.b)).mul(V::splat(h));
            spread(code, &self.swept, h, by, weights, self.rows.row_mut(row));
        }
    }
}

/// Adds Σⱼ wⱼ dyⱼ to a row, where yⱼ is component `by` of (q, v, t, θ) at stage j.
#[inline(always)]
fn spread<V: Vector<LANES>>(
    code: &StageCode,
    swept: &[[f64; LANES]],
    h: f64,
    by: usize,
    weights: V,
    (by_x, by_a): (&mut [[f64; LANES]], &mut [f64]),
) {
    let n = swept.len();
    if (n..2 * n).contains(&by) {
        V::load(&by_x[by - n]).add(weights).store(&mut by_x[by - n]);
        return;
    }
    if by < n {
        let mut lanes = [0.0; LANES];
        weights.mul(V::splat(h)).store(&mut lanes);
        let mut sum = V::load(&by_x[by]);
        for j in 0..code.s {
            sum = V::load(&code.a[j]).mul_add(V::splat(lanes[j]), sum);
        }
        sum.store(&mut by_x[by]);
        by_a[by] += weights.sum();
        by_a[2 * n + 1] += weights.mul(V::load(&swept[by])).sum();
    } else if by == 2 * n {
        by_a[2 * n] += weights.sum();
        by_a[2 * n + 1] += weights.mul(V::load(&code.c)).sum();
    } else {
        by_a[by + 1] += weights.sum();
    }
}

/// Adds w dyᵢ to a row, where yᵢ is component `by` of (q, v, t, θ) at stage i.
#[inline(always)]
fn spread_one<V: Vector<LANES>>(
    code: &StageCode,
    swept: &[[f64; LANES]],
    h: f64,
    by: usize,
    (i, weight): (usize, f64),
    (by_x, by_a): (&mut [[f64; LANES]], &mut [f64]),
) {
    let n = swept.len();
    if (n..2 * n).contains(&by) {
        by_x[by - n][i] += weight;
    } else if by < n {
        V::load(&code.a[i]).mul_add(V::splat(weight * h), V::load(&by_x[by])).store(&mut by_x[by]);
        by_a[by] += weight;
        by_a[2 * n + 1] += weight * swept[by][i];
    } else if by == 2 * n {
        by_a[2 * n] += weight;
        by_a[2 * n + 1] += weight * code.c[i];
    } else {
        by_a[by + 1] += weight;
    }
}

struct Solve<'a> {
    of: &'a mut Collocated,
    code: &'a StageCode,
    local: &'a mut Local,
    z0: &'a Phase,
    h: f64,
    wants_energy: bool,
}

impl EightLanes for Solve<'_> {
    /// False if the equations are singular.
    type Outcome = Solved<bool>;

    #[inline(always)]
    fn run<V: Vector<LANES>>(self) -> Solved<bool> {
        let Solve { of, code, local, z0, h, wants_energy } = self;
        of.assemble::<V>(code, z0, h);
        if wants_energy {
            of.add_energy::<V>(code, local, h)?;
        }
        if let Some(cost) = local.cost.clone() {
            of.add_cost::<V>(code, local, &cost, h);
        }
        Ok(of.rows.eliminate::<V>())
    }
}
