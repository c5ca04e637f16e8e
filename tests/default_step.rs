//! The step that carom finds if none is given: short enough for the tolerance along the whole run, and for the shape of the walls.

use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::{Outcome, Status, Watcher};
use carom::lab::simulation::Simulation;
use carom_tests::motion::{model, run, shipped};

/// Asks for the energy account, whose unexplained rest measures the error of the step.
struct Accountant;

impl Watcher for Accountant {
    fn wants_account(&self) -> bool {
        true
    }
}

/// Runs with the default flow and a step for a tolerance.
fn tuned(model: &Model, until: f64, tolerance: f64) -> Outcome {
    let method = Method::named("gauss6+ctec", None).expect("it is registered");
    let simulation = Simulation::new(model, &method, until, until).expect("it compiles");
    simulation.tolerance(tolerance).watch(&mut Accountant).expect("it runs")
}

/// The final state of a run that ends at rest does not depend on the step; the step must be right all the same.
#[test]
fn the_step_of_a_run_into_rest_is_short_enough() {
    let tuned = tuned(&shipped("braked-pendulum", &[]), 4.0, 1e-9);
    let account = tuned.account.expect("there is a brake");
    assert!(account.unexplained.abs() < 1e-7, "step {}: {account:?}", tuned.longest_step);
}

/// From rest through a flight back to rest: the final state does not depend on the step, which must be right for the flight.
#[test]
fn a_step_is_short_enough_for_a_flight_between_two_rests() {
    let text = r#"
coordinates = ["x"]
[lagrangian]
T = "x'^2/2"
V = "10*sinh(x)"
[[wall]]
phi = "x"
restitution = 0.3
[forces]
x = "40*exp(-20*(t - 1)^2)"
[initial]
q = [0]
v = [0]
[run]
until = 6
"#;
    let model = model(text, &[]);
    let fine = run(&model, "gauss6+ctec", 0.005, 6.0);
    for method in ["gauss6+ctec", "auto"] {
        let tuned = model.simulation().method(method).tolerance(1e-9).until(6.0).run().expect("it runs");
        // Near the accumulation point the number of bounces depends on the step: the lowest are below the way of a step.
        assert!(tuned.impacts().len() >= 8 && fine.impacts.len() >= 8, "{method}: {}", tuned.impacts().len());
        for (a, b) in tuned.impacts().iter().zip(&fine.impacts) {
            let off = (a.minus.t - b.minus.t).abs();
            assert!(off < 1e-8, "{method}: an impact at {} is off by {off:e}", b.minus.t);
        }
    }
}

/// All that happens is a flight that ends within the first step, of which partial steps of any run are the same.
#[test]
fn a_flight_within_the_first_step_is_right() {
    let text = r#"
coordinates = ["x"]
[lagrangian]
T = "x'^2/2*(1 + 0.5*sin(2*x)^2)"
V = "5*tanh(6*x) + x"
[[wall]]
phi = "x"
restitution = 0
[initial]
q = [2]
v = [-3]
"#;
    let tuned = tuned(&model(text, &[]), 20.0, 1e-10);
    let account = tuned.account.expect("the wall takes energy");
    assert!(account.unexplained.abs() < 1e-8, "step {}: {account:?}", tuned.longest_step);
}

/// A short push lifts a ball off the floor on which it rests.
#[test]
fn a_short_push_is_not_missed() {
    let text = r#"
coordinates = ["x"]
[lagrangian]
T = "x'^2/2"
V = "10*x"
[[wall]]
phi = "x"
restitution = 0.5
[forces]
x = "400*exp(-2000*(t - 3.33)^2)"
[initial]
q = [0]
v = [0]
"#;
    let tuned = tuned(&model(text, &[]), 10.0, 1e-9);
    assert!(tuned.missed.is_none() && tuned.impacts > 3, "{} impacts", tuned.impacts);
    let account = tuned.account.expect("there is a force");
    assert!(
        account.work > 1.0 && account.unexplained.abs() < 1e-8 * account.work,
        "step {}: {account:?}",
        tuned.longest_step
    );
}

/// A particle glides towards a narrow hill. Its motion is exact with any step, so that only the hill says which step is right.
#[test]
fn a_hill_is_not_missed() {
    for (width, until) in [(5.0, 40.0), (5.0, 100.0), (200.0, 10.0), (200.0, 20.0)] {
        for place in [2.1, 3.3, 4.9, 6.1, 7.7] {
            let text = format!(
                "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\n\
                 [[wall]]\nphi = \"0.05 + y - 0.1*exp(-{width}*(x - {place})^2)\"\n\
                 [initial]\nq = [0, 0]\nv = [1, 0]\n"
            );
            let model = model(&text, &[]);
            let tuned = tuned(&model, until, 1e-9);
            // 0.1 exp(−w d²) = 0.05
            let due = place - (2.0_f64.ln() / width).sqrt();
            assert!(tuned.missed.is_none() && tuned.impacts == 1, "{width}, {until}, {place}");
            let motion = run(&model, "gauss6+ctec", tuned.longest_step, until);
            assert!((motion.impacts[0].minus.t - due).abs() < 1e-9, "{width}, {until}, {place}");
        }
    }
}

/// What a constraint holds fixed has the size that it would have without the constraint: √(2K m) of its momentum, and the way of a step.
/// Roundoff would be a size by which errors are hidden, or found where there are none.
#[test]
fn what_constraints_hold_fixed_has_a_size() {
    let text = "coordinates = [\"x\", \"y\"]\n[parameters]\nm = 4\n[lagrangian]\nT = \"m*(x'^2 + y'^2)/2\"\nV = \"9.8*m*y\"\n\
                [[constraint]]\ng = \"x\"\n[initial]\nq = [0, 1]\nv = [0, 0]\n[run]\nuntil = 2";
    let run = Model::from_text("guide", text, &[]).expect("it is right").simulate().expect("it runs");
    let (outcome, speed) = (run.outcome(), 9.8 * 2.0);
    let scale = outcome.error_scale.as_ref().expect("it completes");
    let step = outcome.step.unwrap_or(2.0 / outcome.steps as f64);
    let close = |found: f64, due: f64| (found / due - 1.0).abs() < 1e-9;
    assert!(close(scale.p[0], 4.0 * speed), "{:e}", scale.p[0]);
    assert!(close(scale.q[0], step * speed), "{:e}", scale.q[0]);
}

/// The first steps that are tried are long. One that fails after hundreds of impacts says nothing about shorter ones.
#[test]
fn a_long_step_that_fails_after_many_impacts_does_not_end_the_search() {
    let model = model(include_str!("models/fall.toml"), &[]);
    let run = model.simulation().tolerance(1e-3).run().expect("it runs");
    assert!(matches!(run.outcome().status, Status::Completed), "{:?}", run.outcome().status);
    assert!(run.impacts().len() > 100, "{} impacts", run.impacts().len());
}
