//! Work space on the heap, one for each thread, which kernels share in turn: a stack is small, and its end is not always
//! noticed.

use std::cell::RefCell;

/// The largest frame of compiled code, in bytes: a small part of any stack. What needs more has it here. Frames of more than a
/// page are touched page by page, so that the end of the stack is noticed.
#[cfg_attr(not(feature = "jit"), allow(dead_code))]
pub(super) const MAX_FRAME: u32 = 32 * 1024;

thread_local! {
    static SCRATCH: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with room for so many numbers, which have any values. Allocates when a thread first needs as many.
///
/// # Panics
///
/// If `f` asks for room itself.
pub(super) fn with_scratch<R>(count: usize, f: impl FnOnce(&mut [f64]) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < count {
            scratch.resize(count, 0.0);
        }
        f(&mut scratch[..count])
    })
}
