//! The size of the discrete equations, and how long it takes to get to them: `cargo run --release --example sizes -p carom-bench`.
//! Each compiler of this build has its own columns; `--features carom/cranelift` adds Cranelift.

use std::time::{Duration, Instant};

use carom::lab::kernel::{Backend, Compiler, Kernel, NewtonKernel, NewtonProblem, Tape};
use carom_bench::{Mechanism, cart_pendulum, chain};

fn main() {
    print!("{:<14} {:>7} {:>10} {:>9}", "", "ops", "derive ms", "tape ms");
    Compiler::all().into_iter().for_each(|compiler| print!("   {compiler:?}: ms, ns; a step: ms, ns"));
    println!();
    row("cart-pendulum", &cart_pendulum);
    for n in [1, 2, 3, 5, 8, 10, 20, 50] {
        row(&format!("chain {n}"), &|| chain(n));
    }
}

/// Each expression is new in this process, so the derivation is timed with all its work.
fn row(name: &str, mechanism: &dyn Fn() -> Mechanism) {
    let start = Instant::now();
    let mechanism = mechanism();
    let step = mechanism.trapezoidal_step();
    let derived = start.elapsed();
    let tape = Tape::new(&step.inputs, &step.outputs).expect("all symbols are inputs");
    let lowered = start.elapsed();
    print!("{name:<14} {:>7} {:>10.2} {:>9.2}", tape.len(), ms(derived), ms(lowered - derived));
    for compiler in Compiler::all() {
        let start = Instant::now();
        let kernel = compiler.within(|| Kernel::from_tape(&tape, Backend::Jit)).expect("this machine is supported");
        let compiled = start.elapsed();
        let x: Vec<f64> = (0..step.inputs.len()).map(|i| 0.3 + 0.05 * i as f64).collect();
        let mut out = vec![0.0; step.outputs.len()];
        let time = shortest(|| kernel.eval(std::hint::black_box(&x), std::hint::black_box(&mut out)));
        print!("   {:>9.2} {:>9.1}", ms(compiled), time);
        match newton(&mechanism, compiler) {
            Some((compiled, time)) => print!(" {:>9.2} {:>9.1}", ms(compiled), time),
            None => print!(" {:>9} {:>9}", "", ""),
        }
    }
    println!();
}

/// The time to compile a step, and its time in ns.
fn newton(mechanism: &Mechanism, compiler: Compiler) -> Option<(Duration, f64)> {
    let (step, n) = (mechanism.trapezoidal_step(), mechanism.q.len());
    let (before, rest) = step.inputs.split_at(n);
    let (unknowns, after) = rest.split_at(n);
    let given = [before, after].concat();
    let results = &step.outputs[n + n * n..];
    let problem =
        NewtonProblem { given: &given, unknowns, residuals: &step.outputs[..n], results, ..NewtonProblem::default() };
    let start = Instant::now();
    let kernel = compiler.within(|| NewtonKernel::new(&problem)).ok()?;
    let compiled = start.elapsed();
    // q0, p0, h, parameters; the guess is q0.
    let q0: Vec<f64> = (0..n).map(|i| 0.3 + 0.05 * i as f64).collect();
    let values = [&q0[..], &vec![0.1; n], &[0.01], &vec![1.0; mechanism.parameters.len()]].concat();
    let (mut inputs, mut out) = ([&values[..], &q0].concat(), vec![0.0; n]);
    let time = shortest(|| {
        inputs[values.len()..].copy_from_slice(&q0);
        std::hint::black_box(kernel.solve(std::hint::black_box(&mut inputs), &mut out));
    });
    Some((compiled, time))
}

fn ms(t: Duration) -> f64 {
    1e3 * t.as_secs_f64()
}

/// The shortest of some means, in ns.
fn shortest(mut call: impl FnMut()) -> f64 {
    let calls = 500;
    let mean = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        1e9 * start.elapsed().as_secs_f64() / f64::from(calls)
    };
    (0..40).map(mean).fold(f64::INFINITY, f64::min)
}
