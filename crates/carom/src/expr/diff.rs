//! Exact derivatives and substitution, each one sweep over the graph.

use rustc_hash::FxHashMap;

use super::{Arena, Expr, ExprNode, Func, Op, with_arena};

/// ∂fᵢ/∂x for each fᵢ.
pub fn diff_many(fs: &[Expr], x: Expr) -> Vec<Expr> {
    directional(fs, &[(x, Expr::constant(1.0))])
}

/// Σⱼ ∂fᵢ/∂xⱼ·uⱼ for each fᵢ, where `seeds` lists (xⱼ, uⱼ), by one forward sweep.
pub fn directional(fs: &[Expr], seeds: &[(Expr, Expr)]) -> Vec<Expr> {
    with_arena(|a| {
        let zero = a.constant(0.0);
        let mut tangent: FxHashMap<Expr, Expr> = seeds.iter().copied().collect();
        for e in a.reachable(fs) {
            if tangent.contains_key(&e) {
                continue;
            }
            let node = a.node(e);
            let mut sum = zero;
            for (index, operand) in node.operands().enumerate() {
                if let Some(&dx) = tangent.get(&operand) {
                    let partial = a.partial(e, node, index);
                    let term = a.mul(partial, dx);
                    sum = a.add(sum, term);
                }
            }
            if sum != zero {
                tangent.insert(e, sum);
            }
        }
        fs.iter().map(|f| tangent.get(f).copied().unwrap_or(zero)).collect()
    })
}

/// ∂f/∂xⱼ for each xⱼ, by one backward sweep: about as many operations as f itself, however many xⱼ there are.
pub fn grad(f: Expr, xs: &[Expr]) -> Vec<Expr> {
    with_arena(|a| {
        let zero = a.constant(0.0);
        let order = a.reachable(&[f]);
        let active = a.depending(&order, xs);
        let mut adjoint: FxHashMap<Expr, Expr> = FxHashMap::default();
        adjoint.insert(f, a.constant(1.0));
        for &e in order.iter().rev() {
            let Some(&bar) = adjoint.get(&e) else { continue };
            let node = a.node(e);
            for (index, operand) in node.operands().enumerate() {
                if active.contains_key(&operand) {
                    let partial = a.partial(e, node, index);
                    let term = a.mul(bar, partial);
                    let sum = adjoint.get(&operand).copied().unwrap_or(zero);
                    let sum = a.add(sum, term);
                    adjoint.insert(operand, sum);
                }
            }
        }
        xs.iter().map(|x| adjoint.get(x).copied().unwrap_or(zero)).collect()
    })
}

/// ∂fᵢ/∂xⱼ as rows i. Each column is a sweep as in [`directional`], over those nodes only that depend on xⱼ: most entries of a
/// large system are zero.
pub fn jacobian(fs: &[Expr], xs: &[Expr]) -> Vec<Vec<Expr>> {
    with_arena(|a| {
        let [one, zero] = [1.0, 0.0].map(|c| a.constant(c));
        let order = a.reachable(fs);
        let place: FxHashMap<Expr, usize> = order.iter().enumerate().map(|(at, &e)| (e, at)).collect();
        let operands: Vec<[usize; 2]> = order.iter().map(|&e| a.places_of_operands(e, &place)).collect();
        let users = users(&operands);
        let mut tangent = vec![zero; order.len()];
        // The last column for which a node was found to depend on xⱼ.
        let mut seen = vec![usize::MAX; order.len()];
        let mut rows = vec![vec![zero; xs.len()]; fs.len()];
        for (j, x) in xs.iter().enumerate() {
            let Some(&start) = place.get(x) else { continue };
            tangent[start] = one;
            let affected = dependants(&users, start, j, &mut seen);
            for &at in &affected {
                let node = a.node(order[at]);
                let mut sum = zero;
                for (index, operand) in operands[at].into_iter().enumerate().take_while(|(_, at)| *at != NONE) {
                    let dx = tangent[operand];
                    if dx != zero {
                        let partial = a.partial(order[at], node, index);
                        let term = a.mul(partial, dx);
                        sum = a.add(sum, term);
                    }
                }
                tangent[at] = sum;
            }
            rows.iter_mut().zip(fs).for_each(|(row, f)| row[j] = tangent[place[f]]);
            affected.iter().chain([&start]).for_each(|&at| tangent[at] = zero);
        }
        rows
    })
}

/// The place of an operand that there is not.
const NONE: usize = usize::MAX;

/// For each node the places of those that it is an operand of.
fn users(operands: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut users = vec![Vec::new(); operands.len()];
    for (at, operands) in operands.iter().enumerate() {
        operands.iter().take_while(|operand| **operand != NONE).for_each(|&operand| users[operand].push(at));
    }
    users
}

/// The places that can be reached from `start` by way of `users`, in order, without `start`. They are marked by `mark` in `seen`.
fn dependants(users: &[Vec<usize>], start: usize, mark: usize, seen: &mut [usize]) -> Vec<usize> {
    let (mut stack, mut all) = (vec![start], Vec::new());
    while let Some(at) = stack.pop() {
        for &user in &users[at] {
            if seen[user] != mark {
                seen[user] = mark;
                all.push(user);
                stack.push(user);
            }
        }
    }
    all.sort_unstable();
    all
}

/// Each fᵢ with the expressions `from` replaced by `to`, all at once.
pub fn substitute(fs: &[Expr], from: &[Expr], to: &[Expr]) -> Vec<Expr> {
    assert_eq!(from.len(), to.len());
    with_arena(|a| {
        let mut image: FxHashMap<Expr, Expr> = from.iter().copied().zip(to.iter().copied()).collect();
        for e in a.reachable(fs) {
            if !image.contains_key(&e) {
                let node = a.node(e);
                let rebuilt = if node.operands().all(|x| image[&x] == x) { e } else { a.rebuild(node, |x| image[&x]) };
                image.insert(e, rebuilt);
            }
        }
        fs.iter().map(|f| image[f]).collect()
    })
}

impl Arena {
    /// The nodes among `order` that depend on one of `xs`.
    fn depending(&self, order: &[Expr], xs: &[Expr]) -> FxHashMap<Expr, ()> {
        let mut active: FxHashMap<Expr, ()> = xs.iter().map(|&x| (x, ())).collect();
        for &e in order {
            if self.node(e).operands().any(|x| active.contains_key(&x)) {
                active.insert(e, ());
            }
        }
        active
    }

    /// The places of the operands of e.
    fn places_of_operands(&self, e: Expr, place: &FxHashMap<Expr, usize>) -> [usize; 2] {
        let mut places = [NONE; 2];
        places.iter_mut().zip(self.node(e).operands()).for_each(|(at, operand)| *at = place[&operand]);
        places
    }

    /// ∂e/∂(operand number `index`), where `node` is the node of e.
    fn partial(&mut self, e: Expr, node: ExprNode, index: usize) -> Expr {
        match node {
            ExprNode::Unary(f, x) => self.derivative(e, f, x),
            ExprNode::Binary(op, x, y) => self.partial_binary(e, op, x, y, index),
            ExprNode::Const(_) | ExprNode::Pi | ExprNode::Symbol(_) => self.constant(0.0),
        }
    }

    /// f′(x), where e = f(x).
    fn derivative(&mut self, e: Expr, f: Func, x: Expr) -> Expr {
        let one = self.constant(1.0);
        match f {
            Func::Neg => self.constant(-1.0),
            Func::Sin => self.unary(Func::Cos, x),
            Func::Cos => {
                let sin = self.unary(Func::Sin, x);
                self.neg(sin)
            }
            Func::Tan => {
                let square = self.powf(e, 2.0);
                self.add(one, square)
            }
            Func::Asin | Func::Acos => {
                let square = self.powf(x, 2.0);
                let rest = self.sub(one, square);
                let root = self.unary(Func::Sqrt, rest);
                let slope = self.div(one, root);
                if f == Func::Asin { slope } else { self.neg(slope) }
            }
            Func::Atan => {
                let square = self.powf(x, 2.0);
                let sum = self.add(one, square);
                self.div(one, sum)
            }
            Func::Sinh => self.unary(Func::Cosh, x),
            Func::Cosh => self.unary(Func::Sinh, x),
            Func::Tanh => {
                let square = self.powf(e, 2.0);
                self.sub(one, square)
            }
            Func::Exp => e,
            Func::Log => self.div(one, x),
            Func::Sqrt => {
                let half = self.constant(0.5);
                self.div(half, e)
            }
            Func::Abs => self.unary(Func::Sign, x),
            Func::Sign | Func::Floor => self.constant(0.0),
        }
    }

    /// ∂(x op y)/∂x for index 0, ∂/∂y for index 1.
    fn partial_binary(&mut self, e: Expr, op: Op, x: Expr, y: Expr, index: usize) -> Expr {
        let one = self.constant(1.0);
        match (op, index) {
            (Op::Add, _) | (Op::Sub, 0) => one,
            (Op::Sub, _) => self.constant(-1.0),
            (Op::Mul, 0) => y,
            (Op::Mul, _) => x,
            (Op::Div, 0) => self.div(one, y),
            (Op::Div, _) => {
                let ratio = self.div(e, y);
                self.neg(ratio)
            }
            // y·x^(y−1)
            (Op::Pow, 0) => {
                let exponent = self.sub(y, one);
                let power = self.pow(x, exponent);
                self.mul(y, power)
            }
            // x^y·log x
            (Op::Pow, _) => {
                let log = self.unary(Func::Log, x);
                self.mul(e, log)
            }
            // atan2(x, y): (y dx − x dy)/(x² + y²)
            (Op::Atan2, _) => {
                let (x2, y2) = (self.powf(x, 2.0), self.powf(y, 2.0));
                let r2 = self.add(x2, y2);
                let numerator = if index == 0 { y } else { self.neg(x) };
                self.div(numerator, r2)
            }
            // ∂min/∂x = (1 − sgn(x − y))/2: at the kink the mean of both sides, as for |x|. max has the other sign.
            (Op::Min | Op::Max, _) => {
                let difference = if (op == Op::Min) == (index == 0) { self.sub(y, x) } else { self.sub(x, y) };
                let sign = self.unary(Func::Sign, difference);
                let twice = self.add(one, sign);
                self.scale(0.5, twice)
            }
            (Op::Where, 0) => self.constant(0.0),
            (Op::Where, _) => self.only_where(x, one),
        }
    }
}
