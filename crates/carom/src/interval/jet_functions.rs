//! The functions of the language on jets: the recurrences that their differential equations give.

use super::Interval;
use super::jet::{Jet, ORDER, sum};
use crate::expr::{Func, Op};

/// Whole powers up to this are products; they are defined where the base is zero.
const PRODUCTS: f64 = 64.0;

impl Jet {
    /// f(x).
    pub(super) fn image(self, f: Func) -> Jet {
        let first = self.0[0].image(f);
        if self.is_constant() {
            return Jet::constant(first);
        }
        let one = Jet::constant(Interval::ONE);
        match f {
            Func::Neg => self.map(Interval::negated),
            Func::Exp => Jet::grown(first, |y, k| self.chain(y, k)),
            Func::Sin => self.waves(first, self.0[0].image(Func::Cos), -1.0)[0],
            Func::Cos => self.waves(self.0[0].image(Func::Sin), first, -1.0)[1],
            Func::Sinh => self.waves(first, self.0[0].image(Func::Cosh), 1.0)[0],
            Func::Cosh => self.waves(self.0[0].image(Func::Sinh), first, 1.0)[1],
            // y′ = (1 + y²)x′ and y′ = (1 − y²)x′, where 1 − tanh² = 1/cosh² is not a difference.
            Func::Tan => self.riccati(first, Interval::ONE.plus(first.squared()), 1.0),
            Func::Tanh => {
                let cosh = self.0[0].image(Func::Cosh);
                self.riccati(first, Interval::ONE.over(cosh.squared()), -1.0)
            }
            // y′ = x′/d
            Func::Log => self.rate().integral_over(self, first),
            Func::Atan => self.rate().integral_over(one.zip(self.squared(), Interval::plus), first),
            Func::Asin => self.rate().integral_over(self.beside_unit(), first),
            Func::Acos => self.rate().map(Interval::negated).integral_over(self.beside_unit(), first),
            // y² = x
            Func::Sqrt => Jet::grown(first, |y, k| {
                let rest = sum((1..k).map(|i| y[i].times(y[k - i])));
                self.0[k].minus(rest).over(first.scaled(2.0))
            }),
            Func::Abs => match self.0[0].sign() {
                Some(1.0) => self,
                Some(_) => self.map(Interval::negated),
                None => Jet::kinked(first, self.0[1].hull(self.0[1].negated())),
            },
            Func::Sign | Func::Floor if first.low == first.high => Jet::constant(first),
            Func::Sign | Func::Floor => Jet::rough(first),
        }
    }

    /// x op y.
    pub(super) fn combined(self, op: Op, other: Jet) -> Jet {
        let (x, y) = (self.0[0], other.0[0]);
        let first = x.combined(op, y);
        if self.is_constant() && other.is_constant() {
            return Jet::constant(first);
        }
        match op {
            Op::Add => self.zip(other, Interval::plus),
            Op::Sub => self.zip(other, Interval::minus),
            Op::Mul => self.times(other),
            Op::Div => self.over(other),
            Op::Pow => self.power(other, first),
            // θ′ = (x y′ − y x′)/(x² + y²) for θ = atan2(y, x); here self is y.
            Op::Atan2 => {
                let swept = other.times(self.rate()).zip(self.times(other.rate()), Interval::minus);
                let square = self.squared().zip(other.squared(), Interval::plus);
                // A jump of 2π at the branch cut.
                if x.contains(0.0) && y.low <= 0.0 { Jet::rough(first) } else { swept.integral_over(square, first) }
            }
            Op::Min if x.high < y.low => self,
            Op::Min if y.high < x.low => other,
            Op::Max if x.low > y.high => self,
            Op::Max if y.low > x.high => other,
            Op::Min | Op::Max => Jet::kinked(first, self.0[1].hull(other.0[1])),
            Op::Where if !x.contains(0.0) => other,
            Op::Where => Jet::rough(first),
        }
    }

    /// Coefficient k of y where y′ = w x′: (1/k) Σᵢ₌₁ᵏ i xᵢ wₖ₋ᵢ.
    fn chain(&self, w: &[Interval], k: usize) -> Interval {
        sum((1..=k).map(|i| self.0[i].scaled(i as f64).times(w[k - i]))).over(Interval::point(k as f64))
    }

    /// s and c where s′ = c x′ and c′ = sign·s x′.
    fn waves(&self, s: Interval, c: Interval, sign: f64) -> [Jet; 2] {
        let (mut sine, mut cosine) = (Jet::constant(s), Jet::constant(c));
        for k in 1..=ORDER {
            sine.0[k] = self.chain(&cosine.0[..k], k);
            cosine.0[k] = self.chain(&sine.0[..k], k).scaled(sign);
        }
        [sine, cosine]
    }

    /// y where y′ = w x′ and w = 1 + sign·y², with the values of y and w.
    fn riccati(&self, y: Interval, w: Interval, sign: f64) -> Jet {
        let (mut jet, mut weight) = (Jet::constant(y), Jet::constant(w));
        for k in 1..=ORDER {
            jet.0[k] = self.chain(&weight.0[..k], k);
            weight.0[k] = sum((0..=k).map(|i| jet.0[i].times(jet.0[k - i]))).scaled(sign);
        }
        jet
    }

    /// x′, to one order less; the last coefficient is not used.
    fn rate(&self) -> Jet {
        let mut c = [Interval::ALL; ORDER + 1];
        for k in 0..ORDER {
            c[k] = self.0[k + 1].scaled((k + 1) as f64);
        }
        Jet(c)
    }

    /// y with the value `first` and y′ = n/d, where n is self: k yₖ d₀ = nₖ₋₁ − Σᵢ₌₁ᵏ⁻¹ i yᵢ dₖ₋ᵢ.
    fn integral_over(&self, d: Jet, first: Interval) -> Jet {
        Jet::grown(first, |y, k| {
            let rest = sum((1..k).map(|i| y[i].scaled(i as f64).times(d.0[k - i])));
            self.0[k - 1].minus(rest).over(d.0[0].scaled(k as f64))
        })
    }

    /// √(1 − x²).
    fn beside_unit(&self) -> Jet {
        Jet::constant(Interval::ONE).zip(self.squared(), Interval::minus).image(Func::Sqrt)
    }

    /// x^n with the value `first`.
    fn power(self, n: Jet, first: Interval) -> Jet {
        let exponent = n.0[0];
        if !n.is_constant() || exponent.low != exponent.high {
            return n.times(self.image(Func::Log)).image(Func::Exp);
        }
        let n = exponent.low;
        if n > 0.0 && n.fract() == 0.0 && n <= PRODUCTS {
            return self.whole_power(n as usize, first);
        }
        // x y′ = n y x′: k x₀ yₖ = Σᵢ₌₁ᵏ (n i − (k − i)) xᵢ yₖ₋ᵢ
        Jet::grown(first, |y, k| {
            let weight = |i: usize| n * i as f64 - (k - i) as f64;
            let terms = (1..=k).map(|i| self.0[i].times(Interval::point(weight(i)).rounded()).times(y[k - i]));
            sum(terms).over(self.0[0].scaled(k as f64))
        })
    }

    /// x^n by products.
    fn whole_power(self, n: usize, first: Interval) -> Jet {
        let (mut result, mut base, mut left) = (Jet::constant(Interval::ONE), self, n);
        while left > 0 {
            if left % 2 == 1 {
                result = result.times(base);
            }
            left /= 2;
            if left > 0 {
                base = base.squared();
            }
        }
        result.0[0] = first;
        result
    }
}
