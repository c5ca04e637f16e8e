//! The value of expressions at a point, once. What is evaluated often becomes a kernel.

use rustc_hash::FxHashMap;

use super::{Expr, ExprNode, with_arena};

/// The values of `fs` where each symbol in `symbols` has its value; a symbol that is not listed is NaN.
pub fn eval(fs: &[Expr], symbols: &[(Expr, f64)]) -> Vec<f64> {
    with_arena(|a| {
        let mut value: FxHashMap<Expr, f64> = symbols.iter().copied().collect();
        for e in a.reachable(fs) {
            let result = match a.node(e) {
                ExprNode::Const(c) => c,
                ExprNode::Pi => std::f64::consts::PI,
                ExprNode::Symbol(_) => value.get(&e).copied().unwrap_or(f64::NAN),
                ExprNode::Unary(f, x) => f.apply(value[&x]),
                ExprNode::Binary(op, x, y) => op.apply(value[&x], value[&y]),
            };
            value.insert(e, result);
        }
        fs.iter().map(|f| value[f]).collect()
    })
}
