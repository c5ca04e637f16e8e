//! What the equations contain that depends on the time alone, and bounds on it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Mechanics;
use crate::expr::{Arena, Expr, ExprNode, Func, Op, with_arena};
use crate::interval::{Interval, Piece, Program, Question, resolve, size};
use crate::system::time;

/// The largest parts of L, the forces, the walls and the constraints that contain the time but no coordinate or velocity; each as the
/// list of its terms. Terms of L that depend on the time alone do not act, and are left out.
#[derive(Clone, Debug, Default)]
pub struct FunctionsOfTime {
    parameters: Vec<Expr>,
    list: Vec<Vec<TimedTerm>>,
}

/// A term of a function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedTerm(Expr);

/// A term of a function of time for some values of the parameters, with bounds on how it varies.
pub struct BoundedTerm(Program);

impl FunctionsOfTime {
    /// True if nothing depends on the time alone.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The terms of each function.
    pub fn iter(&self) -> impl Iterator<Item = &[TimedTerm]> {
        self.list.iter().map(Vec::as_slice)
    }

    /// True if one of the parameters with these numbers occurs in them.
    pub fn contain_any(&self, parameters: &[usize]) -> bool {
        let symbols: Vec<Expr> = parameters.iter().filter_map(|&number| self.parameters.get(number).copied()).collect();
        self.list.iter().flatten().any(|term| term.0.depends_on(&symbols))
    }

    /// A term for these values of the parameters.
    pub fn bounded(&self, term: TimedTerm, parameters: &[f64]) -> BoundedTerm {
        let mut program = Program::new(term.0);
        let values = self.parameters.iter().zip(parameters);
        values.for_each(|(&symbol, &value)| program.set(symbol, Interval::point(value)));
        BoundedTerm(program)
    }
}

impl TimedTerm {
    /// The term, to be named to the user.
    pub fn expression(self) -> Expr {
        self.0
    }
}

impl BoundedTerm {
    /// Its largest absolute value on a span, to a factor of 2.
    pub fn size(&mut self, span: Interval, budget: usize) -> f64 {
        size(&mut self.0, time(), span, budget)
    }

    /// The pieces of a span in which intervals on which it is a polynomial are shorter than is enough, in order.
    pub fn resolve(&mut self, span: Interval, question: Question) -> Vec<Piece> {
        resolve(&mut self.0, time(), span, question)
    }
}

impl Mechanics {
    /// Finds the functions of time in the equations.
    pub fn functions_of_time(&self) -> FunctionsOfTime {
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
        let list = functions.into_iter().map(|f| terms(f).into_iter().map(TimedTerm).collect());
        FunctionsOfTime { parameters: self.parameters.clone(), list: list.collect() }
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
