//! The accelerations of the gaps.

use super::{Mechanics, Reaction, numbered};
use crate::error::Result;
use crate::expr::{Expr, directional};
use crate::kernel::Kernel;
use crate::solve::Solved;
use crate::system::time;

/// φ̈ of every wall where no wall pushes, along the acceleration a that forces and constraints give:
///
/// ```text
/// φ̈ = d²φ/dt²(t, q, v, a)
/// ```
#[derive(Clone, Debug)]
pub struct Accelerations {
    /// a
    free: Reaction,
    /// (parameters, t, q, v, a) → φ̈ of every wall
    kernel: Kernel,
    inputs: Vec<f64>,
    parameters: usize,
    values: Vec<f64>,
}

impl Accelerations {
    /// Compiles φ̈ of all walls.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Accelerations> {
        let a = numbered("a", mechanics.n());
        let one = Expr::constant(1.0);
        let rates = mechanics.q.iter().zip(&mechanics.v).chain(mechanics.v.iter().zip(&a));
        let seeds: Vec<(Expr, Expr)> = rates.map(|(&x, &rate)| (x, rate)).chain([(time(), one)]).collect();
        let outputs = directional(&directional(&mechanics.walls, &seeds), &seeds);
        let symbols = [mechanics.state_symbols(), a].concat();
        let mut inputs = parameters.to_vec();
        inputs.resize(parameters.len() + symbols.len(), 0.0);
        Ok(Accelerations {
            free: Reaction::new(mechanics, &mechanics.tangent_constraints(), parameters)?,
            kernel: mechanics.kernel(&symbols, &outputs)?,
            inputs,
            parameters: parameters.len(),
            values: vec![0.0; outputs.len()],
        })
    }

    /// Takes other values of the parameters.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs[..self.parameters].copy_from_slice(parameters);
        self.free.set_parameters(parameters);
    }

    /// φ̈ of every wall, and a, at (t, q, v).
    pub fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> Solved<(&[f64], &[f64])> {
        self.free.at(t, q, v)?;
        let (at, n) = (self.parameters, q.len());
        self.inputs[at] = t;
        self.inputs[at + 1..][..n].copy_from_slice(q);
        self.inputs[at + 1 + n..][..n].copy_from_slice(v);
        self.inputs[at + 1 + 2 * n..].copy_from_slice(self.free.acceleration());
        self.kernel.eval(&self.inputs, &mut self.values);
        Ok((&self.values, self.free.acceleration()))
    }
}
