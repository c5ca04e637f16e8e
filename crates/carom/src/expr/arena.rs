//! The table of all expressions: equal nodes are stored once.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Expr, ExprNode, Op, Symbol};

/// The table. Algorithms over many nodes hold it once, by [`with_arena`].
#[derive(Default)]
pub struct Arena {
    nodes: Vec<ExprNode>,
    /// The key of each node, which orders operands: see [`order`](super::order).
    keys: Vec<u64>,
    /// The number of the first node; those before it were forgotten. Numbers are never used again.
    first: u32,
    index: FxHashMap<ExprNode, Expr>,
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
        (arena.nodes, arena.keys, arena.index) = Default::default();
        true
    })
}

impl Arena {
    /// The node behind a handle.
    pub fn node(&self, e: Expr) -> ExprNode {
        self.nodes[self.place(e)]
    }

    /// The key of an expression.
    pub(super) fn key(&self, e: Expr) -> u64 {
        self.keys[self.place(e)]
    }

    fn place(&self, e: Expr) -> usize {
        e.0.checked_sub(self.first).expect("an expression is used after it was forgotten") as usize
    }

    /// The handle of a node, made if it is new. For sums and products a node with swapped operands is the same: it is stored with its
    /// operands in order.
    pub(super) fn intern(&mut self, node: ExprNode) -> Expr {
        let node = match node {
            ExprNode::Binary(op @ (Op::Add | Op::Mul), a, b) if self.is_swapped(op, a, b) => ExprNode::Binary(op, b, a),
            _ => node,
        };
        if let Some(&known) = self.index.get(&node) {
            return known;
        }
        let number = u32::try_from(self.nodes.len()).ok().and_then(|count| count.checked_add(self.first));
        let e = Expr(number.expect("fewer than 2^32 expressions fit in memory"));
        self.keys.push(self.key_of(node));
        self.nodes.push(node);
        self.index.insert(node, e);
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

    /// All nodes that `roots` are made of, operands before what uses them. Their order is that of the operands: it does not depend on
    /// the numbers of nodes, and thus not on what else is in the table.
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

impl Hash for ExprNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match *self {
            ExprNode::Const(c) => (0u8, c.to_bits()).hash(state),
            ExprNode::Pi => 1u8.hash(state),
            ExprNode::Symbol(s) => (2u8, s).hash(state),
            ExprNode::Unary(f, a) => (3u8, f, a).hash(state),
            ExprNode::Binary(op, a, b) => (4u8, op, a, b).hash(state),
        }
    }
}
