//! The walls in numbers.

use crate::error::Result;
use crate::expr::{Expr, grad};
use crate::flow::{Field, Phase};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::solve::NoSolution;
use crate::system::time;

/// φ, φ_t and ∇φ of every wall at a phase point.
#[derive(Clone)]
pub(super) struct Walls {
    n: usize,
    parameters: usize,
    /// For each wall (parameters, t, q) → φ, φ_t, ∇φ.
    kernels: Vec<Kernel>,
    inputs: Vec<f64>,
    values: Vec<f64>,
}

impl Walls {
    pub(super) fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Walls> {
        let n = mechanics.n();
        let inputs: Vec<Expr> = [time()].iter().chain(&mechanics.q).copied().collect();
        let kernel = |&phi: &Expr| {
            let outputs: Vec<Expr> = [phi, phi.diff(time())].into_iter().chain(grad(phi, &mechanics.q)).collect();
            mechanics.kernel(&inputs, &outputs)
        };
        let kernels = mechanics.walls.iter().map(kernel).collect::<Result<_>>()?;
        let mut inputs = vec![0.0; parameters.len() + 1 + n];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Walls { n, parameters: parameters.len(), kernels, inputs, values: vec![0.0; n + 2] })
    }

    pub(super) fn count(&self) -> usize {
        self.kernels.len()
    }

    fn at(&mut self, wall: usize, z: &Phase) -> &[f64] {
        self.inputs[self.parameters] = z.t;
        self.inputs[self.parameters + 1..].copy_from_slice(&z.z[..self.n]);
        self.kernels[wall].eval(&self.inputs, &mut self.values);
        &self.values
    }

    /// φ and φ̇.
    pub(super) fn gap_and_rate(
        &mut self,
        wall: usize,
        z: &Phase,
        field: &mut Field,
    ) -> std::result::Result<(f64, f64), NoSolution> {
        let n = self.n;
        let v = field.velocity(z.t, &z.z)?;
        let values = self.at(wall, z);
        let rate = values[1] + (0..n).map(|i| values[2 + i] * v[i]).sum::<f64>();
        // A gap that is no number must not pass for an open one.
        if values[0].is_nan() || rate.is_nan() { Err(NoSolution::NoGap) } else { Ok((values[0], rate)) }
    }

    /// φ_t, and ∇φ into `gradient`.
    pub(super) fn normal(&mut self, wall: usize, z: &Phase, gradient: &mut [f64]) -> f64 {
        let values = self.at(wall, z);
        gradient.copy_from_slice(&values[2..]);
        values[1]
    }
}
