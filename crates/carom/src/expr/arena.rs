//! The table of all expressions: a node is stored once for each order of its operands.
//!
//! a + b and b + a are two nodes of one class, and handles are equal if their classes are. If they were one node, its operands would
//! stand as they were first written in the process, and roundoff would depend on what was read, derived and compiled before.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Expr, ExprNode, Op, Symbol};

/// The table. Algorithms over many nodes hold it once, by [`with_arena`].
#[derive(Default)]
pub struct Arena {
    nodes: Vec<ExprNode>,
    /// The number of the first node; those before it were forgotten. Numbers are never used again.
    first: u32,
    /// Nodes as they are written.
    index: FxHashMap<Key, Expr>,
    /// The first node of each class, by the classes of its operands; those of sums and products stand in order.
    classes: FxHashMap<Key, u32>,
    names: Vec<Arc<str>>,
    symbols: FxHashMap<Arc<str>, Symbol>,
}

static ARENA: LazyLock<Mutex<Arena>> = LazyLock::new(Mutex::default);

/// Runs `f` on the table. Inside it use the methods of [`Arena`]: the operators of [`Expr`] would wait for themselves.
pub fn with_arena<R>(f: impl FnOnce(&mut Arena) -> R) -> R {
    // A panic elsewhere leaves the table whole: a node is complete before it is listed.
    f(&mut ARENA.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The number of leases.
static LEASES: AtomicUsize = AtomicUsize::new(0);

/// While there is a lease, [`forget_all`] does nothing. Whatever keeps expressions has one.
#[derive(Debug)]
pub struct Lease(());

impl Default for Lease {
    fn default() -> Lease {
        // Who has no lease yet has no expressions yet.
        LEASES.fetch_add(1, Ordering::Relaxed);
        Lease(())
    }
}

impl Clone for Lease {
    fn clone(&self) -> Lease {
        Lease::default()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        LEASES.fetch_sub(1, Ordering::Release);
    }
}

/// The number of nodes in the table.
pub fn table_size() -> usize {
    with_arena(|arena| arena.nodes.len())
}

/// Empties the table, unless a model, a simulation or anything made from them is alive; returns whether it did. An [`Expr`] that was
/// made before is then an error where it is used: numbers of nodes are never used again, so that it cannot become another one.
pub fn forget_all() -> bool {
    with_arena(|arena| {
        if LEASES.load(Ordering::Acquire) > 0 {
            return false;
        }
        arena.first += arena.nodes.len() as u32;
        (arena.nodes, arena.index, arena.classes) = Default::default();
        true
    })
}

impl Arena {
    /// The node behind a handle.
    pub fn node(&self, e: Expr) -> ExprNode {
        let place = e.node.checked_sub(self.first).expect("an expression is used after it was forgotten");
        self.nodes[place as usize]
    }

    /// The handle of a node, made if it is new.
    pub(super) fn intern(&mut self, node: ExprNode) -> Expr {
        let key = Key::of(node, |e| e.node);
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let number = u32::try_from(self.nodes.len()).ok().and_then(|count| count.checked_add(self.first));
        let number = number.expect("fewer than 2^32 expressions fit in memory");
        let class = match node {
            ExprNode::Const(_) | ExprNode::Pi | ExprNode::Symbol(_) => number,
            _ => *self.classes.entry(Key::of(node, |e| e.class).in_order()).or_insert(number),
        };
        let e = Expr { node: number, class };
        self.nodes.push(node);
        self.index.insert(key, e);
        e
    }

    /// The number as an expression; −0 is 0.
    pub fn constant(&mut self, value: f64) -> Expr {
        self.intern(ExprNode::Const(if value == 0.0 { 0.0 } else { value }))
    }

    /// The symbol of that name.
    pub fn symbol(&mut self, name: &str) -> Expr {
        let symbol = match self.symbols.get(name) {
            Some(&s) => s,
            None => {
                let s = Symbol(self.names.len() as u32);
                let name: Arc<str> = name.into();
                self.names.push(name.clone());
                self.symbols.insert(name, s);
                s
            }
        };
        self.intern(ExprNode::Symbol(symbol))
    }

    /// The name of a symbol.
    pub fn name(&self, s: Symbol) -> Arc<str> {
        self.names[s.0 as usize].clone()
    }

    /// The number, if the expression is one.
    pub fn as_const(&self, e: Expr) -> Option<f64> {
        match self.node(e) {
            ExprNode::Const(c) => Some(c),
            _ => None,
        }
    }

    /// All nodes that `roots` are made of, operands before what uses them, in the order in which they are written. Of equal nodes only
    /// the first is listed.
    pub fn reachable(&self, roots: &[Expr]) -> Vec<Expr> {
        self.reached(roots, usize::MAX).unwrap_or_default()
    }

    /// All nodes that e is made of, unless there are more than `most`.
    pub fn reachable_within(&self, e: Expr, most: usize) -> Option<Vec<Expr>> {
        self.reached(&[e], most)
    }

    fn reached(&self, roots: &[Expr], most: usize) -> Option<Vec<Expr>> {
        let mut seen: FxHashSet<Expr> = FxHashSet::default();
        let mut order: Vec<Expr> = Vec::new();
        // True for a node whose operands stand above it.
        let mut stack: Vec<(Expr, bool)> = roots.iter().rev().map(|&e| (e, false)).collect();
        while let Some((e, is_open)) = stack.pop() {
            if is_open {
                order.push(e);
            } else if seen.insert(e) {
                match self.node(e) {
                    ExprNode::Const(_) | ExprNode::Pi | ExprNode::Symbol(_) => order.push(e),
                    ExprNode::Unary(_, a) => stack.extend([(e, true), (a, false)]),
                    ExprNode::Binary(_, a, b) => stack.extend([(e, true), (b, false), (a, false)]),
                }
            }
            if seen.len() > most {
                return None;
            }
        }
        Some(order)
    }
}

/// What a node is, in twelve bytes: its kind, and two numbers or the bits of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key(u8, u32, u32);

impl Key {
    const UNARY: u8 = 16;
    const BINARY: u8 = 64;

    /// The key of a node whose operands have these numbers.
    fn of(node: ExprNode, number: impl Fn(Expr) -> u32) -> Key {
        match node {
            ExprNode::Const(c) => Key(0, (c.to_bits() >> 32) as u32, c.to_bits() as u32),
            ExprNode::Pi => Key(1, 0, 0),
            ExprNode::Symbol(s) => Key(2, s.0, 0),
            ExprNode::Unary(f, a) => Key(Key::UNARY + f as u8, number(a), 0),
            ExprNode::Binary(op, a, b) => Key(Key::BINARY + op as u8, number(a), number(b)),
        }
    }

    /// With the operands of a sum or a product in order.
    fn in_order(self) -> Key {
        let commutes = [Op::Add, Op::Mul].iter().any(|op| self.0 == Key::BINARY + *op as u8);
        if commutes { Key(self.0, self.1.min(self.2), self.1.max(self.2)) } else { self }
    }
}

// Numbers compare by their bits, so that a node is equal to itself also when it is NaN.
impl PartialEq for ExprNode {
    fn eq(&self, other: &ExprNode) -> bool {
        match (*self, *other) {
            (ExprNode::Const(a), ExprNode::Const(b)) => a.to_bits() == b.to_bits(),
            (ExprNode::Pi, ExprNode::Pi) => true,
            (ExprNode::Symbol(a), ExprNode::Symbol(b)) => a == b,
            (ExprNode::Unary(f, a), ExprNode::Unary(g, b)) => f == g && a == b,
            (ExprNode::Binary(f, a, b), ExprNode::Binary(g, c, d)) => f == g && a == c && b == d,
            _ => false,
        }
    }
}

impl Eq for ExprNode {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Func;

    /// Operands stay as they are written, also where the same has been written in another order before.
    #[test]
    fn equal_expressions_may_be_written_in_two_orders() {
        let [x, y] = ["x", "y"].map(Expr::symbol);
        for (ab, ba) in [(x + y, y + x), (x * y, y * x), ((x + y).sin(), (y + x).sin())] {
            assert_eq!(ab, ba);
            assert!(ab.written() != ba.written());
        }
        let ExprNode::Binary(Op::Add, a, b) = (y + x).node() else { panic!("a sum") };
        assert_eq!([a, b], [y, x]);
        assert!((y + x).written() == (y + x).written());
        assert_eq!((x + y) * x.cos() - x.cos() * (y + x), Expr::constant(0.0));
        assert_ne!(x - y, y - x);
        assert_ne!(x / y, y / x);
    }

    /// Of equal nodes the one that is written first is listed, and stands before what uses any of them.
    #[test]
    fn nodes_are_listed_as_they_are_written() {
        let [x, y] = ["x", "y"].map(Expr::symbol);
        // Made before, in another order.
        let _ = [y * x, x.sin()];
        let roots = [(x * y).exp(), (y * x).apply(Func::Tanh), x.sin()];
        let listed = with_arena(|a| a.reachable(&roots));
        assert_eq!(listed, [x, y, x * y, roots[0], roots[1], roots[2]]);
        assert!(listed[2].written() == (x * y).written());
    }
}
