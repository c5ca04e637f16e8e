//! The form of an expression that a person would write.
//!
//! An expression becomes a polynomial over atoms (`poly`, `ring`), in which like terms meet and trigonometric
//! identities hold by themselves; the polynomial is written in several ways (`trig`: multiple angles, squares,
//! products; `factor`: with common factors pulled out), and the one that costs least to read (`cost`) is taken, the
//! expression as it was built among them. The value never changes where it was defined; what would take too long
//! comes back as it was.

mod cost;
mod factor;
mod poly;
mod ring;
mod trig;
mod write;

use super::print::{DEEPEST, LARGEST, Notation, extent};
use super::{Expr, Func, Node, with_arena};
use ring::Ring;
use write::Writer;

/// e in the form that is cheapest to read.
///
/// ```
/// use carom::lab::expr::{Expr, print::Notation, tidy::tidy};
/// let (x, y) = (Expr::symbol("x"), Expr::symbol("y"));
/// let e = x.cos() * (x + y).cos() + x.sin() * (x + y).sin();
/// assert_eq!(tidy(e, &Notation::default()), y.cos());
/// ```
pub fn tidy(e: Expr, notation: &Notation) -> Expr {
    let (size, depth) = extent(e);
    if size > LARGEST || depth > DEEPEST {
        return e;
    }
    let writer = Writer::new(notation);
    let mut forms = Vec::new();
    let rings: &[bool] = if has_waves(e) { &[true, false] } else { &[false] };
    for &phases in rings {
        let mut ring = Ring::new(&writer, phases);
        let poly = ring.polynomial(e);
        if let Some(poly) = &poly
            && let Some(c) = poly.as_constant()
        {
            return Expr::constant(c);
        }
        forms.extend(poly.and_then(|poly| ring.write(&poly)));
    }
    forms.push(e);
    writer.cheapest(forms)
}

fn has_waves(e: Expr) -> bool {
    with_arena(|a| {
        let nodes = a.reachable(&[e]);
        nodes.into_iter().any(|x| matches!(a.node(x), Node::Unary(Func::Sin | Func::Cos, _)))
    })
}
