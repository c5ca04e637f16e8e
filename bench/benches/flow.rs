//! How long one step of a flow takes, by native code and by the interpreter.

use carom::lab::catalogue;
use carom::lab::discrete::{self, DiscreteLagrangian};
use carom::lab::flow::Variational;
use carom::lab::kernel::Backend;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::phase::{Flow, Phase};
use criterion::{Criterion, criterion_group, criterion_main};

const BACKENDS: [Backend; 2] = [Backend::Jit, Backend::Interpreter];

/// The map of a shipped model, and where it starts.
fn flow(example: &str, rule: &dyn DiscreteLagrangian, backend: Backend) -> (Variational, Phase) {
    let text = catalogue::find(example).expect("it ships").text;
    let model = Model::from_text(example, text, &[]).expect("shipped models are right");
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    let mechanics = Mechanics { backend, ..Mechanics::new(&model.system) };
    let start = model.start().expect("shipped models start");
    let map = Variational::new(&mechanics, rule, &parameters).expect("shipped models compile");
    (map, Phase::new(0.0, &start.q, &start.p))
}

/// Steps along one motion: each begins where the last one ended, so that the first guess can use the past. After 500
/// steps it begins anew, since the cart falls and nothing stops it.
fn step(c: &mut Criterion) {
    for (example, h) in [("cart-pendulum", 0.01), ("double-pendulum", 0.01), ("pendulum", 0.01)] {
        for rule in discrete::registry(0.5) {
            for backend in BACKENDS {
                let (mut map, start) = flow(example, &*rule, backend);
                let (mut z, mut next, mut count) = (start.clone(), start.clone(), 0);
                c.bench_function(&format!("step/{example}/{}/{backend:?}", rule.name()), |b| {
                    b.iter(|| {
                        map.step(&z, h, &mut next).expect("the step has a solution");
                        std::mem::swap(&mut z, &mut next);
                        count += 1;
                        if count % 500 == 0 {
                            z.copy_from(&start);
                        }
                    })
                });
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = step
}
criterion_main!(benches);
