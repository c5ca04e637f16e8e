//! Steps of an explicit Runge–Kutta method as one function.

use super::{Compiler, KernelError, Tape, x64};
use crate::kernel::compiler::count_code;

/// A weighted sum of stages: (stage, weight), without the zeros.
pub(crate) type Sum = &'static [(usize, f64)];

/// The coefficients of an explicit Runge–Kutta method with embedded formulas.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(all(feature = "jit", target_arch = "x86_64")),
    expect(dead_code, reason = "no steps are compiled there")
)]
pub(crate) struct Tableau {
    /// The time of each stage as a fraction of the step.
    pub(crate) c: &'static [f64],
    /// The sum of earlier stages for each stage.
    pub(crate) a: &'static [Sum],
    /// The sum for the end of the step.
    pub(crate) b: Sum,
    /// The sum for the error of the first embedded formula.
    pub(crate) error: Sum,
    /// The sum of the second embedded formula, with the other sign: its error is `b` and this.
    pub(crate) less_embedded: Sum,
}

/// The equations q̈ = a(t, q, v), and what is computed at the end of a step. Both tapes are functions of (t, q, v, parameters).
pub(crate) struct Motion<'a> {
    pub(crate) n: usize,
    /// → a
    pub(crate) field: &'a Tape,
    /// → a, and more
    pub(crate) node: &'a Tape,
}

impl Motion<'_> {
    /// The rows before a step: t, q, v, parameters, h, and the outputs of the node.
    pub(crate) fn rows_before(&self) -> usize {
        self.node.inputs() + 1 + self.node.outputs().len()
    }

    /// The rows after a step: t, q, v, the outputs of the node, and the errors of (q, v) by both embedded formulas, without
    /// the factor h.
    pub(crate) fn rows_after(&self) -> usize {
        1 + 2 * self.n + self.node.outputs().len() + 4 * self.n
    }
}

/// The longest code of a step, in operations: longer code does not stay in the cache.
const LONGEST: usize = 15_000;
/// The number of lanes of a block.
const LANES: usize = 8;
/// The blocks that take their stages in turns, if the code is not too long.
const BLOCKS: usize = 2;

/// One step of all lanes, with all stages, which stay in registers as far as they fit.
#[derive(Debug)]
pub(crate) struct StepKernel {
    native: x64::Native,
    blocks: usize,
    before: usize,
    after: usize,
}

impl StepKernel {
    /// Compiles a step; an error where there is no native code for lanes, or if it were too long.
    pub(crate) fn new(motion: &Motion, tableau: &Tableau) -> Result<StepKernel, KernelError> {
        let unsupported = |why: &str| KernelError::Unsupported(why.into());
        let compiler = Compiler::current().ok_or_else(|| unsupported("the feature `jit` is off"))?;
        x64::check_lanes(motion.node, compiler)?;
        let stages = tableau.a.len();
        let length = stages * (motion.field.len() + 2 * stages * motion.n) + motion.node.len();
        let blocks = (LONGEST / length).min(BLOCKS);
        if blocks == 0 {
            return Err(unsupported("the step is too long for one function"));
        }
        let native = count_code(|| x64::Native::steps(motion, tableau, (blocks, LANES), compiler))?;
        let [before, after] = [motion.rows_before(), motion.rows_after()].map(|rows| rows * blocks * LANES);
        Ok(StepKernel { native, blocks, before, after })
    }

    /// The number of blocks of eight lanes.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Makes a step in all lanes: row i of lane k of block b is at (b·rows + i)·8 + k.
    ///
    /// # Panics
    ///
    /// If the length of a slice does not match the rows.
    pub(crate) fn eval(&self, before: &[f64], after: &mut [f64]) {
        assert_eq!((before.len(), after.len()), (self.before, self.after), "rows before and after a step");
        // SAFETY: the lengths were just compared with those that the code reads and writes. There are no shared inputs.
        unsafe { self.native.call(before.as_ptr(), std::ptr::null(), after.as_mut_ptr()) };
    }
}
