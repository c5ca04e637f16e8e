//! Every shipped model with the default method and step: the time of a run with its estimate, compiled before.
//!
//! `cargo run --release --example defaults -p carom-bench`; arguments choose some models, by name or as files.

use std::time::Instant;

use carom::lab::catalogue::EXAMPLES;
use carom::lab::model::Model;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let all = EXAMPLES.iter().map(|example| example.name.to_string()).collect();
    let mut sum = 0.0;
    for name in if chosen.is_empty() { all } else { chosen } {
        let model = Model::load(&name).expect("it is right");
        let name = if name.ends_with(".toml") { model.title.clone() } else { name };
        let simulation = model.simulation().method("auto").tolerance(model.run.tolerance);
        let first = simulation.watch(&mut ());
        let begin = Instant::now();
        let second = simulation.watch(&mut ());
        let seconds = begin.elapsed().as_secs_f64();
        sum += seconds;
        match first.and(second) {
            Ok(run) => println!(
                "{:<24} {:10.3} ms, {:6} steps, {:4} impacts, estimate {:.1e}, {} warnings",
                name,
                1e3 * seconds,
                run.steps,
                run.impacts,
                run.error_estimate.unwrap_or(f64::NAN),
                run.warnings.len()
            ),
            Err(error) => println!("{name:<24} {:10.3} ms, {error}", 1e3 * seconds),
        }
    }
    println!("{:<24} {:10.3} ms", "all", 1e3 * sum);
}
