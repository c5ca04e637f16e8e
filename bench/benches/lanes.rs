//! The vector field at one state and at several states at once.

use std::hint::black_box;

use carom::lab::kernel::{Backend, Kernel, LaneKernel, Lanes};
use carom_bench::VectorField;
use criterion::{Criterion, criterion_group, criterion_main};

fn field(c: &mut Criterion) {
    for example in ["cart-pendulum", "double-pendulum", "chain-5"] {
        let field = VectorField::of(example);
        scalar(c, example, &field);
        for lanes in [Lanes::Two, Lanes::Four, Lanes::Eight] {
            for backend in [Backend::Jit, Backend::Interpreter] {
                several(c, example, &field, lanes, backend);
            }
        }
    }
}

fn scalar(c: &mut Criterion, example: &str, field: &VectorField) {
    let inputs = [&field.z[..], &field.shared].concat();
    let kernel = Kernel::new(&inputs, &field.rates).expect("all symbols are inputs");
    let x = [&field.start[..], &field.values].concat();
    let mut out = vec![0.0; field.rates.len()];
    c.bench_function(&format!("field/{example}/one/{:?}", kernel.backend()), |b| {
        b.iter(|| kernel.eval(black_box(&x), &mut out))
    });
}

fn several(c: &mut Criterion, example: &str, field: &VectorField, lanes: Lanes, backend: Backend) {
    let Ok(kernel) = LaneKernel::with_backend(&field.z, &field.shared, &field.rates, lanes, backend) else { return };
    let x: Vec<f64> = field.start.iter().flat_map(|z| (0..lanes.count()).map(move |k| z + 0.01 * k as f64)).collect();
    let mut out = vec![0.0; field.rates.len() * lanes.count()];
    c.bench_function(&format!("field/{example}/{lanes:?}/{backend:?}"), |b| {
        b.iter(|| kernel.eval(black_box(&x), &field.values, &mut out))
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = field
}
criterion_main!(benches);
