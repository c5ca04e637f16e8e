//! One run to be counted by `bench/counts.sh`. Without an argument, prints the names of all runs.

use std::hint::black_box;

use carom::lab::catalogue::find;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::simulation::{Ready, Simulation};

/// The name, the model, the method and the step.
const RUNS: [(&str, &str, &str, f64); 6] = [
    ("W1-gauss8", "cart-pendulum", "gauss8+ctec", 0.2),
    ("W1-gauss8-long", "cart-pendulum", "gauss8+ctec", 0.417),
    ("W1-svc", "cart-pendulum", "svc+ctec", 0.01),
    ("W2-gauss8", "double-pendulum", "gauss8+ctec", 0.0446),
    ("W2-gauss8-long", "double-pendulum", "gauss8+ctec", 0.1),
    ("W2-svc", "double-pendulum", "svc+ctec", 0.01),
];

fn main() {
    let Some(wanted) = std::env::args().nth(1) else {
        return RUNS.iter().for_each(|(name, ..)| println!("{name}"));
    };
    let (_, name, method, step) = RUNS.into_iter().find(|run| run.0 == wanted).expect("a name of a run");
    let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
    let method = Method::named(method, None).expect("it is registered");
    let ready = Simulation::new(&model, &method, step, 5.0).and_then(|s| s.prepare()).expect("it compiles");
    // The first run compiles.
    ready.watch(&mut ()).expect("it runs");
    counted(&ready);
}

/// The name by which callgrind finds it.
#[inline(never)]
fn counted(ready: &Ready) {
    black_box(ready.watch(&mut ()).expect("it runs"));
}
