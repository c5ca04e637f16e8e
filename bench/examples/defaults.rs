//! Every shipped model with the default method and step: the time of a run with its estimate, compiled before.
//!
//! `cargo run --release --example defaults -p carom-bench`; names of models as arguments choose some.

use std::time::Instant;

use carom::lab::catalogue::EXAMPLES;
use carom::lab::model::Model;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let mut sum = 0.0;
    for example in EXAMPLES.iter().filter(|example| chosen.is_empty() || chosen.iter().any(|name| name == example.name))
    {
        let model = Model::from_text(example.name, example.text, &[]).expect("it is right");
        let simulation = model.simulation().method("auto").tolerance(model.run.tolerance);
        let first = simulation.watch(&mut ());
        let begin = Instant::now();
        let second = simulation.watch(&mut ());
        let seconds = begin.elapsed().as_secs_f64();
        sum += seconds;
        match first.and(second) {
            Ok(run) => println!(
                "{:<24} {:10.3} ms, {:6} steps, {:4} impacts, estimate {:.1e}, {} warnings",
                example.name,
                1e3 * seconds,
                run.steps,
                run.impacts,
                run.error_estimate.unwrap_or(f64::NAN),
                run.warnings.len()
            ),
            Err(error) => println!("{:<24} {:10.3} ms, {error}", example.name, 1e3 * seconds),
        }
    }
    println!("{:<24} {:10.3} ms", "all", 1e3 * sum);
}
