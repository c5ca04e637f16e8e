//! Double-double arithmetic: numbers of about 32 digits as unevaluated sums of two doubles. [Dekker 1971; Hida, Li & Bailey 2001]

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The sum hi + lo, where |lo| is at most half a unit in the last place of hi.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dd {
    hi: f64,
    lo: f64,
}

/// a + b exactly, for |a| ≥ |b|.
fn quick_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    Dd { hi, lo: b - (hi - a) }
}

/// a + b exactly. [Knuth]
fn two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    let part = hi - a;
    Dd { hi, lo: (a - (hi - part)) + (b - part) }
}

/// a·b exactly.
fn two_product(a: f64, b: f64) -> Dd {
    let hi = a * b;
    Dd { hi, lo: a.mul_add(b, -hi) }
}

impl Dd {
    /// π/2.
    pub(crate) const HALF_PI: Dd = Dd { hi: std::f64::consts::FRAC_PI_2, lo: 6.123233995736766e-17 };

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.hi
    }

    /// |x|.
    pub fn abs(self) -> Dd {
        if self.hi < 0.0 { -self } else { self }
    }

    /// √x, by one step of Newton's method from that of doubles.
    pub fn sqrt(self) -> Dd {
        if self.hi <= 0.0 {
            return Dd::default();
        }
        let root = Dd::from(self.hi.sqrt());
        root + (self - root * root) / (root + root)
    }

    /// sin x and cos x: Taylor's series after a reduction to |x| ≤ π/4, for |x| up to about 1e4.
    pub fn sin_cos(self) -> (Dd, Dd) {
        let quarter = (self.hi / Dd::HALF_PI.hi).round();
        let x = self - Dd::HALF_PI * Dd::from(quarter);
        let square = x * x;
        let series = |first: Dd, from: f64| {
            let (mut term, mut sum, mut k) = (first, first, from);
            while term.hi.abs() > 1e-34 {
                term = -(term * square) / Dd::from((k + 1.0) * (k + 2.0));
                sum = sum + term;
                k += 2.0;
            }
            sum
        };
        let (sin, cos) = (series(x, 1.0), series(Dd::from(1.0), 0.0));
        match quarter.rem_euclid(4.0) as u8 {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }
}

impl From<f64> for Dd {
    fn from(x: f64) -> Dd {
        Dd { hi: x, lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Dd;

    fn add(self, other: Dd) -> Dd {
        let (high, low) = (two_sum(self.hi, other.hi), two_sum(self.lo, other.lo));
        let sum = quick_sum(high.hi, high.lo + low.hi);
        quick_sum(sum.hi, sum.lo + low.lo)
    }
}

impl Sub for Dd {
    type Output = Dd;

    fn sub(self, other: Dd) -> Dd {
        self + -other
    }
}

impl Mul for Dd {
    type Output = Dd;

    fn mul(self, other: Dd) -> Dd {
        let product = two_product(self.hi, other.hi);
        quick_sum(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Dd {
    type Output = Dd;

    fn div(self, other: Dd) -> Dd {
        let first = self.hi / other.hi;
        let left = self - other * Dd::from(first);
        let second = left.hi / other.hi;
        let left = left - other * Dd::from(second);
        quick_sum(first, second) + Dd::from(left.hi / other.hi)
    }
}

impl Neg for Dd {
    type Output = Dd;

    fn neg(self) -> Dd {
        Dd { hi: -self.hi, lo: -self.lo }
    }
}

impl PartialOrd for Dd {
    fn partial_cmp(&self, other: &Dd) -> Option<Ordering> {
        match self.hi.partial_cmp(&other.hi) {
            Some(Ordering::Equal) => self.lo.partial_cmp(&other.lo),
            order => order,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identities that hold to 30 digits: (√x)² = x, x/y·y = x, sin² + cos² = 1, sin 2x = 2 sin x cos x.
    #[test]
    fn numbers_have_30_digits() {
        for k in 1..200 {
            let x = Dd::from(0.37 * k as f64) / Dd::from(7.0);
            let close = |a: Dd, b: Dd, what: &str| {
                let off = (a - b).to_f64().abs();
                assert!(off <= 1e-29 * (1.0 + x.to_f64()), "{what} at {x:?}: off by {off:e}");
            };
            let (sin, cos) = x.sin_cos();
            close(x.sqrt() * x.sqrt(), x, "√");
            close(x / Dd::from(3.0) * Dd::from(3.0), x, "/");
            close(sin * sin + cos * cos, Dd::from(1.0), "sin² + cos²");
            close((x + x).sin_cos().0, (sin + sin) * cos, "sin 2x");
            assert!((sin.to_f64() - x.to_f64().sin()).abs() < 1e-15, "sin {x:?}");
        }
    }
}
