//! The table of all expressions: equal nodes are stored once.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Expr, ExprNode, Op, Symbol};

/// The table. Algorithms over many nodes hold it once, by [`with_arena`].
#[derive(Default)]
pub struct Arena {
    nodes: Vec<ExprNode>,
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

impl Arena {
    /// The node behind a handle.
    pub fn node(&self, e: Expr) -> ExprNode {
        self.nodes[e.0 as usize]
    }

    /// The handle of a node, made if it is new. For sums and products a node with swapped operands is the same.
    pub(super) fn intern(&mut self, node: ExprNode) -> Expr {
        if let Some(&e) = self.index.get(&node) {
            return e;
        }
        if let ExprNode::Binary(op @ (Op::Add | Op::Mul), a, b) = node
            && let Some(&e) = self.index.get(&ExprNode::Binary(op, b, a))
        {
            return e;
        }
        let e = Expr(u32::try_from(self.nodes.len()).expect("fewer than 2^32 expressions fit in memory"));
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

    /// All nodes that `roots` are made of, operands before what uses them.
    pub fn reachable(&self, roots: &[Expr]) -> Vec<Expr> {
        self.reached(roots, usize::MAX).unwrap_or_default()
    }

    /// All nodes that e is made of, unless there are more than `most`.
    pub fn reachable_within(&self, e: Expr, most: usize) -> Option<Vec<Expr>> {
        self.reached(&[e], most)
    }

    fn reached(&self, roots: &[Expr], most: usize) -> Option<Vec<Expr>> {
        let mut seen: FxHashSet<Expr> = FxHashSet::default();
        let mut stack: Vec<Expr> = roots.to_vec();
        while let Some(e) = stack.pop() {
            if seen.insert(e) {
                stack.extend(self.node(e).operands());
            }
            if seen.len() > most {
                return None;
            }
        }
        let mut order: Vec<Expr> = seen.into_iter().collect();
        order.sort_unstable();
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
