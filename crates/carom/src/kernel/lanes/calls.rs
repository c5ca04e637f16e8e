//! The functions that compiled code calls, lane by lane. They are the same as those of the interpreter.

use crate::expr::{Func, Op};
use crate::kernel::jit::sincos::LIMIT;

/// Arguments: a, b, the results, and the number of each.
pub(super) type Function = unsafe extern "sysv64" fn(*const f64, *const f64, *mut f64, usize);

/// The address of a unary function for compiled code; it reads only a.
pub(super) fn unary(f: Func) -> Function {
    macro_rules! table {
        ($($name:ident)*) => {
            match f {
                $(Func::$name => {
                    unsafe extern "sysv64" fn call(a: *const f64, _: *const f64, out: *mut f64, lanes: usize) {
                        for k in 0..lanes {
                            // SAFETY: compiled code passes pointers into its frame, with space for all lanes.
                            unsafe { *out.add(k) = Func::$name.apply(*a.add(k)) }
                        }
                    }
                    call
                })*
            }
        };
    }
    table!(Neg Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Exp Log Sqrt Abs Sign Floor)
}

/// The address of a binary function for compiled code.
pub(super) fn binary(op: Op) -> Function {
    macro_rules! table {
        ($($name:ident)*) => {
            match op {
                $(Op::$name => {
                    unsafe extern "sysv64" fn call(a: *const f64, b: *const f64, out: *mut f64, lanes: usize) {
                        for k in 0..lanes {
                            // SAFETY: compiled code passes pointers into its frame, with space for all lanes.
                            unsafe { *out.add(k) = Op::$name.apply(*a.add(k), *b.add(k)) }
                        }
                    }
                    call
                })*
            }
        };
    }
    table!(Add Sub Mul Div Pow Atan2 Min Max Where)
}

/// Writes sin x and cos x in lanes where x is too large for the short reduction or not finite.
pub(super) unsafe extern "sysv64" fn repair(x: *const f64, sin: *mut f64, cos: *mut f64, lanes: usize) {
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
