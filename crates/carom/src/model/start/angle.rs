//! Angles that were meant in degrees, or are too large to have a sine.

use std::f64::consts::TAU;

use rustc_hash::FxHashSet;

use super::Check;
use crate::error::Diagnostic;
use crate::expr::parse::Complaint;
use crate::expr::{Expr, ExprNode, Func, any_depends_on, with_arena};

/// An angle beyond this is known to less than 1e-7 rad.
const LARGEST: f64 = 1e9;

impl Check<'_> {
    /// A warning for each coordinate that starts above 2π and occurs only inside sin and cos. It is a mistake if the roundoff of
    /// what their arguments are is no small angle.
    pub(super) fn angles(&self, q: &[f64]) -> Vec<Diagnostic> {
        let system = &self.model.system;
        let large: Vec<usize> = (0..q.len()).filter(|&i| q[i].abs() > TAU && !self.is_driven(i)).collect();
        if large.is_empty() {
            return Vec::new();
        }
        let walls = system.walls.iter().map(|wall| wall.phi);
        let constraints = system.constraints.iter().map(|constraint| constraint.g);
        let all: Vec<Expr> = [system.lagrangian.l].into_iter().chain(walls).chain(constraints).collect();
        let all: Vec<Expr> = all.into_iter().chain(system.forces.iter().copied()).collect();
        let (inside, outside) = by_place(&all);
        let angles = large.into_iter().filter(|&i| {
            let symbol = system.coordinates[i].q;
            inside.contains(&symbol) && !outside.contains(&symbol)
        });
        let (too_large, others): (Vec<usize>, Vec<usize>) =
            angles.partition(|&i| q[i].abs() > LARGEST && self.turns_far(&all, i, q));
        for i in too_large {
            let (name, value) = (&self.model.system.coordinates[i].name, q[i]);
            let message = format!("the angle `{name}` starts at {value:?} rad, too large to compute with");
            let label = format!("it must be below {LARGEST:e}, where its roundoff is 1e-7 rad");
            self.mistake(self.model.error(&self.model.places.q, message, label));
        }
        others.into_iter().map(|i| self.angle(i, q[i])).collect()
    }

    /// True if a sine or cosine of this coordinate has too large an argument at the start. The coordinate itself may be in any unit.
    fn turns_far(&self, all: &[Expr], i: usize, q: &[f64]) -> bool {
        let arguments: Vec<Expr> = with_arena(|arena| {
            let nodes = arena.reachable(all).into_iter();
            let of_turn = |e| match arena.node(e) {
                ExprNode::Unary(Func::Sin | Func::Cos, argument) => Some(argument),
                _ => None,
            };
            nodes.filter_map(of_turn).collect()
        });
        let symbol = [self.model.system.coordinates[i].q];
        let of_coordinate: Vec<Expr> = arguments.into_iter().filter(|&e| any_depends_on(&[e], &symbol)).collect();
        self.at(&of_coordinate, q, &vec![0.0; q.len()]).iter().any(|argument| argument.abs() > LARGEST)
    }

    fn is_driven(&self, i: usize) -> bool {
        self.model.system.coordinates[i].prescribed.is_some()
    }

    fn angle(&self, i: usize, value: f64) -> Diagnostic {
        let name = &self.model.system.coordinates[i].name;
        let message = format!("the angle `{name}` starts at {value} rad, more than a full turn");
        let complaint = Complaint::new(message, format!("for degrees write `{value}*deg`"));
        self.model.source.diagnostic(self.model.places.q.clone(), complaint)
    }
}

/// What occurs inside a sine or cosine, and what occurs outside of all.
pub(super) fn by_place(fs: &[Expr]) -> (FxHashSet<Expr>, FxHashSet<Expr>) {
    with_arena(|arena| {
        let (mut inside, mut outside) = (FxHashSet::default(), FxHashSet::default());
        let mut left: Vec<(Expr, bool)> = fs.iter().map(|&f| (f, false)).collect();
        while let Some((e, within)) = left.pop() {
            let new = if within { inside.insert(e) } else { outside.insert(e) };
            if new {
                let node = arena.node(e);
                let within = within || matches!(node, ExprNode::Unary(Func::Sin | Func::Cos, _));
                left.extend(node.operands().map(|x| (x, within)));
            }
        }
        (inside, outside)
    })
}
