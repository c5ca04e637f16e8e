//! Jets: bounds on the Taylor coefficients f⁽ᵏ⁾(t)/k! of a function, for every t in an interval.
//!
//! Arithmetic on jets is that of power series, with intervals for coefficients. [Moore, Kearfott & Cloud 2009, §9]

use super::Interval;

/// The highest Taylor coefficient. Steps of a method of order r see functions to the order r; the default method has order 12.
pub const ORDER: usize = 12;

/// Bounds on f, f′, f″/2, …, f⁽ᵏ⁾/k! up to k = [`ORDER`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet(pub [Interval; ORDER + 1]);

impl Jet {
    /// A constant.
    pub fn constant(value: Interval) -> Jet {
        let mut c = [Interval::ZERO; ORDER + 1];
        c[0] = value;
        Jet(c)
    }

    /// The variable t itself, in an interval.
    pub fn variable(t: Interval) -> Jet {
        let mut jet = Jet::constant(t);
        jet.0[1] = Interval::ONE;
        jet
    }

    /// A function with these values of which nothing else is known.
    pub(super) fn rough(value: Interval) -> Jet {
        let mut c = [Interval::ALL; ORDER + 1];
        c[0] = value;
        Jet(c)
    }

    /// A function with these values and slopes, with kinks.
    pub(super) fn kinked(value: Interval, slope: Interval) -> Jet {
        let mut jet = Jet::rough(value);
        jet.0[1] = slope;
        jet
    }

    /// A function with the value `first`, whose further coefficients follow from those before them: `next(c, k)` is number k.
    pub(super) fn grown(first: Interval, mut next: impl FnMut(&[Interval], usize) -> Interval) -> Jet {
        let mut c = [Interval::ZERO; ORDER + 1];
        c[0] = first;
        for k in 1..=ORDER {
            c[k] = next(&c[..k], k);
        }
        Jet(c)
    }

    pub(super) fn map(self, f: impl FnMut(Interval) -> Interval) -> Jet {
        Jet(self.0.map(f))
    }

    pub(super) fn zip(self, other: Jet, f: impl Fn(Interval, Interval) -> Interval) -> Jet {
        let mut c = self.0;
        c.iter_mut().zip(other.0).for_each(|(x, y)| *x = f(*x, y));
        Jet(c)
    }

    /// f·g.
    pub(super) fn times(self, other: Jet) -> Jet {
        let (a, b) = (self.0, other.0);
        Jet::grown(a[0].times(b[0]), |_, k| sum((0..=k).map(|i| a[i].times(b[k - i]))))
    }

    /// f², whose value is not negative.
    pub(super) fn squared(self) -> Jet {
        let mut jet = self.times(self);
        jet.0[0] = self.0[0].squared();
        jet
    }

    /// f/g: qₖ = (aₖ − Σᵢ₌₁ᵏ bᵢ qₖ₋ᵢ)/b₀.
    pub(super) fn over(self, other: Jet) -> Jet {
        let (a, b) = (self.0, other.0);
        Jet::grown(a[0].over(b[0]), |q, k| a[k].minus(sum((1..=k).map(|i| b[i].times(q[k - i])))).over(b[0]))
    }

    /// True if the function is constant.
    pub(super) fn is_constant(&self) -> bool {
        self.0[1..].iter().all(|c| *c == Interval::ZERO)
    }

    /// The length of intervals on which the function is a polynomial of degree below n ≤ `order` to `error`, for the best n: with
    /// |f⁽ⁿ⁾/n!| ≤ C, interpolation at Chebyshev points on an interval of length s is off by at most 2C(s/4)ⁿ.
    pub fn length_for(&self, error: f64, order: usize) -> f64 {
        let length = |n: usize| match self.0[n].magnitude() {
            0.0 => f64::INFINITY,
            c => 4.0 * (0.5 * error / c).powf(1.0 / n as f64),
        };
        (1..=order.min(ORDER)).map(length).fold(0.0, f64::max)
    }
}

pub(super) fn sum(terms: impl Iterator<Item = Interval>) -> Interval {
    terms.fold(Interval::ZERO, Interval::plus)
}
