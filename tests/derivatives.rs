//! Exact derivatives against an independent oracle: hyper-hyper-dual numbers, which carry the derivatives in three
//! directions up to the third order through plain arithmetic.

use std::collections::HashMap;

use carom::lab::catalogue::EXAMPLES;
use carom::lab::expr::{Expr, ExprNode, Func, Op, grad, with_arena};
use carom::lab::model::Model;
use carom_tests::{Random, random_expression};
use num_dual::{DualNum, HyperHyperDual64};

type Dual = HyperHyperDual64;

/// The oracle: the expression evaluated in dual numbers.
fn dual(f: Expr, symbols: &[(Expr, Dual)]) -> Dual {
    fold(
        f,
        |node, of| match node {
            ExprNode::Const(c) => Dual::from_re(c),
            ExprNode::Pi => Dual::from_re(std::f64::consts::PI),
            ExprNode::Symbol(_) => unreachable!("symbols are given"),
            ExprNode::Unary(func, x) => unary(func, of(x)),
            ExprNode::Binary(op, x, y) => binary(op, of(x), of(y)),
        },
        symbols,
    )
}

/// The value of `f` where each node's value comes from its operands'.
fn fold<T: Copy>(f: Expr, mut value: impl FnMut(ExprNode, &dyn Fn(Expr) -> T) -> T, symbols: &[(Expr, T)]) -> T {
    let nodes: Vec<(Expr, ExprNode)> =
        with_arena(|arena| arena.reachable(&[f]).into_iter().map(|e| (e, arena.node(e))).collect());
    let mut values: HashMap<Expr, T> = HashMap::with_capacity(nodes.len());
    for (e, node) in nodes {
        let known = symbols.iter().find(|(symbol, _)| *symbol == e).map(|(_, v)| *v);
        let of = |x: Expr| *values.get(&x).expect("operands come first");
        let result = known.unwrap_or_else(|| value(node, &of));
        values.insert(e, result);
    }
    values[&f]
}

fn unary(f: Func, x: Dual) -> Dual {
    match f {
        Func::Neg => -x,
        Func::Sin => x.sin(),
        Func::Cos => x.cos(),
        Func::Tan => x.tan(),
        Func::Asin => x.asin(),
        Func::Acos => x.acos(),
        Func::Atan => x.atan(),
        Func::Sinh => x.sinh(),
        Func::Cosh => x.cosh(),
        Func::Tanh => x.tanh(),
        Func::Exp => x.exp(),
        Func::Log => x.ln(),
        Func::Sqrt => x.sqrt(),
        Func::Abs => x * Func::Sign.apply(x.re),
        Func::Sign | Func::Floor => Dual::from_re(f.apply(x.re)),
    }
}

fn binary(op: Op, x: Dual, y: Dual) -> Dual {
    match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Pow if is_constant(y) && y.re.fract() == 0.0 && y.re.abs() < 1e3 => x.powi(y.re as i32),
        Op::Pow if is_constant(y) => x.powf(y.re),
        Op::Pow => (y * x.ln()).exp(),
        // atan2 differs from atan by a constant.
        Op::Atan2 => {
            let angle = if x.re.abs() < y.re.abs() { (x / y).atan() } else { -(y / x).atan() };
            let shift = Op::Atan2.apply(x.re, y.re) - angle.re;
            angle + shift
        }
        Op::Min => {
            if x.re < y.re {
                x
            } else {
                y
            }
        }
        Op::Max => {
            if x.re > y.re {
                x
            } else {
                y
            }
        }
        Op::Where => {
            if x.re == 0.0 {
                Dual::from_re(0.0)
            } else {
                y
            }
        }
    }
}

fn is_constant(x: Dual) -> bool {
    [x.eps1, x.eps2, x.eps3, x.eps1eps2, x.eps1eps3, x.eps2eps3, x.eps1eps2eps3] == [0.0; 7]
}

/// A value and a bound on its roundoff, to first order: |f′|·error of the argument + ε|f|.
fn rough(f: Expr, symbols: &[(Expr, (f64, f64))]) -> (f64, f64) {
    let spread = |slope: f64, error: f64| if error == 0.0 { 0.0 } else { slope.abs() * error };
    let rounded = |value: f64, spread: f64| (value, spread + f64::EPSILON * value.abs());
    let value = |node: ExprNode, of: &dyn Fn(Expr) -> (f64, f64)| match node {
        ExprNode::Const(c) => (c, 0.0),
        ExprNode::Pi => (std::f64::consts::PI, 0.0),
        ExprNode::Symbol(_) => unreachable!("symbols are given"),
        ExprNode::Unary(f, x) => {
            let (x, dx) = of(x);
            rounded(f.apply(x), spread(unary(f, Dual::from_re(x).derivative1()).eps1, dx))
        }
        ExprNode::Binary(op, x, y) => {
            let ((x, dx), (y, dy)) = (of(x), of(y));
            let along_x = binary(op, Dual::from_re(x).derivative1(), Dual::from_re(y)).eps1;
            let along_y = binary(op, Dual::from_re(x), Dual::from_re(y).derivative1()).eps1;
            rounded(op.apply(x, y), spread(along_x, dx) + spread(along_y, dy))
        }
    };
    fold(f, value, symbols)
}

/// Compares f, f_x, f_xy and f_xyz with the oracle at a point. False if a value there is not finite, has no digits left,
/// or is so large that the third power of its parts, which the oracle takes, leaves the range of f64.
fn agree(f: Expr, directions: [Expr; 3], at: &[(Expr, f64)], what: &str) -> bool {
    let seeds: Vec<(Expr, Dual)> = at
        .iter()
        .map(|&(symbol, value)| {
            let mut seed = Dual::from_re(value);
            seed.eps1 = f64::from(symbol == directions[0]);
            seed.eps2 = f64::from(symbol == directions[1]);
            seed.eps3 = f64::from(symbol == directions[2]);
            (symbol, seed)
        })
        .collect();
    let oracle = dual(f, &seeds);
    let [x, y, z] = directions;
    let ours = [f, f.diff(x), f.diff(x).diff(y), f.diff(x).diff(y).diff(z)];
    let theirs = [oracle.re, oracle.eps1, oracle.eps1eps2, oracle.eps1eps2eps3];
    let exact: Vec<(Expr, (f64, f64))> = at.iter().map(|&(symbol, value)| (symbol, (value, 0.0))).collect();
    for (order, (our, their)) in ours.into_iter().zip(theirs).enumerate() {
        let (value, error) = rough(our, &exact);
        if ![value, error, their].iter().all(|x| x.abs() < 1e50) || error > 1e-6 * value.abs().max(1e-3) {
            return false;
        }
        // Cancellation in the oracle is roundoff of its lower orders.
        let scale = theirs[..=order].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let bound = 1e-12 * scale + 1e3 * error;
        assert!((value - their).abs() <= bound, "{what}, order {order}: {value:e}, oracle {their:e}, at {at:?}");
    }
    true
}

#[test]
fn derivatives_of_random_expressions_agree_with_dual_numbers() {
    let symbols = ["x", "y", "z"].map(Expr::symbol);
    let mut random = Random::new(3);
    let mut compared = 0;
    for round in 0..3_000 {
        let f = random_expression(&mut random, &symbols, 5);
        let at: Vec<(Expr, f64)> = symbols.iter().map(|&s| (s, random.between(0.2, 1.8))).collect();
        let directions = std::array::from_fn(|_| symbols[random.below(3)]);
        compared += usize::from(agree(f, directions, &at, &format!("expression {round}")));
    }
    assert!(compared > 1_500, "only {compared} expressions were finite and well conditioned");
}

#[test]
fn derivatives_of_every_shipped_model_agree_with_dual_numbers() {
    let mut random = Random::new(4);
    for example in EXAMPLES {
        let model = Model::from_text(example.name, example.text, &[]).expect("a shipped model is right");
        let system = &model.system;
        let variables: Vec<Expr> = system.q().into_iter().chain(system.v()).collect();
        let functions = [system.lagrangian.l].into_iter().chain(system.walls.iter().map(|wall| wall.phi));
        for f in functions.chain(system.constraints.iter().map(|constraint| constraint.g)) {
            let mut compared = 0;
            for _ in 0..20 {
                let mut at = model.parameter_values();
                at.push((Expr::symbol("t"), random.between(0.0, 2.0)));
                at.extend(variables.iter().map(|&v| (v, random.between(0.3, 2.0))));
                let directions = std::array::from_fn(|_| variables[random.below(variables.len())]);
                compared += usize::from(agree(f, directions, &at, example.name));
            }
            assert!(compared >= 15, "{}: only {compared} points of 20 were compared", example.name);
        }
    }
}

#[test]
fn backward_and_forward_derivatives_are_equal() {
    let symbols = ["x", "y", "z"].map(Expr::symbol);
    let mut random = Random::new(5);
    let mut compared = 0;
    for round in 0..2_000 {
        let f = random_expression(&mut random, &symbols, 6);
        let at: Vec<(Expr, (f64, f64))> = symbols.iter().map(|&s| (s, (random.between(0.2, 1.8), 0.0))).collect();
        for (&x, backward) in symbols.iter().zip(grad(f, &symbols)) {
            let ((a, da), (b, db)) = (rough(f.diff(x), &at), rough(backward, &at));
            if a.is_finite() && b.is_finite() && da + db < 1e-6 * a.abs().max(1e-3) {
                compared += 1;
                assert!((a - b).abs() <= 1e3 * (da + db) + 1e-300, "expression {round}: {a:e} and {b:e}");
            }
        }
    }
    assert!(compared > 3_000, "only {compared} derivatives were compared");
}
