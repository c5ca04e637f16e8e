//! Hamilton's equations from the Lagrangian.

use super::Phase;
use crate::error::Result;
use crate::expr::{Expr, grad, jacobian};
use crate::kernel::Kernel;
use crate::mechanics::{Mechanics, numbered};
use crate::solve::{Newton, NoSolution};
use crate::system::time;

/// v = H_p, ṗ = −H_q + F and H at a phase point, where p = L_v(q, v):
///
/// ```text
/// ṗ = L_q(q, v) + F,   H = p·v − L(q, v)
/// ```
///
/// With holonomic constraints g = 0, G = g_q, the velocity is that of the point on their tangent space, from which p
/// differs only by what the constraints can push:
///
/// ```text
/// p = L_v(q, v) + Gᵀμ,   G v + g_t = 0
/// ```
#[derive(Clone, Debug)]
pub struct Field {
    n: usize,
    parameters: usize,
    velocity: Velocity,
    /// The parameters, t, q, p and, where v is implicit, v.
    inputs: Vec<f64>,
    /// v, ṗ, H; with constraints then L_v and μ
    values: Vec<f64>,
}

/// How v follows from p.
#[derive(Clone, Debug)]
enum Velocity {
    /// L is quadratic in v: by elimination, as part of the expressions.
    Explicit(Kernel),
    /// By Newton's method: L is not quadratic in v, or there are constraints.
    Implicit(Newton),
}

impl Field {
    /// Compiles the equations.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Field> {
        let (n, p) = (mechanics.n(), mechanics.p());
        let given: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&p).copied().collect();
        let constraints = mechanics.tangent_constraints();
        let mut values = 2 * n + 1;
        let mut unknowns = 0;
        let velocity = match Field::expressions(mechanics).filter(|_| constraints.is_empty()) {
            Some(outputs) => Velocity::Explicit(mechanics.kernel(&given, &outputs)?),
            None => {
                let (symbols, residuals, outputs) = tangent(mechanics, &constraints);
                (values, unknowns) = (outputs.len(), symbols.len());
                Velocity::Implicit(Newton::new(mechanics, &given, &symbols, &residuals, &outputs)?)
            }
        };
        let mut inputs = vec![0.0; parameters.len() + 1 + 2 * n + unknowns];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Field { n, parameters: parameters.len(), velocity, inputs, values: vec![0.0; values] })
    }

    /// v, ṗ and H as expressions of the time, the coordinates and the momenta ([`Mechanics::p`]); None where v is implicit.
    pub fn expressions(mechanics: &Mechanics) -> Option<Vec<Expr>> {
        let p = mechanics.p();
        let v = explicit_velocity(mechanics, &p)?;
        Some(mechanics.at(&equations(mechanics, &p), &mechanics.q, &v, time()))
    }

    /// (v, ṗ, H) at (t, q, p).
    pub fn at(&mut self, t: f64, z: &[f64]) -> std::result::Result<&[f64], NoSolution> {
        self.inputs[self.parameters] = t;
        self.inputs[self.parameters + 1..][..z.len()].copy_from_slice(z);
        match &mut self.velocity {
            Velocity::Explicit(kernel) => kernel.eval(&self.inputs, &mut self.values),
            // From the last velocity, or else from rest.
            Velocity::Implicit(newton) => {
                if newton.solve(&mut self.inputs, &mut self.values).is_err() {
                    self.inputs[self.parameters + 1 + z.len()..].fill(0.0);
                    newton.solve(&mut self.inputs, &mut self.values)?;
                }
            }
        }
        Ok(&self.values)
    }

    /// The velocities v = H_p.
    pub fn velocity(&mut self, t: f64, z: &[f64]) -> std::result::Result<&[f64], NoSolution> {
        let n = self.n;
        Ok(&self.at(t, z)?[..n])
    }

    /// Moves p onto the tangent space of the constraints; leaves μ in [`Field::multipliers`]. Without any it does nothing.
    pub fn project(&mut self, z: &mut Phase) -> std::result::Result<(), NoSolution> {
        if self.multipliers().is_empty() {
            return Ok(());
        }
        let n = self.n;
        let values = self.at(z.t, &z.z)?;
        z.p_mut().copy_from_slice(&values[2 * n + 1..3 * n + 1]);
        Ok(())
    }

    /// μ of the last point.
    pub fn multipliers(&self) -> &[f64] {
        self.values.get(3 * self.n + 1..).unwrap_or(&[])
    }

    /// The energy H.
    pub fn energy(&mut self, t: f64, z: &[f64]) -> std::result::Result<f64, NoSolution> {
        let n = self.n;
        Ok(self.at(t, z)?[2 * n])
    }
}

/// The unknowns v and μ, the equations for them, and what follows: v, ṗ, H, L_v, μ.
fn tangent(mechanics: &Mechanics, constraints: &[Expr]) -> (Vec<Expr>, Vec<Expr>, Vec<Expr>) {
    let (l_v, mu) = (mechanics.momenta(), numbered("mu", constraints.len()));
    let slopes = jacobian(constraints, &mechanics.q);
    let push = |i: usize| slopes.iter().zip(&mu).map(|(row, &mu)| mu * row[i]).sum::<Expr>();
    let momenta = mechanics.p().into_iter().enumerate().map(|(i, p)| l_v[i] + push(i) - p);
    let rate = |(row, g): (&Vec<Expr>, &Expr)| {
        row.iter().zip(&mechanics.v).map(|(&slope, &v)| slope * v).sum::<Expr>() + g.diff(time())
    };
    let residuals = momenta.chain(slopes.iter().zip(constraints).map(rate)).collect();
    let mut outputs = equations(mechanics, &l_v);
    if !mu.is_empty() {
        outputs.extend(l_v.iter().chain(&mu));
    }
    (mechanics.v.iter().chain(&mu).copied().collect(), residuals, outputs)
}

/// v, ṗ, H in q, v, p.
fn equations(mechanics: &Mechanics, p: &[Expr]) -> Vec<Expr> {
    let mut rates = grad(mechanics.l, &mechanics.q);
    if let Some(forces) = &mechanics.forces {
        rates.iter_mut().zip(forces).for_each(|(rate, &force)| *rate = *rate + force);
    }
    let power: Expr = p.iter().zip(&mechanics.v).map(|(&p, &v)| p * v).sum();
    mechanics.v.iter().copied().chain(rates).chain([power - mechanics.l]).collect()
}

/// v with M v = p − L_v|₀, by elimination without pivoting, which is stable where M is positive definite.
fn explicit_velocity(mechanics: &Mechanics, p: &[Expr]) -> Option<Vec<Expr>> {
    if !mechanics.is_quadratic() {
        return None;
    }
    let n = mechanics.n();
    let at_rest = vec![Expr::constant(0.0); n];
    let offset = mechanics.at(&mechanics.momenta(), &mechanics.q, &at_rest, time());
    let mut m = mechanics.mass();
    let mut v: Vec<Expr> = p.iter().zip(offset).map(|(&p, b)| p - b).collect();
    for k in 0..n {
        let pivot = m[k].clone();
        for i in k + 1..n {
            let factor = m[i][k] / pivot[k];
            for (x, &y) in m[i].iter_mut().zip(&pivot).skip(k + 1) {
                *x = *x - factor * y;
            }
            v[i] = v[i] - factor * v[k];
        }
    }
    for i in (0..n).rev() {
        let known: Expr = (i + 1..n).map(|j| m[i][j] * v[j]).sum();
        v[i] = (v[i] - known) / m[i][i];
    }
    Some(v)
}
