//! The size of what adds up to an expression.

use rustc_hash::FxHashMap;

use super::Node;
use crate::expr::{Expr, ExprNode, Func, Op, eval, grad, with_arena};
use crate::system::{System, time};

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

/// The sum of the absolute terms of L at a state, for these values of the parameters.
pub fn size_of_lagrangian(system: &System, parameters: &[f64], at: &Node) -> f64 {
    let mut values: Vec<(Expr, f64)> =
        system.parameters.iter().map(|p| p.symbol).zip(parameters.iter().copied()).collect();
    values.push((time(), at.t));
    values.extend(system.q().into_iter().zip(at.q.iter().copied()));
    values.extend(system.v().into_iter().zip(at.v.iter().copied()));
    eval(&[sum_of_terms(system.lagrangian.l)], &values)[0]
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

/// The sums of the absolute terms of several expressions, as [`sum_of_terms`] defines them, in numbers. As expressions they would be much
/// longer than the equations of a large system.
#[derive(Debug)]
pub(super) struct Terms {
    /// All that the expressions are made of, operands before what uses them.
    parts: Vec<Part>,
    /// The place of each expression among the parts.
    roots: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Constant(f64),
    Input(usize),
    /// A function of a part; true if it is a sum with another sign.
    Unary(Func, usize, bool),
    /// An operation on two parts, and which of them is a sum whose terms count.
    Binary(Op, usize, usize, Sum),
}

/// The sum among the operands of a product or a quotient.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sum {
    None,
    First,
    Second,
}

impl Terms {
    /// Of expressions of these inputs.
    pub(super) fn new(inputs: &[Expr], fs: &[Expr]) -> Terms {
        let inputs: FxHashMap<Expr, usize> = inputs.iter().enumerate().map(|(number, &e)| (e, number)).collect();
        let order = with_arena(|a| a.reachable(fs).into_iter().map(|e| (e, a.node(e))).collect::<Vec<_>>());
        let place: FxHashMap<Expr, usize> = order.iter().enumerate().map(|(at, &(e, _))| (e, at)).collect();
        let mut is_sum: Vec<bool> = Vec::with_capacity(order.len());
        let mut parts = Vec::with_capacity(order.len());
        for (e, node) in order {
            let (part, sum) = match node {
                _ if inputs.contains_key(&e) => (Part::Input(inputs[&e]), false),
                ExprNode::Const(c) => (Part::Constant(c), false),
                ExprNode::Pi => (Part::Constant(std::f64::consts::PI), false),
                // What is no input is not a number.
                ExprNode::Symbol(_) => (Part::Constant(f64::NAN), false),
                ExprNode::Unary(f, x) => {
                    let sum = f == Func::Neg && is_sum[place[&x]];
                    (Part::Unary(f, place[&x], sum), sum)
                }
                ExprNode::Binary(op, x, y) => {
                    let (x, y) = (place[&x], place[&y]);
                    let which = match op {
                        Op::Mul if is_sum[y] => Sum::Second,
                        Op::Mul | Op::Div if is_sum[x] => Sum::First,
                        _ => Sum::None,
                    };
                    let is_sum = matches!(op, Op::Add | Op::Sub) || which != Sum::None;
                    (Part::Binary(op, x, y, which), is_sum)
                }
            };
            parts.push(part);
            is_sum.push(sum);
        }
        Terms { parts, roots: fs.iter().map(|f| place[f]).collect() }
    }

    /// Writes the sums at these inputs.
    pub(super) fn eval(&self, inputs: &[f64], room: &mut Vec<[f64; 2]>, sums: &mut [f64]) {
        room.clear();
        for part in &self.parts {
            // The value, and the sum of its absolute terms.
            let next = match *part {
                Part::Constant(c) => [c, c.abs()],
                Part::Input(number) => [inputs[number], inputs[number].abs()],
                Part::Unary(f, x, is_sum) => {
                    let value = f.apply(room[x][0]);
                    [value, if is_sum { room[x][1] } else { value.abs() }]
                }
                Part::Binary(op, x, y, sum) => {
                    let ([x, x_terms], [y, y_terms]) = (room[x], room[y]);
                    let value = op.apply(x, y);
                    let terms = match (op, sum) {
                        (Op::Add | Op::Sub, _) => x_terms + y_terms,
                        (_, Sum::Second) => x.abs() * y_terms,
                        (Op::Div, Sum::First) => x_terms / y.abs(),
                        (_, Sum::First) => x_terms * y.abs(),
                        _ => value.abs(),
                    };
                    [value, terms]
                }
            };
            room.push(next);
        }
        sums.iter_mut().zip(&self.roots).for_each(|(sum, &root)| *sum = room[root][1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ((x - y) * x.sin() + (x * (x - y)).exp(), 6.0 * 3.0_f64.sin() + 1.0),
        ] {
            let found = eval(&[sum_of_terms(g)], &values)[0];
            assert!((found - due).abs() <= 1e-15 * due, "{found}, not {due}");
            let mut sums = [0.0];
            Terms::new(&[x, y], &[g]).eval(&[3.0, 3.0], &mut Vec::new(), &mut sums);
            assert!((sums[0] - due).abs() <= 1e-15 * due, "{}, not {due}", sums[0]);
        }
    }
}
