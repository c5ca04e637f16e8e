//! Symbolic solution of e(x) = s for x.

use crate::expr::{Expr, ExprNode, Func, Op, substitute};

/// Solves e(x) = s for x. Works if e is linear in x, or if x can be isolated by inverting functions with a unique inverse;
/// otherwise returns `None`.
///
/// ```
/// use carom::lab::expr::Expr;
/// use carom::lab::projection::solve_for;
/// let (x, y, s) = (Expr::symbol("x"), Expr::symbol("y"), Expr::symbol("s"));
/// assert_eq!(solve_for(y + 2.0 * x.sin(), y, s), Some(s - 2.0 * x.sin()));
/// assert_eq!(solve_for(y + y.sin(), y, s), None);
/// ```
pub fn solve_for(e: Expr, x: Expr, s: Expr) -> Option<Expr> {
    let (mut e, mut s) = (e, s);
    loop {
        if e == x {
            return Some(s);
        }
        let slope = e.diff(x);
        if slope.is_zero() {
            return None;
        }
        if !slope.depends_on(&[x]) {
            return Some((s - substitute(&[e], &[x], &[Expr::constant(0.0)])[0]) / slope);
        }
        (e, s) = match e.node() {
            ExprNode::Unary(f, inner) => (inner, undo(f, s)?),
            ExprNode::Binary(op, a, b) => match (a.depends_on(&[x]), b.depends_on(&[x])) {
                (true, false) => (a, undo_left(op, b, s)?),
                (false, true) => (b, undo_right(op, a, s)?),
                _ => return None,
            },
            _ => return None,
        };
    }
}

/// Solves f(y) = s for y.
fn undo(f: Func, s: Expr) -> Option<Expr> {
    Some(match f {
        Func::Neg => -s,
        Func::Exp => s.ln(),
        Func::Log => s.exp(),
        Func::Sinh => (s + (s.squared() + 1.0).sqrt()).ln(),
        Func::Tanh => 0.5 * ((1.0 + s) / (1.0 - s)).ln(),
        Func::Atan => s.tan(),
        Func::Sqrt => s.squared(),
        _ => return None,
    })
}

/// Solves y op b = s for y.
fn undo_left(op: Op, b: Expr, s: Expr) -> Option<Expr> {
    Some(match op {
        Op::Add => s - b,
        Op::Sub => s + b,
        Op::Mul => s / b,
        Op::Div => s * b,
        // An odd power has one real root, with the sign of s.
        Op::Pow if b.as_const().is_some_and(|n| n % 2.0 == 1.0) => s.apply(Func::Sign) * s.abs().pow(1.0 / b),
        Op::Pow | Op::Atan2 | Op::Min | Op::Max | Op::Where => return None,
    })
}

/// Solves a op y = s for y.
fn undo_right(op: Op, a: Expr, s: Expr) -> Option<Expr> {
    Some(match op {
        Op::Add => s - a,
        Op::Sub => a - s,
        Op::Mul => s / a,
        Op::Div => a / s,
        Op::Pow | Op::Atan2 | Op::Min | Op::Max | Op::Where => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::eval;

    #[test]
    fn an_inverse_undoes_its_function() {
        let (x, y, s) = (Expr::symbol("x"), Expr::symbol("y"), Expr::symbol("s"));
        let functions = [
            3.0 * y + x.cos(),
            x * y + y - 2.0,
            (2.0 * y + x).sinh() - 1.0,
            4.0 - (y - x).exp(),
            (y + x).pow(3) + x,
            (1.0 + y.tanh()) * (2.0 + x.sin()),
        ];
        for f in functions {
            let inverse = solve_for(f, y, s).unwrap_or_else(|| panic!("{f} can be solved"));
            for value in [-0.7, 0.2, 0.9] {
                let at = [(x, 0.3), (y, value)];
                let back = eval(&[inverse], &[(x, 0.3), (s, eval(&[f], &at)[0])])[0];
                assert!((back - value).abs() < 1e-13, "{f} at {value}: {back}");
            }
        }
    }

    #[test]
    fn what_has_no_closed_inverse_is_left() {
        let (y, s) = (Expr::symbol("y"), Expr::symbol("s"));
        for f in [y + 0.3 * y.sin(), y.cos(), y.squared(), Expr::symbol("x")] {
            assert_eq!(solve_for(f, y, s), None, "{f}");
        }
    }
}
