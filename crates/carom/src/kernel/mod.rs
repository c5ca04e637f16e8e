//! Kernels: lists of expressions as functions of `f64`.
//!
//! The expressions are lowered to one [`Tape`], on which a shared subexpression stands once, and the tape is compiled to
//! native code while the program runs (feature `jit`), or interpreted where that is not possible. Everything that may
//! change between two calls is an input, parameters too, so that nothing is compiled twice. The
//! tape may group factors and divide by way of a reciprocal ([`Tape`]); its arithmetic and √ are then exactly those of
//! Rust, sin and cos in native code are within 1 ulp up to 10⁶, and all else is the standard library's.
//!
//! ```
//! use carom::lab::expr::Expr;
//! use carom::lab::kernel::Kernel;
//!
//! let (theta, length) = (Expr::symbol("theta"), Expr::symbol("L"));
//! let position = [length * theta.sin(), -length * theta.cos()];
//! let kernel = Kernel::new(&[theta, length], &position)?;
//!
//! let mut out = [0.0; 2];
//! kernel.eval(&[0.0, 2.0], &mut out);
//! assert_eq!(out, [0.0, -2.0]);
//! # Ok::<(), carom::lab::kernel::KernelError>(())
//! ```

mod interpret;
#[cfg(feature = "jit")]
mod jit;
mod lanes;
mod lower;
mod newton;
mod scratch;
mod tape;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::expr::Expr;
use interpret::Program;
pub use lanes::{LaneKernel, Lanes};
pub use newton::{NewtonKernel, NewtonStatus, Problem};
pub use tape::{Instr, Reg, Tape, UnboundSymbol};

thread_local! {
    static COMPILATIONS: Cell<usize> = const { Cell::new(0) };
}

/// How often this thread has compiled native code.
pub fn compilations() -> usize {
    COMPILATIONS.get()
}

#[cfg(feature = "jit")]
fn count_compilation() {
    COMPILATIONS.set(COMPILATIONS.get() + 1);
}

/// How a kernel is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// Instruction by instruction.
    Interpreter,
    /// As native code.
    Jit,
}

/// A kernel could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KernelError {
    /// A symbol is no input.
    Unbound(UnboundSymbol),
    /// There is no native code for this machine, or the feature `jit` is off. Says why.
    Unsupported(String),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            KernelError::Unbound(e) => e.fmt(f),
            KernelError::Unsupported(why) => write!(f, "cannot compile to native code: {why}"),
        }
    }
}

impl std::error::Error for KernelError {}

impl From<UnboundSymbol> for KernelError {
    fn from(e: UnboundSymbol) -> KernelError {
        KernelError::Unbound(e)
    }
}

/// A list of expressions as a function of numbers. Clones share the code, which is freed with the last of them.
#[derive(Clone, Debug)]
pub struct Kernel {
    inputs: usize,
    outputs: usize,
    code: Code,
}

#[derive(Clone, Debug)]
enum Code {
    Interpreted(Arc<Program>),
    #[cfg(feature = "jit")]
    Compiled(Arc<jit::Compiled>),
}

impl Kernel {
    /// The function from `inputs`, which are symbols, to `outputs`: native code where possible.
    pub fn new(inputs: &[Expr], outputs: &[Expr]) -> Result<Kernel, KernelError> {
        Ok(Kernel::of_tape(&Tape::new(inputs, outputs)?, Backend::Jit))
    }

    /// The function that a tape describes, by the backend of choice where possible.
    pub fn of_tape(tape: &Tape, backend: Backend) -> Kernel {
        Kernel::from_tape(tape, backend).unwrap_or_else(|_| Kernel::interpreted(tape))
    }

    /// The same by the backend of choice.
    pub fn with_backend(inputs: &[Expr], outputs: &[Expr], backend: Backend) -> Result<Kernel, KernelError> {
        Kernel::from_tape(&Tape::new(inputs, outputs)?, backend)
    }

    /// The function that a tape describes, by the backend of choice or not at all.
    pub fn from_tape(tape: &Tape, backend: Backend) -> Result<Kernel, KernelError> {
        match backend {
            Backend::Interpreter => Ok(Kernel::interpreted(tape)),
            #[cfg(feature = "jit")]
            Backend::Jit => {
                count_compilation();
                let code = Code::Compiled(Arc::new(jit::Compiled::new(tape)?));
                Ok(Kernel { inputs: tape.inputs(), outputs: tape.outputs().len(), code })
            }
            #[cfg(not(feature = "jit"))]
            Backend::Jit => Err(KernelError::Unsupported("the feature `jit` is off".into())),
        }
    }

    fn interpreted(tape: &Tape) -> Kernel {
        let code = Code::Interpreted(Arc::new(Program::new(tape)));
        Kernel { inputs: tape.inputs(), outputs: tape.outputs().len(), code }
    }

    /// How it is run.
    pub fn backend(&self) -> Backend {
        match self.code {
            Code::Interpreted(_) => Backend::Interpreter,
            #[cfg(feature = "jit")]
            Code::Compiled(_) => Backend::Jit,
        }
    }

    /// Computes the outputs at the inputs `x`. Allocates nothing (the interpreter: after its first call in a thread).
    ///
    /// # Panics
    ///
    /// If `x` or `out` is not as long as the list of inputs or outputs.
    #[inline]
    pub fn eval(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!(x.len(), self.inputs, "number of inputs");
        assert_eq!(out.len(), self.outputs, "number of outputs");
        match &self.code {
            Code::Interpreted(program) => program.eval(x, out),
            #[cfg(feature = "jit")]
            // SAFETY: the lengths were just compared with those of the tape that was compiled.
            Code::Compiled(code) => unsafe { code.call(x.as_ptr(), out.as_mut_ptr()) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_cross_threads_and_outlive_their_clones() {
        fn is_send_and_sync<T: Send + Sync>(_: &T) {}
        let x = Expr::symbol("x");
        let kernel = Kernel::new(&[x], &[x.squared() + 1.0]).expect("x is bound");
        is_send_and_sync(&kernel);
        let clone = kernel.clone();
        drop(kernel);
        let value = std::thread::spawn(move || {
            let mut out = [0.0];
            clone.eval(&[3.0], &mut out);
            out[0]
        });
        assert_eq!(value.join().expect("eval does not panic"), 10.0);
    }

    #[test]
    #[should_panic(expected = "number of inputs")]
    fn lengths_are_checked() {
        let x = Expr::symbol("x");
        Kernel::new(&[x], &[x]).expect("x is bound").eval(&[], &mut [0.0]);
    }
}
