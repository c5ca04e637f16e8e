//! Native code against the interpreter: operation by operation, and on random expressions.
#![cfg(feature = "jit")]

mod common;

use carom::lab::expr::{Expr, Op};
use carom::lab::kernel::{Backend, Instr, Kernel, KernelError, Tape};
use common::{SPECIAL, eval_with_error, expressions, operations, symbols, ulps};
use proptest::prelude::*;

fn kernels(outputs: &[Expr]) -> [Kernel; 2] {
    [Backend::Jit, Backend::Interpreter]
        .map(|b| Kernel::with_backend(&symbols(), outputs, b).expect("all symbols are inputs"))
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
