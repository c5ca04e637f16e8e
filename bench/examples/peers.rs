//! W1 and W2 of the peers' table: the time of a whole run with impacts, against the error of its final state.
//!
//! `cargo run --release --example peers -p carom-bench`; with `-- --json` one line of JSON for each, for `bench/peers.py`.

use std::hint::black_box;
use std::time::Instant;

use carom::lab::catalogue::find;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::simulation::Simulation;

/// How long a run takes, in µs, and how far its final state is from the exact one.
struct Measurement {
    shortest: f64,
    median: f64,
    error: f64,
    how: String,
}

/// Makes so many runs, each timed by the clock on the wall.
fn measure(model: &Model, method: &str, step: f64, exact: &[f64], runs: usize) -> Option<Measurement> {
    let kind = Method::named(method, None).ok()?;
    let ready = Simulation::new(model, &kind, step, UNTIL).ok()?.prepare().ok()?;
    let end = ready.watch(&mut ()).ok()?.state.z;
    let error = end.z.iter().zip(exact).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..runs {
        let begin = Instant::now();
        black_box(ready.watch(&mut ()).ok()?);
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let how = format!("{method}, h = {step:.4}");
    Some(Measurement { shortest: times[0], median: times[runs / 2], error, how })
}

const UNTIL: f64 = 5.0;
/// How many steps a run may have.
const COUNTS: [usize; 25] =
    [10, 11, 12, 13, 14, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90, 100, 112, 125, 160];

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let cases = [
        ("W1 cart-pendulum, T = 5, 3 impacts", "cart-pendulum", [31.0, 49.0]),
        ("W2 double pendulum, T = 5, 3 impacts", "double-pendulum", [124.0, 176.0]),
    ];
    for (title, name, peer) in cases {
        let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
        let finest = Method::named("gauss8", None).expect("it is registered");
        let reference = Simulation::new(&model, &finest, 0.005, UNTIL).expect("it compiles");
        let exact = reference.watch(&mut ()).expect("it runs").state.z.z;
        if !json {
            println!("{title}");
        }
        for (limit, peer) in [1e-6, 1e-10].into_iter().zip(peer) {
            let settings = (4..=8).flat_map(|stages| COUNTS.map(|count| (stages, UNTIL / count as f64)));
            let runs = settings.filter_map(|(stages, step)| {
                let method = format!("gauss{stages}+ctec");
                measure(&model, &method, step, &exact, 300)
                    .filter(|run| run.error <= limit)
                    .map(|run| (run, method, step))
            });
            let best = runs.min_by(|a, b| a.0.shortest.total_cmp(&b.0.shortest));
            let best = best.and_then(|(_, method, step)| measure(&model, &method, step, &exact, 10_000));
            match best {
                Some(Measurement { median, error, how, .. }) if json => println!(
                    r#"{{"model": "{name}", "limit": {limit:e}, "median": {median}, "error": {error:e}, "how": "{how}", "exact": {exact:?}}}"#
                ),
                Some(Measurement { shortest, median, error, how }) => println!(
                    "  error ≤ {limit:e}: {shortest:6.1} µs, median {median:.1} ({how}, error {error:.0e}); heyoka then {peer} µs"
                ),
                None => println!("  error ≤ {limit:e}: not reached"),
            }
        }
    }
}
