//! An expression as a list of operations, for repeated evaluation on intervals.

use rustc_hash::FxHashMap;

use super::{Interval, Jet};
use crate::expr::{Expr, ExprNode, Func, Op, with_arena};

/// An expression to evaluate on intervals. Symbols without a value may have any.
#[derive(Clone, Debug)]
pub struct Program {
    operations: Vec<Operation>,
    symbols: FxHashMap<Expr, usize>,
    jets: Vec<Jet>,
}

/// An operation, whose operands are results of earlier ones.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Value(Interval),
    /// The variable of jets.
    Variable(Interval),
    Unary(Func, usize),
    Binary(Op, usize, usize),
}

impl Program {
    /// The operations of e.
    pub fn new(e: Expr) -> Program {
        let nodes: Vec<(Expr, ExprNode)> =
            with_arena(|a| a.reachable(&[e]).into_iter().map(|x| (x, a.node(x))).collect());
        let index: FxHashMap<Expr, usize> = nodes.iter().enumerate().map(|(at, &(x, _))| (x, at)).collect();
        let mut symbols = FxHashMap::default();
        let operations = nodes.iter().enumerate().map(|(at, &(x, node))| match node {
            ExprNode::Const(c) => Operation::Value(Interval::point(c)),
            ExprNode::Pi => Operation::Value(Interval::point(std::f64::consts::PI).widened()),
            ExprNode::Symbol(_) => {
                symbols.insert(x, at);
                Operation::Value(Interval::ALL)
            }
            ExprNode::Unary(f, a) => Operation::Unary(f, index[&a]),
            ExprNode::Binary(op, a, b) => Operation::Binary(op, index[&a], index[&b]),
        });
        Program { operations: operations.collect(), symbols, jets: Vec::new() }
    }

    /// Gives a symbol its values.
    pub fn set(&mut self, symbol: Expr, values: Interval) {
        if let Some(&at) = self.symbols.get(&symbol) {
            self.operations[at] = Operation::Value(values);
        }
    }

    /// Makes a symbol the variable of jets, with its values.
    pub fn vary(&mut self, symbol: Expr, values: Interval) {
        if let Some(&at) = self.symbols.get(&symbol) {
            self.operations[at] = Operation::Variable(values);
        }
    }

    /// An interval that contains all values.
    pub fn range(&self) -> Interval {
        let mut results: Vec<Interval> = Vec::with_capacity(self.operations.len());
        for &operation in &self.operations {
            results.push(match operation {
                Operation::Value(x) | Operation::Variable(x) => x,
                Operation::Unary(f, x) => results[x].image(f),
                Operation::Binary(Op::Mul, x, y) if x == y => results[x].squared(),
                Operation::Binary(op, x, y) => results[x].combined(op, results[y]),
            });
        }
        results.last().copied().unwrap_or(Interval::ALL)
    }

    /// Bounds on the Taylor coefficients by the variable, wherever in its values it is.
    pub fn jet(&mut self) -> Jet {
        let mut results = std::mem::take(&mut self.jets);
        results.clear();
        for &operation in &self.operations {
            results.push(match operation {
                Operation::Value(x) => Jet::constant(x),
                Operation::Variable(x) => Jet::variable(x),
                Operation::Unary(f, x) => results[x].image(f),
                Operation::Binary(Op::Mul, x, y) if x == y => results[x].squared(),
                Operation::Binary(op, x, y) => results[x].combined(op, results[y]),
            });
        }
        let last = results.last().copied().unwrap_or(Jet::rough(Interval::ALL));
        self.jets = results;
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::eval;

    /// Numbers in [0, 1), always the same.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn below(&mut self, n: usize) -> usize {
            (self.roll() * n as f64) as usize
        }
    }

    const FUNCTIONS: [Func; 16] = [
        Func::Neg,
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
        Func::Sign,
        Func::Floor,
    ];
    const OPERATORS: [Op; 9] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Pow, Op::Atan2, Op::Min, Op::Max, Op::Where];

    /// An expression of t, x and numbers.
    fn any(dice: &mut Dice, depth: usize) -> Expr {
        match (depth, dice.below(4)) {
            (0, 0) => Expr::constant((8.0 * dice.roll()).round() - 3.0),
            (0, 1) => Expr::symbol("x"),
            (0, _) => Expr::symbol("t"),
            (_, 0 | 1) => any(dice, depth - 1).apply(FUNCTIONS[dice.below(FUNCTIONS.len())]),
            _ => {
                let op = OPERATORS[dice.below(OPERATORS.len())];
                any(dice, depth - 1).combine(op, any(dice, (depth - 1) / 2))
            }
        }
    }

    /// Every value at points of a box is in the range over the box: all functions, operators, and what they are composed to.
    #[test]
    fn random_intervals_contain_random_samples() {
        let (mut dice, mut checked) = (Dice(1), 0);
        let (t, x) = (Expr::symbol("t"), Expr::symbol("x"));
        for round in 0..4000 {
            let depth = 1 + dice.below(4);
            let e = any(&mut dice, depth);
            let mut program = Program::new(e);
            let mut corner = || {
                let low = 8.0 * dice.roll() - 4.0;
                Interval::new(low, low + 4.0 * dice.roll().powi(3))
            };
            let (ts, xs) = (corner(), corner());
            program.set(t, ts);
            program.set(x, xs);
            let range = program.range();
            for _ in 0..20 {
                let inside = |at: Interval, part: f64| (at.low + part * (at.high - at.low)).clamp(at.low, at.high);
                let point = [(t, inside(ts, dice.roll())), (x, inside(xs, dice.roll()))];
                let value = eval(&[e], &point)[0];
                assert!(value.is_nan() || range.contains(value), "{round}: {value} is not in {range:?} at {point:?}");
                checked += usize::from(!value.is_nan());
            }
        }
        assert!(checked > 40_000, "only {checked} values were numbers");
    }

    /// The Taylor coefficients at points of an interval, by exact derivatives, are in the jet over the interval.
    #[test]
    fn jets_contain_the_derivatives() {
        let (mut dice, mut checked) = (Dice(2), 0);
        let t = Expr::symbol("t");
        for round in 0..1500 {
            let depth = 1 + dice.below(3);
            let e = any(&mut dice, depth);
            let low = 4.0 * dice.roll() - 2.0;
            let span = Interval::new(low, low + dice.roll().powi(3));
            let mut program = Program::new(e);
            program.vary(t, span);
            program.set(Expr::symbol("x"), Interval::point(0.7));
            let jet = program.jet();
            let (mut derivative, mut factorial) = (e, 1.0);
            for k in 0..5 {
                for _ in 0..6 {
                    let at = (span.low + dice.roll() * (span.high - span.low)).clamp(span.low, span.high);
                    let due = eval(&[derivative], &[(t, at), (Expr::symbol("x"), 0.7)])[0] / factorial;
                    if !due.is_finite() {
                        continue;
                    }
                    // The derivative is itself rounded.
                    let slack = 1e-9 * (due.abs() + 1e-3);
                    let bound = jet.0[k];
                    let is_in = bound.low - slack <= due && due <= bound.high + slack;
                    assert!(is_in, "{round}: {due} is not in {bound:?}, number {k} at {at} of {span:?}");
                    checked += usize::from(bound != Interval::ALL);
                }
                derivative = derivative.diff(t);
                factorial *= (k + 1) as f64;
            }
        }
        assert!(checked > 10_000, "only {checked} bounds were finite");
    }
}
