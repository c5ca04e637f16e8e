//! The form of an expression that a person would write.
//!
//! An expression becomes a polynomial over atoms (`poly`, `ring`), in which like terms meet and trigonometric
//! identities hold by themselves; the polynomial is written in several ways (`trig`: multiple angles, squares,
//! products; `factor`: with common factors pulled out), and the one that costs least to read (`cost`) is taken, the
//! expression as it was built among them. The value never changes where it was defined; what takes more
//! work than its budget allows comes back as it was.

mod budget;
mod cost;
mod factor;
mod gcd;
mod poly;
mod private;
mod ring;
mod trig;
mod write;

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::print::{DEEPEST, LARGEST, Notation, extent};
use super::{Expr, ExprNode, Func, with_arena};
use budget::Budget;
use private::Private;
use ring::Ring;
use write::Writer;

/// The most work that one expression may take: some hundredths of a second.
const ONE: usize = 1_000_000;
/// The most work that all expressions of a derivation may take together: about a second.
const ALL: usize = 10_000_000;

/// e in the form that is cheapest to read.
///
/// ```
/// use carom::lab::expr::{Expr, print::Notation, tidy::tidy};
/// let (x, y) = (Expr::symbol("x"), Expr::symbol("y"));
/// let e = x.cos() * (x + y).cos() + x.sin() * (x + y).sin();
/// assert_eq!(tidy(e, &Notation::default()), y.cos());
/// ```
pub fn tidy(e: Expr, notation: &Notation) -> Expr {
    Tidier::new(notation.clone()).tidy(e)
}

/// Tidies the expressions of one derivation, which share a budget. Once it is spent, expressions come back as they were.
pub struct Tidier {
    /// The order in which symbols are written.
    pub notation: Notation,
    budget: Budget,
    known: RefCell<FxHashMap<Expr, Expr>>,
}

impl Tidier {
    /// A tidier with its whole budget.
    pub fn new(notation: Notation) -> Tidier {
        Tidier::within(notation, ALL)
    }

    /// A tidier that may do this much work. A unit takes some ten nanoseconds.
    pub fn within(notation: Notation, work: usize) -> Tidier {
        Tidier { notation, budget: Budget::new(work), known: RefCell::default() }
    }

    /// e in the form that is cheapest to read.
    pub fn tidy(&self, e: Expr) -> Expr {
        if let Some(&known) = self.known.borrow().get(&e) {
            return known;
        }
        let allowed = self.budget.left().min(ONE);
        let form = if allowed == 0 { e } else { self.form(e, allowed) };
        self.known.borrow_mut().insert(e, form);
        form
    }

    /// The cheapest form of e that this much work allows.
    fn form(&self, e: Expr, allowed: usize) -> Expr {
        let Some(nodes) = with_arena(|a| a.reachable_within(e, LARGEST as usize)) else { return e };
        let names = Private::of(e);
        let writer = Writer::new(&self.notation, Budget::new(allowed), Some(&names));
        let form = cheapest(names.hide(e), nodes.len(), &writer);
        let _ = self.budget.spend(allowed - writer.budget.left());
        form.map_or(e, |form| names.show(form))
    }

    /// Pays for `sweeps` passes over e, such as derivatives; false if e is too large or the budget is spent.
    pub fn affords(&self, e: Expr, sweeps: usize) -> bool {
        let nodes = with_arena(|a| a.reachable_within(e, LARGEST as usize));
        nodes.is_some_and(|nodes| self.budget.spend(sweeps * nodes.len()).is_some())
    }

    /// The one of two forms that is cheaper to read.
    pub fn cheaper(&self, a: Expr, b: Expr) -> Expr {
        Writer::new(&self.notation, Budget::new(0), None).cheapest([a, b])
    }
}

/// The cheapest form of e, which has this number of nodes, that the writer's budget allows; none if it does not even allow to look at e.
fn cheapest(e: Expr, nodes: usize, writer: &Writer) -> Option<Expr> {
    writer.budget.spend(nodes)?;
    let (size, depth) = extent(e);
    if size > LARGEST || depth > DEEPEST {
        return None;
    }
    let mut forms = Vec::new();
    let rings: &[bool] = if has_waves(e) { &[true, false] } else { &[false] };
    for &phases in rings {
        let mut ring = Ring::new(writer, phases);
        let poly = ring.polynomial(e);
        if let Some(poly) = &poly
            && let Some(c) = poly.as_constant()
        {
            return Some(Expr::constant(c));
        }
        forms.extend(poly.and_then(|poly| ring.write(&poly)));
    }
    forms.push(e);
    Some(writer.cheapest(forms))
}

fn has_waves(e: Expr) -> bool {
    with_arena(|a| {
        let nodes = a.reachable(&[e]);
        nodes.into_iter().any(|x| matches!(a.node(x), ExprNode::Unary(Func::Sin | Func::Cos, _)))
    })
}
