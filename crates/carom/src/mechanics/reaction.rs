use super::{Mechanics, Newton, numbered};
use crate::error::Result;
use crate::expr::{Expr, directional, grad};
use crate::solve::NoSolution;
use crate::system::time;

/// The multipliers of the constraints at an instant.
///
/// ```text
/// d/dt L_v − L_q = F − Gᵀλ,   d²g/dt² = 0
/// ```
///
/// This is the force at an instant, in contrast to the impulses that a step distributes over its points.
#[derive(Clone, Debug)]
pub struct Reaction {
    n: usize,
    parameters: usize,
    newton: Newton,
    /// The parameters, t, q, v, a, λ.
    inputs: Vec<f64>,
    /// λ, ∂g/∂t, −Gᵀλ.
    values: Vec<f64>,
    count: usize,
}

impl Reaction {
    /// Compiles the equations for these constraints.
    pub fn new(mechanics: &Mechanics, constraints: &[Expr], parameters: &[f64]) -> Result<Reaction> {
        let (n, count) = (mechanics.n(), constraints.len());
        let (a, lambda) = (numbered("a", n), numbered("lambda", count));
        let one = Expr::constant(1.0);
        let rates = mechanics.q.iter().zip(&mechanics.v).chain(mechanics.v.iter().zip(&a));
        let seeds: Vec<(Expr, Expr)> = rates.map(|(&x, &rate)| (x, rate)).chain([(time(), one)]).collect();
        let inertia = directional(&mechanics.momenta(), &seeds);
        let accelerations = directional(&directional(constraints, &seeds), &seeds);
        let slopes: Vec<Vec<Expr>> = constraints.iter().map(|&g| grad(g, &mechanics.q)).collect();
        let pairs: Vec<(&Vec<Expr>, &Expr)> = slopes.iter().zip(&lambda).collect();
        let push = |i: usize| -pairs.iter().map(|(row, l)| row[i] * **l).sum::<Expr>();
        let force: Vec<Expr> = (0..n).map(push).collect();
        let mut pull = grad(mechanics.l, &mechanics.q);
        if let Some(forces) = &mechanics.forces {
            pull.iter_mut().zip(forces).for_each(|(pull, &force)| *pull = *pull + force);
        }
        let balance = (0..n).map(|i| inertia[i] - pull[i] - force[i]);
        let residuals: Vec<Expr> = balance.chain(accelerations).collect();
        let given: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&mechanics.v).copied().collect();
        let rates = constraints.iter().map(|g| g.diff(time()));
        let results: Vec<Expr> = lambda.iter().copied().chain(rates).chain(force.iter().copied()).collect();
        let newton = Newton::new(mechanics, &given, &[a, lambda].concat(), &residuals, &results)?;
        let mut inputs = vec![0.0; parameters.len() + given.len() + n + count];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Reaction { n, parameters: parameters.len(), newton, inputs, values: vec![0.0; results.len()], count })
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs[..self.parameters].copy_from_slice(parameters);
    }

    /// Solves for the multipliers at (t, q, v).
    pub fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> std::result::Result<(), NoSolution> {
        let (at, n) = (self.parameters, self.n);
        self.inputs[at] = t;
        self.inputs[at + 1..at + 1 + n].copy_from_slice(q);
        self.inputs[at + 1 + n..at + 1 + 2 * n].copy_from_slice(v);
        self.inputs[at + 1 + 2 * n..].fill(0.0);
        self.newton.solve(&mut self.inputs, &mut self.values)
    }

    /// λ at the last point.
    pub fn multipliers(&self) -> &[f64] {
        &self.values[..self.count]
    }

    /// ∂g/∂t at the last point.
    pub fn rates(&self) -> &[f64] {
        &self.values[self.count..2 * self.count]
    }

    /// The power λ·∂g/∂t of the force −Gᵀλ at the last point, since dg/dt = 0.
    pub fn power(&self) -> f64 {
        self.multipliers().iter().zip(self.rates()).map(|(lambda, rate)| lambda * rate).sum()
    }

    /// The generalized force −Gᵀλ at the last point.
    pub fn force(&self) -> &[f64] {
        &self.values[2 * self.count..]
    }
}
