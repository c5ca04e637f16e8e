//! Kinks of the equations: |u|, min and max, and what else is not smooth.
//!
//! Between two zeros of its argument a kink is smooth. Its side σ = ±1 is then a parameter, and the equations go on smoothly beyond
//! the kink, as they do beyond a wall:
//!
//! ```text
//! |u| = σu,   max(x, y) = ½(x + y) + ½σ(x − y),   min(x, y) = ½(x + y) − ½σ(x − y)
//! ```
//!
//! Powers such as |u|^(5/2) do not go on beyond u = 0. There the expressions stay as they are, and only the zeros are located. Where
//! the slope is infinite, as that of |u|^(1/2) is, not even these are.

use rustc_hash::FxHashSet;

use super::{Derived, Mechanics, numbered};
use crate::expr::{Expr, ExprNode, Func, Op, substitute, with_arena};

/// The kinks of L and of the forces.
#[derive(Clone, Debug, Default)]
pub struct Kinks {
    /// The functions whose zeros are kinks that are located. They contain coordinates, but no velocities.
    pub arguments: Vec<Expr>,
    /// Expressions with kinks that are not located: they contain velocities, or have no smooth sides, or infinite slopes.
    pub others: Vec<Expr>,
    /// The expressions that go on smoothly beyond the zeros of an argument, with its number; operands before what uses them.
    nodes: Vec<(Expr, usize)>,
}

impl Kinks {
    /// True if expressions have kinks that are not located and that a motion passes: not those of a square root, which end it.
    pub fn has_other_sides(&self) -> bool {
        self.others.iter().any(|e| !matches!(e.node(), ExprNode::Unary(Func::Sqrt, _)))
    }
}

impl Mechanics {
    /// Finds the kinks of L and of the forces.
    pub fn kinks(&self) -> Kinks {
        let roots: Vec<Expr> = [self.l].into_iter().chain(self.forces.iter().flatten().copied()).collect();
        let nodes: Vec<(Expr, ExprNode)> =
            with_arena(|a| a.reachable(&roots).into_iter().map(|e| (e, a.node(e))).collect());
        // Where L jumps, momenta do too: such a kink is in the coordinates, and no step passes it smoothly.
        let jumps: FxHashSet<Expr> = with_arena(|a| {
            let inside = a.reachable(&[self.l]).into_iter().map(|e| a.node(e));
            inside.filter_map(|node| if let ExprNode::Unary(Func::Sign, u) = node { Some(u) } else { None }).collect()
        });
        let bases: Vec<Expr> = nodes.iter().filter_map(|(_, node)| base_with_an_end(node)).collect();
        let steep: Vec<Expr> = nodes.iter().filter_map(|(_, node)| steep_base(node)).collect();
        let zero = Expr::constant(0.0);
        let is_steep = |e: Expr| substitute(&steep, &[e], &[zero]).iter().any(|base| base.is_zero());
        let ending: FxHashSet<Expr> = with_arena(|a| a.reachable(&bases)).into_iter().collect();
        let mut kinks = Kinks::default();
        for (e, node) in nodes {
            let (argument, has_sides) = match node {
                // A step cannot end where a force is infinite, and the next begin there.
                ExprNode::Unary(Func::Abs, u) => (u, !is_steep(e)),
                ExprNode::Unary(Func::Sign, u) => (u, true),
                ExprNode::Binary(Op::Min | Op::Max, x, y) => (x - y, true),
                ExprNode::Unary(Func::Sqrt, u) => (u, false),
                _ => continue,
            };
            let (has_q, has_v) = (argument.depends_on(&self.q), argument.depends_on(&self.v));
            if has_q && !has_v && has_sides && !jumps.contains(&argument) {
                let known = kinks.arguments.iter().position(|&known| known == argument);
                let number = known.unwrap_or(kinks.arguments.len());
                if known.is_none() {
                    kinks.arguments.push(argument);
                }
                if !ending.contains(&e) {
                    kinks.nodes.push((e, number));
                }
            } else if has_q || has_v {
                kinks.others.push(e);
            }
        }
        kinks
    }

    /// The same equations on one side of each kink; the sides σ are parameters after the others.
    pub fn on_sides(&self, kinks: &Kinks) -> Mechanics {
        if kinks.arguments.is_empty() {
            return self.clone();
        }
        let sides = numbered("side", kinks.arguments.len());
        let (mut from, mut to): (Vec<Expr>, Vec<Expr>) = (Vec::new(), Vec::new());
        for &(e, number) in &kinks.nodes {
            let smooth = on_side(e, sides[number]);
            to.push(substitute(&[smooth], &from, &to)[0]);
            from.push(e);
        }
        Mechanics {
            parameters: self.parameters.iter().chain(&sides).copied().collect(),
            l: substitute(&[self.l], &from, &to)[0],
            forces: self.forces.as_ref().map(|forces| substitute(forces, &from, &to)),
            derived: Derived::default(),
            ..self.clone()
        }
    }
}

/// What must not be negative, of a function that is defined on one side of zero only.
fn base_with_an_end(node: &ExprNode) -> Option<Expr> {
    match *node {
        ExprNode::Unary(Func::Sqrt | Func::Log, u) => Some(u),
        ExprNode::Binary(Op::Pow, base, power) => {
            let is_whole = matches!(power.node(), ExprNode::Const(n) if n.fract() == 0.0);
            Some(base).filter(|_| !is_whole)
        }
        _ => None,
    }
}

/// What must not be zero, of a function whose slope is infinite there.
fn steep_base(node: &ExprNode) -> Option<Expr> {
    match *node {
        ExprNode::Unary(Func::Sqrt | Func::Log, u) => Some(u),
        ExprNode::Binary(Op::Pow, base, power) => {
            let is_flat = matches!(power.node(), ExprNode::Const(n) if n >= 1.0);
            Some(base).filter(|_| !is_flat)
        }
        _ => None,
    }
}

/// An expression with a kink, on one side of it.
fn on_side(e: Expr, side: Expr) -> Expr {
    match e.node() {
        ExprNode::Unary(Func::Abs, u) => side * u,
        ExprNode::Unary(Func::Sign, _) => side,
        ExprNode::Binary(Op::Max, x, y) => 0.5 * (x + y) + 0.5 * side * (x - y),
        ExprNode::Binary(Op::Min, x, y) => 0.5 * (x + y) - 0.5 * side * (x - y),
        _ => e,
    }
}
