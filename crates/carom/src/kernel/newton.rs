//! Newton's method compiled to one function.

use std::ops::Range;
use std::sync::Arc;

use super::compiler::Native;
use super::shared::{Key, Kind, Table};
use super::tape::{Reg, Tape};
use super::{Backend, KernelError};
use crate::expr::{Expr, jacobian};

/// The largest number of unknowns.
const MAX_UNKNOWNS: usize = 8;
/// The longest tape. Longer ones take too long to compile, and gain little.
const MAX_LENGTH: usize = 3_000;

/// The result of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NewtonStatus {
    /// It found a solution.
    Solved = 0,
    /// The Jacobian ∂r/∂x is singular.
    Singular = 1,
    /// A number is not finite.
    Diverged = 2,
    /// It has not converged yet: the last unknowns are at the end of the inputs.
    Unfinished = 3,
}

/// Equations r = 0 for the unknowns, and results to compute from the solution.
///
/// The inputs are `given`, `carried`, `state` and `unknowns`, in this order.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewtonProblem<'a> {
    /// Inputs that are given.
    pub given: &'a [Expr],
    /// Inputs that are given and, after the solution, replaced by `next`.
    pub carried: &'a [Expr],
    /// Inputs that are given and may be read from a separate array.
    pub state: &'a [Expr],
    /// The unknowns.
    pub unknowns: &'a [Expr],
    /// The residuals r, as many as there are unknowns.
    pub residuals: &'a [Expr],
    /// The expressions to evaluate at the solution.
    pub results: &'a [Expr],
    /// The carried inputs of the next problem, evaluated at the solution.
    pub next: &'a [Expr],
}

impl NewtonProblem<'_> {
    /// All inputs in order.
    pub fn inputs(&self) -> Vec<Expr> {
        [self.given, self.carried, self.state, self.unknowns].concat()
    }

    /// r, then ∂r/∂x by rows.
    pub fn equations(&self) -> Vec<Expr> {
        let slopes = jacobian(self.residuals, self.unknowns).concat();
        [self.residuals, &slopes].concat()
    }
}

/// The function as one tape (r, ∂r/∂x by rows, the results, the next carried inputs), and the phase in which each instruction
/// runs.
#[derive(Debug)]
#[cfg_attr(not(feature = "jit"), allow(dead_code))]
pub(super) struct Equations {
    pub(super) tape: Tape,
    /// The number of unknowns.
    pub(super) n: usize,
    /// For each row of ∂r/∂x, true if its entry on the diagonal is always zero.
    pub(super) is_bordered: Vec<bool>,
    /// The indices of the carried inputs and of the state.
    pub(super) carried: Range<usize>,
    pub(super) state: Range<usize>,
    /// For each instruction, true if it does not depend on x.
    pub(super) is_fixed: Vec<bool>,
    /// For each instruction, true if it depends on x and the equations need it.
    pub(super) is_iterated: Vec<bool>,
    /// For each instruction, true if it depends on x and the results need it.
    pub(super) is_final: Vec<bool>,
}

impl Equations {
    fn new(problem: &NewtonProblem) -> Result<Equations, KernelError> {
        let n = problem.unknowns.len();
        let equations = problem.equations();
        let is_bordered = (0..n).map(|i| equations[n + i * n + i].is_zero()).collect();
        let tape = Tape::new(&problem.inputs(), &[&equations, problem.results, problem.next].concat())?;
        let (first, outputs) = (tape.inputs() - n, tape.outputs().split_at(n + n * n));
        let is_fixed: Vec<bool> = depends_on(&tape, first).iter().map(|depends| !depends).collect();
        let moving = |outputs: &[Reg]| -> Vec<bool> {
            needed_by(&tape, outputs).iter().zip(&is_fixed).map(|(needed, fixed)| *needed && !fixed).collect()
        };
        let (is_iterated, is_final) = (moving(outputs.0), moving(outputs.1));
        let carried = problem.given.len()..problem.given.len() + problem.carried.len();
        let state = carried.end..first;
        Ok(Equations { n, is_bordered, state, carried, is_fixed, is_iterated, is_final, tape })
    }

    /// The registers of r and ∂r/∂x, of the results, and of the next carried inputs.
    #[cfg_attr(not(feature = "jit"), allow(dead_code))]
    pub(super) fn outputs(&self) -> [&[Reg]; 3] {
        let (equations, rest) = self.tape.outputs().split_at(self.n + self.n * self.n);
        let (results, next) = rest.split_at(rest.len() - self.carried.len());
        [equations, results, next]
    }
}

/// For each instruction, true if its result depends on an input with index `first` or higher.
fn depends_on(tape: &Tape, first: usize) -> Vec<bool> {
    let mut values = vec![false; tape.values()];
    values[first..tape.inputs()].fill(true);
    let instructions = tape.instructions();
    instructions
        .map(|(result, instr)| {
            let depends = instr.operands().any(|r| values[r.index()]);
            values[result.index()..][..instr.results()].fill(depends);
            depends
        })
        .collect()
}

/// For each instruction, true if these outputs need it.
fn needed_by(tape: &Tape, outputs: &[Reg]) -> Vec<bool> {
    let mut values = vec![false; tape.values()];
    outputs.iter().for_each(|r| values[r.index()] = true);
    let instructions: Vec<_> = tape.instructions().collect();
    let mut needed = vec![false; instructions.len()];
    for (at, (result, instr)) in instructions.into_iter().enumerate().rev() {
        needed[at] = values[result.index()..][..instr.results()].contains(&true);
        if needed[at] {
            instr.operands().for_each(|r| values[r.index()] = true);
        }
    }
    needed
}

/// A problem that one native function solves, for few unknowns. There is no interpreted form; [`crate::mechanics::Newton`]
/// handles the other cases.
#[derive(Clone, Debug)]
pub struct NewtonKernel {
    inputs: usize,
    state: Range<usize>,
    results: usize,
    code: Arc<Native>,
}

impl NewtonKernel {
    /// Compiles the function.
    pub fn new(problem: &NewtonProblem) -> Result<NewtonKernel, KernelError> {
        let n = problem.unknowns.len();
        if n == 0 || n > MAX_UNKNOWNS {
            return Err(KernelError::Unsupported(format!("{n} unknowns, not 1 to {MAX_UNKNOWNS}")));
        }
        static KNOWN: Table<Native> = Table::new();
        let Some(compiler) = Backend::Jit.compiler()? else {
            return Err(KernelError::Unsupported("there is no compiler".into()));
        };
        let (given, carried) = (problem.given.len(), problem.carried.len());
        let outputs = [problem.residuals, problem.results, problem.next].concat();
        let key = Key::new(&problem.inputs(), &outputs, Kind::Newton([given, carried, n]), Some(compiler));
        let code = KNOWN.find(key, || {
            let equations = Equations::new(problem)?;
            let length = equations.tape.len();
            if length > MAX_LENGTH {
                return Err(KernelError::Unsupported(format!("{length} instructions, more than {MAX_LENGTH}")));
            }
            Native::newton(&equations, compiler)
        })?;
        let state = given + carried..given + carried + problem.state.len();
        Ok(NewtonKernel { inputs: state.end + n, state, results: problem.results.len(), code })
    }

    /// Solves from the guess at the end of `inputs`, and replaces it by the solution. Writes the results and the next carried
    /// inputs. Returns the status and the number of iterations. Does not allocate.
    ///
    /// # Panics
    ///
    /// If the length of `inputs` or `results` differs from that of the compiled lists.
    pub fn solve(&self, inputs: &mut [f64], results: &mut [f64]) -> (NewtonStatus, usize) {
        assert_eq!(inputs.len(), self.inputs, "number of inputs");
        assert_eq!(results.len(), self.results, "number of results");
        // SAFETY: the lengths were just compared.
        unsafe { self.call(inputs.as_mut_ptr(), inputs.as_ptr().add(self.state.start), results.as_mut_ptr()) }
    }

    /// Like [`NewtonKernel::solve`], but reads the state from `state`: copying values that were just computed would stall.
    ///
    /// # Panics
    ///
    /// If the length of a slice differs from that of the compiled lists.
    pub fn solve_from(&self, state: &[f64], inputs: &mut [f64], results: &mut [f64]) -> (NewtonStatus, usize) {
        assert_eq!(inputs.len(), self.inputs, "number of inputs");
        assert_eq!(state.len(), self.state.len(), "number of inputs that are the state");
        assert_eq!(results.len(), self.results, "number of results");
        // SAFETY: the lengths were just compared.
        unsafe { self.call(inputs.as_mut_ptr(), state.as_ptr(), results.as_mut_ptr()) }
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// The pointers must point to as many numbers as there are inputs, state inputs and results.
    unsafe fn call(&self, inputs: *mut f64, state: *const f64, results: *mut f64) -> (NewtonStatus, usize) {
        // SAFETY: the caller guarantees the pointers.
        let code = unsafe { self.code.call(inputs, state, results) };
        match code & 0xff {
            0 => (NewtonStatus::Solved, (code >> 8) as usize),
            1 => (NewtonStatus::Singular, 0),
            3 => (NewtonStatus::Unfinished, (code >> 8) as usize),
            _ => (NewtonStatus::Diverged, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_is_where_it_is_needed() {
        let [a, x] = ["a", "x"].map(Expr::symbol);
        let (residual, result) = (a.exp() + x.exp(), a.exp() * x.cos());
        let problem = NewtonProblem {
            given: &[a],
            unknowns: &[x],
            residuals: &[residual],
            results: &[result],
            ..NewtonProblem::default()
        };
        let equations = Equations::new(&problem).expect("both are inputs");
        let count = |flags: &[bool]| flags.iter().filter(|&&flag| flag).count();
        assert_eq!(count(&equations.is_fixed), 1, "exp(a)");
        assert_eq!(count(&equations.is_iterated), 2, "exp(x), the sum");
        assert_eq!(count(&equations.is_final), 2, "cos(x), the product");
    }
}
