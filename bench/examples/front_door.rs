//! The overhead of `Simulation`: cloned, changed, run and recorded, compared with a bare loop of steps.
//!
//! `cargo run --release --example front_door -p carom-bench`; a number as argument is how many runs are made.

use std::hint::black_box;
use std::time::Instant;

use carom::lab::run::Mesh;
use carom::lab::simulation::Simulation;
use carom::lab::step::{Scheme, StepLog};

/// The shortest of many runs, in µs.
fn shortest(runs: usize, mut f: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    for k in 0..runs {
        let begin = Instant::now();
        f(k);
        best = best.min(begin.elapsed().as_secs_f64() * 1e6);
    }
    best
}

fn main() -> Result<(), carom::RunError> {
    let runs = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(5000);
    let model = carom::Model::load("cart-pendulum")?;
    let (step, until) = (0.125, 5.0);
    let simulation: Simulation = model.simulation().method("gauss4+ctec").step(step).until(until);
    let state = simulation.initial()?;
    let scheme: Scheme = simulation.compiled_scheme()?;
    let mut stepper = scheme.stepper(carom::lab::step::Variant::Whole)?;
    let mut log = StepLog::new(&state, 0);
    let bare = shortest(runs, |_| {
        let mut z = state.clone();
        stepper.begin(&z.parameters);
        for t in Mesh::new(0.0, step, until).nodes() {
            stepper.step(&z, t, &mut log).expect("every step has a solution");
            std::mem::swap(&mut z, &mut log.end);
        }
        black_box(&z);
    });
    let ready = simulation.prepare()?;
    let watched = shortest(runs, |_| drop(black_box(ready.watch(&mut ()).expect("it runs"))));
    let again = shortest(runs, |_| drop(black_box(simulation.run().expect("it runs"))));
    let set = shortest(runs, |k| {
        let mass = 0.2 + 1e-7 * (k + 1) as f64;
        drop(black_box(simulation.clone().set("m2", mass).run().expect("it runs")));
    });
    println!("cart-pendulum, gauss4+ctec, h = {step}, T = {until}, shortest of {runs} runs");
    println!("  bare loop of steps      {bare:8.1} µs");
    println!("  ready.watch(&mut ())    {watched:8.1} µs   {:.2} ×", watched / bare);
    println!("  simulation.run()        {again:8.1} µs   {:.2} ×", again / bare);
    println!("  clone().set(…).run()    {set:8.1} µs   {:.2} × + 10 µs is {:.1} µs", set / bare, 1.2 * bare + 10.0);
    Ok(())
}
