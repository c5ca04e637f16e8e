//! Stands in for this compiler where it is not part of the build.

use crate::kernel::newton::Equations;
use crate::kernel::steps::{Motion, Tableau};
use crate::kernel::{Compiler, KernelError, Tape};

/// There is none.
#[derive(Debug)]
pub(super) enum Native {}

pub(super) fn best() -> Option<Compiler> {
    None
}

fn absent() -> KernelError {
    KernelError::Unsupported("carom's own code is for x86-64".into())
}

pub(super) fn check_lanes(_: &Tape, _: Compiler) -> Result<(), KernelError> {
    Err(absent())
}

impl Native {
    pub(super) fn kernel(_: &Tape, _: Compiler) -> Result<Native, KernelError> {
        Err(absent())
    }

    pub(super) fn lanes(_: &Tape, _: usize, _: usize, _: bool, _: Compiler) -> Result<Native, KernelError> {
        Err(absent())
    }

    pub(super) fn steps(_: &Motion, _: &Tableau, _: (usize, usize), _: Compiler) -> Result<Native, KernelError> {
        Err(absent())
    }

    pub(super) fn newton(_: &Equations, _: Compiler) -> Result<Native, KernelError> {
        Err(absent())
    }

    /// # Safety
    ///
    /// It cannot be called.
    pub(super) unsafe fn call(&self, _: *const f64, _: *const f64, _: *mut f64) -> u32 {
        match *self {}
    }
}
