//! Polynomials with complex coefficients, whose variables are atoms x and phases e^{ix}.
//!
//! With cos x = (e^{ix} + e^{−ix})/2 a product of sines and cosines is a product of monomials, so every trigonometric
//! identity holds by itself: sin² + cos² becomes 1 as like terms meet. Exponents may be negative or fractions; they
//! are counted in twelfths.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::budget::Budget;
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
        let differ = self.0.iter().zip(&other.0).position(|(a, b)| a != b);
        let at = differ.unwrap_or(self.0.len().min(other.0.len()));
        match (self.0.get(at), other.0.get(at)) {
            (Some(a), Some(b)) if a.0 == b.0 => a.1.cmp(&b.1),
            (Some(a), Some(b)) if a.0 < b.0 => a.1.cmp(&0),
            (Some(a), None) => a.1.cmp(&0),
            (_, Some(b)) => 0.cmp(&b.1),
            (None, None) => Ordering::Equal,
        }
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

    /// The work that it takes to go through all terms once.
    pub fn size(&self) -> usize {
        self.0.keys().map(|monomial| 1 + monomial.0.len()).sum()
    }

    /// self + c·other.
    pub fn plus(&self, c: f64, other: &Poly) -> Poly {
        let mut sum = self.clone();
        sum.add_product(other, &Monomial::default(), Complex::real(c));
        sum
    }

    /// Adds c·monomial·other.
    pub fn add_product(&mut self, other: &Poly, monomial: &Monomial, c: Complex) {
        for (m, &b) in &other.0 {
            self.add_term(m.times(monomial), b.times(c));
        }
    }

    /// The work that it takes to multiply two polynomials.
    pub fn work(&self, other: &Poly) -> usize {
        self.0.len() * other.size() + other.0.len() * self.size()
    }

    pub fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::default();
        for (m, &a) in &self.0 {
            product.add_product(other, m, a);
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
        let mut seen: BTreeMap<Base, (i32, usize)> = BTreeMap::new();
        for &(base, n) in self.0.keys().flat_map(|m| &m.0) {
            let (least, count) = seen.entry(base).or_insert((n, 0));
            (*least, *count) = ((*least).min(n), *count + 1);
        }
        // A variable that some term lacks has the exponent 0 there.
        let floor = seen.into_iter().map(|(base, (n, count))| (base, if count < self.0.len() { n.min(0) } else { n }));
        Monomial(floor.filter(|(_, n)| *n != 0).collect())
    }

    fn leading(&self) -> Option<(&Monomial, Complex)> {
        self.0.iter().max_by(|a, b| a.0.compare(b.0)).map(|(m, &c)| (m, c))
    }

    /// self/divisor if it is a polynomial again, and if finding out is within the budget.
    pub fn divided_by(&self, divisor: &Poly, budget: &Budget) -> Option<Poly> {
        if self.0.len() > LARGEST_DIVIDEND || divisor.0.len() > self.0.len() {
            return None;
        }
        budget.spend(2 * (self.size() + divisor.size()))?;
        let (floor, below) = (self.floor(), divisor.floor());
        let divisor = divisor.scaled(&below.inverse(), Complex::real(1.0));
        let mut rest = self.scaled(&floor.inverse(), Complex::real(1.0));
        let (lead, c) = divisor.leading()?;
        let (lead, inverse) = (lead.inverse(), c.inverse());
        let mut quotient = Poly::default();
        while let Some((monomial, a)) = rest.leading() {
            budget.spend(rest.0.len() + 2 * divisor.size())?;
            let (step, a) = (monomial.times(&lead), a.times(inverse));
            if step.0.iter().any(|&(_, n)| n < 0) {
                return None;
            }
            rest.add_product(&divisor, &step, a.times(Complex::real(-1.0)));
            quotient.add_term(step, a);
        }
        Some(quotient.scaled(&floor.times(&below.inverse()), Complex::real(1.0)))
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
        let budget = Budget::new(1000);
        assert_eq!(sum.times(&difference).divided_by(&sum, &budget), Some(difference.clone()));
        assert_eq!(x.times(&x).plus(1.0, &y).divided_by(&sum, &budget), None);
        let laurent = sum.scaled(&Monomial::of(Base::Phase(Expr::symbol("x")), -ONE), Complex { re: 0.0, im: 0.5 });
        assert_eq!(laurent.times(&difference).divided_by(&laurent, &budget), Some(difference));
        assert_eq!(sum.times(&sum).divided_by(&sum, &Budget::new(10)), None);
    }
}
