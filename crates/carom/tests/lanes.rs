//! Several states at once against one after the other.

mod common;

use carom::lab::expr::Expr;
use carom::lab::kernel::{Backend, Compiler, Kernel, KernelError, LaneKernel, Lanes};
use common::{SPECIAL, eval_with_error, expressions, operations, symbols, ulps};
use proptest::prelude::*;

const WIDTHS: [Lanes; 3] = [Lanes::Two, Lanes::Four, Lanes::Eight];

/// Each width by each backend that this machine has; x and y differ from lane to lane, z is shared.
fn kernels(outputs: &[Expr]) -> Vec<LaneKernel> {
    let [x, y, z] = symbols();
    let make = |lanes, backend| match LaneKernel::with_backend(&[x, y], &[z], outputs, lanes, backend) {
        Err(KernelError::Unsupported(_)) => None,
        made => Some(made.expect("all symbols are inputs")),
    };
    let all = WIDTHS.into_iter().flat_map(|lanes| {
        let compiled = Compiler::all().into_iter().map(move |c| c.within(|| make(lanes, Backend::Jit)));
        compiled.chain([make(lanes, Backend::Interpreter)])
    });
    all.flatten().collect()
}

/// The outputs in the lanes of the states, as many as there are lanes: by state.
fn eval(kernel: &LaneKernel, states: &[[f64; 2]], z: f64, outputs: usize) -> Vec<Vec<f64>> {
    let lanes = kernel.lanes().count();
    let x: Vec<f64> = (0..2 * lanes).map(|i| states[i % lanes][i / lanes]).collect();
    let mut out = vec![0.0; outputs * lanes];
    kernel.eval(&x, &[z], &mut out);
    (0..lanes).map(|k| (0..outputs).map(|i| out[i * lanes + k]).collect()).collect()
}

fn interpreted(outputs: &[Expr], [x, y]: [f64; 2], z: f64) -> Vec<f64> {
    let kernel = Kernel::with_backend(&symbols(), outputs, Backend::Interpreter).expect("all symbols are inputs");
    let mut out = vec![0.0; outputs.len()];
    kernel.eval(&[x, y, z], &mut out);
    out
}

/// Each lane is within so many ulp of the interpreter.
fn agree(kernels: &[LaneKernel], outputs: &[Expr], states: &[[f64; 2]], most: u64) -> Result<(), TestCaseError> {
    for kernel in kernels {
        for (k, values) in eval(kernel, states, 0.0, outputs.len()).into_iter().enumerate() {
            for ((a, b), e) in values.iter().zip(interpreted(outputs, states[k], 0.0)).zip(outputs) {
                let message = format!("{:?} of {:?} in lane {k}, at {:?}", kernel.lanes(), e.node(), states[k]);
                prop_assert!(ulps(*a, b) <= most, "{message}: {a:e}, not {b:e} ({:?})", kernel.backend());
            }
        }
    }
    Ok(())
}

/// Lanes at which something special happens stand beside such where nothing does.
#[test]
fn single_operations_agree_at_special_arguments() {
    let outputs = operations();
    let kernels = kernels(&outputs);
    let signed: Vec<f64> = SPECIAL.iter().flat_map(|&x| [x, -x]).collect();
    for (i, &x) in signed.iter().enumerate() {
        for chunk in 0..signed.len() / 8 {
            let states: Vec<[f64; 2]> = (0..8)
                .map(|k| if k % 3 == 2 { [0.3, 0.7] } else { [x, signed[(8 * chunk + k + i) % signed.len()]] })
                .collect();
            agree(&kernels, &outputs, &states, 2).expect("within 2 ulp");
        }
    }
}

#[test]
fn single_operations_agree_to_2_ulp() {
    let outputs = operations();
    let kernels = kernels(&outputs);
    let any = || prop_oneof![any::<u64>().prop_map(f64::from_bits), -1e3..1e3, -1e6..1e6];
    proptest!(ProptestConfig::with_cases(1_000), |(states in prop::collection::vec([any(), any()], 8))| {
        agree(&kernels, &outputs, &states, 2)?;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// As far apart as the conditioning of the expression allows, and no further.
    #[test]
    fn random_expressions_agree(
        fs in prop::collection::vec(expressions(), 1..6),
        states in prop::collection::vec([-3.0..3.0, -3.0..3.0], 8),
        z in -3.0..3.0,
    ) {
        for kernel in kernels(&fs) {
            for (k, values) in eval(&kernel, &states, z, fs.len()).into_iter().enumerate() {
                let Some(expected) = eval_with_error(&fs, &[states[k][0], states[k][1], z]) else { continue };
                for (a, (b, error)) in values.iter().zip(&expected) {
                    let same = (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= 4.0 * error;
                    let (lanes, backend) = (kernel.lanes(), kernel.backend());
                    prop_assert!(same, "{a:e}, not {b:e} ± {error:e}, in lane {k} of {lanes:?}, {backend:?}");
                }
            }
        }
    }
}

/// Outputs against those of the interpreter, to roundoff of sums of products.
fn assert_close(outputs: &[Expr]) {
    let states: Vec<[f64; 2]> = (0..8).map(|k| [0.1 * f64::from(k) - 0.3, 0.01 * f64::from(k)]).collect();
    for kernel in kernels(outputs) {
        for (k, values) in eval(&kernel, &states, 0.25, outputs.len()).into_iter().enumerate() {
            let expected = interpreted(outputs, states[k], 0.25);
            for (i, (a, b)) in values.iter().zip(&expected).enumerate() {
                let close = (a - b).abs() <= 1e-13 * (1.0 + b.abs());
                assert!(close, "{:?}, lane {k}, output {i}: {a:e}, not {b:e}", kernel.lanes());
            }
        }
    }
}

/// More values than registers, for long: what is spilled comes back, with calls and repairs in between.
#[test]
fn many_values_at_once_are_kept() {
    let [x, y, z] = symbols();
    let term = |k: f64| (k * x + y).sin() * z + (y * k).exp() * x;
    let mut terms: Vec<Expr> = (1..60).map(|k| term(f64::from(k))).collect();
    terms.push(1e7 * x);
    let sum: Expr = terms.iter().rev().map(|&t| t.cos() * t).sum();
    assert_close(&[terms, vec![sum]].concat());
}

/// Lanes agree with the interpreter where each operation needs values that were computed long before.
#[test]
fn values_are_kept_whatever_the_order_of_their_uses() {
    let [x, y, z] = symbols();
    for count in [10, 17, 40] {
        let values: Vec<Expr> =
            (0..count).map(|k| (x + f64::from(k) + 1.0).sqrt() + z / (y + f64::from(k) + 1.0)).collect();
        let pick = |i: usize| values[i * 7919 % values.len()];
        let outputs: Vec<Expr> =
            (0..60).map(|i| pick(3 * i) * pick(i * i) - pick(5 * i + 1) / (pick(i + 2) * pick(11 * i) + 3.0)).collect();
        assert_close(&outputs);
    }
}

/// Where the processor has AVX2 and FMA the tests above are of native code, too.
#[test]
#[cfg(all(feature = "jit", target_arch = "x86_64"))]
fn lanes_are_native_where_they_can_be() {
    let able = Compiler::all().into_iter().filter(|compiler| *compiler >= Compiler::Avx2).count();
    let native = kernels(&operations()).iter().filter(|kernel| kernel.backend() == Backend::Jit).count();
    assert_eq!(native, 3 * able);
}

#[test]
fn outputs_may_be_inputs_and_constants() {
    let [x, _, z] = symbols();
    let outputs = [z, x, x, Expr::constant(7.0)];
    for kernel in kernels(&outputs) {
        for values in eval(&kernel, &[[1.5, 0.0]; 8], 4.0, 4) {
            assert_eq!(values, [4.0, 1.5, 1.5, 7.0]);
        }
    }
}
