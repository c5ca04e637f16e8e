//! Kernels that evaluate several states at once, such as the stages of a collocation or the members of an ensemble.
//!
//! Cranelift has no vectors of 256 bits, so lanes are native only where carom generates the code itself (`x64/`), with AVX2 and
//! FMA or AVX-512. Elsewhere blocks of lanes are interpreted.

use std::sync::Arc;

use super::compiler::count_code;
use super::interpret::Program;
use super::shared::{Key, Kind, Lazy, Table};
use super::{Backend, Compiler, KernelError, Tape, x64};
use crate::expr::Expr;

/// The number of states evaluated at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// Two.
    Two = 2,
    /// Four.
    Four = 4,
    /// Eight.
    Eight = 8,
}

impl Lanes {
    /// The number.
    pub fn count(self) -> usize {
        self as usize
    }

    /// The smallest number of lanes for `count` states.
    pub fn for_states(count: usize) -> Option<Lanes> {
        [Lanes::Two, Lanes::Four, Lanes::Eight].into_iter().find(|lanes| lanes.count() >= count)
    }
}

/// A list of expressions as a function that evaluates several states at once. It is compiled on its first call.
///
/// ```
/// use carom::lab::expr::Expr;
/// use carom::lab::kernel::{LaneKernel, Lanes};
///
/// let (theta, length) = (Expr::symbol("theta"), Expr::symbol("L"));
/// let position = [length * theta.sin(), -length * theta.cos()];
/// let kernel = LaneKernel::new(&[theta], &[length], &position, Lanes::Two)?;
///
/// let mut out = [0.0; 4];
/// kernel.eval(&[0.0, 0.5], &[2.0], &mut out);
/// assert_eq!(out[0], 0.0);
/// assert_eq!(out[2], -2.0);
/// # Ok::<(), carom::lab::kernel::KernelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaneKernel {
    lanes: Lanes,
    inputs: usize,
    /// The numbers that a call reads in all lanes, those that the lanes share, and those that it writes.
    sizes: [usize; 3],
    /// True if native code may have other roundoff than the interpreter.
    contracts: bool,
    /// None if it is interpreted.
    compiler: Option<Compiler>,
    code: Arc<Lazy<Code>>,
}

#[derive(Debug)]
enum Code {
    Interpreted(Program),
    Compiled(x64::Native),
}

impl LaneKernel {
    /// Compiles `outputs` as a function of `inputs`, which have one value per lane, and `shared` inputs, which are the same for
    /// all lanes; to native code if possible.
    pub fn new(inputs: &[Expr], shared: &[Expr], outputs: &[Expr], lanes: Lanes) -> Result<LaneKernel, KernelError> {
        match LaneKernel::with_backend(inputs, shared, outputs, lanes, Backend::Jit) {
            Err(KernelError::Unsupported(_)) => {
                LaneKernel::with_backend(inputs, shared, outputs, lanes, Backend::Interpreter)
            }
            made => made,
        }
    }

    /// Like [`LaneKernel::new`], with the preferred backend if possible.
    pub fn with_backend(
        inputs: &[Expr],
        shared: &[Expr],
        outputs: &[Expr],
        lanes: Lanes,
        backend: Backend,
    ) -> Result<LaneKernel, KernelError> {
        LaneKernel::made(inputs, shared, outputs, lanes, backend, false)
    }

    /// Like [`LaneKernel::with_backend`], but native code fuses products with the sum that needs them, and sin and cos take fewer
    /// operations. It is faster, and its results differ from those of the interpreter by roundoff. Sums of two products are not fused,
    /// so that equal products cancel.
    pub fn contracted(
        inputs: &[Expr],
        shared: &[Expr],
        outputs: &[Expr],
        lanes: Lanes,
        backend: Backend,
    ) -> Result<LaneKernel, KernelError> {
        LaneKernel::made(inputs, shared, outputs, lanes, backend, true)
    }

    fn made(
        inputs: &[Expr],
        shared: &[Expr],
        outputs: &[Expr],
        lanes: Lanes,
        backend: Backend,
        contracts: bool,
    ) -> Result<LaneKernel, KernelError> {
        static KNOWN: Table<Lazy<Code>> = Table::new();
        let compiler = backend.compiler()?;
        let kind = Kind::Lanes { inputs: inputs.len(), lanes: lanes.count(), contracts };
        let all = [inputs, shared].concat();
        let code = KNOWN.find(Key::new(&all, outputs, kind, compiler), || -> Result<Lazy<Code>, KernelError> {
            let tape = Tape::new(&all, outputs)?;
            compiler.map_or(Ok(()), |compiler| x64::check_lanes(&tape, compiler))?;
            Ok(Lazy::new(tape))
        })?;
        let sizes = [inputs.len() * lanes.count(), shared.len(), outputs.len() * lanes.count()];
        Ok(LaneKernel { lanes, inputs: inputs.len(), sizes, contracts, compiler, code })
    }

    #[inline]
    fn code(&self) -> &Code {
        self.code.get(|tape| {
            let compile =
                |compiler| x64::Native::lanes(tape, self.inputs, self.lanes.count(), self.contracts, compiler);
            match self.compiler.map(|compiler| count_code(|| compile(compiler))) {
                Some(Ok(native)) => Code::Compiled(native),
                _ => Code::Interpreted(Program::new(tape)),
            }
        })
    }

    /// The number of states evaluated at once.
    pub fn lanes(&self) -> Lanes {
        self.lanes
    }

    /// The backend in use.
    pub fn backend(&self) -> Backend {
        match self.code() {
            Code::Interpreted(_) => Backend::Interpreter,
            Code::Compiled(_) => Backend::Jit,
        }
    }

    /// Evaluates the outputs of all K lanes: input i of lane k is `x[i·K + k]`, output i of lane k is `out[i·K + k]`. Does not
    /// allocate, but for the first call. (The interpreter allocates on its first call in a thread.)
    ///
    /// # Panics
    ///
    /// If the length of a slice does not match the lists.
    #[inline]
    pub fn eval(&self, x: &[f64], shared: &[f64], out: &mut [f64]) {
        let [inputs, parameters, outputs] = self.sizes;
        let fits = x.len() == inputs && shared.len() == parameters && out.len() == outputs;
        assert!(fits, "numbers of inputs, shared inputs and outputs");
        match self.code() {
            // SAFETY: the lengths were just compared with those of the compiled tape.
            Code::Compiled(code) => _ = unsafe { code.call(x.as_ptr(), shared.as_ptr(), out.as_mut_ptr()) },
            Code::Interpreted(program) => self.interpret(program, x, shared, out),
        }
    }

    /// Evaluates without native code. It is not inlined, so that callers of native code stay short.
    #[cold]
    fn interpret(&self, program: &Program, x: &[f64], shared: &[f64], out: &mut [f64]) {
        match self.lanes {
            Lanes::Two => program.eval_lanes::<2>(x, shared, out),
            Lanes::Four => program.eval_lanes::<4>(x, shared, out),
            Lanes::Eight => program.eval_lanes::<8>(x, shared, out),
        }
    }
}
