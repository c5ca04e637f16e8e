//! sin and cos of large arguments, for compiled code.

use crate::kernel::sincos::LIMIT;

/// Writes sin x and cos x in lanes where x is too large for the short reduction or not finite.
pub(super) unsafe extern "sysv64" fn sin_cos(x: *const f64, sin: *mut f64, cos: *mut f64, lanes: usize) {
    for k in 0..lanes {
        // SAFETY: compiled code passes pointers into its frame, with space for all lanes.
        let x = unsafe { *x.add(k) };
        if x.abs() <= LIMIT {
            continue;
        }
        // SAFETY: as above.
        unsafe { (*sin.add(k), *cos.add(k)) = x.sin_cos() }
    }
}
