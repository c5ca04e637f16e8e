//! Names that only one expression has.
//!
//! Simplification takes symbols and functions in the order of their nodes, in which the process made them. What comes out must not depend
//! on what the process made before: an expression is simplified under names of its own.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::expr::{Arena, Expr, ExprNode, substitute, with_arena};

/// The names of an expression.
pub struct Private {
    originals: Vec<Expr>,
    private: Vec<Expr>,
}

impl Private {
    /// Names for the symbols of e.
    pub fn of(e: Expr) -> Private {
        let (originals, fingerprint) = with_arena(|a| symbols(a, e));
        let name = |at: usize| Expr::symbol(&format!("{fingerprint:x}.{at:06}"));
        Private { private: (0..originals.len()).map(name).collect(), originals }
    }

    /// The expression under its own names.
    pub fn hide(&self, e: Expr) -> Expr {
        substitute(&[e], &self.originals, &self.private)[0]
    }

    /// An expression with those names as it reads for everybody.
    pub fn show(&self, e: Expr) -> Expr {
        substitute(&[e], &self.private, &self.originals)[0]
    }
}

/// The symbols of an expression, in the order in which they are written, and a number that belongs to this expression.
fn symbols(arena: &Arena, e: Expr) -> (Vec<Expr>, u64) {
    let mut places: FxHashMap<Expr, usize> = FxHashMap::default();
    let (mut symbols, mut hasher) = (Vec::new(), FxHasher::default());
    for (at, x) in arena.reachable(&[e]).into_iter().enumerate() {
        let node = arena.node(x);
        match node {
            ExprNode::Const(c) => c.to_bits().hash(&mut hasher),
            ExprNode::Pi => "pi".hash(&mut hasher),
            ExprNode::Symbol(s) => {
                arena.name(s).hash(&mut hasher);
                symbols.push(x);
            }
            ExprNode::Unary(f, _) => f.hash(&mut hasher),
            ExprNode::Binary(op, ..) => op.hash(&mut hasher),
        }
        node.operands().for_each(|y| places[&y].hash(&mut hasher));
        places.insert(x, at);
    }
    (symbols, hasher.finish())
}
