//! Newton's method on compiled equations.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::Mechanics;
use super::terms::Terms;
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::{Backend, Kernel, NewtonKernel, NewtonProblem, NewtonStatus};
use crate::limits::{
    FACTORS_LAST, FACTORS_SHRINK, HALVINGS_OF_CORRECTION, LAST_CORRECTION, MAX_CAREFUL, NOTHING, RESIDUALS_COUNT,
    VERY_LATE,
};
use crate::solve::{Linear, NoSolution, StopRule, larger, largest_part};

/// Solves equations r(a, x) = 0 for x with given a, and computes results from the solution:
///
/// ```text
/// ∂r/∂x·dx = r,   x ← x − dx
/// ```
///
/// `StopRule` decides when the iteration ends. The code emitted by `kernel/x64/newton.rs` applies its first condition, which
/// suffices for most steps; what does not converge there goes on in parts.
#[derive(Clone, Debug)]
pub struct Newton {
    method: Method,
    iterations: usize,
}

/// How the iteration is executed.
#[derive(Clone, Debug)]
enum Method {
    /// One native function, for few unknowns; then the parts, when they are first needed.
    Whole { kernel: NewtonKernel, later: Arc<Later>, parts: Option<Box<Parts>> },
    /// Separate kernels for the equations and the results.
    Parts(Box<Parts>),
}

/// A problem whose parts are compiled on first use, once for all clones.
#[derive(Debug)]
struct Later {
    mechanics: Mechanics,
    /// The lists of [`NewtonProblem`] in its order: given, carried, state, unknowns, residuals, results, next.
    lists: [Vec<Expr>; 7],
    parts: OnceLock<Option<Parts>>,
}

impl Later {
    fn new(mechanics: &Mechanics, problem: &NewtonProblem) -> Later {
        let NewtonProblem { given, carried, state, unknowns, residuals, results, next } = *problem;
        let lists = [given, carried, state, unknowns, residuals, results, next].map(<[Expr]>::to_vec);
        Later { mechanics: mechanics.clone(), lists, parts: OnceLock::new() }
    }

    /// The indices of the state among the inputs.
    fn state(&self) -> Range<usize> {
        let first = self.mechanics.parameters.len() + self.lists[0].len() + self.lists[1].len();
        first..first + self.lists[2].len()
    }

    #[cold]
    fn parts(&self) -> Option<Box<Parts>> {
        let [given, carried, state, unknowns, residuals, results, next] = &self.lists;
        let problem = NewtonProblem { given, carried, state, unknowns, residuals, results, next };
        self.parts.get_or_init(|| Parts::new(&self.mechanics, &problem).ok()).clone().map(Box::new)
    }
}

#[derive(Clone, Debug)]
struct Parts {
    /// (a, x) → r and the nonzero entries of ∂r/∂x
    equations: Kernel,
    /// (a, x) → the sum of the absolute terms of each residual
    terms: Arc<Terms>,
    /// Room for them.
    room: Vec<[f64; 2]>,
    /// (a, x) → results, next carried inputs
    results: Kernel,
    carried: Range<usize>,
    state: Range<usize>,
    n: usize,
    /// The rows and columns of the entries of ∂r/∂x.
    places: Vec<(usize, usize)>,
    slopes: Linear,
    /// r and the entries of ∂r/∂x
    values: Vec<f64>,
    sizes: Vec<f64>,
    correction: Vec<f64>,
    /// The correction that would follow.
    next: Vec<f64>,
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
        Newton::of(mechanics, &NewtonProblem { given, unknowns, residuals, results, ..NewtonProblem::default() })
    }

    /// Compiles a problem. The parameters precede its inputs.
    pub fn of(mechanics: &Mechanics, problem: &NewtonProblem) -> Result<Newton> {
        let given = [&mechanics.parameters, problem.given].concat();
        let whole = match mechanics.backend {
            Backend::Jit => NewtonKernel::new(&NewtonProblem { given: &given, ..*problem }).ok(),
            Backend::Interpreter => None,
        };
        let method = match whole {
            Some(kernel) => Method::Whole { kernel, later: Arc::new(Later::new(mechanics, problem)), parts: None },
            None => Method::Parts(Box::new(Parts::new(mechanics, problem)?)),
        };
        Ok(Newton { method, iterations: 0 })
    }

    /// Keeps the sequence of pivots from one solution to the next, until [`Newton::forget`].
    pub fn keeping_pivots(mut self) -> Newton {
        if let Method::Parts(parts) = &mut self.method {
            parts.slopes = Linear::keeping_pivots(parts.n, &parts.places);
        }
        self
    }

    /// Forgets the sequence of pivots.
    pub fn forget(&mut self) {
        if let Method::Parts(parts) = &mut self.method {
            parts.slopes.forget();
        }
    }

    /// Solves from the guess at the end of `inputs`, and replaces it by the solution. Writes the results and the next carried
    /// inputs.
    pub fn solve(&mut self, inputs: &mut [f64], results: &mut [f64]) -> std::result::Result<(), NoSolution> {
        let status = match &mut self.method {
            Method::Whole { kernel, .. } => kernel.solve(inputs, results),
            Method::Parts(_) => (NewtonStatus::Unfinished, 0),
        };
        self.go_on(status, inputs, results)
    }

    /// Like [`Newton::solve`], but reads the state from `state`. The state may or may not be copied to `inputs`.
    pub fn solve_from(
        &mut self,
        state: &[f64],
        inputs: &mut [f64],
        results: &mut [f64],
    ) -> std::result::Result<(), NoSolution> {
        let status = match &mut self.method {
            Method::Whole { kernel, .. } => kernel.solve_from(state, inputs, results),
            Method::Parts(_) => (NewtonStatus::Unfinished, 0),
        };
        if matches!(status.0, NewtonStatus::Unfinished | NewtonStatus::Singular) {
            let place = match &self.method {
                Method::Whole { later, .. } => later.state(),
                Method::Parts(parts) => parts.state.clone(),
            };
            inputs[place].copy_from_slice(state);
        }
        self.go_on(status, inputs, results)
    }

    /// Goes on in parts if the iteration is not finished. Whether a matrix is singular is decided there too: the compiled
    /// elimination does not know the units of an unknown whose entry on the diagonal happens to be zero.
    fn go_on(
        &mut self,
        (status, iterations): (NewtonStatus, usize),
        inputs: &mut [f64],
        results: &mut [f64],
    ) -> std::result::Result<(), NoSolution> {
        self.iterations = iterations;
        match status {
            NewtonStatus::Solved => return Ok(()),
            NewtonStatus::Diverged => return Err(NoSolution::Diverged),
            NewtonStatus::Unfinished | NewtonStatus::Singular => {}
        }
        self.iterations = self.parts()?.solve(inputs, results, iterations)?;
        Ok(())
    }

    fn parts(&mut self) -> std::result::Result<&mut Parts, NoSolution> {
        match &mut self.method {
            Method::Parts(parts) => Ok(parts),
            Method::Whole { later, parts, .. } => {
                if parts.is_none() {
                    *parts = later.parts();
                }
                parts.as_deref_mut().ok_or(NoSolution::Diverged)
            }
        }
    }

    /// Like [`Newton::solve`], for strongly nonlinear equations: a correction is halved until the one that would follow it is
    /// smaller. [Deuflhard 2004, §3.3]
    #[cold]
    pub fn solve_carefully(&mut self, inputs: &mut [f64], results: &mut [f64]) -> std::result::Result<(), NoSolution> {
        self.iterations = self.parts()?.solve_carefully(inputs, results)?;
        Ok(())
    }

    /// The number of iterations of the last solve.
    pub fn iterations(&self) -> usize {
        self.iterations
    }
}

impl Parts {
    fn new(mechanics: &Mechanics, problem: &NewtonProblem) -> Result<Parts> {
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
            terms: Arc::new(Terms::new(&[&mechanics.parameters, &inputs[..]].concat(), problem.residuals)),
            room: Vec::new(),
            results: mechanics.kernel(&inputs, &[problem.results, problem.next].concat())?,
            state: carried.end..carried.end + problem.state.len(),
            carried,
            n,
            slopes: Linear::new(n, &places),
            places,
            values: vec![0.0; equations.len()],
            sizes: vec![0.0; n],
            correction: vec![0.0; n],
            next: vec![0.0; n],
            outputs: vec![0.0; problem.results.len() + problem.next.len()],
        })
    }

    /// Like [`Newton::solve`], after a number of iterations that were made elsewhere. Returns the number of iterations.
    fn solve(
        &mut self,
        inputs: &mut [f64],
        results: &mut [f64],
        iterations: usize,
    ) -> std::result::Result<usize, NoSolution> {
        let mut rule = StopRule::after(iterations);
        // How far the unknowns have moved since their slopes were factored, and in the last correction, both relative to each. Where they
        // have hardly moved, the factors serve more corrections.
        let (mut age, mut previous, mut reused) = (f64::INFINITY, f64::INFINITY, 0);
        loop {
            self.equations.eval(inputs, &mut self.values);
            let is_fresh = age > FACTORS_LAST || age.is_nan();
            let may_end = rule.iterations >= RESIDUALS_COUNT;
            if is_fresh {
                if may_end && self.is_roundoff(inputs, &mut rule) {
                    break;
                }
                if !self.slopes.factor(&self.values[self.n..]) {
                    return Err(NoSolution::Singular);
                }
                age = 0.0;
            } else {
                reused += 1;
            }
            let moved = self.find_correction(inputs);
            // What remains is the correction times the error of the slopes.
            let is_small = moved <= LAST_CORRECTION && moved * age <= LAST_CORRECTION * LAST_CORRECTION;
            if !is_fresh && !is_small && may_end && self.is_roundoff(inputs, &mut rule) {
                break;
            }
            let x = &mut inputs[self.state.end..];
            x.iter_mut().zip(&self.correction).for_each(|(x, dx)| *x -= dx);
            if rule.is_last(&self.correction, x)? && is_small {
                break;
            }
            let shrinks = is_fresh || moved <= FACTORS_SHRINK * previous;
            age = if shrinks { age + moved } else { f64::INFINITY };
            previous = moved;
        }
        self.finish(inputs, results);
        // Those with the same factors are together worth about one.
        Ok(rule.iterations - usize::saturating_sub(reused, 1))
    }

    /// See [`Newton::solve_carefully`].
    fn solve_carefully(&mut self, inputs: &mut [f64], results: &mut [f64]) -> std::result::Result<usize, NoSolution> {
        let (mut rule, first) = (StopRule::default(), self.state.end);
        let mut start = inputs[first..].to_vec();
        for count in 1..=MAX_CAREFUL {
            self.equations.eval(inputs, &mut self.values);
            if self.is_roundoff(inputs, &mut rule) {
                self.finish(inputs, results);
                return Ok(count);
            }
            if !self.slopes.factor(&self.values[self.n..]) {
                return Err(NoSolution::Singular);
            }
            self.find_correction(inputs);
            start.copy_from_slice(&inputs[first..]);
            let sizes: Vec<f64> = start.iter().zip(&self.correction).map(|(x, dx)| x.abs() + dx.abs()).collect();
            let size = largest_part(&self.correction, &sizes);
            let mut part = 1.0;
            for _ in 0..HALVINGS_OF_CORRECTION {
                let moved = start.iter().zip(&self.correction).map(|(x, dx)| x - part * dx);
                inputs[first..].iter_mut().zip(moved).for_each(|(x, moved)| *x = moved);
                self.equations.eval(inputs, &mut self.values);
                self.slopes.solve(&self.values[..self.n], &mut self.next);
                // Not a number where the equations are not defined.
                if largest_part(&self.next, &sizes) <= (1.0 - 0.5 * part) * size {
                    break;
                }
                part *= 0.5;
            }
            if part == 1.0 && StopRule::default().is_last(&self.correction, &inputs[first..])? {
                self.finish(inputs, results);
                return Ok(count);
            }
        }
        Err(NoSolution::Diverged)
    }

    /// True if the residuals are roundoff of their terms, and of the terms ∂rᵢ/∂xⱼ·xⱼ.
    fn is_roundoff(&mut self, inputs: &[f64], rule: &mut StopRule) -> bool {
        let (r, slopes) = self.values.split_at(self.n);
        self.terms.eval(inputs, &mut self.room, &mut self.sizes);
        let x = &inputs[self.state.end..];
        for (&(i, j), slope) in self.places.iter().zip(slopes) {
            self.sizes[i] += (slope * x[j]).abs();
        }
        if rule.iterations >= VERY_LATE {
            reach(&mut self.sizes, &self.places, slopes);
        }
        rule.is_roundoff(largest_part(r, &self.sizes))
    }

    /// Solves ∂r/∂x·dx = r with the slopes that were factored last. Returns the largest |dxᵢ|/|xᵢ − dxᵢ|.
    fn find_correction(&mut self, inputs: &[f64]) -> f64 {
        self.slopes.solve(&self.values[..self.n], &mut self.correction);
        let x = &inputs[self.state.end..];
        let part = |(dx, x): (&f64, &f64)| if dx.abs() <= NOTHING { 0.0 } else { (dx / (x - dx)).abs() };
        self.correction.iter().zip(x).map(part).fold(0.0, larger)
    }

    /// Writes the results and the next carried inputs.
    fn finish(&mut self, inputs: &mut [f64], results: &mut [f64]) {
        self.results.eval(inputs, &mut self.outputs);
        let (values, next) = self.outputs.split_at(results.len());
        results.copy_from_slice(values);
        inputs[self.carried.clone()].copy_from_slice(next);
    }
}

/// Adds to the sum sᵢ of absolute terms of each equation how far the others let it move. Equation j, the balance of momenta of a
/// coordinate, determines its unknown up to roundoff of Vⱼ:
///
/// ```text
/// sᵢ ← sᵢ + Σⱼ |∂rᵢ/∂xⱼ| Vⱼ,   Vⱼ = sⱼ/|∂rⱼ/∂xⱼ|
/// ```
///
/// A constraint that keeps a coordinate at zero has no terms but that coordinate, which is roundoff of the forces on it.
#[cold]
fn reach(sizes: &mut [f64], places: &[(usize, usize)], slopes: &[f64]) {
    let mut moves = vec![0.0; sizes.len()];
    for (&(i, j), slope) in places.iter().zip(slopes) {
        if i == j && *slope != 0.0 {
            moves[j] = sizes[j] / slope.abs();
        }
    }
    for (&(i, j), slope) in places.iter().zip(slopes) {
        sizes[i] += slope.abs() * moves[j];
    }
}
