//! Working memory on the heap, one block per thread, shared by all kernels. Stacks are small, and an overflow is not always
//! detected.

use std::cell::RefCell;

/// The largest stack frame of compiled code, in bytes: a small part of any stack. Larger frames use this memory. Frames above
/// one page are touched page by page, so that a stack overflow is detected.
#[cfg_attr(not(feature = "jit"), allow(dead_code))]
pub(super) const MAX_FRAME: u32 = 32 * 1024;

thread_local! {
    static SCRATCH: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with a slice of `count` numbers, which have arbitrary values. Allocates when a thread needs more than before.
///
/// # Panics
///
/// If `f` itself calls this function.
pub(super) fn with_scratch<R>(count: usize, f: impl FnOnce(&mut [f64]) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < count {
            scratch.resize(count, 0.0);
        }
        f(&mut scratch[..count])
    })
}
