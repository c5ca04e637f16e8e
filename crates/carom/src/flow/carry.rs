//! Values that one step computes and the next step reuses.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::expr::{Expr, ExprNode, Func, substitute, with_arena};
use crate::kernel::{Backend, Kernel};
use crate::mechanics::{Mechanics, numbered};

/// Transcendental functions of the first point q0 of a step. The step before computed them at its last point, which is the same
/// point. Evaluating sin q0 and cos q0 again would cost a fifth of a step.
pub(super) struct Carry {
    /// The symbols that replace the functions.
    pub(super) symbols: Vec<Expr>,
    /// The functions at q0.
    now: Vec<Expr>,
}

impl Carry {
    /// Finds the functions in `fs` that depend only on q0 and the parameters. Returns them, and `fs` with symbols in their
    /// place.
    pub(super) fn of(mechanics: &Mechanics, fs: &[Expr], q0: &[Expr]) -> (Carry, Vec<Expr>) {
        let found = functions_of(fs, q0, &mechanics.parameters);
        let symbols = numbered("carried", found.len());
        let fs = substitute(fs, &found, &symbols);
        // Drop functions that occurred only inside other ones.
        let used = with_arena(|arena| arena.reachable(&fs));
        let both = symbols.into_iter().zip(found).filter(|(symbol, _)| used.contains(symbol));
        let (symbols, now) = both.unzip();
        (Carry { symbols, now }, fs)
    }

    /// The functions at the end q1 of the step.
    pub(super) fn next(&self, q0: &[Expr], q1: &[Expr]) -> Vec<Expr> {
        substitute(&self.now, q0, q1)
    }

    /// Computes the functions at q0 for a step that follows no other. Rarely needed, so it is interpreted.
    pub(super) fn kernel(&self, mechanics: &Mechanics, q0: &[Expr]) -> Result<Kernel> {
        Mechanics { backend: Backend::Interpreter, ..mechanics.clone() }.kernel(q0, &self.now)
    }
}

/// The transcendental functions in `fs` that depend on q0 and otherwise only on the parameters.
fn functions_of(fs: &[Expr], q0: &[Expr], parameters: &[Expr]) -> Vec<Expr> {
    with_arena(|arena| {
        // Whether an expression depends on q0 (first), and on symbols other than q0 and the parameters (second).
        let mut depends: FxHashMap<Expr, (bool, bool)> = FxHashMap::default();
        let mut found = Vec::new();
        for e in arena.reachable(fs) {
            let node = arena.node(e);
            let of_operands = node.operands().map(|x| depends[&x]);
            let mut both = of_operands.fold((false, false), |a, b| (a.0 || b.0, a.1 || b.1));
            if matches!(node, ExprNode::Symbol(_)) {
                both = (q0.contains(&e), !q0.contains(&e) && !parameters.contains(&e));
            }
            let is_cheap =
                matches!(node, ExprNode::Unary(Func::Neg | Func::Abs | Func::Sign | Func::Floor | Func::Sqrt, _));
            if matches!(node, ExprNode::Unary(..)) && !is_cheap && both == (true, false) {
                found.push(e);
            }
            depends.insert(e, both);
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_of_the_first_point_are_carried() {
        let [a, b, m] = ["a", "b", "m"].map(Expr::symbol);
        let found = functions_of(&[m * a.sin() + (a * b).cos() + (m * a).exp().cos() + m.sin()], &[a], &[m]);
        let expected = [a.sin(), (m * a).exp(), (m * a).exp().cos()];
        assert_eq!(found.len(), expected.len());
        assert!(expected.iter().all(|e| found.contains(e)));
    }
}
