//! Native code against the interpreter: operation by operation, and on random expressions.
#![cfg(feature = "jit")]

mod common;

use std::collections::HashMap;

use carom::expr::{Expr, Func, Node, Op, with_arena};
use carom::kernel::{Backend, Instr, Kernel, KernelError, Tape};
use common::{expressions, symbols, ulps};
use proptest::prelude::*;

/// Arguments at which something special may happen.
const SPECIAL: [f64; 26] = [
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

fn kernels(outputs: &[Expr]) -> [Kernel; 2] {
    [Backend::Jit, Backend::Interpreter]
        .map(|b| Kernel::with_backend(&symbols(), outputs, b).expect("all symbols are inputs"))
}

/// Every operation of two arguments, and every function of x, as an output.
fn operations() -> Vec<Expr> {
    let [x, y, _] = symbols();
    let functions = Func::NAMED.into_iter().chain([Func::Neg, Func::Sign]).map(|f| x.apply(f));
    functions.chain([x + y, x - y, x * y, x / y, x.pow(y), x.atan2(y)]).collect()
}

fn agree(kernels: &[Kernel; 2], outputs: &[Expr], x: [f64; 3]) -> Result<(), TestCaseError> {
    let [compiled, interpreted] = kernels.each_ref().map(|kernel| {
        let mut out = vec![0.0; outputs.len()];
        kernel.eval(&x, &mut out);
        out
    });
    for ((a, b), e) in compiled.iter().zip(&interpreted).zip(outputs) {
        prop_assert!(ulps(*a, *b) <= 2, "{:?} at {x:?}: {a:e}, not {b:e}", e.node());
    }
    Ok(())
}

#[test]
fn single_operations_agree_at_special_arguments() {
    let outputs = operations();
    let kernels = kernels(&outputs);
    let signed = SPECIAL.iter().flat_map(|&x| [x, -x]);
    for x in signed.clone() {
        for y in signed.clone() {
            agree(&kernels, &outputs, [x, y, 0.0]).expect("within 2 ulp");
        }
    }
}

#[test]
fn single_operations_agree_to_2_ulp() {
    let outputs = operations();
    let kernels = kernels(&outputs);
    let config = ProptestConfig::with_cases(20_000);
    let near = || -1e3..1e3;
    let any = || any::<u64>().prop_map(f64::from_bits);
    proptest!(config, |(x in prop_oneof![any(), near(), -1e6..1e6], y in prop_oneof![any(), near()])| {
        agree(&kernels, &outputs, [x, y, 0.0])?;
    });
}

/// The value of each expression and a bound of its error if each operation is off by some ulp, straight from the graph;
/// None where a function jumps or ends within the error of its argument.
fn eval_with_error(fs: &[Expr], x: &[f64]) -> Option<Vec<(f64, f64)>> {
    with_arena(|arena| {
        let mut values: HashMap<Expr, (f64, f64)> = HashMap::new();
        for e in arena.reachable(fs) {
            let value = match arena.node(e) {
                Node::Const(c) => (c, 0.0),
                Node::Pi => (std::f64::consts::PI, 0.0),
                Node::Symbol(s) => (x[["x", "y", "z"].iter().position(|&name| name == &*arena.name(s))?], 0.0),
                Node::Unary(f, a) => spread(|x, _| f.apply(x), values[&a], (0.0, 0.0))?,
                Node::Binary(op, a, b) => spread(|x, y| op.apply(x, y), values[&a], values[&b])?,
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
    // A fifth power is four products.
    let own = 4.0 * f64::EPSILON * value.abs() + 1e-320;
    let error = corners.iter().fold(own, |worst, c| worst.max(own + (c - value).abs()));
    (error.is_finite() && error <= 1e-3 * (1.0 + value.abs())).then_some((value, error))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// As far apart as the conditioning of the expression allows, and no further.
    #[test]
    fn random_expressions_agree(fs in prop::collection::vec(expressions(), 1..4), x in prop::array::uniform3(-3.0..3.0)) {
        let tape = Tape::new(&symbols(), &fs).expect("all symbols are inputs");
        let Some(expected) = eval_with_error(&fs, &x) else { return Ok(()) };
        for kernel in kernels(&fs) {
            let mut out = vec![0.0; fs.len()];
            kernel.eval(&x, &mut out);
            for (a, (b, error)) in out.iter().zip(&expected) {
                let same = (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= 4.0 * error;
                prop_assert!(same, "{a:e}, not {b:e} ± {error:e}, by {:?} of\n{tape}", kernel.backend());
            }
        }
    }
}

#[test]
fn a_long_tape_is_right_too() {
    let [x, y, _] = symbols();
    let outputs: Vec<Expr> = (1..2_000).map(|k| (f64::from(k) * x + y).sin() * y.exp()).collect();
    let kernels = kernels(&outputs);
    assert!(Tape::new(&symbols(), &outputs).expect("all symbols are inputs").len() > 4_000);
    let [a, b] = kernels.map(|kernel| {
        let mut out = vec![0.0; outputs.len()];
        kernel.eval(&[0.7, -0.3, 0.0], &mut out);
        out
    });
    let worst = a.iter().zip(&b).map(|(a, b)| ulps(*a, *b)).max();
    assert!(worst <= Some(3), "{worst:?} ulp");
}

#[test]
fn equal_products_cancel_to_zero() {
    let [x, y, z] = symbols();
    for kernel in kernels(&[x * y - (x + z - z) * y, (x + z) * y - (z + x) * y]) {
        let mut out = [1.0; 2];
        kernel.eval(&[0.1, 0.7, 0.0], &mut out);
        assert_eq!(out, [0.0; 2]);
    }
}

#[test]
fn an_unbound_symbol_is_an_error() {
    let [x, y, _] = symbols();
    let error = Kernel::new(&[x], &[x + y]).expect_err("y is no input");
    assert!(matches!(&error, KernelError::Unbound(e) if &*e.name == "y"), "{error}");
}

#[test]
fn the_tape_can_be_read() {
    let [x, y, z] = symbols();
    let tape = Tape::new(&[x, y, z], &[x * y + 2.0]).expect("all symbols are inputs");
    let ops: Vec<Instr> = tape.instructions().map(|(_, instr)| instr).collect();
    assert!(matches!(ops[..], [Instr::Binary(Op::Mul, ..), Instr::Binary(Op::Add, ..)]), "{tape}");
}
