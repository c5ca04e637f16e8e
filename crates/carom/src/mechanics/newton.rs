//! Newton's method on compiled equations.

use std::ops::Range;

use super::Mechanics;
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::{Backend, Kernel, NewtonKernel, NewtonStatus, Problem};
use crate::solve::{Linear, NoSolution, StopRule, largest};

/// Solves equations r(a, x) = 0 for x with given a, and computes results from the solution:
///
/// ```text
/// ∂r/∂x·dx = r,   x ← x − dx
/// ```
///
/// `StopRule` decides when the iteration ends; the code emitted by `kernel/jit/newton.rs` applies the same rule.
#[derive(Clone, Debug)]
pub struct Newton {
    method: Method,
    iterations: usize,
}

/// How the iteration is executed.
#[derive(Clone, Debug)]
enum Method {
    /// One native function, for few unknowns.
    Whole(NewtonKernel),
    /// Separate kernels for the equations and the results.
    Parts(Box<Parts>),
}

#[derive(Clone, Debug)]
struct Parts {
    /// (a, x) → r and the nonzero entries of ∂r/∂x
    equations: Kernel,
    /// (a, x) → results, next carried inputs
    results: Kernel,
    carried: Range<usize>,
    state: Range<usize>,
    n: usize,
    /// The index of the input by which residuals are divided, if any.
    divisor: Option<usize>,
    slopes: Linear,
    /// r and the entries of ∂r/∂x
    values: Vec<f64>,
    correction: Vec<f64>,
    /// The results and the next carried inputs.
    outputs: Vec<f64>,
}

impl Newton {
    /// Compiles the equations. The inputs are the parameters, then `given`, then the unknowns.
    pub fn new(
        mechanics: &Mechanics,
        given: &[Expr],
        unknowns: &[Expr],
        residuals: &[Expr],
        results: &[Expr],
    ) -> Result<Newton> {
        Newton::of(mechanics, &Problem { given, unknowns, residuals, results, ..Problem::default() })
    }

    /// Compiles a problem. The parameters precede its inputs.
    pub fn of(mechanics: &Mechanics, problem: &Problem) -> Result<Newton> {
        let given = [&mechanics.parameters, problem.given].concat();
        let whole = match mechanics.backend {
            Backend::Jit => NewtonKernel::new(&Problem { given: &given, ..*problem }).ok(),
            Backend::Interpreter => None,
        };
        let method = match whole {
            Some(kernel) => Method::Whole(kernel),
            None => Method::Parts(Box::new(Parts::new(mechanics, problem)?)),
        };
        Ok(Newton { method, iterations: 0 })
    }

    /// Solves from the guess at the end of `inputs`, and replaces it by the solution. Writes the results and the next carried
    /// inputs.
    pub fn solve(&mut self, inputs: &mut [f64], results: &mut [f64]) -> std::result::Result<(), NoSolution> {
        self.iterations = match &mut self.method {
            Method::Whole(kernel) => outcome(kernel.solve(inputs, results))?,
            Method::Parts(parts) => parts.solve(inputs, results)?,
        };
        Ok(())
    }

    /// Like [`Newton::solve`], but reads the state from `state`. The state may or may not be copied to `inputs`.
    pub fn solve_from(
        &mut self,
        state: &[f64],
        inputs: &mut [f64],
        results: &mut [f64],
    ) -> std::result::Result<(), NoSolution> {
        self.iterations = match &mut self.method {
            Method::Whole(kernel) => outcome(kernel.solve_from(state, inputs, results))?,
            Method::Parts(parts) => {
                inputs[parts.state.clone()].copy_from_slice(state);
                parts.solve(inputs, results)?
            }
        };
        Ok(())
    }

    /// The number of iterations of the last solve.
    pub fn iterations(&self) -> usize {
        self.iterations
    }
}

/// The number of iterations, or why there is no solution.
fn outcome((status, iterations): (NewtonStatus, usize)) -> std::result::Result<usize, NoSolution> {
    match status {
        NewtonStatus::Solved => Ok(iterations),
        NewtonStatus::Singular => Err(NoSolution::Singular),
        NewtonStatus::Diverged => Err(NoSolution::Diverged),
    }
}

impl Parts {
    fn new(mechanics: &Mechanics, problem: &Problem) -> Result<Parts> {
        let (n, inputs) = (problem.unknowns.len(), problem.inputs());
        let first = mechanics.parameters.len() + problem.given.len();
        let carried = first..first + problem.carried.len();
        let mut equations = problem.equations();
        let slopes = equations.split_off(n).into_iter().enumerate().filter(|(_, slope)| !slope.is_zero());
        let (places, slopes): (Vec<(usize, usize)>, Vec<Expr>) =
            slopes.map(|(at, slope)| ((at / n, at % n), slope)).unzip();
        equations.extend(slopes);
        Ok(Parts {
            equations: mechanics.kernel(&inputs, &equations)?,
            results: mechanics.kernel(&inputs, &[problem.results, problem.next].concat())?,
            state: carried.end..carried.end + problem.state.len(),
            carried,
            n,
            divisor: problem.divisor().map(|i| mechanics.parameters.len() + i),
            slopes: Linear::new(n, &places),
            values: vec![0.0; equations.len()],
            correction: vec![0.0; n],
            outputs: vec![0.0; problem.results.len() + problem.next.len()],
        })
    }

    /// Like [`Newton::solve`], but returns the number of iterations.
    fn solve(&mut self, inputs: &mut [f64], results: &mut [f64]) -> std::result::Result<usize, NoSolution> {
        let unit = self.divisor.map_or(1.0, |i| (1.0 / inputs[i].abs()).max(1.0));
        let mut rule = StopRule::new(unit);
        loop {
            self.equations.eval(inputs, &mut self.values);
            let (r, slopes) = self.values.split_at(self.n);
            if !self.slopes.factor(slopes) {
                return Err(NoSolution::Singular);
            }
            self.slopes.solve(r, &mut self.correction);
            let x = &mut inputs[self.state.end..];
            x.iter_mut().zip(&self.correction).for_each(|(x, dx)| *x -= dx);
            if rule.is_last(largest(&self.correction), largest(x))? {
                break;
            }
        }
        self.results.eval(inputs, &mut self.outputs);
        let (values, next) = self.outputs.split_at(results.len());
        results.copy_from_slice(values);
        inputs[self.carried.clone()].copy_from_slice(next);
        Ok(rule.iterations)
    }
}
