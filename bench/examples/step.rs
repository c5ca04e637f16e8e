//! Time and iterations of one step, over 500 steps from the start of a model: `cargo run --release --example step -p carom-bench`.

use std::time::Instant;

use carom::lab::catalogue;
use carom::lab::discrete;
use carom::lab::flow::Variational;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::phase::{Flow, Phase};

const STEPS: usize = 500;

fn main() {
    println!("{:<16} {:<10} {:>6} {:>9} {:>11}", "", "", "h", "ns", "iterations");
    for example in ["pendulum", "cart-pendulum", "double-pendulum", "chain-3"] {
        for rule in discrete::registry(0.5) {
            for h in [0.002, 0.01, 0.05] {
                row(example, &*rule, h);
            }
        }
    }
}

fn row(example: &str, rule: &dyn discrete::DiscreteLagrangian, h: f64) {
    let text = catalogue::find(example).expect("it ships").text;
    let model = Model::from_text(example, text, &[]).expect("shipped models are right");
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    let mut map = Variational::new(&Mechanics::new(&model.system), rule, &parameters).expect("shipped models compile");
    let start = model.start().expect("shipped models start");
    let start = Phase::new(0.0, &start.q, &start.p);
    let mut best = (f64::INFINITY, 0);
    for _ in 0..200 {
        let begun = Instant::now();
        let iterations = walk(&mut map, &start, h);
        best = (best.0.min(1e9 * begun.elapsed().as_secs_f64() / STEPS as f64), iterations);
    }
    let iterations = best.1 as f64 / STEPS as f64;
    println!("{example:<16} {:<10} {h:>6} {:>9.1} {iterations:>11.2}", rule.name(), best.0);
}

/// Returns the number of iterations. Where a step has no solution it begins anew.
fn walk(map: &mut Variational, start: &Phase, h: f64) -> usize {
    let (mut z, mut next, mut iterations) = (start.clone(), start.clone(), 0);
    for _ in 0..STEPS {
        match map.step(&z, h, &mut next) {
            Ok(()) => std::mem::swap(&mut z, &mut next),
            Err(_) => z.copy_from(start),
        }
        iterations += map.iterations();
    }
    iterations
}
