//! Interval arithmetic: bounds on the values of an expression.

use rustc_hash::FxHashMap;

use crate::expr::{Expr, ExprNode, Func, Op, with_arena};

/// The closed interval from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound, possibly −∞.
    pub low: f64,
    /// The upper bound, possibly ∞.
    pub high: f64,
}

const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

/// An interval that contains all values of e. A symbol takes its value in `known`, or any value if it is not there.
///
/// The interval may be too wide if a symbol occurs more than once. It is never too narrow, apart from roundoff.
pub fn range(e: Expr, known: &[(Expr, f64)]) -> Interval {
    let known: FxHashMap<Expr, f64> = known.iter().copied().collect();
    let nodes = with_arena(|a| a.reachable(&[e]).into_iter().map(|x| (x, a.node(x))).collect::<Vec<_>>());
    let mut ranges: FxHashMap<Expr, Interval> = FxHashMap::default();
    for (x, node) in nodes {
        let interval = match node {
            ExprNode::Const(c) => Interval::point(c),
            ExprNode::Pi => Interval::point(std::f64::consts::PI),
            ExprNode::Symbol(_) => known.get(&x).map_or(ALL, |&value| Interval::point(value)),
            ExprNode::Unary(f, a) => ranges[&a].image(f),
            ExprNode::Binary(Op::Mul, a, b) if a == b => ranges[&a].even_power(2.0),
            ExprNode::Binary(op, a, b) => ranges[&a].combined(op, ranges[&b]),
        };
        ranges.insert(x, interval.or_all());
    }
    ranges[&e]
}

impl Interval {
    fn point(x: f64) -> Interval {
        Interval { low: x, high: x }
    }

    /// Returns the whole line if a bound is NaN.
    fn or_all(self) -> Interval {
        if self.low.is_nan() || self.high.is_nan() { ALL } else { self }
    }

    /// The smallest interval that contains these values.
    fn around(values: &[f64]) -> Interval {
        let unknown = values.iter().any(|x| x.is_nan());
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if unknown { ALL } else { Interval { low, high } }
    }

    fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The sign, if it is the same everywhere.
    pub fn sign(self) -> Option<f64> {
        if self.low > 0.0 {
            Some(1.0)
        } else if self.high < 0.0 {
            Some(-1.0)
        } else {
            None
        }
    }

    fn image(self, f: Func) -> Interval {
        let ends = Interval::around(&[f.apply(self.low), f.apply(self.high)]);
        match f {
            Func::Neg | Func::Exp | Func::Atan | Func::Sinh | Func::Tanh | Func::Sign | Func::Floor => ends,
            Func::Sin | Func::Cos if self.low == self.high => ends,
            Func::Sin | Func::Cos => Interval { low: -1.0, high: 1.0 },
            Func::Cosh if self.contains(0.0) => Interval { low: 1.0, high: ends.high },
            Func::Abs if self.contains(0.0) => Interval { low: 0.0, high: ends.high },
            Func::Cosh | Func::Abs => ends,
            Func::Sqrt => Interval { low: self.low.max(0.0).sqrt(), high: self.high.max(0.0).sqrt() },
            Func::Log if self.low > 0.0 => ends,
            Func::Tan | Func::Asin | Func::Acos | Func::Log => ALL,
        }
    }

    fn combined(self, op: Op, other: Interval) -> Interval {
        let (a, b) = (self, other);
        match op {
            Op::Add => Interval { low: a.low + b.low, high: a.high + b.high },
            Op::Sub => Interval { low: a.low - b.high, high: a.high - b.low },
            Op::Mul => a.times(b),
            Op::Div if !b.contains(0.0) => a.times(Interval::around(&[1.0 / b.low, 1.0 / b.high])),
            Op::Pow if b.low == b.high && b.low > 0.0 && b.low % 2.0 == 0.0 => a.even_power(b.low),
            Op::Pow if b.low == b.high && b.low > 0.0 && b.low.fract() == 0.0 => {
                Interval::around(&[a.low.powf(b.low), a.high.powf(b.low)])
            }
            Op::Min => Interval { low: a.low.min(b.low), high: a.high.min(b.high) },
            Op::Max => Interval { low: a.low.max(b.low), high: a.high.max(b.high) },
            Op::Div | Op::Pow | Op::Atan2 | Op::Where => ALL,
        }
    }

    fn times(self, other: Interval) -> Interval {
        // 0·∞ is 0 here, because an infinite bound is never attained.
        let product = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        let (a, b) = (self, other);
        Interval::around(&[
            product(a.low, b.low),
            product(a.low, b.high),
            product(a.high, b.low),
            product(a.high, b.high),
        ])
    }

    fn even_power(self, n: f64) -> Interval {
        let ends = Interval::around(&[self.low.powf(n), self.high.powf(n)]);
        if self.contains(0.0) { Interval { low: 0.0, high: ends.high } } else { ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_bounds() {
        let (x, a) = (Expr::symbol("x"), Expr::symbol("a"));
        let known = [(a, 0.5)];
        assert_eq!(range(1.0 + a * x.cos(), &known), Interval { low: 0.5, high: 1.5 });
        assert_eq!(range(a * x.squared() + 2.0, &known), Interval { low: 2.0, high: f64::INFINITY });
        assert_eq!(range(1.0 / (2.0 + x.sin()), &known).sign(), Some(1.0));
        assert_eq!(range(x * x.cos(), &known).sign(), None);
        assert_eq!(range(x.exp(), &known).low, 0.0);
        assert_eq!(range(1.0 / x, &known), ALL);
    }
}
