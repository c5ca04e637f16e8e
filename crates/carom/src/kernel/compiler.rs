//! The compilers to native code, and which of them is used.
//!
//! On x86-64 carom generates the code itself (`x64/`); elsewhere Cranelift does (`cranelift/`). Tests compare both on x86-64 if
//! the feature `cranelift` is on.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::newton::Equations;
use super::tape::Tape;
use super::{KernelError, cranelift, x64};

/// A way to make native code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Compiler {
    /// Cranelift.
    Cranelift,
    /// Carom's own, for every x86-64 processor. There are no lanes.
    Sse2,
    /// Carom's own, with AVX2 and FMA: up to four lanes in a vector.
    Avx2,
    /// Carom's own, with AVX-512: up to eight lanes in a vector.
    Avx512,
}

thread_local! {
    static CHOSEN: Cell<Option<Compiler>> = const { Cell::new(None) };
    static SPENT: Cell<Spent> = const { Cell::new(Spent { compilations: 0, tape: Duration::ZERO, code: Duration::ZERO }) };
}

impl Compiler {
    /// Those that make code for this machine, the best one last. Without the feature `jit` there are none.
    pub fn all() -> Vec<Compiler> {
        let cranelift = cranelift::IS_BUILT.then_some(Compiler::Cranelift);
        let own = [Compiler::Sse2, Compiler::Avx2, Compiler::Avx512];
        cranelift.into_iter().chain(own.into_iter().filter(|own| Some(*own) <= x64::best())).collect()
    }

    /// Compiles all kernels that `f` makes on this thread with this compiler.
    pub fn within<R>(self, f: impl FnOnce() -> R) -> R {
        struct Restore(Option<Compiler>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CHOSEN.set(self.0);
            }
        }
        let _restore = Restore(CHOSEN.replace(Some(self)));
        f()
    }

    /// The compiler in use: that of [`Compiler::within`], or the one that the environment variable `CAROM_COMPILER` names
    /// (`sse2`, `avx2`, `avx512` or `cranelift`) if it is among [`Compiler::all`], or the best one.
    pub fn current() -> Option<Compiler> {
        static DEFAULT: OnceLock<Option<Compiler>> = OnceLock::new();
        CHOSEN.get().or_else(|| {
            *DEFAULT.get_or_init(|| {
                let (all, wanted) = (Compiler::all(), std::env::var("CAROM_COMPILER").unwrap_or_default());
                let named = all.iter().find(|compiler| format!("{compiler:?}").eq_ignore_ascii_case(&wanted));
                named.or(all.last()).copied()
            })
        })
    }
}

/// What kernels have cost this thread.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spent {
    /// How often native code was compiled.
    pub compilations: usize,
    /// The time for making tapes from expressions.
    pub tape: Duration,
    /// The time for making native code from tapes.
    pub code: Duration,
}

/// What kernels have cost this thread so far.
pub fn spent() -> Spent {
    SPENT.get()
}

/// The number of times this thread has compiled native code.
pub fn compilations() -> usize {
    spent().compilations
}

/// Makes a tape, and counts the time.
pub(super) fn count_tape<R>(make: impl FnOnce() -> R) -> R {
    let (begin, made) = (Instant::now(), make());
    let spent = spent();
    SPENT.set(Spent { tape: spent.tape + begin.elapsed(), ..spent });
    made
}

/// Compiles native code, and counts the time.
pub(super) fn count_code<R>(compile: impl FnOnce() -> R) -> R {
    let (begin, made) = (Instant::now(), compile());
    let spent = spent();
    SPENT.set(Spent { compilations: spent.compilations + 1, code: spent.code + begin.elapsed(), ..spent });
    made
}

/// A function in native code.
#[derive(Debug)]
pub(super) enum Native {
    Own(x64::Native),
    Cranelift(cranelift::Native),
}

impl Native {
    /// Compiles a tape. The outputs are written, and nothing is returned.
    pub(super) fn kernel(tape: &Tape, compiler: Compiler) -> Result<Native, KernelError> {
        count_code(|| match compiler {
            Compiler::Cranelift => cranelift::Native::kernel(tape).map(Native::Cranelift),
            own => x64::Native::kernel(tape, own).map(Native::Own),
        })
    }

    /// Compiles Newton's method. The function returns a status and, above its 8 bits, the number of iterations.
    pub(super) fn newton(equations: &Equations, compiler: Compiler) -> Result<Native, KernelError> {
        count_code(|| match compiler {
            Compiler::Cranelift => cranelift::Native::newton(equations).map(Native::Cranelift),
            own => x64::Native::newton(equations, own).map(Native::Own),
        })
    }

    /// Runs the code. Newton's method reads its state from an array of its own; its inputs are also written.
    ///
    /// # Safety
    ///
    /// The pointers must point to as many numbers as there are inputs, state inputs, and outputs.
    #[inline]
    pub(super) unsafe fn call(&self, inputs: *mut f64, state: *const f64, out: *mut f64) -> u32 {
        match self {
            // SAFETY: the caller guarantees the pointers.
            Native::Own(code) => unsafe { code.call(inputs, state, out) },
            // SAFETY: as above.
            Native::Cranelift(code) => unsafe { code.call(inputs, state, out) },
        }
    }
}
