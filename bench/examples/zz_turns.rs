//! Temporary.
use carom::lab::catalogue::find;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::simulation::Simulation;
use std::hint::black_box;
use std::time::Instant;
fn main() {
    let case = std::env::var("CASE").ok().map(|c| c.parse::<usize>().unwrap());
    let runs = if case.is_some() { 120_000 } else { 6000 };
    for (at, (name, method, step)) in [
        ("cart-pendulum", "gauss8+ctec", 5.0 / 12.0),
        ("cart-pendulum", "gauss8+ctec", 0.2),
        ("double-pendulum", "gauss7+ctec", 0.1),
        ("double-pendulum", "gauss8+ctec", 5.0 / 112.0),
    ]
    .into_iter()
    .enumerate()
    {
        if case.is_some_and(|case| case != at) {
            continue;
        }
        let model = Model::from_text(name, find(name).unwrap().text, &[]).unwrap();
        let kind = Method::named(method, None).unwrap();
        let s = Simulation::new(&model, &kind, step, std::env::var("UNTIL").map_or(5.0, |t| t.parse().unwrap()))
            .unwrap()
            .prepare()
            .unwrap();
        let mut t: Vec<f64> = (0..runs)
            .map(|_| {
                let b = Instant::now();
                black_box(s.watch(&mut ()).unwrap());
                b.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        t.sort_by(f64::total_cmp);
        print!("{:.2} {:.2}  ", t[0], t[t.len() / 2]);
    }
    println!();
}
