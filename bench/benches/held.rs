//! Motions that walls hold: five disks that come to rest in a box, a set of walls that holds for the first time, and a step
//! on walls beside a step of the flow that is compiled with constraints in their place.

use std::sync::Arc;

use carom::constraint::{Active, LocalCode};
use carom::flow::{Field, Flow, FlowKind, HeldCode, Phase, named};
use carom::mechanics::Mechanics;
use carom::method::Method;
use carom::model::Model;
use carom::run::Simulation;
use criterion::{Criterion, criterion_group, criterion_main};

/// Disks of radius 0.2 in a box; `rows` are walls of the disks with each other and the box, or constraints.
fn disks(count: usize, half: f64, row: &str, q: &[f64], v: &[f64]) -> Model {
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
        text += &sides.into_iter().chain(others).chain(lid).map(|g| row.replace("{g}", &g)).collect::<String>();
    }
    text += &format!("[initial]\nq = {q:?}\nv = {v:?}\n");
    Model::from_text("disks", &text, &[]).expect("it is right")
}

const WALL: &str = "[[wall]]\nphi = \"{g}\"\nrestitution = 0.7\n";
const START: [f64; 10] = [-0.3, 0.3, 0.25, 0.75, -0.1, 1.2, 0.3, 1.65, 0.05, 2.1];
const SPEEDS: [f64; 10] = [0.3, 0.0, -0.2, 0.0, 0.5, 0.0, -0.4, 0.0, 0.1, 0.0];

fn five_disks(c: &mut Criterion) {
    let model = disks(5, 0.63, WALL, &START, &SPEEDS);
    let method = Method::named("gauss4+ctec", None).expect("it is registered");
    c.bench_function("five disks/gauss4, step 0.02", |b| {
        b.iter(|| Simulation::new(&model, &method, 0.02, 12.0).and_then(|mut run| run.run(&mut ())).expect("it runs"));
    });
    let method = Method::named("gauss6+ctec", None).expect("it is registered");
    c.bench_function("five disks/to the tolerance 1e-9", |b| {
        b.iter(|| {
            let mut simulation = Simulation::new(&model, &method, 0.02, 12.0).expect("it compiles");
            simulation.run_to_tolerance(1e-9, || ()).expect("it runs").0.step
        });
    });
}

/// Three disks in a row on the floor, two above, and the walls that touch: three floors, six contacts.
fn pile() -> (Phase, [usize; 9]) {
    let height = 0.2 + 0.12_f64.sqrt();
    let q = [-0.4, 0.2, 0.0, 0.2, 0.4, 0.2, -0.2, height, 0.2, height];
    // Disk i has the walls floor, left, right, those with the disks after it, lid: 8, 7, 6, 5 and 4 of them.
    let [a, b, c, d] = [0, 8, 15, 21];
    (Phase::new(0.0, &q, &[0.0; 10]), [a, b, c, a + 5, b + 4, b + 5, c + 4, a + 3, d + 3])
}

struct Held {
    kind: FlowKind,
    local: Arc<LocalCode>,
    code: Arc<HeldCode>,
}

fn held(model: &Model, flow: &str) -> Held {
    let kind = named(flow, None).expect("it is registered");
    let local = Arc::new(LocalCode::new(&Mechanics::new(&model.system)).expect("it compiles"));
    let code = Arc::new(kind.held_code(&local).expect("it knows constraints"));
    Held { kind, local, code }
}

fn new_set(c: &mut Criterion) {
    let (z, walls) = pile();
    let model = disks(5, 2.0, WALL, z.q(), z.p());
    let Held { kind, local, code } = held(&model, "gauss6");
    c.bench_function("a new set of 30 walls and 10 coordinates, target 1 ms", |b| {
        b.iter(|| {
            let mut flow = kind.held(&code, &walls, &[]);
            let (field, mut active) = (Field::held(&local, &walls, &[]), Active::new(&local, &walls, &[]));
            let mut next = z.clone();
            flow.step(&z, 0.01, &mut next).expect("it is found");
            active.react(z.t, z.q(), &[0.0; 10]).expect("the walls are independent");
            (flow, field, active)
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
        let read = |row: &str| Model::from_text(name, &format!("{text}{row}"), &[]).expect("it is right");
        let walls = read(&format!("[[wall]]\nphi = \"{g}\"\n"));
        let constraints = Mechanics::new(&read(&format!("[[constraint]]\ng = \"{g}\"\n")).system);
        let start = walls.start().expect("it is right");
        let start = Phase::new(0.0, &start.q, &start.p);
        for flow in ["svc", "gauss2", "gauss6"] {
            let Held { kind, code, .. } = held(&walls, flow);
            let mut flows = [kind.held(&code, &[0], &[]), kind.build(&constraints, &[]).expect("it compiles")];
            for (what, flow_of) in ["held", "compiled"].iter().zip(&mut flows) {
                let mut ends = [start.clone(), start.clone()];
                c.bench_function(&format!("100 steps/{name}, {flow}, {what}"), |b| {
                    b.iter(|| {
                        ends[0].copy_from(&start);
                        travel(&mut **flow_of, &mut ends);
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
