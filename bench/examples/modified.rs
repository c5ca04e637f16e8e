//! How long modified Hamiltonians take: `cargo run --release --example modified -p carom-bench`.

use std::time::Instant;

use carom::lab::catalogue::find;
use carom::lab::discrete::{DiscreteLagrangian, Galerkin, Nodes, Sva, Svc};
use carom::lab::flow::Variational;
use carom::lab::mechanics::Field;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::modified::{Cheap, Closed, Formula, ModifiedHamiltonian, Series, Shadow};
use carom::lab::phase::Phase;

const H: f64 = 0.01;

fn main() {
    println!("{:<44} {:>9} {:>11} {:>11}", "", "make ms", "value µs", "gradient µs");
    for example in ["cart-pendulum", "double-pendulum", "chain-3", "chain-5"] {
        let model = Model::from_text(example, find(example).expect("it ships").text, &[]).expect("it is right");
        let parameters: Vec<f64> = model.parameter_values().into_iter().map(|(_, value)| value).collect();
        let start = model.start().expect("it is right");
        let z = Phase::new(0.0, &start.q, &start.p);
        rows(example, &Mechanics::new(&model.system), &parameters, &z);
    }
}

fn rows(example: &str, mechanics: &Mechanics, parameters: &[f64], z: &Phase) {
    let rules: [&dyn DiscreteLagrangian; 3] = [&Svc, &Sva, &Galerkin { degree: 2, at: Nodes::Lobatto }];
    for rule in rules {
        for order in [3, 4, 5, 7] {
            let make = || Series::new(mechanics, rule, parameters, order).expect("it compiles");
            smooth(example, make, z);
        }
    }
    smooth(example, || Closed::new(mechanics, Formula::Svc, parameters).expect("it compiles"), z);
    let mut flow = Variational::new(mechanics, &Svc, parameters).expect("it compiles");
    let mut cheap = Cheap::new(Field::new(mechanics, parameters).expect("it compiles"));
    row(example, "cheap, svc", f64::NAN, time(|| cheap.at(&mut flow, z, H).expect("the steps are short")), f64::NAN);
    for (m, w) in [(2, 0), (5, 0), (8, 0), (8, 10)] {
        let mut shadow = Shadow::windowed(m, w);
        let value = time(|| shadow.at(&mut flow, z, H).expect("the steps are short"));
        row(example, &format!("shadow m = {m}, W = {w}, svc"), f64::NAN, value, f64::NAN);
    }
}

fn smooth<T: ModifiedHamiltonian>(example: &str, make: impl Fn() -> T, z: &Phase) {
    let start = Instant::now();
    let mut ham = make();
    let made = 1e3 * start.elapsed().as_secs_f64();
    let mut gradient = vec![0.0; z.z.len()];
    let value = time(|| ham.value(z, H).expect("it has a value"));
    let slope = time(|| ham.gradient(z, H, &mut gradient).expect("it has a gradient"));
    row(example, &ham.name(), made, value, slope);
}

fn row(example: &str, name: &str, made: f64, value: f64, gradient: f64) {
    let number = |x: f64| if x.is_nan() { String::new() } else { format!("{x:.2}") };
    let [made, value, gradient] = [made, value, gradient].map(number);
    println!("{:<44} {made:>9} {value:>11} {gradient:>11}", format!("{example}: {name}"));
}

/// The shortest of some means, in µs.
fn time(mut f: impl FnMut() -> f64) -> f64 {
    let start = Instant::now();
    std::hint::black_box(f());
    let calls = (0.01 / start.elapsed().as_secs_f64()).clamp(1.0, 1e4) as u32;
    let mean = |_| {
        let start = Instant::now();
        for _ in 0..calls {
            std::hint::black_box(f());
        }
        1e6 * start.elapsed().as_secs_f64() / f64::from(calls)
    };
    (0..5).map(mean).fold(f64::INFINITY, f64::min)
}
