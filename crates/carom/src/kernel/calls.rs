//! The functions that compiled code calls. They are the same as those of the interpreter.

use crate::expr::{Func, Op};

/// Defines a function with the calling convention of compiled code.
#[cfg(target_arch = "x86_64")]
macro_rules! callable {
    ($($function:tt)*) => { extern "sysv64" fn $($function)* };
}
#[cfg(not(target_arch = "x86_64"))]
macro_rules! callable {
    ($($function:tt)*) => { extern "C" fn $($function)* };
}
pub(super) use callable;

/// The address of a function of one number.
pub(super) fn unary(f: Func) -> usize {
    macro_rules! table {
        ($($name:ident)*) => {
            match f {
                $(Func::$name => {
                    callable! { call(x: f64) -> f64 { Func::$name.apply(x) } }
                    call as *const () as usize
                })*
            }
        };
    }
    table!(Neg Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Exp Log Sqrt Abs Sign Floor)
}

/// The address of a function of two numbers.
pub(super) fn binary(op: Op) -> usize {
    macro_rules! table {
        ($($name:ident)*) => {
            match op {
                $(Op::$name => {
                    callable! { call(x: f64, y: f64) -> f64 { Op::$name.apply(x, y) } }
                    call as *const () as usize
                })*
            }
        };
    }
    table!(Add Sub Mul Div Pow Atan2 Min Max Where)
}
