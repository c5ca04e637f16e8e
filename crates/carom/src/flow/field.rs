//! Hamilton's equations from the Lagrangian.

use crate::error::Result;
use crate::expr::{Expr, grad};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::solve::{Newton, NoSolution, eliminate};
use crate::system::time;

/// v = H_p, ṗ = −H_q + F and H at a phase point, where p = L_v(q, v):
///
/// ```text
/// ṗ = L_q(q, v) + F,   H = p·v − L(q, v)
/// ```
#[derive(Clone, Debug)]
pub struct Field {
    n: usize,
    parameters: usize,
    velocity: Velocity,
    /// The parameters, t, q, p and, where v is implicit, v.
    inputs: Vec<f64>,
    /// v, ṗ, H
    values: Vec<f64>,
}

/// How v follows from p.
#[derive(Clone, Debug)]
enum Velocity {
    /// L is quadratic in v: by elimination, as part of the expressions.
    Explicit(Kernel),
    /// By Newton's method.
    Implicit(Newton),
}

impl Field {
    /// Compiles the equations.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Field> {
        let (n, p) = (mechanics.n(), mechanics.p());
        let given: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&p).copied().collect();
        let velocity = match Field::expressions(mechanics) {
            Some(outputs) => Velocity::Explicit(mechanics.kernel(&given, &outputs)?),
            None => {
                let residuals: Vec<Expr> = mechanics.momenta().iter().zip(&p).map(|(&l_v, &p)| l_v - p).collect();
                let outputs = equations(mechanics, &p);
                Velocity::Implicit(Newton::new(mechanics, &given, &mechanics.v, &residuals, &outputs)?)
            }
        };
        let unknowns = if matches!(velocity, Velocity::Implicit(_)) { n } else { 0 };
        let mut inputs = vec![0.0; parameters.len() + 1 + 2 * n + unknowns];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Field { n, parameters: parameters.len(), velocity, inputs, values: vec![0.0; 2 * n + 1] })
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

    /// The energy H.
    pub fn energy(&mut self, t: f64, z: &[f64]) -> std::result::Result<f64, NoSolution> {
        let n = self.n;
        Ok(self.at(t, z)?[2 * n])
    }
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

/// v with M v = p − L_v|₀.
fn explicit_velocity(mechanics: &Mechanics, p: &[Expr]) -> Option<Vec<Expr>> {
    if !mechanics.is_quadratic() {
        return None;
    }
    let at_rest = vec![Expr::constant(0.0); mechanics.n()];
    let offset = mechanics.at(&mechanics.momenta(), &mechanics.q, &at_rest, time());
    let momenta: Vec<Expr> = p.iter().zip(offset).map(|(&p, b)| p - b).collect();
    Some(eliminate(mechanics.mass(), momenta))
}
