//! Systems with many constraints, by their default method.

use carom::lab::method::{Method, default_for};
use carom::lab::run::{Outcome, Status};
use carom::lab::simulation::Simulation;
use carom_tests::motion::model;

const GRAVITY: f64 = 9.81;

/// Runs a model by its default method.
fn by_default(text: &str, step: f64, until: f64) -> Outcome {
    let model = model(text, &[]);
    let method = Method::named(default_for(&model, None), None).expect("it is registered");
    let simulation = Simulation::new(&model, &method, step, until).expect("it compiles");
    let outcome = simulation.watch(&mut ()).expect("it runs");
    assert_eq!(outcome.status, Status::Completed, "{}", method.name);
    outcome
}

/// The text of a model.
fn text(coordinates: &str, kinetic: &str, potential: &str, constraints: &[String], q: &str, v: &str) -> String {
    let constraints: String = constraints.iter().map(|g| format!("[[constraint]]\ng = \"{g}\"\n")).collect();
    format!(
        "coordinates = [{coordinates}]\n[lagrangian]\nT = \"({kinetic})/2\"\nV = \"{potential}\"\n{constraints}\
         [initial]\nq = [{q}]\nv = [{v}]\n"
    )
}

/// A list of parts that are made from their numbers.
fn each(count: usize, between: &str, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(between)
}

/// Point masses on rods of length 1, at rest, all at the same height.
fn rope(links: usize) -> String {
    let rod = |i: usize| match i.checked_sub(1) {
        None => "x0^2 + y0^2 - 1".into(),
        Some(j) => format!("(x{i} - x{j})^2 + (y{i} - y{j})^2 - 1"),
    };
    text(
        &each(links, ", ", |i| format!("'x{i}', 'y{i}'")),
        &each(links, " + ", |i| format!("x{i}'^2 + y{i}'^2")),
        &format!("{GRAVITY}*({})", each(links, " + ", |i| format!("y{i}"))),
        &(0..links).map(rod).collect::<Vec<_>>(),
        &each(links, ", ", |i| format!("{}, 0", i + 1)),
        &each(links, ", ", |_| "0, 0".into()),
    )
}

#[test]
fn ropes_keep_their_energy_and_their_rods() {
    for links in [20, 60] {
        let outcome = by_default(&rope(links), 0.02, 0.04);
        let violated = outcome.violation.expect("there are constraints");
        let (g, rate) = (violated.position, violated.rate);
        assert!(g < 1e-12 && rate < 1e-11, "{links} links: the rods are off by {g:e} and {rate:e}");
        let (drift, fallen) = (outcome.energy.max_drift, links as f64 * (GRAVITY * 0.04).powi(2) / 2.0);
        assert!(drift < 1e-9 * fallen, "{links} links: the energy drifts by {drift:e}, where {fallen} was exchanged");
    }
}

/// So many equal masses in a row that the force 1 on the first of them accelerates all.
#[test]
fn a_hundred_masses_move_as_one() {
    let (count, until) = (101, 0.1);
    let together: Vec<String> = (1..count).map(|i| format!("q{} - q{i}", i - 1)).collect();
    let text = text(
        &each(count, ", ", |i| format!("'q{i}'")),
        &each(count, " + ", |i| format!("q{i}'^2")),
        "q0",
        &together,
        &each(count, ", ", |_| "0.1".into()),
        &each(count, ", ", |_| "0.1".into()),
    );
    let end = by_default(&text, 0.05, until).state.z;
    let expected = 0.1 + 0.1 * until - until * until / (2.0 * count as f64);
    for (i, q) in end.q().iter().enumerate() {
        assert!((q - expected).abs() < 1e-13, "mass {i}: {q}, not {expected}");
    }
}
