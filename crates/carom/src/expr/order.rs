//! The order of expressions: a function of what they are, and never of when they were made.
//!
//! a + b and b + a are one node, and one of the two orders is stored. Rules of [`build`](super::build), derivatives and kernels
//! follow the stored order, so roundoff depends on it. Numbers of nodes depend on what the process did before; hence operands are
//! ordered by a key that is a hash of the expression itself, the same in every process and on every machine.

use std::cmp::Ordering;

use super::{Arena, Expr, ExprNode, Op};

/// Mixes a word into a hash. Different words give different hashes, and each bit of a word changes about half of the bits. The
/// multiplier is 2⁶⁴ divided by the golden ratio.
fn mix(hash: u64, word: u64) -> u64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let x = (hash.rotate_left(31) ^ word).wrapping_mul(GOLDEN);
    let x = (x ^ x >> 32).wrapping_mul(GOLDEN);
    x ^ x >> 29
}

impl Arena {
    /// The key of a node whose operands are in the table: a hash of its operation and of the keys of its operands, of the bits of
    /// a number, or of the name of a symbol.
    pub(super) fn key_of(&self, node: ExprNode) -> u64 {
        match node {
            ExprNode::Const(c) => mix(1, c.to_bits()),
            ExprNode::Pi => mix(2, 0),
            ExprNode::Symbol(s) => self.name(s).bytes().fold(3, |hash, byte| mix(hash, u64::from(byte))),
            ExprNode::Unary(f, a) => mix(16 + f as u64, self.key(a)),
            ExprNode::Binary(op, a, b) => mix(mix(64 + op as u64, self.key(a)), self.key(b)),
        }
    }

    /// True if the operands of a sum or a product are stored as b, a. Numbers stand first, then sums in a sum and products in a
    /// product, then symbols by name, then all else by key: so `m*g*(x + y)` is stored as it is read.
    pub(super) fn is_swapped(&self, op: Op, a: Expr, b: Expr) -> bool {
        let rank = |e: Expr| match (self.node(e), op) {
            (ExprNode::Const(_), _) => 0,
            (ExprNode::Binary(Op::Add | Op::Sub, ..), Op::Add) | (ExprNode::Binary(Op::Mul | Op::Div, ..), Op::Mul) => {
                1
            }
            (ExprNode::Symbol(_), _) => 2,
            _ => 3,
        };
        a != b && rank(a).cmp(&rank(b)).then_with(|| self.compare(a, b)) == Ordering::Greater
    }

    /// Compares two expressions: symbols by name, others by key. Different expressions with one key, which hardly exist, are
    /// compared part by part.
    fn compare(&self, a: Expr, b: Expr) -> Ordering {
        if let (ExprNode::Symbol(s), ExprNode::Symbol(t)) = (self.node(a), self.node(b)) {
            return self.name(s).cmp(&self.name(t));
        }
        self.key(a).cmp(&self.key(b)).then_with(|| self.compare_parts(a, b))
    }

    /// Compares the kinds of two expressions, then their first parts that differ.
    fn compare_parts(&self, mut a: Expr, mut b: Expr) -> Ordering {
        while a != b {
            let (x, y) = (self.node(a), self.node(b));
            let order = match (x, y) {
                (ExprNode::Const(c), ExprNode::Const(d)) => c.to_bits().cmp(&d.to_bits()),
                (ExprNode::Symbol(s), ExprNode::Symbol(t)) => self.name(s).cmp(&self.name(t)),
                _ => kind(x).cmp(&kind(y)),
            };
            let differ = x.operands().zip(y.operands()).find(|(x, y)| x != y);
            match (order, differ) {
                (Ordering::Equal, Some((x, y))) => (a, b) = (x, y),
                _ => return order,
            }
        }
        Ordering::Equal
    }
}

fn kind(node: ExprNode) -> u64 {
    match node {
        ExprNode::Const(_) => 1,
        ExprNode::Pi => 2,
        ExprNode::Symbol(_) => 3,
        ExprNode::Unary(f, _) => 16 + f as u64,
        ExprNode::Binary(op, ..) => 64 + op as u64,
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::expr::with_arena;

    /// x₁ + … with all functions and operations, and expressions that differ in one part only.
    fn various() -> Vec<Expr> {
        let names = (0..40).map(|i| Expr::symbol(&format!("order {i}")));
        let mut all: Vec<Expr> = names.chain((0..40).map(|i| Expr::constant(0.1 + f64::from(i)))).collect();
        for k in 0..400 {
            let (a, b) = (all[k % 70], all[all.len() - 1 - k % 11]);
            all.extend([a + b, a * b, a - b, b / a, b.sin(), (a * b).cos(), a.pow(b), b.atan2(a)]);
        }
        let mut seen = FxHashSet::default();
        all.retain(|e| seen.insert(*e));
        all
    }

    #[test]
    fn different_expressions_have_different_keys() {
        let all = various();
        let keys: FxHashSet<u64> = with_arena(|a| all.iter().map(|&e| a.key(e)).collect());
        assert!(all.len() > 1000 && keys.len() == all.len(), "{} keys of {} expressions", keys.len(), all.len());
        // Each bit of a key is set in about half of them.
        for bit in 0..64 {
            let set = keys.iter().filter(|&key| key >> bit & 1 == 1).count();
            assert!((keys.len() * 2 / 5..keys.len() * 3 / 5).contains(&set), "bit {bit} is set in {set} keys");
        }
    }

    #[test]
    fn parts_decide_where_keys_do_not() {
        let mut all = various();
        all.truncate(300);
        with_arena(|a| {
            for &x in &all {
                assert_eq!(a.compare_parts(x, x), Ordering::Equal);
                for &y in all.iter().filter(|&&y| y != x) {
                    let order = a.compare_parts(x, y);
                    assert!(order != Ordering::Equal && order == a.compare_parts(y, x).reverse());
                }
            }
            let mut sorted = all.clone();
            sorted.sort_by(|&x, &y| a.compare_parts(x, y));
            for (i, &x) in sorted.iter().enumerate() {
                assert!(sorted[i + 1..].iter().all(|&y| a.compare_parts(x, y) == Ordering::Less));
            }
        });
    }

    /// Keys are part of what makes runs reproducible: another key is another roundoff in all models.
    #[test]
    fn keys_are_the_same_in_every_process() {
        let [x, y] = ["x", "y"].map(Expr::symbol);
        let key = |e: Expr| with_arena(|a| a.key(e));
        let keys = [key(x), key(Expr::constant(0.5)), key((x + y.sin()) * x)];
        assert_eq!(keys, [0xF9CB_A991_EE99_8816, 0x0170_B5FA_3BDB_4103, 0xFD27_D677_A888_5DA9], "{keys:#x?}");
    }

    #[test]
    fn sums_and_products_are_stored_in_one_order() {
        let [m, g, x, y] = ["m", "g", "x", "y"].map(Expr::symbol);
        for (e, expected) in [(m * g, "g*m"), (x * (m * g), "g*m*x"), (y + (x + g), "g + x + y"), (x + 1.0, "1 + x")] {
            assert_eq!(e.to_source(), expected);
        }
    }
}
