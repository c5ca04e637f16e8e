//! Interval arithmetic: bounds on the values of expressions, and on their Taylor coefficients.
//!
//! Bounds are rounded outward, so an interval is never too narrow. It may be too wide where a symbol occurs more than once.
//! Infinite bounds are allowed; what is not defined on part of an interval is bounded where it is defined.
//! [Moore, Kearfott & Cloud 2009]

mod functions;
mod jet;
mod jet_functions;
mod program;
mod resolve;

pub use jet::Jet;
pub use program::Program;
pub use resolve::{Piece, Question, resolve, size};

use crate::expr::{Expr, Op};

/// The closed interval from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound, possibly −∞.
    pub low: f64,
    /// The upper bound, possibly ∞.
    pub high: f64,
}

/// Functions of the standard library are accurate to an ulp or two; their values are widened by this, relative to them.
const LIBRARY: f64 = 4.0 * f64::EPSILON;

impl Interval {
    /// All numbers.
    pub const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// The number 0.
    pub const ZERO: Interval = Interval { low: 0.0, high: 0.0 };
    /// The number 1.
    pub const ONE: Interval = Interval { low: 1.0, high: 1.0 };

    /// The interval from `low` to `high`; all numbers if a bound is NaN.
    pub fn new(low: f64, high: f64) -> Interval {
        if low.is_nan() || high.is_nan() { Interval::ALL } else { Interval { low, high } }
    }

    /// The interval of one number.
    pub fn point(x: f64) -> Interval {
        Interval::new(x, x)
    }

    /// True if x is in it.
    pub fn contains(self, x: f64) -> bool {
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

    /// The largest |x| in it.
    pub fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The smallest interval that contains both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// The smallest interval that contains these values; all numbers if one is NaN.
    fn around(values: &[f64]) -> Interval {
        let first = Interval::point(values[0]);
        values.iter().fold(first, |all, &x| all.hull(Interval::point(x)))
    }

    fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }

    /// One ulp wider on each side: the roundoff of one operation. A sum that is zero is exact.
    fn rounded(self) -> Interval {
        let low = if self.low == 0.0 { 0.0 } else { self.low.next_down() };
        Interval { low, high: if self.high == 0.0 { 0.0 } else { self.high.next_up() } }
    }

    /// Wider by the error of the standard library.
    fn widened(self) -> Interval {
        let wider = |x: f64| if x.is_finite() { LIBRARY * x.abs() + f64::MIN_POSITIVE } else { 0.0 };
        Interval { low: self.low - wider(self.low), high: self.high + wider(self.high) }
    }

    /// The part in [low, high]; all numbers if there is none, because nothing is defined there.
    fn within(self, low: f64, high: f64) -> Interval {
        if self.high < low || self.low > high {
            return Interval::ALL;
        }
        Interval { low: self.low.max(low), high: self.high.min(high) }
    }

    /// −x.
    pub fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }

    /// x + y.
    pub fn plus(self, other: Interval) -> Interval {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        Interval::new(self.low + other.low, self.high + other.high).rounded()
    }

    /// x − y.
    pub fn minus(self, other: Interval) -> Interval {
        self.plus(other.negated())
    }

    /// x·y.
    pub fn times(self, other: Interval) -> Interval {
        let (a, b) = (self, other);
        if a.is_zero() || b.is_zero() {
            return Interval::ZERO;
        }
        // 0·∞ is 0 here, because an infinite bound is never attained. A product that underflows is not zero.
        let mut all = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
        for (x, y) in [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)] {
            let product = if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
            let is_lost = product == 0.0 && x != 0.0 && y != 0.0;
            let least = if is_lost { f64::MIN_POSITIVE.copysign(product) } else { product };
            all = all.hull(Interval { low: product.min(least), high: product.max(least) });
        }
        all.rounded()
    }

    /// x·c.
    pub fn scaled(self, c: f64) -> Interval {
        self.times(Interval::point(c))
    }

    /// x/y; all numbers if y may be 0.
    pub fn over(self, other: Interval) -> Interval {
        if other.contains(0.0) {
            return if self.is_zero() && !other.is_zero() { Interval::ZERO } else { Interval::ALL };
        }
        self.times(Interval::around(&[1.0 / other.low, 1.0 / other.high]).widened().keeping(other))
    }

    /// Itself, cut at 0 on the side where another interval is not.
    fn keeping(self, other: Interval) -> Interval {
        match other.sign() {
            Some(sign) if sign > 0.0 => Interval { low: self.low.max(0.0), ..self },
            Some(_) => Interval { high: self.high.min(0.0), ..self },
            None => self,
        }
    }

    /// x op y.
    pub fn combined(self, op: Op, other: Interval) -> Interval {
        let (a, b) = (self, other);
        match op {
            Op::Add => a.plus(b),
            Op::Sub => a.minus(b),
            Op::Mul => a.times(b),
            Op::Div => a.over(b),
            Op::Pow => a.power(b),
            Op::Atan2 => a.angle(b),
            Op::Min => Interval::new(a.low.min(b.low), a.high.min(b.high)),
            Op::Max => Interval::new(a.low.max(b.low), a.high.max(b.high)),
            Op::Where if a.is_zero() => Interval::ZERO,
            Op::Where if a.contains(0.0) => b.hull(Interval::ZERO),
            Op::Where => b,
        }
    }
}

/// An interval that contains all values of e. A symbol takes its value in `known`, or any value if it is not there.
pub fn range(e: Expr, known: &[(Expr, f64)]) -> Interval {
    let mut program = Program::new(e);
    known.iter().for_each(|&(symbol, value)| program.set(symbol, Interval::point(value)));
    program.range()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_bounds() {
        let (x, a) = (Expr::symbol("x"), Expr::symbol("a"));
        let known = [(a, 0.5)];
        let near = |e: Expr, low: f64, high: f64| {
            let found = range(e, &known);
            let close = |bound: f64, due: f64| bound == due || (bound - due).abs() < 1e-14;
            assert!(found.low <= low && found.high >= high, "{found:?}");
            assert!(close(found.low, low) && close(found.high, high), "{found:?}");
        };
        near(1.0 + a * x.cos(), 0.5, 1.5);
        near(a * x.squared() + 2.0, 2.0, f64::INFINITY);
        near(x.exp(), 0.0, f64::INFINITY);
        near(1.0 / x, f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(range(1.0 / (2.0 + x.sin()), &known).sign(), Some(1.0));
        assert_eq!(range(x * x.cos(), &known).sign(), None);
    }
}
