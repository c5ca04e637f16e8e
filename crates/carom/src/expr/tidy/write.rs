//! From polynomials back to expressions: the cheapest to read among several forms.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::budget::Budget;
use super::cost::Reading;
use super::factor::{self, Powers, Term};
use super::poly::{Base, Monomial, ONE, Poly};
use super::private::Private;
use super::trig;
use crate::expr::print::number::as_ratio;
use crate::expr::print::{Class, Notation};
use crate::expr::{Expr, with_arena};

/// What orders atoms, whatever the order in which they were made.
pub type Key = Rc<(Class, u32, String)>;

/// The work of finding the place of an atom.
const KEY: usize = 200;

/// Writes polynomials as expressions, in the order of a notation.
pub struct Writer<'a> {
    notation: &'a Notation,
    pub budget: Budget,
    /// The names under which atoms are known here.
    names: Option<&'a Private>,
    keys: RefCell<FxHashMap<Expr, Key>>,
    readings: RefCell<FxHashMap<Expr, Reading>>,
    /// Sums whose content has been pulled out, by the bits of their coefficients and their powers.
    pub pulled: RefCell<FxHashMap<Vec<(u64, Powers)>, Expr>>,
}

impl<'a> Writer<'a> {
    pub fn new(notation: &'a Notation, budget: Budget, names: Option<&'a Private>) -> Writer<'a> {
        Writer {
            notation,
            budget,
            names,
            keys: RefCell::default(),
            readings: RefCell::default(),
            pulled: RefCell::default(),
        }
    }

    /// The place of an atom: the highest class of its symbols, then the first of these, then how it reads.
    pub fn key(&self, x: Expr) -> Key {
        if let Some(key) = self.keys.borrow().get(&x) {
            return key.clone();
        }
        let _ = self.budget.spend(KEY);
        let shown = self.names.map_or(x, |names| names.show(x));
        let ranks = shown.symbols().into_iter().map(|s| self.notation.rank(&s.to_source()));
        let (class, place) = ranks.max_by_key(|&(c, p)| (c, std::cmp::Reverse(p))).unwrap_or_default();
        let key = Rc::new((class, place, shown.to_text(self.notation)));
        self.keys.borrow_mut().insert(x, key.clone());
        key
    }

    /// A monomial without phases.
    pub fn monomial(&self, monomial: &Monomial) -> Expr {
        let atoms = monomial.0.iter().filter_map(|&(base, n)| match base {
            Base::Atom(x) => Some((x, n)),
            Base::Phase(_) => None,
        });
        product(1.0, &atoms.collect::<Vec<_>>())
    }

    /// numerator/denominator in the form that is cheapest to read.
    pub fn fraction(&self, numerator: &Poly, denominator: &Monomial) -> Option<Expr> {
        let below = self.monomial(denominator);
        let mut forms = trig::forms(self, numerator)?;
        let shortest = forms.iter().map(Vec::len).min().unwrap_or(0);
        forms.retain(|terms| 2 * terms.len() <= 3 * shortest + 4);
        let mut seen: Vec<Vec<Term>> = Vec::new();
        for form in forms {
            if !seen.contains(&form) {
                seen.push(form);
            }
        }
        let written: Option<Vec<Expr>> = seen.iter().map(|terms| factor::factored(self, terms, below)).collect();
        Some(self.cheapest(written?))
    }

    /// What an expression costs to read: about a unit for each sign on paper, more for parentheses within parentheses
    /// and for fractions within them.
    pub fn cost(&self, e: Expr) -> f64 {
        let mut readings = self.readings.borrow_mut();
        with_arena(|a| {
            let mut stack = vec![e];
            while let Some(&x) = stack.last() {
                let missing = stack.len();
                stack.extend(a.node(x).operands().filter(|y| !readings.contains_key(y)));
                if stack.len() == missing {
                    let reading = Reading::of(a, x, &readings);
                    readings.insert(x, reading);
                    stack.pop();
                }
            }
            readings[&e].cost
        })
    }

    /// The first of the cheapest.
    pub fn cheapest(&self, forms: impl IntoIterator<Item = Expr>) -> Expr {
        forms.into_iter().min_by_key(|&e| (self.cost(e) * 8.0) as u64).unwrap_or_else(|| Expr::constant(0.0))
    }
}

/// A coefficient without the rounding that it has gathered.
fn clean(c: f64) -> f64 {
    as_ratio(c.abs()).map_or(c, |(p, q)| (p as f64 / q as f64).copysign(c))
}

/// c times powers of atoms.
pub fn product(c: f64, factors: &[(Expr, i32)]) -> Expr {
    let side = |sign: i32| -> Expr {
        let powers = factors.iter().filter(|(_, n)| n * sign > 0);
        powers.map(|&(x, n)| x.pow(f64::from(n * sign) / f64::from(ONE))).product()
    };
    clean(c) * (side(1) / side(-1))
}

/// A sum of terms, as it stands.
pub fn sum(terms: &[Term]) -> Expr {
    terms.iter().map(|(c, factors)| product(*c, factors)).sum()
}
