//! Motions that walls hold: five disks that come to rest in a box, a set of walls that holds for the first time, and a step
//! on walls beside a step of the flow that is compiled with constraints in their place.

use carom::lab::flow::named;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::phase::{Flow, Phase};
use carom::lab::plant::{Expressions, Plant};
use criterion::{Criterion, criterion_group, criterion_main};

/// Disks of radius 0.2 in a box whose sides are at ±(half + 0.2), with a lid: 30 walls for five of them.
fn disks(count: usize, half: f64, q: &[f64], v: &[f64]) -> String {
    let sum = |term: &dyn Fn(usize) -> String| (0..count).map(term).collect::<Vec<_>>().join(" + ");
    let names: Vec<String> = (0..count).map(|i| format!("\"x{i}\", \"y{i}\"")).collect();
    let mut text = format!(
        "coordinates = [{}]\n[lagrangian]\nT = \"({})/2\"\nV = \"9.81*({})\"\n",
        names.join(", "),
        sum(&|i| format!("x{i}'^2 + y{i}'^2")),
        sum(&|i| format!("y{i}")),
    );
    for i in 0..count {
        let sides = [format!("y{i} - 0.2"), format!("x{i} + {half}"), format!("{half} - x{i}")];
        let others = (i + 1..count).map(|j| format!("sqrt((x{i}-x{j})^2 + (y{i}-y{j})^2) - 0.4"));
        let lid = [format!("9 - y{i}")];
        for phi in sides.into_iter().chain(others).chain(lid) {
            text += &format!("[[wall]]\nphi = \"{phi}\"\nrestitution = 0.7\n");
        }
    }
    format!("{text}[initial]\nq = {q:?}\nv = {v:?}\n[run]\nuntil = 12\n")
}

fn read(name: &str, text: &str) -> Model {
    Model::from_text(name, text, &[]).expect("it is right")
}

const START: [f64; 10] = [-0.3, 0.3, 0.25, 0.75, -0.1, 1.2, 0.3, 1.65, 0.05, 2.1];
const SPEEDS: [f64; 10] = [0.3, 0.0, -0.2, 0.0, 0.5, 0.0, -0.4, 0.0, 0.1, 0.0];

fn five_disks(c: &mut Criterion) {
    let model = read("disks", &disks(5, 0.63, &START, &SPEEDS));
    c.bench_function("five disks/gauss4, step 0.02", |b| {
        b.iter(|| model.simulation().method("gauss4+ctec").step(0.02).run().expect("it runs").impacts().len());
    });
    c.bench_function("five disks/by default, target 2 s", |b| {
        b.iter(|| model.simulate().expect("it runs").impacts().len());
    });
}

/// Three disks in a row on the floor, two above, and the walls that touch: three floors, six contacts.
fn pile() -> (Phase, [usize; 9]) {
    let height = 0.2 + 0.12_f64.sqrt();
    let q = [-0.4, 0.2, 0.0, 0.2, 0.4, 0.2, -0.2, height, 0.2, height];
    // Disk i has the walls floor, left, right, those with the disks after it, lid: 8, 7, 6, 5 and 4 of them.
    let [a, b, c, d] = [0, 8, 15, 21];
    let mut walls = [a, b, c, a + 5, b + 4, b + 5, c + 4, a + 3, d + 3];
    walls.sort_unstable();
    (Phase::new(0.0, &q, &[0.0; 10]), walls)
}

fn new_set(c: &mut Criterion) {
    let (z, walls) = pile();
    let model = read("pile", &disks(5, 2.0, z.q(), z.p()));
    let plant = Expressions::new(&model.system, &[], &[]).expect("it compiles");
    let kind = named("gauss6", None).expect("it is registered");
    c.bench_function("a new set of 30 walls and 10 coordinates, with its first step, target 1 ms", |b| {
        b.iter(|| {
            let mut contact = plant.contact(&kind, &walls).expect("walls can hold");
            let mut next = z.clone();
            contact.flow().step(&z, 0.01, &mut next).expect("it is found");
            contact.forces(&z).expect("the walls are independent").len()
        });
    });
}

/// A bead on a curve, and two links that lean on a floor: beside the step that is compiled for them.
fn steps(c: &mut Criterion) {
    let bead = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"9.81*y\"\n\
                [initial]\nq = [0.5, 0.25]\nv = [0, 0]\n";
    let links = "coordinates = [\"a\", \"b\", \"x\"]\n[definitions]\ny = \"sin(a) + sin(b)\"\n\
                 [lagrangian]\nT = \"((x' - a'*sin(a))^2 + (a'*cos(a))^2 + (x' - a'*sin(a) - b'*sin(b))^2 + y'^2 + x'^2)/2\"\n\
                 V = \"9.81*(sin(a) + y)\"\n[initial]\nq = [0.5, -0.5, 0]\nv = [0, 0, 0]\n";
    for (name, text, g) in [("bead", bead, "y - x^2"), ("links", links, "y")] {
        let walls = read(name, &format!("{text}[[wall]]\nphi = \"{g}\"\n"));
        let plant = Expressions::new(&walls.system, &[], &[]).expect("it compiles");
        let constraints = Mechanics::new(&read(name, &format!("{text}[[constraint]]\ng = \"{g}\"\n")).system);
        let start = walls.start().expect("it is right");
        let start = Phase::new(0.0, &start.q, &start.p);
        for flow in ["svc", "gauss2", "gauss6"] {
            let kind = named(flow, None).expect("it is registered");
            let held = plant.contact(&kind, &[0]).expect("walls can hold").flow().boxed_clone();
            let compiled = kind.build(&constraints, &[]).expect("it compiles");
            for (what, mut flow_of) in [("held, target 3 × compiled", held), ("compiled", compiled)] {
                let mut ends = [start.clone(), start.clone()];
                c.bench_function(&format!("100 steps/{name}, {flow}, {what}"), |b| {
                    b.iter(|| {
                        ends[0].copy_from(&start);
                        travel(&mut *flow_of, &mut ends);
                    });
                });
            }
        }
    }
}

fn travel(flow: &mut dyn Flow, [z, next]: &mut [Phase; 2]) {
    for _ in 0..100 {
        flow.step(z, 0.01, next).expect("it is found");
        std::mem::swap(z, next);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = new_set, steps, five_disks
}
criterion_main!(benches);
