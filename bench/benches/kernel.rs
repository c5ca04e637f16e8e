//! The times to run and to compile kernels.

use std::hint::black_box;

use carom::lab::kernel::{Backend, Kernel};
use carom_bench::{Mechanism, Step, cart_pendulum, chain};
use criterion::{Criterion, criterion_group, criterion_main};

const BACKENDS: [Backend; 2] = [Backend::Jit, Backend::Interpreter];

/// Inputs of a plausible size, all different.
fn plausible(step: &Step) -> Vec<f64> {
    (0..step.inputs.len()).map(|i| 0.3 + 0.05 * i as f64).collect()
}

fn eval(c: &mut Criterion) {
    let mechanisms = [
        ("cart-pendulum", cart_pendulum()),
        ("chain 2", chain(2)),
        ("chain 5", chain(5)),
        ("chain 10", chain(10)),
        ("chain 20", chain(20)),
    ];
    for (name, mechanism) in mechanisms {
        let step = mechanism.trapezoidal_step();
        for backend in BACKENDS {
            let kernel = Kernel::with_backend(&step.inputs, &step.outputs, backend).expect("all symbols are inputs");
            let (x, mut out) = (plausible(&step), vec![0.0; step.outputs.len()]);
            c.bench_function(&format!("eval/{name}/{backend:?}"), |b| b.iter(|| kernel.eval(black_box(&x), &mut out)));
        }
    }
}

/// From a Lagrangian to native code. Expressions are kept for the whole process: after the first time the derivation
/// finds its nodes in the table.
fn make(c: &mut Criterion) {
    for n in [2, 5, 10, 20] {
        let mechanism = chain(n);
        c.bench_function(&format!("make/chain {n}"), |b| b.iter(|| build(&mechanism)));
        let step = mechanism.trapezoidal_step();
        c.bench_function(&format!("compile/chain {n}"), |b| b.iter(|| Kernel::new(&step.inputs, &step.outputs)));
    }
}

fn build(mechanism: &Mechanism) -> Kernel {
    let step = mechanism.trapezoidal_step();
    Kernel::new(&step.inputs, &step.outputs).expect("all symbols are inputs")
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = eval, make
}
criterion_main!(benches);
