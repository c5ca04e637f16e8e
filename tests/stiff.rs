//! Gauss collocation where its fixed-point iteration diverges: steps much longer than the fastest motion.

use carom::lab::flow::{FlowKind, registry};
use carom::lab::mechanics::Mechanics;
use carom::lab::model::{Builder, Model};
use carom::lab::phase::{Flow, Phase};

/// Frequency of the spring.
const OMEGA: f64 = 50.0;

/// A pendulum on a stiff spring: its length vibrates at ω while it swings, and the two are coupled.
fn spring_pendulum() -> Model {
    let mut b = Builder::new("spring pendulum");
    let (x, y) = (b.coordinate("x").expect("new"), b.coordinate("y").expect("new"));
    let stretch = (x.q.squared() + y.q.squared()).sqrt() - 1.0;
    b.energies(0.5 * (x.v.squared() + y.v.squared()), 0.5 * OMEGA * OMEGA * stretch.squared() + y.q);
    b.start_with_velocity(&[0.8, -0.602], &[0.3, 0.4]);
    b.build().expect("it is right")
}

fn gauss() -> impl Iterator<Item = FlowKind> {
    registry(None).into_iter().filter(|kind| kind.name.starts_with("gauss"))
}

fn build(kind: &FlowKind, model: &Model) -> Box<dyn Flow> {
    kind.build(&Mechanics::new(&model.system), &[]).expect("it compiles")
}

fn start(model: &Model) -> Phase {
    let start = model.start().expect("the start is right");
    Phase::new(0.0, &start.q, &start.p)
}

fn travel(flow: &mut dyn Flow, start: &Phase, h: f64, steps: usize) -> Phase {
    let (mut z, mut next) = (start.clone(), start.clone());
    for step in 0..steps {
        flow.step(&z, h, &mut next).unwrap_or_else(|e| panic!("{e:?} in step {step} of h = {h}"));
        std::mem::swap(&mut z, &mut next);
    }
    z
}

fn energy(z: &Phase) -> f64 {
    let [x, y, px, py] = z.z[..] else { panic!("two coordinates") };
    let stretch = (x * x + y * y).sqrt() - 1.0;
    0.5 * (px * px + py * py) + 0.5 * OMEGA * OMEGA * stretch * stretch + y
}

/// ωh = 5: the steps are found, the motion can be reversed, and its energy does not run away.
#[test]
fn steps_longer_than_a_vibration_are_found() {
    let (model, h) = (spring_pendulum(), 5.0 / OMEGA);
    let z0 = start(&model);
    for kind in gauss() {
        let mut flow = build(&kind, &model);
        let there = travel(&mut *flow, &z0, h, 20);
        let back = travel(&mut *flow, &there, -h, 20);
        let gap: f64 = back.z.iter().zip(&z0.z).map(|(a, b)| (a - b).abs()).sum();
        assert!(gap < 1e-9, "{}: {gap:e} after 20 steps there and back", kind.name);
        let (mut z, mut worst) = (z0.clone(), 0.0f64);
        for _ in 0..50 {
            z = travel(&mut *flow, &z, h, 10);
            worst = worst.max((energy(&z) - energy(&z0)).abs());
        }
        assert!(worst < 2.0, "{}: the energy {} moves by {worst}", kind.name, energy(&z0));
    }
}

/// JᵀΩJ = Ω for the derivative J of one long step, by differences of order 4.
#[test]
fn long_steps_are_symplectic() {
    let (model, h, delta) = (spring_pendulum(), 5.0 / OMEGA, 1e-4);
    let z0 = start(&model);
    for kind in gauss() {
        let mut flow = build(&kind, &model);
        let mut image = |k: usize, shift: f64| {
            let mut moved = z0.clone();
            moved.z[k] += shift * delta;
            travel(&mut *flow, &moved, h, 1).z
        };
        let columns: Vec<Vec<f64>> = (0..4)
            .map(|k| {
                let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|shift| image(k, shift));
                (0..4).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * delta)).collect()
            })
            .collect();
        let omega = |u: &[f64], v: &[f64]| (0..2).map(|i| u[i] * v[2 + i] - u[2 + i] * v[i]).sum::<f64>();
        let mut defect = 0.0f64;
        for i in 0..4 {
            for j in 0..4 {
                let exact = f64::from(j == i + 2) - f64::from(i == j + 2);
                defect += (omega(&columns[i], &columns[j]) - exact).abs();
            }
        }
        println!("{}: {defect:e}", kind.name);
        assert!(defect < 1e-8, "{}: {defect:e}", kind.name);
    }
}

/// The walker falls as it is, and its lean is 0 or what roundoff makes of it. A coordinate of 1e-17 does not tell how far it may move:
/// differences over a part of it would be differences of roundoff.
#[test]
fn a_coordinate_that_is_roundoff_is_no_size() {
    let model = Model::load("walker").expect("it is shipped");
    let parameters: Vec<f64> = model.system.parameters.iter().map(|parameter| parameter.value).collect();
    let z0 = start(&model);
    for kind in gauss() {
        let mut flow = kind.build(&Mechanics::new(&model.system), &parameters).expect("it compiles");
        for h in [0.01, 0.019, 0.02, 0.03] {
            for lean in [0.0, 2e-18, -1.7e-17, 3e-16, -1e-14, 1e-11] {
                let (mut z, mut end) = (z0.clone(), z0.clone());
                z.z[2] = lean;
                let place = format!("{}, h = {h}, lean = {lean:e}", kind.name);
                flow.step(&z, h, &mut end).unwrap_or_else(|e| panic!("{e:?}: {place}"));
                // In free fall nothing bends.
                let bent = (2..7).map(|i| (end.z[i] - z0.z[i]).abs()).fold(0.0, f64::max);
                assert!(bent <= 1e-13 + 10.0 * lean.abs(), "{place}: bent by {bent:e}");
            }
        }
    }
}
