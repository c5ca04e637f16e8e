//! Native code against the interpreter: operation by operation, and on random expressions.
#![cfg(feature = "jit")]

mod common;

use carom::lab::expr::{Expr, Op};
use carom::lab::kernel::{Backend, Compiler, Instr, Kernel, KernelError, Tape};
use common::{SPECIAL, eval_with_error, expressions, operations, symbols, ulps};
use proptest::prelude::*;

/// The outputs by each compiler that makes code for this machine, and last by the interpreter.
fn kernels(outputs: &[Expr]) -> Vec<(String, Kernel)> {
    let make = |backend| Kernel::with_backend(&symbols(), outputs, backend).expect("all symbols are inputs");
    let compiled = Compiler::all().into_iter().map(|c| (format!("{c:?}"), c.within(|| make(Backend::Jit))));
    compiled.chain([("interpreter".to_owned(), make(Backend::Interpreter))]).collect()
}

fn eval(kernel: &Kernel, x: [f64; 3], outputs: usize) -> Vec<f64> {
    let mut out = vec![0.0; outputs];
    kernel.eval(&x, &mut out);
    out
}

/// Each compiled kernel is within so many ulp of the interpreter.
fn agree(kernels: &[(String, Kernel)], outputs: &[Expr], x: [f64; 3], most: u64) -> Result<(), TestCaseError> {
    let Some(((_, interpreted), compiled)) = kernels.split_last() else { return Ok(()) };
    let expected = eval(interpreted, x, outputs.len());
    for (compiler, kernel) in compiled {
        for ((a, b), e) in eval(kernel, x, outputs.len()).iter().zip(&expected).zip(outputs) {
            prop_assert!(ulps(*a, *b) <= most, "{compiler}: {:?} at {x:?}: {a:e}, not {b:e}", e.node());
        }
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
            agree(&kernels, &outputs, [x, y, 0.0], 2).expect("within 2 ulp");
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
        agree(&kernels, &outputs, [x, y, 0.0], 2)?;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// As far apart as the conditioning of the expression allows, and no further.
    #[test]
    fn random_expressions_agree(fs in prop::collection::vec(expressions(), 1..4), x in prop::array::uniform3(-3.0..3.0)) {
        let tape = Tape::new(&symbols(), &fs).expect("all symbols are inputs");
        let Some(expected) = eval_with_error(&fs, &x) else { return Ok(()) };
        for (name, kernel) in kernels(&fs) {
            for (a, (b, error)) in eval(&kernel, x, fs.len()).iter().zip(&expected) {
                let same = (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= 4.0 * error;
                prop_assert!(same, "{a:e}, not {b:e} ± {error:e}, by {name} of\n{tape}");
            }
        }
    }
}

#[test]
fn a_long_tape_is_right_too() {
    let [x, y, _] = symbols();
    let outputs: Vec<Expr> = (1..2_000).map(|k| (f64::from(k) * x + y).sin() * y.exp()).collect();
    assert!(Tape::new(&symbols(), &outputs).expect("all symbols are inputs").len() > 4_000);
    agree(&kernels(&outputs), &outputs, [0.7, -0.3, 0.0], 3).expect("within 3 ulp");
}

/// Code without sines does the very operations of the interpreter.
#[test]
fn compilers_agree_to_the_last_bit_but_for_sines() {
    let [x, y, z] = symbols();
    let mut terms = vec![x, y, z];
    for k in 0..200 {
        let [a, b, c] = [k, 7 * k + 1, k * k + 2].map(|i| terms[terms.len() - 1 - i % terms.len()]);
        let functions = [Expr::exp, Expr::sqrt, Expr::abs, Expr::tanh];
        terms.push(functions[k % 4](a * b - c / (b.squared() + 2.0) + a.atan2(c)) / f64::from(k as u32 + 1));
    }
    for shift in [0.0, 0.3, -1.7] {
        agree(&kernels(&terms), &terms, [0.7 + shift, -0.3, 1e3 * shift], 0).expect("no difference");
    }
}

#[test]
fn equal_products_cancel_to_zero() {
    let [x, y, z] = symbols();
    for (name, kernel) in kernels(&[x * y - (x + z - z) * y, (x + z) * y - (z + x) * y]) {
        assert_eq!(eval(&kernel, [0.1, 0.7, 0.0], 2), [0.0; 2], "{name}");
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
