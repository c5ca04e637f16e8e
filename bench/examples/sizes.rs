//! The size of the discrete equations, and how long it takes to get to them: `cargo run --release --example sizes -p carom-bench`.

use std::time::Instant;

use carom::lab::kernel::{Backend, Kernel, Tape};
use carom_bench::{Mechanism, cart_pendulum, chain};

fn main() {
    println!("{:<14} {:>7} {:>10} {:>9} {:>9} {:>9}", "", "ops", "derive ms", "tape ms", "jit ms", "eval ns");
    row("cart-pendulum", &cart_pendulum);
    for n in [2, 5, 10, 20] {
        row(&format!("chain {n}"), &|| chain(n));
    }
}

/// Each expression is new in this process, so the derivation is timed with all its work.
fn row(name: &str, mechanism: &dyn Fn() -> Mechanism) {
    let start = Instant::now();
    let step = mechanism().trapezoidal_step();
    let derived = start.elapsed();
    let tape = Tape::new(&step.inputs, &step.outputs).expect("all symbols are inputs");
    let lowered = start.elapsed();
    let kernel = Kernel::from_tape(&tape, Backend::Jit).expect("this machine is supported");
    let compiled = start.elapsed();
    let ms = |t: std::time::Duration| 1e3 * t.as_secs_f64();
    println!(
        "{name:<14} {:>7} {:>10.2} {:>9.2} {:>9.2} {:>9.1}",
        tape.len(),
        ms(derived),
        ms(lowered - derived),
        ms(compiled - lowered),
        time_eval(&kernel, step.inputs.len(), step.outputs.len())
    );
}

/// The shortest of some means, in ns.
fn time_eval(kernel: &Kernel, inputs: usize, outputs: usize) -> f64 {
    let x: Vec<f64> = (0..inputs).map(|i| 0.3 + 0.05 * i as f64).collect();
    let mut out = vec![0.0; outputs];
    let calls = 2_000;
    let mean = |_| {
        let start = Instant::now();
        for _ in 0..calls {
            kernel.eval(std::hint::black_box(&x), std::hint::black_box(&mut out));
        }
        1e9 * start.elapsed().as_secs_f64() / f64::from(calls)
    };
    (0..20).map(mean).fold(f64::INFINITY, f64::min)
}
