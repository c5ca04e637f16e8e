//! Modified Hamiltonians up to O(h⁴) from second derivatives.

use super::{ModifiedHamiltonian, check_conservative, finite};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, directional, grad, jacobian};
use crate::kernel::Kernel;
use crate::mechanics::Field;
use crate::mechanics::Mechanics;
use crate::phase::Phase;
use crate::solve::{Lu, NoSolution};

/// A formula H̃ = H + h²/24 · C(q, p), which has order 4 for the map to which it belongs. [BEA §III-A]
///
/// It is expressed by L. With v = H_p, L_vv b = L_q, L_vv w = −L_vq v, and the acceleration a = b + w:
///
/// ```text
/// H_qq(H_p, H_p) = −L_qq(v, v) + wᵀL_vv w,   H_qᵀH_pq H_p = −bᵀL_vv w,   H_pp(H_q, H_q) = bᵀL_vv b
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// For `svc`: C = −2 L_qq(v, v) − aᵀL_vv a.
    ///
    /// DIFFERENCE: the formula in [BEA §III-A] belongs to `sva`; for `svc` it lacks −3 wᵀH_pp⁻¹w and has order 2.
    Svc,
    /// For `sva`: C = 2 H_qq(H_p, H_p) + 2 H_qᵀH_pq H_p − H_pp(H_q, H_q), the formula printed in [BEA §III-A].
    Sva,
    /// For `svb`: C = 2 H_pp(H_q, H_q) + 2 H_qᵀH_pq H_p − H_qq(H_p, H_p).
    Svb,
    /// For the midpoint rule: C = L_qq(v, v) − aᵀL_vv a.
    Midpoint,
}

impl Formula {
    /// All formulas.
    pub const ALL: [Formula; 4] = [Formula::Svc, Formula::Sva, Formula::Svb, Formula::Midpoint];

    /// The name of the discrete Lagrangian to which the formula belongs.
    pub fn name(self) -> &'static str {
        match self {
            Formula::Svc => "svc",
            Formula::Sva => "sva",
            Formula::Svb => "svb",
            Formula::Midpoint => "midpoint",
        }
    }

    /// The formula for the discrete Lagrangian with this name, if there is one.
    pub fn of(rule: &str) -> Option<Formula> {
        Formula::ALL.into_iter().find(|formula| formula.name() == rule)
    }

    /// C from L_qq(v, v), bᵀL_vv b, bᵀL_vv w and wᵀL_vv w.
    fn combine(self, vv: Expr, bb: Expr, bw: Expr, ww: Expr) -> Expr {
        let aa = bb + 2.0 * bw + ww;
        match self {
            Formula::Svc => -2.0 * vv - aa,
            Formula::Sva => -2.0 * vv + 2.0 * ww - 2.0 * bw - bb,
            Formula::Svb => 2.0 * bb - 2.0 * bw + vv - ww,
            Formula::Midpoint => vv - aa,
        }
    }
}

/// A compiled formula.
///
/// The gradient in (q, p) follows from the gradient in (q, v) by p = L_v(q, v):
///
/// ```text
/// L_vv H̃_p = H̃_v,   H̃_q|p = H̃_q|v − L_qv H̃_p
/// ```
#[derive(Clone)]
pub struct Closed {
    formula: Formula,
    n: usize,
    parameters: usize,
    field: Field,
    /// (parameters, q, v) → C
    correction: Kernel,
    /// (parameters, q, v) → C, C_q, C_v, L_vv, L_vq by rows
    slopes: Kernel,
    lu: Lu,
    inputs: Vec<f64>,
    values: Vec<f64>,
    solution: Vec<f64>,
}

impl Closed {
    /// Derives and compiles the formula.
    pub fn new(mechanics: &Mechanics, formula: Formula, parameters: &[f64]) -> Result<Closed> {
        check_conservative(&mechanics.sources())?;
        let (n, l) = (mechanics.n(), mechanics.l);
        let (mass, mixed) = (mechanics.mass(), jacobian(&mechanics.momenta(), &mechanics.q));
        let l_q = grad(l, &mechanics.q);
        let turn: Vec<Expr> = mixed.iter().map(|row| -dot(row, &mechanics.v)).collect();
        let solved = eliminate(mass.clone(), [l_q.clone(), turn.clone()]);
        let [b, w] = solved.ok_or_else(|| Diagnostic::new("the mass matrix is singular"))?;
        let along: Vec<(Expr, Expr)> = mechanics.q.iter().copied().zip(mechanics.v.iter().copied()).collect();
        let vv = dot(&directional(&l_q, &along), &mechanics.v);
        let c = formula.combine(vv, dot(&b, &l_q), dot(&w, &l_q), dot(&w, &turn));
        let inputs: Vec<Expr> = mechanics.q.iter().chain(&mechanics.v).copied().collect();
        let slopes: Vec<Expr> = [vec![c], grad(c, &inputs), mass.concat(), mixed.concat()].concat();
        let mut numbers = vec![0.0; parameters.len() + 2 * n];
        numbers[..parameters.len()].copy_from_slice(parameters);
        Ok(Closed {
            formula,
            n,
            parameters: parameters.len(),
            field: Field::new(mechanics, parameters)?,
            correction: mechanics.kernel(&inputs, &[c])?,
            slopes: mechanics.kernel(&inputs, &slopes)?,
            lu: Lu::new(n),
            inputs: numbers,
            values: vec![0.0; slopes.len()],
            solution: vec![0.0; n],
        })
    }

    /// Writes (q, v) into the inputs. Returns v, ṗ and H.
    fn prepare(&mut self, z: &Phase) -> std::result::Result<&[f64], NoSolution> {
        let field = self.field.at(z.t, &z.z)?;
        let state = &mut self.inputs[self.parameters..];
        state[..self.n].copy_from_slice(z.q());
        state[self.n..].copy_from_slice(&field[..self.n]);
        Ok(field)
    }
}

impl ModifiedHamiltonian for Closed {
    fn name(&self) -> String {
        format!("closed form of {}", self.formula.name())
    }

    fn order(&self) -> usize {
        4
    }

    fn value(&mut self, z: &Phase, h: f64) -> std::result::Result<f64, NoSolution> {
        let n = self.n;
        let ham = self.prepare(z)?[2 * n];
        self.correction.eval(&self.inputs, &mut self.values[..1]);
        finite(ham + h * h / 24.0 * self.values[0])
    }

    fn gradient(&mut self, z: &Phase, h: f64, gradient: &mut [f64]) -> std::result::Result<f64, NoSolution> {
        let n = self.n;
        let field = self.prepare(z)?;
        let ham = field[2 * n];
        // H_q = −ṗ and H_p = v, because no forces act.
        let (grad_q, grad_p) = gradient.split_at_mut(n);
        grad_q.iter_mut().zip(&field[n..2 * n]).for_each(|(g, rate)| *g = -rate);
        grad_p.copy_from_slice(&field[..n]);
        self.slopes.eval(&self.inputs, &mut self.values);
        let (c, rest) = self.values.split_at(1);
        let (c_q, rest) = rest.split_at(n);
        let (c_v, rest) = rest.split_at(n);
        let (mass, mixed) = rest.split_at(n * n);
        if !self.lu.factor(mass) {
            return Err(NoSolution::Singular);
        }
        self.lu.solve(c_v, &mut self.solution);
        let factor = h * h / 24.0;
        for i in 0..n {
            let turn: f64 = self.solution.iter().enumerate().map(|(j, x)| mixed[j * n + i] * x).sum();
            grad_q[i] += factor * (c_q[i] - turn);
            grad_p[i] += factor * self.solution[i];
        }
        finite(ham + factor * c[0])
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs[..self.parameters].copy_from_slice(parameters);
        self.field.set_parameters(parameters);
    }

    fn boxed_clone(&self) -> Box<dyn ModifiedHamiltonian> {
        Box::new(self.clone())
    }
}

fn dot(a: &[Expr], b: &[Expr]) -> Expr {
    a.iter().zip(b).map(|(&a, &b)| a * b).sum()
}

/// Solves m·x = r for each right-hand side by elimination. Avoids pivots that are symbolically zero; if L_vv is positive
/// definite, no other pivoting is needed. None if there is no such pivot.
fn eliminate<const K: usize>(mut m: Vec<Vec<Expr>>, mut sides: [Vec<Expr>; K]) -> Option<[Vec<Expr>; K]> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).find(|&i| !m[i][k].is_zero())?;
        m.swap(pivot, k);
        sides.iter_mut().for_each(|x| x.swap(pivot, k));
        let (above, below) = m.split_at_mut(k + 1);
        for (i, row) in (k + 1..).zip(below) {
            let factor = row[k] / above[k][k];
            row.iter_mut().zip(&above[k]).skip(k + 1).for_each(|(x, &y)| *x = *x - factor * y);
            sides.iter_mut().for_each(|x| x[i] = x[i] - factor * x[k]);
        }
    }
    for x in &mut sides {
        for i in (0..n).rev() {
            let known: Expr = (i + 1..n).map(|j| m[i][j] * x[j]).sum();
            x[i] = (x[i] - known) / m[i][i];
        }
    }
    Some(sides)
}
