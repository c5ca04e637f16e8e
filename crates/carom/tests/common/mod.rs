//! Random expressions.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::collections::HashMap;

use carom::lab::expr::{Expr, ExprNode, Func, with_arena};
use proptest::prelude::*;

/// The symbols of random expressions.
pub fn symbols() -> [Expr; 3] {
    ["x", "y", "z"].map(Expr::symbol)
}

/// Expressions of [`symbols`] with all operations and functions that a model can contain.
pub fn expressions() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        5 => (0..3usize).prop_map(|i| symbols()[i]),
        1 => (-4..5i32).prop_map(Expr::from),
        1 => (-3.0..3.0).prop_map(Expr::constant),
        1 => Just(()).prop_map(|()| Expr::pi()),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            4 => (0..5u8, pair.clone()).prop_map(|(op, (a, b))| arithmetic(op, a, b)),
            3 => (0..Func::NAMED.len(), inner.clone()).prop_map(|(f, a)| a.apply(Func::NAMED[f])),
            2 => inner.clone().prop_map(|a| a.sin() + a.cos()),
            1 => (inner.clone(), -5..6i32).prop_map(|(a, n)| a.pow(n)),
            1 => (inner, 0..4u8).prop_map(|(a, n)| a.pow(f64::from(n) + 0.5)),
            1 => pair.prop_map(|(a, b)| a.pow(b)),
        ]
    })
}

fn arithmetic(op: u8, a: Expr, b: Expr) -> Expr {
    match op {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        3 => a / b,
        _ => a.atan2(b),
    }
}

/// How many numbers are between a and b; 0 if both are NaN or equal, signs of zero included.
pub fn ulps(a: f64, b: f64) -> u64 {
    // The bits as a number line, from the most negative to the most positive, with −0 next to 0.
    let place = |x: f64| if x.is_sign_negative() { !x.to_bits() } else { x.to_bits() | 1 << 63 };
    if a.is_nan() && b.is_nan() {
        return 0;
    }
    if a.is_nan() || b.is_nan() { u64::MAX } else { place(a).abs_diff(place(b)) }
}

/// Arguments at which something special may happen.
pub const SPECIAL: [f64; 26] = [
    0.0,
    0.5,
    1.0,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::PI,
    10.0,
    709.9,
    1e5,
    1e6,
    1.1e6,
    1e15,
    1e22,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    5e-324,
    1e-310,
    1e-300,
    1e-154,
    1e-20,
    1e-8,
    1e-3,
    2.0,
    3.0,
];

/// Every operation of two arguments, and every function of x, as an output.
pub fn operations() -> Vec<Expr> {
    let [x, y, _] = symbols();
    let functions = Func::NAMED.into_iter().chain([Func::Neg, Func::Sign, Func::Floor]).map(|f| x.apply(f));
    let condition = (x - y).sign().max(0.0);
    let chosen = [x.min(y), x.max(y), condition.choose(x, y)];
    functions.chain([x + y, x - y, x * y, x / y, x.pow(y), x.atan2(y)]).chain(chosen).collect()
}

/// The value of each expression and a bound of its error if each operation is off by some ulp, straight from the graph;
/// None where a function jumps or ends within the error of its argument.
pub fn eval_with_error(fs: &[Expr], x: &[f64]) -> Option<Vec<(f64, f64)>> {
    with_arena(|arena| {
        let mut values: HashMap<Expr, (f64, f64)> = HashMap::new();
        for e in arena.reachable(fs) {
            let value = match arena.node(e) {
                ExprNode::Const(c) => (c, 0.0),
                ExprNode::Pi => (std::f64::consts::PI, 0.0),
                ExprNode::Symbol(s) => (x[["x", "y", "z"].iter().position(|&name| name == &*arena.name(s))?], 0.0),
                ExprNode::Unary(f, a) => spread(|x, _| f.apply(x), values[&a], (0.0, 0.0))?,
                ExprNode::Binary(op, a, b) => spread(|x, y| op.apply(x, y), values[&a], values[&b])?,
            };
            values.insert(e, value);
        }
        Some(fs.iter().map(|f| values[f]).collect())
    })
}

/// f(x, y) with the error that those of x and y cause, and its own.
fn spread(f: impl Fn(f64, f64) -> f64, x: (f64, f64), y: (f64, f64)) -> Option<(f64, f64)> {
    let value = f(x.0, y.0);
    let corners = [(x.1, y.1), (x.1, -y.1), (-x.1, y.1), (-x.1, -y.1)].map(|(dx, dy)| f(x.0 + dx, y.0 + dy));
    if value.is_nan() && corners.iter().all(|c| c.is_nan()) {
        return Some((value, 0.0));
    }
    // A power of a negative number ends where its exponent is no longer a whole number.
    if corners.iter().any(|c| c.is_nan() != value.is_nan()) {
        return None;
    }
    // A fifth power is four products.
    let own = 4.0 * f64::EPSILON * value.abs() + 1e-320;
    let error = corners.iter().fold(own, |worst, c| worst.max(own + (c - value).abs()));
    (error.is_finite() && error <= 1e-3 * (1.0 + value.abs())).then_some((value, error))
}
