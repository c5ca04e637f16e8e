//! Expressions as a model writes them: `m*R^2*theta'^2/2`. What is written parses back to the same value.

use super::compose::{LARGEST, extent};
use crate::expr::{Arena, Expr, ExprNode, Func, Op, with_arena};

/// How tightly a piece of source binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

/// What remains to be written.
enum Piece {
    Text(&'static str),
    /// An expression, in parentheses if it binds less tightly than its place asks for.
    At(Expr, Bond),
}

/// The expression in the grammar of a model, or what it is too large for.
pub fn source(e: Expr) -> String {
    let (size, _) = extent(e);
    if size > LARGEST {
        return format!("<expression of {size:.1e} terms>");
    }
    with_arena(|a| {
        let mut out = String::new();
        let mut left = vec![Piece::At(e, Bond::Sum)];
        while let Some(piece) = left.pop() {
            match piece {
                Piece::Text(text) => out += text,
                Piece::At(x, least) if bond(a, x) < least => {
                    left.extend([Piece::Text(")"), Piece::At(x, Bond::Sum), Piece::Text("(")]);
                }
                Piece::At(x, _) => left.extend(pieces(a, x, &mut out).into_iter().rev()),
            }
        }
        out
    })
}

fn bond(a: &Arena, e: Expr) -> Bond {
    match a.node(e) {
        ExprNode::Const(c) if c < 0.0 => Bond::Sign,
        ExprNode::Unary(Func::Neg, _) => Bond::Sign,
        ExprNode::Binary(Op::Add | Op::Sub, ..) => Bond::Sum,
        ExprNode::Binary(Op::Mul | Op::Div, ..) | ExprNode::Unary(Func::Sign, _) => Bond::Product,
        ExprNode::Binary(Op::Pow, ..) => Bond::Power,
        _ => Bond::Atom,
    }
}

/// Writes a leaf, or says what the expression is made of.
fn pieces(a: &Arena, e: Expr, out: &mut String) -> Vec<Piece> {
    use Piece::{At, Text};
    let infix = |x, left, op, y, right| vec![At(x, left), Text(op), At(y, right)];
    match a.node(e) {
        ExprNode::Const(c) => *out += format!("{c:?}").trim_end_matches(".0"),
        ExprNode::Pi => *out += "pi",
        ExprNode::Symbol(s) => *out += &a.name(s),
        ExprNode::Unary(Func::Neg, x) => return vec![Text("-"), At(x, Bond::Power)],
        // The grammar has no sgn.
        ExprNode::Unary(Func::Sign, x) => {
            return vec![At(x, Bond::Product), Text("/abs("), At(x, Bond::Sum), Text(")")];
        }
        ExprNode::Unary(f, x) => return vec![Text(f.name()), Text("("), At(x, Bond::Sum), Text(")")],
        ExprNode::Binary(op @ (Op::Atan2 | Op::Min | Op::Max | Op::Where), x, y) => {
            return vec![Text(op.name()), Text("("), At(x, Bond::Sum), Text(", "), At(y, Bond::Sum), Text(")")];
        }
        ExprNode::Binary(Op::Add, x, y) => return infix(x, Bond::Sum, " + ", y, Bond::Product),
        ExprNode::Binary(Op::Sub, x, y) => return infix(x, Bond::Sum, " - ", y, Bond::Product),
        ExprNode::Binary(Op::Mul, x, y) => return infix(x, Bond::Product, "*", y, Bond::Power),
        ExprNode::Binary(Op::Div, x, y) => return infix(x, Bond::Product, "/", y, Bond::Power),
        ExprNode::Binary(Op::Pow, x, y) => return infix(x, Bond::Atom, "^", y, Bond::Atom),
    }
    Vec::new()
}
