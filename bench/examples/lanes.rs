//! What one evaluation of the vector field costs for each state: `cargo run --release --example lanes -p carom-bench`.

use std::hint::black_box;
use std::time::Instant;

use carom::lab::kernel::{Backend, Kernel, LaneKernel, Lanes, Tape};
use carom_bench::VectorField;

fn main() {
    println!("{:<16} {:>5} {:>9} {:>9} {:>9} {:>9}  ns for each state", "", "ops", "one", "2", "4", "8");
    for example in ["pendulum", "cart-pendulum", "double-pendulum", "chain-3", "chain-5"] {
        let field = VectorField::of(example);
        let inputs = [&field.z[..], &field.shared].concat();
        let length = Tape::new(&inputs, &field.rates).expect("all symbols are inputs").len();
        let one = one(&field, &inputs);
        let [two, four, eight] = [Lanes::Two, Lanes::Four, Lanes::Eight].map(|lanes| several(&field, lanes));
        println!("{example:<16} {length:>5} {one:>9.1} {two:>9.1} {four:>9.1} {eight:>9.1}");
    }
}

fn one(field: &VectorField, inputs: &[carom::lab::expr::Expr]) -> f64 {
    let kernel = Kernel::with_backend(inputs, &field.rates, Backend::Jit).expect("this machine is supported");
    let x = [&field.start[..], &field.values].concat();
    let mut out = vec![0.0; field.rates.len()];
    shortest(|| kernel.eval(black_box(&x), black_box(&mut out)))
}

fn several(field: &VectorField, lanes: Lanes) -> f64 {
    let kernel = LaneKernel::with_backend(&field.z, &field.shared, &field.rates, lanes, Backend::Jit);
    let Ok(kernel) = kernel else { return f64::NAN };
    let count = lanes.count();
    let x: Vec<f64> = field.start.iter().flat_map(|z| (0..count).map(move |k| z + 0.01 * k as f64)).collect();
    let mut out = vec![0.0; field.rates.len() * count];
    shortest(|| kernel.eval(black_box(&x), &field.values, black_box(&mut out))) / count as f64
}

/// The shortest of some means, in ns.
fn shortest(mut call: impl FnMut()) -> f64 {
    let calls = 2_000;
    let mut mean = || {
        let begun = Instant::now();
        (0..calls).for_each(|_| call());
        1e9 * begun.elapsed().as_secs_f64() / f64::from(calls)
    };
    (0..100).map(|_| mean()).fold(f64::INFINITY, f64::min)
}
