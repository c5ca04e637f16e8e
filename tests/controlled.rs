//! Steps whose length carom controls: the default where neither the method nor the step is named.

use carom::{Model, Status};

fn model(text: &str) -> Model {
    Model::from_text("test", text, &[]).expect("it is right")
}

/// A shipped model without its method and its step.
fn unnamed(name: &str) -> Model {
    let text = carom::lab::catalogue::find(name).expect("it ships").text;
    let lines = text.lines().filter(|line| !line.starts_with("method") && !line.starts_with("step"));
    model(&lines.collect::<Vec<_>>().join("\n"))
}

/// The largest deviation from exact final coordinates, relative to the largest of them.
fn error_of(text: &str, q: &[f64]) -> (f64, f64, usize) {
    let run = model(text).simulate().expect("it runs");
    assert_eq!(run.step(), None, "the steps are controlled");
    let size = q.iter().fold(0.0, |most: f64, q| most.max(q.abs()));
    let off = run.state().z.q().iter().zip(q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    (off / size, run.error_estimate().expect("it is estimated"), run.impacts().len())
}

/// Orbits that a wall throws closer and closer to the centre, and the orbit of the Earth in SI units with a wall in its way.
/// References: integration in quadruple precision.
#[test]
fn close_encounters_are_resolved() {
    let kepler = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"-1/sqrt(x^2 + y^2)\"\n\
                  [[wall]]\nphi = \"x + 0.8\"\n[initial]\nq = [0.5, 0]\nv = [0, \"sqrt(3)\"]\n[run]\nuntil = 30.0\n";
    let earth = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\n\
                 V = \"-6.674e-11*1.989e30/sqrt(x^2 + y^2)\"\n[[wall]]\nphi = \"x + 1.2e11\"\n\
                 [initial]\nq = [1.496e11, 0]\nv = [0, 29780]\n[run]\nuntil = 315000000.0\n";
    let cases: [(&str, [f64; 2], usize); 2] = [(kepler, KEPLER, 19), (earth, EARTH, 18)];
    for (text, q, impacts) in cases {
        let (error, estimate, count) = error_of(text, &q);
        assert_eq!(count, impacts);
        assert!(error < 1e-8 && estimate < 1e-8, "error {error:e}, estimate {estimate:e}");
    }
}

const KEPLER: [f64; 2] = [-0.09035404942386646, 0.1369891173183923];
const EARTH: [f64; 2] = [66116170304.85075, 73352834380.33345];

/// What the bounces after the last would have done is an error too: the last bounce is the lower, the smaller the tolerance is.
#[test]
fn the_last_bounce_follows_the_tolerance() {
    let simulation = unnamed("bouncing-ball").simulation().until(20.0);
    let lowest = |tolerance: f64| {
        let run = simulation.clone().tolerance(tolerance).run().expect("it runs");
        let last = run.impacts().last().expect("it bounces").lambda;
        assert!(run.error_estimate().is_some_and(|error| error <= tolerance), "{:?}", run.error_estimate());
        (run.impacts().len(), last)
    };
    let [(few, high), (many, low)] = [1e-9, 1e-12].map(lowest);
    assert!(many >= few + 5 && low < 0.2 * high, "{few} and {many} bounces, the last with {high:e} and {low:e}");
}

/// The error is below the tolerance, from 1e-4 to 1e-12, at starts that were not used to choose any constant.
#[test]
fn the_tolerance_is_met() {
    let mut misses = Vec::new();
    let mut count = 0;
    for name in ["cart-pendulum", "double-pendulum", "pendulum", "wavy-floor"] {
        let shipped = unnamed(name);
        for k in 0..6 {
            let scale = 1.0 + 0.013 * f64::from(k);
            let start = shipped.start().expect("it has one");
            let q: Vec<f64> = start.q.iter().map(|q| q * scale).collect();
            let v: Vec<f64> = start.v.iter().map(|v| v / scale).collect();
            let simulation = shipped.simulation().until(5.0).start(&q, &v);
            let exact = simulation.clone().method("gauss8+ctec").step(0.002).run().expect("it runs");
            for tolerance in [1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
                let run = simulation.clone().tolerance(tolerance).run().expect("it runs");
                let scale = run.outcome().error_scale.as_ref().expect("it is estimated").q.clone();
                let pairs = run.state().z.q().iter().zip(exact.state().z.q()).zip(&scale);
                let error = pairs.map(|((a, b), scale)| (a - b).abs() / scale).fold(0.0, f64::max);
                count += 1;
                // Roundoff, in the reference too, is above the smallest tolerance.
                if error > tolerance.max(1e-11) {
                    misses.push(format!("{name}, start {k}, {tolerance:e}: {error:e}"));
                }
            }
        }
    }
    assert!(100 * misses.len() <= count, "{} of {count}: {misses:?}", misses.len());
}

/// A fall into the centre ends where it gets there: x = (9t²/2)^(1/3) backwards in time, from x = 1 at rest after π/(2√2).
#[test]
fn a_run_into_a_singularity_fails() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\nV = \"-1/x\"\n[initial]\nq = [1]\nv = [0]\n[run]\nuntil = 3\n";
    let error = model(text).simulate().expect_err("there is no motion beyond");
    let carom::RunError::Failed(run) = error else { panic!("{error}") };
    let t = run.state().z.t;
    assert!(matches!(run.status(), Status::Failed(_)), "{:?}", run.status());
    assert!((t - std::f64::consts::PI / 8f64.sqrt()).abs() < 1e-6, "{t}");
}

/// A run that is cut at any node and resumed with its step-size control gives the states of the uncut run.
#[test]
fn a_cut_run_goes_on() {
    let shipped = unnamed("cart-pendulum").simulation();
    let whole = shipped.clone().until(5.0).run().expect("it runs");
    let half = shipped.clone().until(2.3).run().expect("it runs");
    let rest = shipped.resume(half.state().clone()).until(5.0).run().expect("it runs");
    for (a, b) in rest.state().z.z.iter().zip(&whole.state().z.z) {
        assert!((a - b).abs() < 1e-8, "{a}, not {b}");
    }
}
