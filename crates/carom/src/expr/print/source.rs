//! Expressions as a model writes them: `m*R^2*theta'^2/2`. What is written parses back to the same value.

use rustc_hash::FxHashMap;

use super::compose::{LARGEST, extent};
use crate::expr::{Arena, Expr, Func, Node, Op, with_arena};

/// How tightly a piece of source binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

type Piece = (String, Bond);

/// The expression in the grammar of a model, or what it is too large for.
pub fn source(e: Expr) -> String {
    let (size, _) = extent(e);
    if size > LARGEST {
        return format!("<expression of {size:.1e} terms>");
    }
    with_arena(|a| {
        let mut pieces: FxHashMap<Expr, Piece> = FxHashMap::default();
        for x in a.reachable(&[e]) {
            let piece = piece(a, x, &pieces);
            pieces.insert(x, piece);
        }
        pieces.remove(&e).map(|(text, _)| text).unwrap_or_default()
    })
}

fn piece(a: &Arena, e: Expr, pieces: &FxHashMap<Expr, Piece>) -> Piece {
    // In parentheses if it binds less tightly than its place asks for.
    let at = |x: Expr, least: Bond| {
        let (text, bond) = &pieces[&x];
        if *bond >= least { text.clone() } else { format!("({text})") }
    };
    match a.node(e) {
        Node::Const(c) => {
            (format!("{c:?}").trim_end_matches(".0").to_owned(), if c < 0.0 { Bond::Sign } else { Bond::Atom })
        }
        Node::Pi => ("pi".into(), Bond::Atom),
        Node::Symbol(s) => (a.name(s).to_string(), Bond::Atom),
        Node::Unary(Func::Neg, x) => (format!("-{}", at(x, Bond::Power)), Bond::Sign),
        Node::Unary(f, x) => (format!("{}({})", f.name(), pieces[&x].0), Bond::Atom),
        Node::Binary(Op::Atan2, y, x) => (format!("atan2({}, {})", pieces[&y].0, pieces[&x].0), Bond::Atom),
        Node::Binary(Op::Add, x, y) => (format!("{} + {}", at(x, Bond::Sum), at(y, Bond::Product)), Bond::Sum),
        Node::Binary(Op::Sub, x, y) => (format!("{} - {}", at(x, Bond::Sum), at(y, Bond::Product)), Bond::Sum),
        Node::Binary(Op::Mul, x, y) => (format!("{}*{}", at(x, Bond::Product), at(y, Bond::Power)), Bond::Product),
        Node::Binary(Op::Div, x, y) => (format!("{}/{}", at(x, Bond::Product), at(y, Bond::Power)), Bond::Product),
        Node::Binary(Op::Pow, x, y) => (format!("{}^{}", at(x, Bond::Atom), at(y, Bond::Atom)), Bond::Power),
    }
}
