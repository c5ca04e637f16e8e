//! One run to be counted by `bench/counts.sh`. Without an argument, prints the names of all runs; with a name and a number, makes
//! so many runs, for a profile by samples of the clock, and prints the shortest and the median time.

use std::hint::black_box;
use std::time::Instant;

use carom::lab::catalogue::find;
use carom::lab::model::Model;
use carom::lab::simulation::Simulation;

/// What is run.
enum Run {
    /// A method with a step.
    Named(&'static str, f64),
    /// Neither named, to a tolerance, without the estimate.
    Default(f64),
}

/// The name, the model and the run.
const RUNS: [(&str, &str, Run); 10] = [
    ("W1-gauss8", "cart-pendulum", Run::Named("gauss8", 0.2)),
    ("W1-gauss8-long", "cart-pendulum", Run::Named("gauss8", 0.417)),
    ("W1-svc", "cart-pendulum", Run::Named("svc", 0.01)),
    ("W1-default-1e-6", "cart-pendulum", Run::Default(1e-6)),
    ("W1-default-1e-10", "cart-pendulum", Run::Default(1e-10)),
    ("W2-gauss8", "double-pendulum", Run::Named("gauss8", 0.0446)),
    ("W2-gauss8-long", "double-pendulum", Run::Named("gauss8", 0.1)),
    ("W2-svc", "double-pendulum", Run::Named("svc", 0.01)),
    ("W2-default-1e-6", "double-pendulum", Run::Default(1e-6)),
    ("W2-default-1e-10", "double-pendulum", Run::Default(1e-10)),
];
/// 64 starts of W1 in lanes.
const LANES: &str = "W3-64-rows";

fn main() {
    let Some(wanted) = std::env::args().nth(1) else {
        return RUNS.iter().map(|run| run.0).chain([LANES]).for_each(|name| println!("{name}"));
    };
    if wanted == LANES {
        let sweep = model("cart-pendulum").sweep().vary("beta=3.2:5.2:64").and_then(|sweep| sweep.build());
        let sweep = sweep.expect("it is right");
        return twice(|| drop(black_box(sweep.run(0..64, &|| false).expect("it runs"))));
    }
    let (_, name, run) = RUNS.into_iter().find(|run| run.0 == wanted).expect("a name of a run");
    let simulation: Simulation = model(name).simulation();
    let simulation = match run {
        Run::Named(method, step) => simulation.method(method).step(step),
        Run::Default(tolerance) => simulation.tolerance(tolerance).without_estimate(),
    };
    twice(|| drop(black_box(simulation.watch(&mut ()).expect("it runs"))));
}

/// A shipped model to T = 5 that names neither method nor step.
fn model(name: &str) -> Model {
    let text = find(name).expect("it ships").text;
    let lines = text.lines().filter(|line| !line.starts_with("method") && !line.starts_with("step"));
    let settings = ["run.until=5".to_string()];
    Model::from_text(name, &lines.collect::<Vec<_>>().join("\n"), &settings).expect("it is right")
}

/// The first run compiles; the second is counted, and more are timed if so many are wanted.
fn twice(run: impl Fn()) {
    run();
    let Some(count) = std::env::args().nth(2).and_then(|count| count.parse::<usize>().ok()) else {
        return counted(run);
    };
    let time = |_| {
        let begin = Instant::now();
        counted(&run);
        begin.elapsed().as_secs_f64() * 1e6
    };
    let mut times: Vec<f64> = (0..count.max(1)).map(time).collect();
    times.sort_by(f64::total_cmp);
    println!("{:.2} µs at least, {:.2} in the median", times[0], times[times.len() / 2]);
}

/// The name by which callgrind finds it.
#[inline(never)]
fn counted(run: impl Fn()) {
    run();
}
