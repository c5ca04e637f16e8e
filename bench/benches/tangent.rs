//! The cost of derivatives compared with that of the run: the cart-pendulum to T = 5 with three impacts, by 4 initial values forward, and by 100
//! parameters backwards. Goals: a forward gradient ≤ 4 runs, an adjoint gradient ≤ 5 runs.

use carom::analysis::Mode;
use carom::{Model, Simulation};
use criterion::{Criterion, criterion_group, criterion_main};

fn run(simulation: &Simulation) -> usize {
    simulation.watch(&mut ()).expect("it runs").impacts
}

fn cart_pendulum(c: &mut Criterion) {
    let model = Model::load("cart-pendulum").expect("it ships");
    for (method, step) in [("cva", 0.032), ("vci", 0.032), ("gauss6+ctec", 0.2)] {
        let simulation = model.simulation().method(method).step(step).until(5.0);
        let mut group = c.benchmark_group(format!("cart-pendulum/{method}"));
        group.bench_function("run", |b| b.iter(|| run(&simulation)));
        let forward = simulation.sensitivity().of("final").by("initial");
        group.bench_function("forward, by 4 initial values", |b| {
            b.iter(|| forward.run().expect("it runs").values.len())
        });
        let adjoint = simulation.sensitivity().of("final.q[0]").by("initial").mode(Mode::Adjoint);
        group.bench_function("adjoint, by 4 initial values", |b| {
            b.iter(|| adjoint.run().expect("it runs").values.len())
        });
        group.finish();
    }
}

/// The cart-pendulum with a force that is a sum of 100 bumps in time, each with its own strength.
fn many_parameters(c: &mut Criterion) {
    let text = carom::EXAMPLES.iter().find(|e| e.name == "cart-pendulum").expect("it ships").text;
    let parameters: String = (0..100).map(|k| format!("u{k} = 0.0\n")).collect();
    let force: Vec<String> = (0..100).map(|k| format!("u{k}*exp(-(20*t - {k})^2)")).collect();
    let text = text.replace("[parameters]\n", &format!("[parameters]\n{parameters}"));
    let text = format!("{text}\n[forces]\ny = \"{}\"\n", force.join(" + "));
    let model = Model::from_text("many.toml", &text, &[]).expect("it is right");
    let simulation = model.simulation().method("cva").step(0.032).until(5.0);
    let by: Vec<String> = (0..100).map(|k| format!("u{k}")).collect();
    let mut group = c.benchmark_group("cart-pendulum with 100 parameters/cva");
    group.bench_function("run", |b| b.iter(|| run(&simulation)));
    for (name, mode) in [("forward", Mode::Forward), ("adjoint", Mode::Adjoint)] {
        let gradient = simulation.sensitivity().of("final.q[0]").by(&by.join(",")).mode(mode);
        group.bench_function(name, |b| b.iter(|| gradient.run().expect("it runs").values.len()));
    }
    group.finish();
}

criterion_group!(benches, cart_pendulum, many_parameters);
criterion_main!(benches);
