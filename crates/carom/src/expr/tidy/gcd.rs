//! The greatest common divisor of two polynomials in several variables, by Euclid's algorithm in one of them with
//! coefficients that are polynomials in the others.
//!
//! Coefficients are rounded, so what comes out is a guess: it counts only if it divides both without a remainder.

use std::collections::BTreeMap;

use super::budget::Budget;
use super::poly::{Base, Complex, Monomial, Poly};

/// Coefficients this much smaller than those they were made of are rounding.
const ROUNDING: f64 = 1e-11;

/// The most work that one search may take. Formulas that people read need a tenth of it.
const WORK: usize = 20_000;
/// A unit of work takes longer here than elsewhere: polynomials are taken apart and put together again.
const WEIGHT: usize = 5;

/// A sum that divides a and b; none if there is none, or if finding it takes too much work.
pub fn common_divisor(a: &Poly, b: &Poly, budget: &Budget) -> Option<Poly> {
    let allowed = WORK.min(budget.left());
    let search = Budget::new(allowed);
    let found = gcd(primitive_term(a), primitive_term(b), &search);
    budget.spend(WEIGHT * (allowed - search.left()))?;
    let divisor = found?;
    let is_common =
        divisor.0.len() > 1 && a.divided_by(&divisor, budget).is_some() && b.divided_by(&divisor, budget).is_some();
    is_common.then_some(divisor)
}

/// Without the powers that all terms share.
fn primitive_term(poly: &Poly) -> Poly {
    poly.scaled(&poly.floor().inverse(), Complex::real(1.0))
}

fn one() -> Poly {
    Poly::constant(1.0)
}

/// The greatest common divisor up to a factor, of polynomials without a common power.
fn gcd(a: Poly, b: Poly, budget: &Budget) -> Option<Poly> {
    budget.spend(4 * (a.size() + b.size()))?;
    if a.0.is_empty() || b.0.is_empty() {
        return Some(if a.0.is_empty() { b } else { a });
    }
    if a.0.len() == 1 || b.0.len() == 1 {
        return Some(one());
    }
    let (of_a, of_b) = (degrees(&a), degrees(&b));
    // A divisor has no variable that only one of them has.
    if let Some(&x) = of_a.keys().find(|x| !of_b.contains_key(x)) {
        return gcd_of_all(coefficients(&a, x).into_values(), b, budget);
    }
    if let Some(&x) = of_b.keys().find(|x| !of_a.contains_key(x)) {
        return gcd_of_all(coefficients(&b, x).into_values(), a, budget);
    }
    let x = *of_a.keys().min_by_key(|x| of_a[x].max(of_b[x]))?;
    let (outer_a, mut a) = parted(a, x, budget)?;
    let (outer_b, mut b) = parted(b, x, budget)?;
    if degree(&a, x) < degree(&b, x) {
        std::mem::swap(&mut a, &mut b);
    }
    loop {
        let rest = remainder(&a, &b, x, budget)?;
        if rest.0.is_empty() {
            a = b;
            break;
        }
        if degree(&rest, x) == 0 {
            a = one();
            break;
        }
        (a, b) = (b, parted(rest, x, budget)?.1);
    }
    let outer = gcd(primitive_term(&outer_a), primitive_term(&outer_b), budget)?;
    budget.spend(outer.work(&a))?;
    Some(outer.times(&a))
}

fn gcd_of_all(polys: impl Iterator<Item = Poly>, mut divisor: Poly, budget: &Budget) -> Option<Poly> {
    for poly in polys {
        divisor = gcd(primitive_term(&poly), divisor, budget)?;
        if divisor.0.len() == 1 {
            return Some(one());
        }
    }
    Some(divisor)
}

/// poly = content · primitive part, as a polynomial in x.
fn parted(poly: Poly, x: Base, budget: &Budget) -> Option<(Poly, Poly)> {
    let coefficients = coefficients(&poly, x);
    if coefficients.len() < 2 {
        return Some((poly, one()));
    }
    let content = gcd_of_all(coefficients.into_values(), Poly::default(), budget)?;
    let part = if content.0.len() > 1 { poly.divided_by(&content, budget)? } else { poly };
    Some((content, primitive_term(&part)))
}

/// The remainder of c·a divided by b, for the polynomial c in the other variables that makes the division possible.
fn remainder(a: &Poly, b: &Poly, x: Base, budget: &Budget) -> Option<Poly> {
    let (n, lead) = leading(b, x)?;
    let mut rest = a.clone();
    while let Some((d, first)) = leading(&rest, x).filter(|(d, _)| *d >= n) {
        budget.spend(rest.work(&lead) + b.work(&first))?;
        let step = if d > n { Monomial::of(x, d - n) } else { Monomial::default() };
        let (left, right) = (rest.times(&lead), b.times(&first).scaled(&step, Complex::real(1.0)));
        let largest = left.0.values().map(|c| c.re.hypot(c.im)).fold(0.0, f64::max);
        rest = left.plus(-1.0, &right);
        rest.0.retain(|m, c| m.exponent(x) < d && c.re.hypot(c.im) > ROUNDING * largest);
    }
    Some(rest)
}

fn degree(poly: &Poly, x: Base) -> i32 {
    poly.0.keys().map(|m| m.exponent(x)).max().unwrap_or(0)
}

/// The largest exponent of each variable.
fn degrees(poly: &Poly) -> BTreeMap<Base, i32> {
    let mut degrees = BTreeMap::new();
    for &(base, n) in poly.0.keys().flat_map(|m| &m.0) {
        let largest = degrees.entry(base).or_insert(n);
        *largest = n.max(*largest);
    }
    degrees
}

/// The coefficients of the powers of x.
fn coefficients(poly: &Poly, x: Base) -> BTreeMap<i32, Poly> {
    let mut coefficients: BTreeMap<i32, Poly> = BTreeMap::new();
    for (monomial, &c) in &poly.0 {
        let mut rest = monomial.clone();
        rest.0.retain(|(base, _)| *base != x);
        coefficients.entry(monomial.exponent(x)).or_default().add_term(rest, c);
    }
    coefficients
}

fn leading(poly: &Poly, x: Base) -> Option<(i32, Poly)> {
    coefficients(poly, x).pop_last()
}

#[cfg(test)]
mod tests {
    use super::super::poly::ONE;
    use super::*;
    use crate::expr::Expr;

    #[test]
    fn common_divisors_are_found() {
        let atom = |name: &str| Poly::term(Monomial::of(Base::Atom(Expr::symbol(name)), ONE), Complex::real(1.0));
        let (x, y, z) = (atom("x"), atom("y"), atom("z"));
        let budget = Budget::new(100_000);
        let sum = x.plus(3.0, &y).plus(1.0, &Poly::constant(0.5));
        let a = sum.times(&sum).times(&x.plus(-1.0, &z));
        let b = sum.times(&y.plus(7.0, &z).plus(1.0, &x.times(&y)));
        let divisor = common_divisor(&a, &b, &budget).expect("they share x + 3 y + ½");
        assert!(divisor.divided_by(&sum, &budget).is_some_and(|q| q.0.len() == 1), "{divisor:?}");
        assert_eq!(common_divisor(&x.plus(1.0, &y), &x.plus(2.0, &y), &budget), None);
        assert_eq!(common_divisor(&a, &b, &Budget::new(100)), None);
    }
}
