//! Expressions of a model, evaluated in double-double arithmetic.

use carom::lab::expr::{Expr, ExprNode, Func, Op, with_arena};

use crate::double_double::Dd;

/// Several expressions as one list of operations on numbers of 32 digits.
pub struct Tape {
    operations: Vec<Operation>,
    results: Vec<usize>,
}

enum Operation {
    Number(Dd),
    Input(usize),
    Unary(Func, usize),
    Binary(Op, usize, usize),
}

impl Tape {
    /// The tape of `results`, as functions of `inputs`.
    pub fn new(results: &[Expr], inputs: &[Expr]) -> Tape {
        with_arena(|arena| {
            let all: Vec<Expr> = arena.reachable(results).into_iter().collect();
            let place = |e: Expr| all.iter().position(|other| *other == e).expect("operands come first");
            let operation = |e: &Expr| match arena.node(*e) {
                ExprNode::Const(c) => Operation::Number(Dd::from(c)),
                ExprNode::Pi => Operation::Number(Dd::HALF_PI + Dd::HALF_PI),
                ExprNode::Symbol(_) => {
                    Operation::Input(inputs.iter().position(|input| input == e).expect("every symbol is an input"))
                }
                ExprNode::Unary(f, x) => Operation::Unary(f, place(x)),
                ExprNode::Binary(op, x, y) => Operation::Binary(op, place(x), place(y)),
            };
            Tape {
                operations: all.iter().map(operation).collect(),
                results: results.iter().map(|e| place(*e)).collect(),
            }
        })
    }

    /// The values of the expressions.
    pub fn values(&self, inputs: &[Dd]) -> Vec<Dd> {
        let mut values: Vec<Dd> = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let value = match *operation {
                Operation::Number(x) => x,
                Operation::Input(k) => inputs[k],
                Operation::Unary(f, x) => unary(f, values[x]),
                Operation::Binary(op, x, y) => binary(op, values[x], values[y]),
            };
            values.push(value);
        }
        self.results.iter().map(|k| values[*k]).collect()
    }
}

fn unary(f: Func, x: Dd) -> Dd {
    match f {
        Func::Neg => -x,
        Func::Sin => x.sin_cos().0,
        Func::Cos => x.sin_cos().1,
        Func::Sqrt => x.sqrt(),
        Func::Abs => x.abs(),
        other => panic!("the reference knows no {other:?}"),
    }
}

fn binary(op: Op, x: Dd, y: Dd) -> Dd {
    match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Pow => power(x, y.to_f64()),
        other => panic!("the reference knows no {other:?}"),
    }
}

/// x to a multiple of ½.
fn power(x: Dd, exponent: f64) -> Dd {
    let twice = (2.0 * exponent.abs()).round();
    assert_eq!(twice, 2.0 * exponent.abs(), "the reference knows no power {exponent}");
    let base = if twice % 2.0 == 0.0 { x } else { x.sqrt() };
    let count = if twice % 2.0 == 0.0 { twice / 2.0 } else { twice };
    let power = (0..count as usize).fold(Dd::from(1.0), |product, _| product * base);
    if exponent < 0.0 { Dd::from(1.0) / power } else { power }
}
