//! Kernels: lists of expressions as functions of `f64`.
//!
//! The expressions are lowered to one [`Tape`], which computes each shared subexpression once. The tape is compiled to native
//! code at run time (feature `jit`), or interpreted if that is not possible. Everything that may change between calls is an
//! input, including parameters, so nothing is compiled twice. The tape may group factors and replace divisions by products with
//! a reciprocal ([`Tape`]). Apart from that, its arithmetic and √ are exactly those of Rust. In native code, sin and cos are
//! within 1 ulp for arguments up to 10⁶; all other functions are those of the standard library.
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

#[cfg(feature = "jit")]
mod calls;
mod compiler;
#[cfg(all(feature = "jit", any(feature = "cranelift", not(target_arch = "x86_64"))))]
mod cranelift;
#[cfg(not(all(feature = "jit", any(feature = "cranelift", not(target_arch = "x86_64")))))]
#[path = "cranelift/absent.rs"]
mod cranelift;
#[cfg(feature = "jit")]
mod eliminate;
mod interpret;
mod lanes;
mod lower;
mod newton;
mod scratch;
mod shared;
mod sincos;
mod steps;
mod tape;
#[cfg(all(feature = "jit", target_arch = "x86_64"))]
mod x64;
#[cfg(not(all(feature = "jit", target_arch = "x86_64")))]
#[path = "x64/absent.rs"]
mod x64;

use std::fmt;
use std::sync::Arc;

use crate::expr::Expr;
use compiler::Native;
pub use compiler::{Compiler, Spent, compilations, spent};
use interpret::Program;
pub use lanes::{LaneKernel, Lanes};
pub use newton::{NewtonKernel, NewtonProblem, NewtonStatus};
use shared::{Key, Kind, Lazy, Table};
pub(crate) use sincos::turns;
pub(crate) use steps::{Motion, StepKernel, Sum, Tableau};
pub use tape::{Instr, Reg, Tape, UnboundSymbol};

/// How a kernel is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// Interpreted.
    Interpreter,
    /// Compiled to native code.
    Jit,
}

impl Backend {
    /// The compiler in use; none for the interpreter.
    fn compiler(self) -> Result<Option<Compiler>, KernelError> {
        let none = || KernelError::Unsupported("the feature `jit` is off".into());
        match self {
            Backend::Interpreter => Ok(None),
            Backend::Jit => Compiler::current().ok_or_else(none).map(Some),
        }
    }
}

/// The reason why a kernel could not be created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KernelError {
    /// A symbol is not among the inputs.
    Unbound(UnboundSymbol),
    /// Native code is not available on this machine, or the feature `jit` is off; with the reason.
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

/// A list of expressions as a function. It is compiled on its first call. Kernels of the same expressions share the code, which
/// is freed with the last of them.
#[derive(Clone, Debug)]
pub struct Kernel {
    inputs: usize,
    outputs: usize,
    /// None if it is interpreted.
    compiler: Option<Compiler>,
    code: Arc<Lazy<Code>>,
}

#[derive(Debug)]
enum Code {
    Interpreted(Program),
    Compiled(Native),
}

impl Code {
    /// Compiles a tape if there is a compiler and it can, otherwise interprets it.
    fn new(tape: &Tape, compiler: Option<Compiler>) -> Code {
        match compiler.map(|compiler| Native::kernel(tape, compiler)) {
            Some(Ok(native)) => Code::Compiled(native),
            _ => Code::Interpreted(Program::new(tape)),
        }
    }
}

impl Kernel {
    /// Creates `outputs` as a function of the symbols `inputs`, as native code if possible.
    pub fn new(inputs: &[Expr], outputs: &[Expr]) -> Result<Kernel, KernelError> {
        Kernel::by(Compiler::current(), inputs, outputs)
    }

    /// Like [`Kernel::new`], with this backend, or an error if there is none.
    pub fn with_backend(inputs: &[Expr], outputs: &[Expr], backend: Backend) -> Result<Kernel, KernelError> {
        Kernel::by(backend.compiler()?, inputs, outputs)
    }

    fn by(compiler: Option<Compiler>, inputs: &[Expr], outputs: &[Expr]) -> Result<Kernel, KernelError> {
        static KNOWN: Table<Lazy<Code>> = Table::new();
        let key = Key::new(inputs, outputs, Kind::One, compiler);
        let code = KNOWN.find(key, || Tape::new(inputs, outputs).map(Lazy::new))?;
        Ok(Kernel { inputs: inputs.len(), outputs: outputs.len(), compiler, code })
    }

    /// Compiles a tape, with the preferred backend if possible.
    pub fn of_tape(tape: &Tape, backend: Backend) -> Kernel {
        let compiler = backend.compiler().unwrap_or_default();
        let code = Arc::new(Lazy::of(Code::new(tape, compiler)));
        Kernel { inputs: tape.inputs(), outputs: tape.outputs().len(), compiler, code }
    }

    /// Compiles a tape with this backend, or returns an error.
    pub fn from_tape(tape: &Tape, backend: Backend) -> Result<Kernel, KernelError> {
        backend.compiler()?;
        Ok(Kernel::of_tape(tape, backend))
    }

    #[inline]
    fn code(&self) -> &Code {
        self.code.get(|tape| Code::new(tape, self.compiler))
    }

    /// The backend in use.
    pub fn backend(&self) -> Backend {
        match self.code() {
            Code::Interpreted(_) => Backend::Interpreter,
            Code::Compiled(_) => Backend::Jit,
        }
    }

    /// Evaluates the outputs at the inputs `x`. Does not allocate, but for the first call. (The interpreter allocates on its
    /// first call in a thread.)
    ///
    /// # Panics
    ///
    /// If the length of `x` or `out` differs from the number of inputs or outputs.
    #[inline]
    pub fn eval(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!(x.len(), self.inputs, "number of inputs");
        assert_eq!(out.len(), self.outputs, "number of outputs");
        match self.code() {
            Code::Interpreted(program) => program.eval(x, out),
            // SAFETY: the lengths were just compared with those of the compiled tape. A kernel does not write its inputs.
            Code::Compiled(code) => _ = unsafe { code.call(x.as_ptr().cast_mut(), std::ptr::null(), out.as_mut_ptr()) },
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

    /// Compiled when they are first called, once for all kernels of the same expressions.
    #[test]
    fn the_same_outputs_are_compiled_once() {
        let [x, y] = ["x", "y"].map(Expr::symbol);
        let make = || Kernel::new(&[x, y], &[x * y.exp(), x + y]).expect("both are inputs");
        let before = compilations();
        let kernels = [make(), make()];
        assert_eq!(compilations(), before);
        let mut out = [0.0; 2];
        kernels.iter().for_each(|kernel| kernel.eval(&[2.0, 0.0], &mut out));
        make().eval(&[2.0, 0.0], &mut out);
        assert_eq!((compilations() - before, out), (Compiler::all().len().min(1), [2.0, 2.0]));
    }

    #[test]
    #[should_panic(expected = "number of inputs")]
    fn lengths_are_checked() {
        let x = Expr::symbol("x");
        Kernel::new(&[x], &[x]).expect("x is bound").eval(&[], &mut [0.0]);
    }
}
