//! The size of what adds up to an expression.

use crate::expr::{Expr, ExprNode, Func, Op, grad};

/// The sum of the absolute terms of g, also of a sum that is multiplied or divided. The roundoff of g is a part of it.
pub fn sum_of_terms(g: Expr) -> Expr {
    let (mut left, mut sum) = (vec![(g, Expr::constant(1.0))], Expr::constant(0.0));
    while let Some((term, factor)) = left.pop() {
        match term.node() {
            ExprNode::Unary(Func::Neg, a) => left.push((a, factor)),
            ExprNode::Binary(Op::Add | Op::Sub, a, b) => left.extend([(a, factor), (b, factor)]),
            ExprNode::Binary(Op::Mul, a, b) if is_sum(b) => left.push((b, factor * a.abs())),
            ExprNode::Binary(Op::Mul, a, b) if is_sum(a) => left.push((a, factor * b.abs())),
            ExprNode::Binary(Op::Div, a, b) if is_sum(a) => left.push((a, factor / b.abs())),
            _ => sum = sum + factor * term.abs(),
        }
    }
    sum
}

/// The size of what adds up to f at a configuration: the sum of its absolute terms, and Σ|∂f/∂qᵢ qᵢ|. `at` evaluates expressions
/// there; the roundoff of f is proportional to the size.
pub fn size_at(f: Expr, symbols: &[Expr], q: &[f64], at: impl Fn(&[Expr]) -> Vec<f64>) -> f64 {
    let slopes = at(&grad(f, symbols));
    at(&[sum_of_terms(f)])[0] + slopes.iter().zip(q).map(|(slope, q)| (slope * q).abs()).sum::<f64>()
}

/// True if g is a sum, or a multiple or a part of one.
fn is_sum(g: Expr) -> bool {
    let mut left = vec![g];
    while let Some(factor) = left.pop() {
        match factor.node() {
            ExprNode::Binary(Op::Add | Op::Sub, ..) => return true,
            ExprNode::Binary(Op::Mul, a, b) => left.extend([a, b]),
            ExprNode::Unary(Func::Neg, a) | ExprNode::Binary(Op::Div, a, _) => left.push(a),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::eval;

    #[test]
    fn terms_of_sums_and_of_their_multiples() {
        let [x, y] = ["x", "y"].map(Expr::symbol);
        let values = [(x, 3.0), (y, 3.0)];
        for (g, due) in [
            (x - y, 6.0),
            (1e-8 * (x - y), 6e-8),
            ((x - y) / 4.0 - 1.0, 2.5),
            (x * y, 9.0),
            (-(x - y + 2.0) * 0.5, 4.0),
            (y * (x - y) / x, 6.0),
        ] {
            let found = eval(&[sum_of_terms(g)], &values)[0];
            assert!((found - due).abs() <= 1e-15 * due, "{found}, not {due}");
        }
    }
}
