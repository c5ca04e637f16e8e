use super::{Field, Mechanics, Newton, numbered};
use crate::error::Result;
use crate::expr::{Expr, grad};
use crate::phase::Phase;
use crate::solve::NoSolution;
use crate::system::time;

/// Projection onto the constraints: q moves along their gradients, with the smallest correction in the mass metric.
///
/// ```text
/// M(q) δ = G(q)ᵀν,   g(q + δ, t) = 0
/// ```
///
/// L_vv is evaluated at v = 0; this makes no difference if L is quadratic in v.
#[derive(Clone, Debug)]
pub struct Manifold {
    n: usize,
    parameters: usize,
    newton: Newton,
    /// The parameters, t, q, δ, ν.
    inputs: Vec<f64>,
    moved: Vec<f64>,
}

impl Manifold {
    /// Compiles the equations for the one-point constraints.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Manifold> {
        let (n, constraints) = (mechanics.n(), mechanics.tangent_constraints());
        let (delta, nu) = (numbered("delta", n), numbered("nu", constraints.len()));
        let at_rest = vec![Expr::constant(0.0); n];
        let mass = mechanics.mass();
        let slopes: Vec<Vec<Expr>> = constraints.iter().map(|&g| grad(g, &mechanics.q)).collect();
        let mut residuals: Vec<Expr> = (0..n)
            .map(|i| {
                let inertia: Expr = mass[i].iter().zip(&delta).map(|(&m, &d)| m * d).sum();
                inertia - slopes.iter().zip(&nu).map(|(row, &nu)| row[i] * nu).sum::<Expr>()
            })
            .collect();
        residuals = mechanics.at(&residuals, &mechanics.q, &at_rest, time());
        let moved: Vec<Expr> = mechanics.q.iter().zip(&delta).map(|(&q, &d)| q + d).collect();
        residuals.extend(mechanics.at(&constraints, &moved, &at_rest, time()));
        let given: Vec<Expr> = [time()].iter().chain(&mechanics.q).copied().collect();
        let unknowns = [delta, nu].concat();
        let mut inputs = vec![0.0; parameters.len() + given.len() + unknowns.len()];
        inputs[..parameters.len()].copy_from_slice(parameters);
        let newton = Newton::new(mechanics, &given, &unknowns, &residuals, &moved)?;
        Ok(Manifold { n, parameters: parameters.len(), newton, inputs, moved: vec![0.0; n] })
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs[..self.parameters].copy_from_slice(parameters);
    }

    /// Projects q onto the constraints, and p onto their tangent space.
    pub fn project(&mut self, z: &mut Phase, field: &mut Field) -> std::result::Result<(), NoSolution> {
        let (at, n) = (self.parameters, self.n);
        self.inputs[at] = z.t;
        self.inputs[at + 1..at + 1 + n].copy_from_slice(z.q());
        self.inputs[at + 1 + n..].fill(0.0);
        self.newton.solve(&mut self.inputs, &mut self.moved)?;
        z.z[..n].copy_from_slice(&self.moved);
        field.project(z)
    }
}
