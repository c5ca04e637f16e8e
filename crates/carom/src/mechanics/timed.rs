//! What the equations contain that depends on the time alone.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Mechanics;
use crate::expr::{Arena, Expr, ExprNode, Func, Op, with_arena};
use crate::system::time;

impl Mechanics {
    /// The largest parts of L, the forces, the walls and the constraints that contain the time but no coordinate or velocity; each
    /// as the list of its terms. Terms of L that depend on the time alone do not act, and are left out.
    pub fn functions_of_time(&self) -> Vec<Vec<Expr>> {
        let acting = self.forces.iter().flatten().copied();
        let acting = acting.chain(self.walls.iter().copied()).chain(self.constraints.iter().map(|c| c.g));
        let roots: Vec<Expr> = terms(self.l).into_iter().chain(acting.clone()).collect();
        let moving: FxHashSet<Expr> = self.q.iter().chain(&self.v).copied().collect();
        let t = time();
        let functions: Vec<Expr> = with_arena(|a| {
            let order = a.reachable(&roots);
            let depends = depends(a, &order, t, &moving);
            let is_timed = |e: &Expr| depends[e] == (true, false);
            let below = order.iter().filter(|e| depends[e].1).flat_map(|&e| a.node(e).operands());
            let mut seen = FxHashSet::default();
            below.chain(acting).filter(is_timed).filter(|&e| seen.insert(e)).collect()
        });
        functions.into_iter().map(terms).collect()
    }
}

/// For each expression whether it contains the time, and whether it contains what moves.
fn depends(a: &Arena, order: &[Expr], t: Expr, moving: &FxHashSet<Expr>) -> FxHashMap<Expr, (bool, bool)> {
    let mut depends: FxHashMap<Expr, (bool, bool)> = FxHashMap::default();
    for &e in order {
        let own = (e == t, moving.contains(&e));
        let all = a.node(e).operands().fold(own, |(t, q), x| (t || depends[&x].0, q || depends[&x].1));
        depends.insert(e, all);
    }
    depends
}

/// What adds up to an expression, without the signs.
fn terms(e: Expr) -> Vec<Expr> {
    with_arena(|a| {
        let (mut open, mut terms) = (vec![e], Vec::new());
        while let Some(e) = open.pop() {
            match a.node(e) {
                ExprNode::Binary(Op::Add | Op::Sub, x, y) => open.extend([x, y]),
                ExprNode::Unary(Func::Neg, x) => open.push(x),
                _ => terms.push(e),
            }
        }
        terms
    })
}
