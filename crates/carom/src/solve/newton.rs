//! Newton's method on compiled equations.

use super::Lu;
use crate::error::Result;
use crate::expr::{Expr, jacobian};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;

const MAX_ITERATIONS: usize = 30;
/// After a correction as small as this, relative to the unknowns, the next one would be below roundoff.
const LAST_CORRECTION: f64 = 1e-9;

/// Equations r(a, x) = 0 for x, where a is given, and what is computed from the solution.
#[derive(Clone, Debug)]
pub struct Newton {
    /// (a, x) → r, ∂r/∂x
    equations: Kernel,
    /// (a, x) → outputs
    results: Kernel,
    given: usize,
    n: usize,
    lu: Lu,
    /// r and ∂r/∂x
    values: Vec<f64>,
    correction: Vec<f64>,
}

/// Newton's method found no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoSolution {
    /// The matrix ∂r/∂x cannot be inverted.
    Singular,
    /// The corrections do not become small.
    Diverged,
}

impl Newton {
    /// Compiles the equations; `given` follows the parameters in the inputs, then come the unknowns.
    pub fn new(
        mechanics: &Mechanics,
        given: &[Expr],
        unknowns: &[Expr],
        residuals: &[Expr],
        results: &[Expr],
    ) -> Result<Newton> {
        let inputs: Vec<Expr> = given.iter().chain(unknowns).copied().collect();
        let slopes = jacobian(residuals, unknowns).concat();
        let equations: Vec<Expr> = residuals.iter().copied().chain(slopes).collect();
        let n = unknowns.len();
        Ok(Newton {
            equations: mechanics.kernel(&inputs, &equations)?,
            results: mechanics.kernel(&inputs, results)?,
            given: mechanics.parameters.len() + given.len(),
            n,
            lu: Lu::new(n),
            values: vec![0.0; n + n * n],
            correction: vec![0.0; n],
        })
    }

    /// Solves from the guess that stands behind the given inputs, and leaves the solution there; writes the results.
    pub fn solve(&mut self, inputs: &mut [f64], results: &mut [f64]) -> std::result::Result<(), NoSolution> {
        // A sum, not a maximum: NaN must not get lost.
        let size = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
        let mut previous = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            self.equations.eval(inputs, &mut self.values);
            let (r, slopes) = self.values.split_at(self.n);
            if !self.lu.factor(slopes) {
                return Err(NoSolution::Singular);
            }
            self.lu.solve(r, &mut self.correction);
            let x = &mut inputs[self.given..];
            x.iter_mut().zip(&self.correction).for_each(|(x, dx)| *x -= dx);
            let (step, scale) = (size(&self.correction), size(x));
            if !step.is_finite() {
                return Err(NoSolution::Diverged);
            }
            let stagnates = step >= 0.5 * previous && step <= 1e-12 * scale.max(1.0);
            if step <= LAST_CORRECTION * scale || step == 0.0 || stagnates {
                self.results.eval(inputs, results);
                return Ok(());
            }
            previous = step;
        }
        Err(NoSolution::Diverged)
    }
}
