//! W1 and W2 of the peers' table: the time of a whole run with impacts, against the error of its final state.
//!
//! `cargo run --release --example peers -p carom-bench`; with `-- --json` one line of JSON for each, for `bench/peers.py`; with
//! `-- --starts` the starts q, v come from the standard input, a line for each, after a line with the model and the limit; with
//! `-- --long` runs to T = 1000.

use std::hint::black_box;
use std::io::BufRead;
use std::time::Instant;

use carom::lab::catalogue::find;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::simulation::Simulation;

/// How long a run takes, in µs, and how far its final state is from the exact one.
struct Measurement {
    median: f64,
    error: f64,
    steps: usize,
    how: String,
}

const UNTIL: f64 = 5.0;
/// How many steps a run may have.
const COUNTS: [usize; 25] =
    [10, 11, 12, 13, 14, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90, 100, 112, 125, 160];
const LIMITS: [f64; 2] = [1e-6, 1e-10];

/// The median wall-clock time of this many calls, in µs.
fn median_of(runs: usize, mut call: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let begin = Instant::now();
            call();
            begin.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

/// Σ|z − z_exact|.
fn distance(z: &[f64], exact: &[f64]) -> f64 {
    z.iter().zip(exact).map(|(a, b)| (a - b).abs()).sum()
}

/// Makes so many runs with a named method and step.
fn named(model: &Model, method: &str, step: f64, exact: &[f64], runs: usize) -> Option<Measurement> {
    let kind = Method::named(method, None).ok()?;
    let ready = Simulation::new(model, &kind, step, UNTIL).ok()?.prepare().ok()?;
    let outcome = ready.watch(&mut ()).ok()?;
    let error = distance(&outcome.state.z.z, exact);
    let median = median_of(runs, || drop(black_box(ready.watch(&mut ()))));
    Some(Measurement { median, error, steps: outcome.steps, how: format!("{method}, h = {step:.4}") })
}

/// The fastest named method and step with an error within the limit.
fn best_named(model: &Model, limit: f64, exact: &[f64]) -> Option<Measurement> {
    let settings = (4..=8).flat_map(|stages| COUNTS.map(|count| (format!("gauss{stages}+ctec"), UNTIL / count as f64)));
    let good = settings.filter_map(|(method, step)| {
        let run = named(model, &method, step, exact, 40).filter(|run| run.error <= limit)?;
        Some((run.median, method, step))
    });
    let (_, method, step) = good.min_by(|a, b| a.0.total_cmp(&b.0))?;
    named(model, &method, step, exact, 2000)
}

/// Makes so many whole runs with neither method nor step named, from the simulation to the outcome.
fn default(simulation: &Simulation, exact: &[f64], tolerance: f64, runs: usize) -> Option<Measurement> {
    let simulation = simulation.clone().tolerance(tolerance);
    let outcome = simulation.watch(&mut ()).ok()?;
    let error = distance(&outcome.state.z.z, exact);
    let median = median_of(runs, || drop(black_box(simulation.watch(&mut ()))));
    Some(Measurement { median, error, steps: outcome.steps, how: format!("tolerance {tolerance:.0e}") })
}

/// The largest tolerance, from the limit on downwards by half decades, with an error within the limit.
fn best_default(simulation: &Simulation, limit: f64, exact: &[f64], runs: usize) -> Option<Measurement> {
    let tolerances = (0..6).map(|half| limit * 0.1_f64.powf(0.5 * f64::from(half)));
    tolerances
        .filter_map(|tolerance| default(simulation, exact, tolerance, 1).map(|run| (run, tolerance)))
        .find(|(run, _)| run.error <= limit)
        .and_then(|(_, tolerance)| default(simulation, exact, tolerance, runs))
}

/// A shipped model that names neither method nor step, and a simulation of it.
fn shipped(name: &str) -> (Model, Simulation) {
    let text = find(name).expect("it ships").text;
    let lines = text.lines().filter(|line| !line.starts_with("method") && !line.starts_with("step"));
    let model = Model::from_text(name, &lines.collect::<Vec<_>>().join("\n"), &[]).expect("it is right");
    let simulation = model.simulation().until(UNTIL);
    (model, simulation)
}

/// The final state by `gauss8` with a small step.
fn exact(simulation: &Simulation) -> Vec<f64> {
    simulation.clone().method("gauss8").step(0.005).watch(&mut ()).expect("it runs").state.z.z
}

fn main() {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    if has("--starts") {
        return starts();
    }
    if has("--long") {
        return long();
    }
    for name in ["cart-pendulum", "double-pendulum"] {
        let (model, simulation) = shipped(name);
        let exact = exact(&simulation);
        for limit in LIMITS {
            let best = best_named(&model, limit, &exact).expect("a step is small enough");
            let quick = simulation.clone().without_estimate();
            let default = best_default(&quick, limit, &exact, 2000).expect("a tolerance is small enough");
            let estimated = best_default(&simulation, limit, &exact, 200).expect("a tolerance is small enough");
            let parts = [("named", &best), ("default", &default), ("default_with_estimate", &estimated)];
            let parts = parts.map(|(key, Measurement { median, error, steps, how })| {
                format!(
                    r#""{key}": {median:.2}, "{key}_error": {error:e}, "{key}_steps": {steps}, "{key}_how": "{how}""#
                )
            });
            if has("--json") {
                println!(r#"{{"model": "{name}", "limit": {limit:e}, {}, "exact": {exact:?}}}"#, parts.join(", "));
            } else {
                println!("{name}, error ≤ {limit:e}");
                for (key, run) in [("named", &best), ("default", &default), ("with estimate", &estimated)] {
                    let Measurement { median, error, steps, how } = run;
                    println!("  {key:<14} {median:8.1} µs, {steps} steps, error {error:.0e} ({how})");
                }
            }
        }
    }
}

/// T = 1000: the time, and the relative error of the energy at the end; controlled steps and steps of equal length.
fn long() {
    for name in ["cart-pendulum", "double-pendulum"] {
        let simulation = shipped(name).1.until(1000.0).without_estimate();
        let quick = [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13]
            .map(|tolerance| (format!("tolerance {tolerance:.0e}"), simulation.clone().tolerance(tolerance)));
        let equal =
            [0.1, 0.05].map(|step| (format!("gauss8, h = {step}"), simulation.clone().method("gauss8").step(step)));
        for (how, simulation) in quick.into_iter().chain(equal) {
            let run = simulation.watch(&mut ()).expect("it runs");
            let median = median_of(3, || drop(black_box(simulation.watch(&mut ()))));
            let drift = (run.energy.last / run.energy.initial - 1.0).abs();
            println!(
                r#"{{"model": "{name}", "how": "{how}", "ms": {:.3}, "energy_error": {drift:e}, "status": "{:?}", "steps": {}, "impacts": {}}}"#,
                1e-3 * median,
                run.status,
                run.steps,
                run.impacts
            );
        }
    }
}

/// Runs of the default from given starts: a line of JSON with the errors and the mean of the medians for each tolerance.
fn starts() {
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let Some(head) = lines.next() else { return };
    let (name, limit) = head.split_once(' ').expect("a model and a limit");
    let limit: f64 = limit.parse().expect("a number");
    let simulation = shipped(name).1;
    let starts: Vec<Vec<f64>> =
        lines.map(|line| line.split_whitespace().map(|x| x.parse().expect("a number")).collect()).collect();
    let n = starts[0].len() / 2;
    let runs: Vec<(Simulation, Vec<f64>)> = starts
        .iter()
        .map(|start| {
            let from = simulation.clone().start(&start[..n], &start[n..]);
            let exact = exact(&from);
            (from.without_estimate(), exact)
        })
        .collect();
    for half in 0..6 {
        let tolerance = limit * 0.1_f64.powf(0.5 * f64::from(half));
        let all: Vec<Measurement> =
            runs.iter().filter_map(|(from, exact)| default(from, exact, tolerance, 15)).collect();
        let time = all.iter().map(|run| run.median).sum::<f64>() / all.len() as f64;
        let mut errors: Vec<f64> = all.iter().map(|run| run.error).collect();
        errors.sort_by(f64::total_cmp);
        let at = |part: f64| errors[((errors.len() - 1) as f64 * part).round() as usize];
        println!(
            r#"{{"tolerance": {tolerance:e}, "mean": {time:.2}, "q50": {:e}, "q90": {:e}, "q99": {:e}, "q100": {:e}}}"#,
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0)
        );
    }
}
