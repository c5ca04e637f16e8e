//! What a formula costs to read: about a unit for each sign on paper, more for parentheses within parentheses and for
//! fractions within them or within other fractions.

use rustc_hash::FxHashMap;

use crate::expr::print::number::{self, Number};
use crate::expr::{Arena, Expr, ExprNode, Func, Op};

/// How an expression reads.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    /// The whole cost.
    pub cost: f64,
    /// Parentheses within parentheses.
    nested: f64,
    /// Terms with a fraction, if it is a sum; 1 or 0 otherwise.
    fractions: f64,
    /// Fractions above or below fractions.
    tall: f64,
    is_sum: bool,
}

impl Reading {
    /// The reading of x from those of its operands.
    pub fn of(a: &Arena, x: Expr, readings: &FxHashMap<Expr, Reading>) -> Reading {
        let node = a.node(x);
        let mut reading = Reading { is_sum: is_sum(node), cost: own_cost(a, node), ..Reading::default() };
        for y in node.operands() {
            reading.take(node, readings[&y]);
        }
        match node {
            ExprNode::Binary(Op::Mul, y, z) => {
                let has_fraction = a.as_const(y).is_some_and(|c| c.fract() != 0.0);
                reading.fractions = reading.fractions.max(f64::from(u8::from(has_fraction)));
                // c/D · (a/b + …) is written as one fraction.
                let (y, z) = (readings[&y], readings[&z]);
                reading.cost += if y.is_sum || z.is_sum { 10.0 * y.tall.min(z.tall) } else { 0.0 };
            }
            ExprNode::Binary(Op::Div, ..) => {
                reading.fractions = 1.0;
                reading.cost += 10.0 * reading.tall;
                reading.tall += 1.0;
            }
            _ => {}
        }
        reading
    }

    /// Adds an operand of `node`.
    fn take(&mut self, node: ExprNode, below: Reading) {
        self.cost += below.cost;
        self.nested = self.nested.max(below.nested);
        self.tall = self.tall.max(below.tall);
        match node {
            ExprNode::Binary(Op::Mul | Op::Pow, ..) if below.is_sum => {
                self.cost += 1.5 + 2.0 * below.nested + 1.5 * below.fractions;
                self.nested = self.nested.max(below.nested + 1.0);
            }
            ExprNode::Binary(Op::Div, ..) if below.is_sum => self.cost += 4.0 * below.fractions,
            ExprNode::Binary(Op::Add | Op::Sub, ..) => self.fractions += below.fractions,
            ExprNode::Binary(Op::Mul, ..) | ExprNode::Unary(Func::Neg, _) => {
                self.fractions = self.fractions.max(below.fractions);
            }
            _ => {}
        }
    }
}

fn is_sum(node: ExprNode) -> bool {
    matches!(node, ExprNode::Binary(Op::Add | Op::Sub, ..))
}

/// The cost of the node without its operands.
fn own_cost(a: &Arena, node: ExprNode) -> f64 {
    match node {
        ExprNode::Const(c) => number_cost(c),
        ExprNode::Pi => 1.0,
        ExprNode::Symbol(_) => 2.5,
        ExprNode::Unary(Func::Neg, _) => 0.5,
        ExprNode::Unary(_, y) if matches!(a.node(y), ExprNode::Symbol(_)) => 2.5,
        ExprNode::Unary(..) => 3.5,
        ExprNode::Binary(Op::Add | Op::Sub | Op::Div, ..) => 1.5,
        ExprNode::Binary(Op::Mul | Op::Pow, ..) => 0.25,
        ExprNode::Binary(Op::Atan2 | Op::Min | Op::Max | Op::Where, ..) => 3.0,
    }
}

fn number_cost(c: f64) -> f64 {
    match number::write(c.abs()) {
        Number::Ratio(p, 1) => 1.0 + 1.5 * f64::from(p.max(1).ilog10()),
        Number::Ratio(p, q) if p.max(q) < 10 => 1.5,
        Number::Ratio(..) => 2.5,
        Number::Decimal(digits, _) => 1.0 + 0.5 * digits.len() as f64,
    }
}
