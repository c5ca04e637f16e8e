//! W1 and W2 of the peers' table: the time of a whole run with impacts, against the error of its final state.
//!
//! `cargo run --release --example peers -p carom-bench`

use std::time::Instant;

use carom::catalogue::find;
use carom::method::Method;
use carom::model::Model;
use carom::run::Simulation;

/// The shortest of many times, in µs, and the error of the final state.
fn measure(model: &Model, method: &str, step: f64, until: f64, exact: &[f64]) -> Option<(f64, f64)> {
    let method = Method::named(method, None).ok()?;
    let mut simulation = Simulation::new(model, &method, step, until).ok()?;
    let end = simulation.run(&mut ()).ok()?.end;
    let error = end.z.iter().zip(exact).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        let begin = Instant::now();
        for _ in 0..10 {
            simulation.run(&mut ()).ok()?;
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e5);
    }
    Some((best, error))
}

fn main() {
    let cases = [
        ("W1 cart-pendulum, T = 5, 3 impacts", "cart-pendulum", [31.0, 49.0]),
        ("W2 double pendulum, T = 5, 3 impacts", "double-pendulum", [124.0, 176.0]),
    ];
    for (title, name, peer) in cases {
        let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
        let finest = Method::named("gauss8", None).expect("it is registered");
        let mut reference = Simulation::new(&model, &finest, 0.005, 5.0).expect("it compiles");
        let exact = reference.run(&mut ()).expect("it runs").end.z;
        println!("{title}");
        for (limit, peer) in [1e-6, 1e-10].into_iter().zip(peer) {
            let mut best: Option<(f64, f64, String)> = None;
            for stages in 3..=8 {
                for step in [0.32, 0.25, 0.2, 0.16, 0.125, 0.1, 0.08, 0.0625, 0.05, 0.04, 0.03, 0.025, 0.02] {
                    let method = format!("gauss{stages}+ctec");
                    let Some((time, error)) = measure(&model, &method, step, 5.0, &exact) else { continue };
                    if error <= limit && best.as_ref().is_none_or(|best| time < best.0) {
                        best = Some((time, error, format!("{method}, h = {step}")));
                    }
                }
            }
            match best {
                Some((time, error, how)) => {
                    println!("  error ≤ {limit:e}: {time:6.1} µs ({how}, error {error:.0e}); heyoka there {peer} µs");
                }
                None => println!("  error ≤ {limit:e}: not reached"),
            }
        }
    }
}
