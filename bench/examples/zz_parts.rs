//! Temporary.
use carom::lab::catalogue::find;
use carom::lab::model::Model;
use std::hint::black_box;
use std::time::Instant;
fn median(runs: usize, mut call: impl FnMut()) -> f64 {
    let mut t: Vec<f64> = (0..runs)
        .map(|_| {
            let b = Instant::now();
            call();
            b.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    t.sort_by(f64::total_cmp);
    t[runs / 4]
}
fn main() {
    for name in ["cart-pendulum", "double-pendulum"] {
        let text = find(name).unwrap().text;
        let lines = text.lines().filter(|line| !line.starts_with("method") && !line.starts_with("step"));
        let model = Model::from_text(name, &lines.collect::<Vec<_>>().join("\n"), &[]).unwrap();
        for (kind, h) in [
            ("default 1e-6", 0.0),
            ("default 1e-10", 0.0),
            ("gauss8", 0.4167),
            ("gauss8", 0.2),
            ("gauss8", 0.1),
            ("gauss8", 0.0446),
        ] {
            print!("{name} {kind} {h}: ");
            let mut last = (0.0, 0, 0);
            for k in 0..=12 {
                let until = if k == 0 { 1e-4 } else { 5.0 * k as f64 / 12.0 };
                let s = model.simulation().until(until);
                let s = if h == 0.0 {
                    s.tolerance(kind[8..].parse().unwrap()).without_estimate()
                } else {
                    s.method(kind).step(h)
                };
                let o = s.watch(&mut ()).unwrap();
                let t = median(4000, || drop(black_box(s.watch(&mut ()))));
                print!("{:.2}({},{}:{:.2}) ", t, o.steps, o.impacts, t - last.0);
                last = (t, o.steps, o.impacts);
            }
            println!();
        }
    }
}
