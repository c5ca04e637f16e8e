//! Polynomials with complex coefficients, whose variables are atoms x and phases e^{ix}.
//!
//! With cos x = (e^{ix} + e^{−ix})/2 a product of sines and cosines is a product of monomials, so every trigonometric
//! identity holds by itself: sin² + cos² becomes 1 as like terms meet. Exponents may be negative or fractions; they
//! are counted in twelfths.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::expr::Expr;

/// The exponent 1, in twelfths.
pub const ONE: i32 = 12;

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Base {
    /// x itself.
    Atom(Expr),
    /// e^{ix}.
    Phase(Expr),
}

/// A product of powers, by variable, without zero exponents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Monomial(pub Vec<(Base, i32)>);

/// A complex number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

/// A sum of monomials, without zero coefficients.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Poly(pub BTreeMap<Monomial, Complex>);

/// Longer polynomials are not worth dividing.
const LARGEST_DIVIDEND: usize = 400;
/// A sum this much smaller than what it was made of is rounding, and zero.
const CANCELLED: f64 = 1e-13;

impl Complex {
    pub const fn real(re: f64) -> Complex {
        Complex { re, im: 0.0 }
    }

    pub fn times(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn inverse(self) -> Complex {
        let norm = self.re * self.re + self.im * self.im;
        Complex { re: self.re / norm, im: -self.im / norm }
    }

    fn plus(self, other: Complex) -> Complex {
        let clean = |a: f64, b: f64| if (a + b).abs() <= CANCELLED * a.abs().max(b.abs()) { 0.0 } else { a + b };
        Complex { re: clean(self.re, other.re), im: clean(self.im, other.im) }
    }

    fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }
}

impl Monomial {
    pub fn of(base: Base, exponent: i32) -> Monomial {
        Monomial(vec![(base, exponent)])
    }

    pub fn times(&self, other: &Monomial) -> Monomial {
        let (mut out, mut i, mut j) = (Vec::with_capacity(self.0.len() + other.0.len()), 0, 0);
        while i < self.0.len() || j < other.0.len() {
            let order = match (self.0.get(i), other.0.get(j)) {
                (Some(a), Some(b)) => a.0.cmp(&b.0),
                (Some(_), None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            match order {
                Ordering::Less => out.push(self.0[i]),
                Ordering::Greater => out.push(other.0[j]),
                Ordering::Equal if self.0[i].1 + other.0[j].1 != 0 => {
                    out.push((self.0[i].0, self.0[i].1 + other.0[j].1));
                }
                Ordering::Equal => {}
            }
            i += usize::from(order != Ordering::Greater);
            j += usize::from(order != Ordering::Less);
        }
        Monomial(out)
    }

    pub fn inverse(&self) -> Monomial {
        Monomial(self.0.iter().map(|&(base, n)| (base, -n)).collect())
    }

    pub fn exponent(&self, base: Base) -> i32 {
        self.0.iter().find(|(b, _)| *b == base).map_or(0, |(_, n)| *n)
    }

    /// The powers of atoms alone.
    pub fn without_phases(mut self) -> Monomial {
        self.0.retain(|(base, _)| matches!(base, Base::Atom(_)));
        self
    }

    /// What must be multiplied by so that no exponent is negative.
    pub fn below(&self) -> Monomial {
        Monomial(self.0.iter().filter(|(_, n)| *n < 0).map(|&(base, n)| (base, -n)).collect())
    }

    /// Compares by the first variable in which they differ: an order that multiplication keeps.
    fn compare(&self, other: &Monomial) -> Ordering {
        self.times(&other.inverse()).0.first().map_or(Ordering::Equal, |(_, n)| n.cmp(&0))
    }
}

impl Poly {
    pub fn constant(c: f64) -> Poly {
        Poly::term(Monomial::default(), Complex::real(c))
    }

    pub fn term(monomial: Monomial, c: Complex) -> Poly {
        let mut poly = Poly::default();
        poly.add_term(monomial, c);
        poly
    }

    pub fn add_term(&mut self, monomial: Monomial, c: Complex) {
        match self.0.entry(monomial) {
            std::collections::btree_map::Entry::Vacant(entry) if !c.is_zero() => {
                entry.insert(c);
            }
            std::collections::btree_map::Entry::Vacant(_) => {}
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let sum = entry.get().plus(c);
                if sum.is_zero() {
                    entry.remove();
                } else {
                    entry.insert(sum);
                }
            }
        }
    }

    /// self + c·other.
    pub fn plus(&self, c: f64, other: &Poly) -> Poly {
        let mut sum = self.clone();
        for (monomial, &b) in &other.0 {
            sum.add_term(monomial.clone(), b.times(Complex::real(c)));
        }
        sum
    }

    pub fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::default();
        for (m, &a) in &self.0 {
            for (n, &b) in &other.0 {
                product.add_term(m.times(n), a.times(b));
            }
        }
        product
    }

    pub fn scaled(&self, monomial: &Monomial, c: Complex) -> Poly {
        Poly(self.0.iter().map(|(m, &a)| (m.times(monomial), a.times(c))).collect())
    }

    /// 1/self for a single term.
    pub fn inverse_term(&self) -> Option<Poly> {
        let (monomial, c) = self.0.iter().next().filter(|_| self.0.len() == 1)?;
        Some(Poly::term(monomial.inverse(), c.inverse()))
    }

    pub fn as_constant(&self) -> Option<f64> {
        match self.0.iter().next() {
            None => Some(0.0),
            Some((m, c)) if self.0.len() == 1 && m.0.is_empty() => Some(c.re),
            _ => None,
        }
    }

    /// The largest monomial that divides every term, negative exponents included.
    pub fn floor(&self) -> Monomial {
        let mut floor: BTreeMap<Base, i32> = BTreeMap::new();
        for &(base, _) in self.0.keys().flat_map(|m| &m.0) {
            floor.entry(base).or_insert_with(|| self.0.keys().map(|m| m.exponent(base)).min().unwrap_or(0));
        }
        Monomial(floor.into_iter().filter(|(_, n)| *n != 0).collect())
    }

    fn leading(&self) -> Option<(&Monomial, Complex)> {
        self.0.iter().max_by(|a, b| a.0.compare(b.0)).map(|(m, &c)| (m, c))
    }

    /// self/divisor if it is a polynomial again.
    pub fn divided_by(&self, divisor: &Poly) -> Option<Poly> {
        if self.0.len() > LARGEST_DIVIDEND || divisor.0.len() > self.0.len() {
            return None;
        }
        let (floor, below) = (self.floor(), divisor.floor());
        let divisor = divisor.scaled(&below.inverse(), Complex::real(1.0));
        let mut rest = self.scaled(&floor.inverse(), Complex::real(1.0));
        let (lead, c) = divisor.leading()?;
        let (lead, inverse) = (lead.inverse(), c.inverse());
        let mut quotient = Poly::default();
        for _ in 0..400 {
            let Some((monomial, a)) = rest.leading() else {
                return Some(quotient.scaled(&floor.times(&below.inverse()), Complex::real(1.0)));
            };
            let (step, a) = (monomial.times(&lead), a.times(inverse));
            if step.0.iter().any(|&(_, n)| n < 0) {
                return None;
            }
            rest = rest.plus(-1.0, &divisor.scaled(&step, a));
            quotient.add_term(step, a);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact_or_refused() {
        let atom = |name: &str| Poly::term(Monomial::of(Base::Atom(Expr::symbol(name)), ONE), Complex::real(1.0));
        let (x, y) = (atom("x"), atom("y"));
        let (sum, difference) = (x.plus(1.0, &y), x.plus(-1.0, &y));
        assert_eq!(sum.times(&difference).divided_by(&sum), Some(difference.clone()));
        assert_eq!(x.times(&x).plus(1.0, &y).divided_by(&sum), None);
        let laurent = sum.scaled(&Monomial::of(Base::Phase(Expr::symbol("x")), -ONE), Complex { re: 0.0, im: 0.5 });
        assert_eq!(laurent.times(&difference).divided_by(&laurent), Some(difference));
    }
}
