//! Long kernels on a small stack: what does not fit into a frame is elsewhere.
#![cfg(feature = "jit")]

mod common;

use carom::lab::expr::Expr;
use carom::lab::kernel::{Backend, Compiler, Kernel, LaneKernel, Lanes, Tape};
use common::symbols;

const STACK: usize = 256 * 1024;

/// Values that all stay in use until the last round: in each round, each of them is changed by another.
fn tangle(count: usize, rounds: usize) -> Vec<Expr> {
    let [x, y, z] = symbols();
    let mut values: Vec<Expr> = (0..count).map(|i| x + i as f64 * y).collect();
    for round in 0..rounds {
        for i in 0..count {
            let other = values[(i + 7 * round + 1) % count];
            values[i] = values[i] + z * other;
        }
    }
    values
}

/// Runs `f` on a thread with little stack.
fn on_a_small_stack<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, f);
        thread.expect("there are threads").join().expect("it does not panic")
    })
}

fn eval(kernel: &Kernel, outputs: usize) -> Vec<u64> {
    let mut out = vec![0.0; outputs];
    // Twice: work space is used again.
    (0..2).for_each(|_| kernel.eval(&[0.3, 0.01, 1e-3], &mut out));
    out.into_iter().map(f64::to_bits).collect()
}

/// Sums and products are those of the interpreter to the last bit, however the tape is cut.
fn is_right_on_a_small_stack(outputs: &[Expr], length: std::ops::Range<usize>) {
    let tape = Tape::new(&symbols(), outputs).expect("all symbols are inputs");
    assert!(length.contains(&tape.len()), "{} instructions", tape.len());
    let make = |backend| Kernel::from_tape(&tape, backend).expect("it compiles");
    let expected = eval(&make(Backend::Interpreter), outputs.len());
    for compiler in Compiler::all() {
        let compiled = compiler.within(|| make(Backend::Jit));
        let values = on_a_small_stack(|| eval(&compiled, outputs.len()));
        assert!(values == expected, "{} instructions by {compiler:?}", tape.len());
    }
}

#[test]
fn a_tape_of_200_000_instructions_runs_on_a_small_stack() {
    is_right_on_a_small_stack(&tangle(5_000, 20), 200_000..250_000);
}

/// Short enough to be one function, if its frame were not too large.
#[test]
fn a_short_tape_of_many_values_runs_on_a_small_stack() {
    is_right_on_a_small_stack(&tangle(1_000, 1), 2_000..4_000);
    let last = tangle(1_200, 1).into_iter().rev().reduce(|sum, value| (sum + value) * value);
    is_right_on_a_small_stack(&[last.expect("there are values")], 4_000..8_000);
}

#[test]
fn outputs_that_nothing_computes_are_copied() {
    let [x, y, _] = symbols();
    let mut outputs = vec![Expr::constant(7.0); 10_000];
    outputs.extend([x, y, x * y, x * y, Expr::pi()]);
    is_right_on_a_small_stack(&outputs, 1..2);
}

#[test]
fn lanes_run_on_a_small_stack() {
    let [x, y, z] = symbols();
    let outputs = tangle(5_000, 2);
    let eval = |backend: Backend| {
        let kernel = LaneKernel::with_backend(&[x, y], &[z], &outputs, Lanes::Eight, backend).ok()?;
        let inputs: Vec<f64> = (0..16).map(|i| 0.1 * f64::from(i)).collect();
        let mut out = vec![0.0; 8 * outputs.len()];
        on_a_small_stack(|| (0..2).for_each(|_| kernel.eval(&inputs, &[1e-3], &mut out)));
        Some(out)
    };
    let native = eval(Backend::Jit);
    assert!(native.is_none() || native == eval(Backend::Interpreter));
}
