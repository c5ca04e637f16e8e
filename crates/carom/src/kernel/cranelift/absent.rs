//! Stands in for this compiler where it is not part of the build.

use crate::kernel::newton::Equations;
use crate::kernel::{KernelError, Tape};

pub(super) const IS_BUILT: bool = false;

/// There is none.
#[derive(Debug)]
pub(super) enum Native {}

fn absent() -> KernelError {
    KernelError::Unsupported("Cranelift is not part of this build".into())
}

impl Native {
    pub(super) fn kernel(_: &Tape) -> Result<Native, KernelError> {
        Err(absent())
    }

    pub(super) fn newton(_: &Equations) -> Result<Native, KernelError> {
        Err(absent())
    }

    /// # Safety
    ///
    /// It cannot be called.
    pub(super) unsafe fn call(&self, _: *mut f64, _: *const f64, _: *mut f64) -> u32 {
        match *self {}
    }
}
