//! The operators and functions of [`Expr`].

use std::iter::{Product, Sum};
use std::ops::{Add, Div, Mul, Neg, Sub};

use rustc_hash::FxHashSet;

use super::{Expr, ExprNode, Func, Op, Written, diff_many, with_arena};

impl Expr {
    /// The unknown of that name; the same name is the same unknown.
    pub fn symbol(name: &str) -> Expr {
        with_arena(|a| a.symbol(name))
    }

    /// A number.
    pub fn constant(value: f64) -> Expr {
        with_arena(|a| a.constant(value))
    }

    /// π.
    pub fn pi() -> Expr {
        with_arena(|a| a.intern(ExprNode::Pi))
    }

    /// It and the order of its operands.
    pub fn written(self) -> Written {
        Written(self.node)
    }

    /// What it is made of.
    pub fn node(self) -> ExprNode {
        with_arena(|a| a.node(self))
    }

    /// The number, if it is one.
    pub fn as_const(self) -> Option<f64> {
        with_arena(|a| a.as_const(self))
    }

    /// The name, if it is a symbol.
    pub fn symbol_name(self) -> Option<String> {
        with_arena(|a| match a.node(self) {
            ExprNode::Symbol(s) => Some(a.name(s).to_string()),
            _ => None,
        })
    }

    /// True if it is the number 0.
    pub fn is_zero(self) -> bool {
        self.as_const() == Some(0.0)
    }

    /// f(self).
    pub fn apply(self, f: Func) -> Expr {
        with_arena(|a| a.unary(f, self))
    }

    /// self op y.
    pub fn combine(self, op: Op, y: Expr) -> Expr {
        with_arena(|a| a.combine(op, self, y))
    }

    /// self^n.
    pub fn pow(self, n: impl Into<Expr>) -> Expr {
        let n = n.into();
        with_arena(|a| a.pow(self, n))
    }

    /// self².
    pub fn squared(self) -> Expr {
        with_arena(|a| a.powf(self, 2.0))
    }

    /// atan2(self, x), the angle of the point (x, self).
    pub fn atan2(self, x: impl Into<Expr>) -> Expr {
        let x = x.into();
        with_arena(|a| a.atan2(self, x))
    }

    /// The smaller of self and y.
    pub fn min(self, y: impl Into<Expr>) -> Expr {
        let y = y.into();
        with_arena(|a| a.min(self, y))
    }

    /// The larger of self and y.
    pub fn max(self, y: impl Into<Expr>) -> Expr {
        let y = y.into();
        with_arena(|a| a.max(self, y))
    }

    /// √(self² + y²).
    pub fn hypot(self, y: impl Into<Expr>) -> Expr {
        (self.squared() + y.into().squared()).sqrt()
    }

    /// `yes` where self, a condition, is 1; `no` where it is 0. The other is not looked at, whatever it is there.
    pub fn choose(self, yes: Expr, no: Expr) -> Expr {
        let not = 1.0 - self;
        with_arena(|a| {
            let (yes, no) = (a.only_where(self, yes), a.only_where(not, no));
            a.add(yes, no)
        })
    }

    /// ∂self/∂x.
    pub fn diff(self, x: Expr) -> Expr {
        diff_many(&[self], x)[0]
    }

    /// True if any of `symbols` occurs in it.
    pub fn depends_on(self, symbols: &[Expr]) -> bool {
        any_depends_on(&[self], symbols)
    }

    /// The symbols that occur in it, in the order in which they stand.
    pub fn symbols(self) -> Vec<Expr> {
        with_arena(|a| {
            let nodes = a.reachable(&[self]);
            nodes.into_iter().filter(|&e| matches!(a.node(e), ExprNode::Symbol(_))).collect()
        })
    }
}

/// True if any of `symbols` occurs in any of `fs`, by one sweep over all of them.
pub fn any_depends_on(fs: &[Expr], symbols: &[Expr]) -> bool {
    let nodes = with_arena(|a| a.reachable(fs));
    let symbols: FxHashSet<Expr> = symbols.iter().copied().collect();
    nodes.iter().any(|e| symbols.contains(e))
}

macro_rules! functions {
    ($($name:ident $func:ident $doc:literal;)*) => {
        impl Expr {
            $(#[doc = $doc]
            pub fn $name(self) -> Expr {
                self.apply(Func::$func)
            })*
        }
    };
}

functions! {
    sin Sin "sin(self).";
    cos Cos "cos(self).";
    tan Tan "tan(self).";
    asin Asin "asin(self).";
    acos Acos "acos(self).";
    atan Atan "atan(self).";
    sinh Sinh "sinh(self).";
    cosh Cosh "cosh(self).";
    tanh Tanh "tanh(self).";
    exp Exp "exp(self).";
    ln Log "The natural logarithm.";
    sqrt Sqrt "√self.";
    abs Abs "|self|.";
    sign Sign "−1, 0 or 1, as self is negative, zero or positive.";
    floor Floor "The largest whole number that is not larger than self.";
}

macro_rules! operators {
    ($($trait:ident $method:ident;)*) => {
        $(impl $trait for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                with_arena(|a| a.$method(self, other))
            }
        }
        impl $trait<f64> for Expr {
            type Output = Expr;
            fn $method(self, other: f64) -> Expr {
                self.$method(Expr::constant(other))
            }
        }
        impl $trait<Expr> for f64 {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                Expr::constant(self).$method(other)
            }
        })*
    };
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        with_arena(|a| a.neg(self))
    }
}

impl Sum for Expr {
    fn sum<I: Iterator<Item = Expr>>(terms: I) -> Expr {
        terms.fold(Expr::constant(0.0), Add::add)
    }
}

impl Product for Expr {
    fn product<I: Iterator<Item = Expr>>(factors: I) -> Expr {
        factors.fold(Expr::constant(1.0), Mul::mul)
    }
}

impl From<f64> for Expr {
    fn from(value: f64) -> Expr {
        Expr::constant(value)
    }
}

impl From<i32> for Expr {
    fn from(value: i32) -> Expr {
        Expr::constant(f64::from(value))
    }
}
