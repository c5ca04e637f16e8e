//! From polynomials back to expressions: the cheapest to read among several forms.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::factor::{self, Term};
use super::poly::{Base, Monomial, ONE, Poly};
use super::trig;
use crate::expr::print::number::{self, Number, as_ratio};
use crate::expr::print::{Class, Notation};
use crate::expr::{Arena, Expr, Func, Node, Op, with_arena};

/// What orders atoms, whatever the order in which they were made.
pub type Key = (Class, u32, String);

/// Writes polynomials as expressions, in the order of a notation.
pub struct Writer<'a> {
    notation: &'a Notation,
    keys: RefCell<FxHashMap<Expr, Key>>,
    readings: RefCell<FxHashMap<Expr, Reading>>,
}

impl<'a> Writer<'a> {
    pub fn new(notation: &'a Notation) -> Writer<'a> {
        Writer { notation, keys: RefCell::default(), readings: RefCell::default() }
    }

    /// The place of an atom: the highest class of its symbols, then the first of these, then how it reads.
    pub fn key(&self, x: Expr) -> Key {
        if let Some(key) = self.keys.borrow().get(&x) {
            return key.clone();
        }
        let ranks = x.symbols().into_iter().map(|s| self.notation.rank(&s.to_source()));
        let (class, place) = ranks.max_by_key(|&(c, p)| (c, std::cmp::Reverse(p))).unwrap_or_default();
        let key = (class, place, x.to_text(self.notation));
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
        let written = forms.iter().map(|terms| factor::factored(self, terms, below));
        Some(self.cheapest(written))
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

#[derive(Clone, Copy, Default)]
struct Reading {
    cost: f64,
    /// Parentheses within parentheses.
    nested: f64,
    /// Terms with a fraction for a coefficient, if it is a sum.
    fractions: f64,
    /// Fractions above or below fractions.
    tall: f64,
    is_sum: bool,
}

impl Reading {
    fn of(a: &Arena, x: Expr, readings: &FxHashMap<Expr, Reading>) -> Reading {
        let node = a.node(x);
        let mut reading = Reading::default();
        for y in node.operands() {
            let below = readings[&y];
            reading.cost += below.cost;
            reading.nested = reading.nested.max(below.nested);
            reading.tall = reading.tall.max(below.tall);
            if below.is_sum && matches!(node, Node::Binary(Op::Mul | Op::Pow, ..)) {
                reading.cost += 1.5 + 2.0 * below.nested;
                reading.nested = reading.nested.max(below.nested + 1.0);
            }
            if below.is_sum {
                reading.cost += below.fractions
                    * match node {
                        Node::Binary(Op::Mul | Op::Pow, ..) => 1.5,
                        Node::Binary(Op::Div, ..) => 4.0,
                        _ => 0.0,
                    };
            }
            match node {
                Node::Binary(Op::Add | Op::Sub, ..) => reading.fractions += below.fractions,
                Node::Binary(Op::Mul, ..) | Node::Unary(Func::Neg, _) if !below.is_sum => {
                    reading.fractions = reading.fractions.max(below.fractions);
                }
                _ => {}
            }
        }
        reading.is_sum = matches!(node, Node::Binary(Op::Add | Op::Sub, ..));
        if let Node::Binary(Op::Mul, c, _) = node
            && let Some(c) = a.as_const(c)
        {
            reading.fractions = f64::from(u8::from(c.fract() != 0.0)).max(reading.fractions);
        }
        if let Node::Binary(Op::Mul, y, z) = node {
            let (y, z) = (readings[&y], readings[&z]);
            reading.cost += if y.is_sum || z.is_sum { 10.0 * y.tall.min(z.tall) } else { 0.0 };
        }
        if let Node::Binary(Op::Div, ..) = node {
            reading.fractions = 1.0;
            reading.cost += 10.0 * reading.tall;
            reading.tall += 1.0;
        }
        reading.cost += match node {
            Node::Const(c) => number_cost(c),
            Node::Pi => 1.0,
            Node::Symbol(_) => 2.5,
            Node::Unary(Func::Neg, _) => 0.5,
            Node::Unary(_, y) => 2.5 + if matches!(a.node(y), Node::Symbol(_)) { 0.0 } else { 1.0 },
            Node::Binary(Op::Add | Op::Sub | Op::Div, ..) => 1.5,
            Node::Binary(Op::Mul | Op::Pow, ..) => 0.25,
            Node::Binary(Op::Atan2, ..) => 3.0,
        };
        reading
    }
}

fn number_cost(c: f64) -> f64 {
    match number::write(c.abs()) {
        Number::Ratio(p, 1) => 1.0 + 1.5 * f64::from(p.max(1).ilog10()),
        Number::Ratio(p, q) if p.max(q) < 10 => 1.5,
        Number::Ratio(..) => 2.5,
        Number::Decimal(digits, _) => 1.0 + 0.5 * digits.len() as f64,
    }
}
