//! How long a step takes beside many walls: a point under gravity in a polygon, of which it meets a side now and then.

use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::simulation::Simulation;
use criterion::{Criterion, criterion_group, criterion_main};

const STEPS: usize = 100;

fn polygon(sides: usize) -> Model {
    let mut text = String::from(
        "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"10*y + (x^2 + y^2)^2\"\n[initial]\nq = [0.1, 0.2]\nv = [3, 1]\n",
    );
    for k in 0..sides {
        let angle = std::f64::consts::TAU * k as f64 / sides as f64;
        text += &format!("[[wall]]\nphi = \"1 - ({:.17})*x - ({:.17})*y\"\n", angle.cos(), angle.sin());
    }
    Model::from_text("polygon", &text, &[]).expect("it is right")
}

fn walls(c: &mut Criterion) {
    for (method, h) in [("cva", 0.01), ("gauss6+ctec", 0.05)] {
        for sides in [0, 3, 30, 300, 1000] {
            let method = Method::named(method, None).expect("it is registered");
            let until = h * STEPS as f64;
            let ready =
                Simulation::new(&polygon(sides), &method, h, until).expect("it compiles").prepare().expect("it starts");
            let name = format!("{STEPS} steps/{}/{sides} walls", method.name);
            c.bench_function(&name, |b| b.iter(|| ready.watch(&mut ()).expect("it runs")));
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = walls
}
criterion_main!(benches);
