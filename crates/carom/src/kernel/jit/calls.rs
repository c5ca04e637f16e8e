//! The functions that compiled code calls. They are the same as those of the interpreter.

use crate::expr::{Func, Op};

pub(super) type Unary = extern "C" fn(f64) -> f64;
pub(super) type Binary = extern "C" fn(f64, f64) -> f64;

/// The address of a unary function for compiled code.
pub(super) fn unary(f: Func) -> Unary {
    macro_rules! table {
        ($($name:ident)*) => {
            match f {
                $(Func::$name => {
                    extern "C" fn call(x: f64) -> f64 {
                        Func::$name.apply(x)
                    }
                    call
                })*
            }
        };
    }
    table!(Neg Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Exp Log Sqrt Abs Sign Floor)
}

/// The address of a binary function for compiled code.
pub(super) fn binary(op: Op) -> Binary {
    macro_rules! table {
        ($($name:ident)*) => {
            match op {
                $(Op::$name => {
                    extern "C" fn call(x: f64, y: f64) -> f64 {
                        Op::$name.apply(x, y)
                    }
                    call
                })*
            }
        };
    }
    table!(Add Sub Mul Div Pow Atan2 Min Max Where)
}
