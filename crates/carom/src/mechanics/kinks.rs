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
    /// The functions whose zeros are kinks that are located. Those that contain velocities are the last.
    pub arguments: Vec<Expr>,
    /// How many of them contain velocities.
    pub of_velocities: usize,
    /// Expressions that jump at these.
    pub jumps: Vec<Expr>,
    /// Expressions with kinks that are not located: they have no smooth sides, or infinite slopes, or are kinks of momenta.
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
        let in_l: FxHashSet<Expr> = with_arena(|a| a.reachable(&[self.l])).into_iter().collect();
        // Where L jumps, momenta do too: such a kink is in the coordinates, and no step passes it smoothly.
        let jump = |e: &Expr| if let ExprNode::Unary(Func::Sign, u) = e.node() { Some(u) } else { None };
        let jumps: FxHashSet<Expr> = in_l.iter().filter_map(jump).collect();
        let bases: Vec<Expr> = nodes.iter().filter_map(|(_, node)| base_with_an_end(node)).collect();
        let steep: Vec<Expr> = nodes.iter().filter_map(|(_, node)| steep_base(node)).collect();
        let zero = Expr::constant(0.0);
        let is_steep = |e: Expr| substitute(&steep, &[e], &[zero]).iter().any(|base| base.is_zero());
        let ending: FxHashSet<Expr> = with_arena(|a| a.reachable(&bases)).into_iter().collect();
        let mut kinks = Kinks::default();
        let mut located = Vec::new();
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
            let is_located = has_sides && if has_v { !in_l.contains(&e) } else { has_q && !jumps.contains(&argument) };
            if is_located {
                located.push((e, argument, has_v));
                if has_v && matches!(node, ExprNode::Unary(Func::Sign, _)) {
                    kinks.jumps.push(e);
                }
            } else if has_q || has_v {
                kinks.others.push(e);
            }
        }
        let mut arguments: Vec<(Expr, bool)> = located.iter().map(|&(_, argument, has_v)| (argument, has_v)).collect();
        arguments.sort_by_key(|(_, has_v)| *has_v);
        for (argument, has_v) in arguments {
            if !kinks.arguments.contains(&argument) {
                kinks.arguments.push(argument);
                kinks.of_velocities += usize::from(has_v);
            }
        }
        let number = |argument: Expr| kinks.arguments.iter().position(|&known| known == argument);
        let nodes = located.into_iter().filter(|(e, ..)| !ending.contains(e));
        kinks.nodes = nodes.filter_map(|(e, argument, _)| Some((e, number(argument)?))).collect();
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
