//! The functions of the language on intervals.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::{Interval, LIBRARY};
use crate::expr::Func;

impl Interval {
    /// f(x).
    pub fn image(self, f: Func) -> Interval {
        let ends = |x: Interval| Interval::new(f.apply(x.low), f.apply(x.high)).widened();
        match f {
            Func::Neg => self.negated(),
            Func::Sin => self.turned(FRAC_PI_2),
            Func::Cos => self.turned(0.0),
            // Between two poles, where the cosine has a sign, the tangent rises.
            Func::Tan if self.image(Func::Cos).sign().is_some() && self.high - self.low < PI => ends(self),
            Func::Tan => Interval::ALL,
            Func::Asin | Func::Sqrt | Func::Log => {
                let domain = if f == Func::Asin { self.within(-1.0, 1.0) } else { self.within(0.0, f64::INFINITY) };
                if domain == Interval::ALL {
                    return Interval::ALL;
                }
                let image = ends(domain);
                if f == Func::Sqrt { Interval { low: image.low.max(0.0), ..image } } else { image }
            }
            Func::Acos => Interval::point(FRAC_PI_2).widened().minus(self.image(Func::Asin)),
            Func::Atan | Func::Sinh => ends(self),
            Func::Tanh => ends(self).within(-1.0, 1.0),
            Func::Exp => ends(self).within(0.0, f64::INFINITY),
            Func::Cosh => {
                let size = self.image(Func::Abs);
                ends(size).within(1.0, f64::INFINITY)
            }
            Func::Abs if self.low >= 0.0 => self,
            Func::Abs if self.high <= 0.0 => self.negated(),
            Func::Abs => Interval { low: 0.0, high: self.magnitude() },
            Func::Sign | Func::Floor => Interval::new(f.apply(self.low), f.apply(self.high)),
        }
    }

    /// cos(x − top): 1 at `top`, −1 half a turn later.
    fn turned(self, top: f64) -> Interval {
        // The roundoff of the turns below.
        let slack = LIBRARY * (1.0 + self.magnitude());
        if !slack.is_finite() || self.high - self.low + slack >= TAU {
            return Interval { low: -1.0, high: 1.0 };
        }
        let has = |at: f64| ((self.low - at - slack) / TAU).ceil() <= ((self.high - at + slack) / TAU).floor();
        let value = |x: f64| if top == 0.0 { x.cos() } else { x.sin() };
        let ends = Interval::around(&[value(self.low), value(self.high)]).widened();
        Interval {
            low: if has(top + PI) { -1.0 } else { ends.low.max(-1.0) },
            high: if has(top) { 1.0 } else { ends.high.min(1.0) },
        }
    }

    /// x².
    pub fn squared(self) -> Interval {
        let size = self.image(Func::Abs);
        size.times(size).within(0.0, f64::INFINITY)
    }

    /// x^n. For positive x it is monotonic in both, so that the corners bound it.
    pub(super) fn power(self, n: Interval) -> Interval {
        if n.low == n.high && n.low.fract() == 0.0 {
            return self.whole_power(n.low);
        }
        let base = self.within(0.0, f64::INFINITY);
        if self.low < 0.0 && n.low != n.high || base == Interval::ALL {
            return Interval::ALL;
        }
        let corners = [(base.low, n.low), (base.low, n.high), (base.high, n.low), (base.high, n.high)];
        Interval::around(&corners.map(|(x, y)| x.powf(y))).widened().within(0.0, f64::INFINITY)
    }

    /// x^n for a whole number n.
    fn whole_power(self, n: f64) -> Interval {
        if n < 0.0 {
            return Interval::ONE.over(self.whole_power(-n));
        }
        if n == 0.0 {
            return Interval::ONE;
        }
        if n % 2.0 == 0.0 {
            let size = self.image(Func::Abs);
            return Interval::new(size.low.powf(n), size.high.powf(n)).widened().within(0.0, f64::INFINITY);
        }
        Interval::new(self.low.powf(n), self.high.powf(n)).widened()
    }

    /// atan2(y, x) for y in self: over a box without the origin and the branch cut, the corners bound it.
    pub(super) fn angle(self, x: Interval) -> Interval {
        if self.contains(0.0) && x.low <= 0.0 {
            return Interval::point(PI).widened().hull(Interval::point(-PI).widened());
        }
        let corners = [(self.low, x.low), (self.low, x.high), (self.high, x.low), (self.high, x.high)];
        Interval::around(&corners.map(|(y, x)| y.atan2(x))).widened()
    }
}
