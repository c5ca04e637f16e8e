//! Expressions: a hash-consed graph with exact derivatives.
//!
//! An [`Expr`] is a small copyable handle. Equal expressions are one node, so a subexpression that occurs a hundred
//! times is stored, differentiated and computed once. Building an expression simplifies it by local rules that never
//! change its value where it is defined ([`build`]).
//!
//! Every algorithm here is one loop over the reachable nodes, operands before what uses them, and none recurses.
//! Expressions of any depth are safe.
//!
//! What an operation makes is a function of how its operands are written, and never of what else is in the table: nothing
//! depends on the numbers of nodes. So a model has the same roundoff whatever the process did before.
//!
//! ```
//! use carom::lab::expr::Expr;
//! let x = Expr::symbol("x");
//! let f = x.sin() * x;
//! assert_eq!(f.diff(x), x.sin() + x * x.cos());
//! ```

mod arena;
pub mod build;
mod diff;
mod eval;
mod ops;
pub mod parse;
pub mod print;
mod product;
pub mod tidy;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

pub use arena::{Arena, Lease, forget_all, table_size, with_arena};
pub use diff::{diff_many, directional, grad, jacobian, substitute};
pub use eval::eval;
pub use ops::any_depends_on;

/// A handle to an expression, as it was written. Handles are equal if their expressions are, whatever the order of the operands of
/// their sums and products is: a + b equals b + a.
///
/// Expressions live in one table for the whole process: the same model, loaded twice, costs once. [`forget_all`] empties it.
#[derive(Clone, Copy)]
pub struct Expr {
    /// The number of the node.
    node: u32,
    /// The number of the first node that is equal.
    class: u32,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.class == other.class
    }
}

impl Eq for Expr {}

/// By when they were first made, and so by what the process did before. Formulas for reading may depend on it, motions may not.
impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> Ordering {
        self.class.cmp(&other.class)
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.class.hash(state);
    }
}

/// An expression with the order of its operands: a + b is not b + a. Their values may differ by roundoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Written(u32);

/// The name of an unknown, interned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symbol(u32);

/// What an expression is made of.
///
/// Built expressions keep these promises: no node has only constant operands where the result is exact, constant
/// factors stand first, a constant exponent is positive and never 1, a negation is outermost in a product.
#[derive(Clone, Copy, Debug)]
pub enum ExprNode {
    /// A number.
    Const(f64),
    /// π, kept apart so that it prints as itself.
    Pi,
    /// An unknown: a coordinate, a velocity, a parameter, the time, the step.
    Symbol(Symbol),
    /// A function of one argument.
    Unary(Func, Expr),
    /// A function of two arguments.
    Binary(Op, Expr, Expr),
}

/// Functions of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Func {
    Neg,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Sqrt,
    Abs,
    /// −1, 0 or 1: the derivative of `abs`. A model writes it as `sign`, in outputs only.
    Sign,
    /// The largest whole number that is not larger; in outputs only.
    Floor,
}

/// Functions of two arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Min,
    Max,
    /// y where x is not 0, and 0 where it is, whatever y is there: the half of `if`.
    Where,
}

impl Func {
    /// The functions of one argument whose names are reserved in every model.
    pub const NAMED: [Func; 13] = [
        Func::Sin,
        Func::Cos,
        Func::Tan,
        Func::Asin,
        Func::Acos,
        Func::Atan,
        Func::Sinh,
        Func::Cosh,
        Func::Tanh,
        Func::Exp,
        Func::Log,
        Func::Sqrt,
        Func::Abs,
    ];

    /// Its name in a model.
    pub fn name(self) -> &'static str {
        match self {
            Func::Neg => "-",
            Func::Sin => "sin",
            Func::Cos => "cos",
            Func::Tan => "tan",
            Func::Asin => "asin",
            Func::Acos => "acos",
            Func::Atan => "atan",
            Func::Sinh => "sinh",
            Func::Cosh => "cosh",
            Func::Tanh => "tanh",
            Func::Exp => "exp",
            Func::Log => "log",
            Func::Sqrt => "sqrt",
            Func::Abs => "abs",
            Func::Sign => "sgn",
            Func::Floor => "floor",
        }
    }

    /// Its value.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Func::Neg => -x,
            Func::Sin => x.sin(),
            Func::Cos => x.cos(),
            Func::Tan => x.tan(),
            Func::Asin => x.asin(),
            Func::Acos => x.acos(),
            Func::Atan => x.atan(),
            Func::Sinh => x.sinh(),
            Func::Cosh => x.cosh(),
            Func::Tanh => x.tanh(),
            Func::Exp => x.exp(),
            Func::Log => x.ln(),
            Func::Sqrt => x.sqrt(),
            Func::Abs => x.abs(),
            Func::Sign if x == 0.0 || x.is_nan() => x,
            Func::Sign => x.signum(),
            Func::Floor => x.floor(),
        }
    }
}

impl Op {
    /// Its name or its sign in a model; `where` is only a part of `if`.
    pub fn name(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div => "/",
            Op::Pow => "^",
            Op::Atan2 => "atan2",
            Op::Min => "min",
            Op::Max => "max",
            Op::Where => "where",
        }
    }

    /// Its value.
    pub fn apply(self, x: f64, y: f64) -> f64 {
        match self {
            Op::Add => x + y,
            Op::Sub => x - y,
            Op::Mul => x * y,
            Op::Div => x / y,
            Op::Pow => x.powf(y),
            Op::Atan2 => x.atan2(y),
            Op::Min | Op::Max | Op::Where if x.is_nan() => x,
            Op::Min => {
                if y < x || y.is_nan() {
                    y
                } else {
                    x
                }
            }
            Op::Max => {
                if y > x || y.is_nan() {
                    y
                } else {
                    x
                }
            }
            Op::Where => {
                if x == 0.0 {
                    0.0
                } else {
                    y
                }
            }
        }
    }
}

impl ExprNode {
    /// The operands, in order.
    pub fn operands(self) -> impl Iterator<Item = Expr> {
        let (first, second) = match self {
            ExprNode::Unary(_, a) => (Some(a), None),
            ExprNode::Binary(_, a, b) => (Some(a), Some(b)),
            ExprNode::Const(_) | ExprNode::Pi | ExprNode::Symbol(_) => (None, None),
        };
        first.into_iter().chain(second)
    }
}
