//! The compilers to native code, and which of them is used.
//!
//! On x86-64 carom generates the code itself (`x64/`); elsewhere Cranelift does (`cranelift/`). Tests compare both on x86-64 if
//! the feature `cranelift` is on.

use std::cell::Cell;
use std::sync::OnceLock;

use super::newton::Equations;
use super::tape::Tape;
use super::{KernelError, cranelift, x64};

/// A way to make native code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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
    static COMPILATIONS: Cell<usize> = const { Cell::new(0) };
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

/// The number of times this thread has compiled native code.
pub fn compilations() -> usize {
    COMPILATIONS.get()
}

/// Counts a compilation by the current compiler.
pub(super) fn begin() -> Result<Compiler, KernelError> {
    COMPILATIONS.set(COMPILATIONS.get() + 1);
    Compiler::current().ok_or_else(|| KernelError::Unsupported("the feature `jit` is off".into()))
}

/// A function in native code.
#[derive(Debug)]
pub(super) enum Native {
    Own(x64::Native),
    Cranelift(cranelift::Native),
}

impl Native {
    /// Compiles a tape. The outputs are written, and nothing is returned.
    pub(super) fn kernel(tape: &Tape) -> Result<Native, KernelError> {
        Ok(match begin()? {
            Compiler::Cranelift => Native::Cranelift(cranelift::Native::kernel(tape)?),
            own => Native::Own(x64::Native::kernel(tape, own)?),
        })
    }

    /// Compiles Newton's method. The function returns a status and, above its 8 bits, the number of iterations.
    pub(super) fn newton(equations: &Equations) -> Result<Native, KernelError> {
        Ok(match begin()? {
            Compiler::Cranelift => Native::Cranelift(cranelift::Native::newton(equations)?),
            own => Native::Own(x64::Native::newton(equations, own)?),
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
