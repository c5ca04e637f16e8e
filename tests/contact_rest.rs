//! Zeno and rest: bounces that accumulate, walls that hold and let go.

use carom::lab::catalogue::find;
use carom::lab::method::{Method, default_for};
use carom::lab::model::Model;
use carom::lab::run::{Outcome, Status};
use carom::lab::simulation::Simulation;
use carom_tests::motion::{self, Motion, model};

/// Runs a model, by the default method unless another is named.
fn run(text: &str, settings: &[&str], method: Option<&str>, step: f64, until: f64) -> (Motion, Outcome) {
    let model = model(text, settings);
    let motion = motion::run(&model, method.unwrap_or(default_for(&model, None)), step, until);
    let outcome = motion.outcome.clone();
    (motion, outcome)
}

fn shipped(name: &str) -> &'static str {
    find(name).expect("it ships").text
}

/// t₁(1 + e)/(1 − e) is where the bounces end; then the ball rests for ever.
#[test]
fn a_bouncing_ball_comes_to_rest() {
    for method in ["gauss6+ctec", "svc+ctec", "midpoint+ctec", "galerkin4+ctec", "suzuki4+ctec"] {
        let (record, outcome) = run(shipped("bouncing-ball"), &[], Some(method), 0.1, 30.0);
        assert_eq!(outcome.status, Status::Completed, "{method}");
        assert!((record.impacts[0].minus.t - 0.4515236409857309).abs() < 1e-12, "{method}");
        assert_eq!(record.impacts.iter().filter(|impact| impact.minus.t < 8.5).count(), 44, "{method}");
        let [rest] = record.holdings[..] else { panic!("{method}: {:?}", record.holdings) };
        assert!(rest.begins && (rest.t - 8.578949178728887).abs() < 1e-9, "{method}: rests at {}", rest.t);
        let after = record.nodes.iter().filter(|node| node.t > 8.58);
        for node in after {
            assert!(node.q[0].abs() < 1e-12 && node.v[0].abs() < 1e-9, "{method}: {node:?}");
        }
        assert!(record.nodes.iter().all(|node| node.q[0] > -1e-12), "{method}");
    }
}

#[test]
fn a_run_may_end_where_bounces_accumulate() {
    let (record, outcome) = run(shipped("bouncing-ball"), &["run.zeno=\"stop\""], None, 0.1, 30.0);
    assert_eq!(outcome.status, Status::Zeno(0));
    assert!((record.last().t - 8.578949178728887).abs() < 1e-9, "{}", record.last().t);
    assert!(record.last().q[0].abs() < 1e-11);
}

/// A rule whose partial steps use another flow cannot come to rest; its error says what to do.
#[test]
fn a_rule_that_cannot_rest_says_so() {
    let (_, outcome) = run(shipped("bouncing-ball"), &[], Some("svc+shadow"), 0.01, 30.0);
    let Status::Failed(failure) = outcome.status else { panic!("{:?}", outcome.status) };
    assert!(failure.hint.contains("ctec"), "{}", failure.hint);
    assert!((failure.t - 8.57).abs() < 0.02, "{}", failure.t);
}

const BALL: &str = r#"
coordinates = ["y"]
[parameters]
e = 0.5
[lagrangian]
T = "y'^2/2"
V = "9.81*y"
[[wall]]
name = "floor"
phi = "y"
restitution = "e"
[initial]
q = [0]
v = [0]
[run]
until = 3
"#;

#[test]
fn what_rests_at_the_start_stays() {
    for e in ["e=0", "e=0.5", "e=1"] {
        let (record, outcome) = run(BALL, &[e], None, 0.1, 3.0);
        assert_eq!(outcome.status, Status::Completed, "{e}");
        assert!(record.impacts.is_empty(), "{e}: {:?}", record.impacts);
        assert!(record.nodes.iter().all(|node| node.q[0].abs() < 1e-15), "{e}");
    }
}

/// Bounces as low as roundoff, from as deep in the floor, e = 1: they go no deeper, and the energy stays where it is.
#[test]
fn low_bounces_without_loss_do_not_sink() {
    let high = BALL.replace("phi = \"y\"", "phi = \"y - 1\"").replace("q = [0]", "q = [0.9999999999999]");
    for speed in [1e-4, 1e-6, 1e-7] {
        let until = 1000.5 * 2.0 * speed / 9.81;
        let settings = ["e=1", &format!("initial.v[0]={speed:e}")];
        let (record, outcome) = run(&high, &settings, Some("gauss2+ctec"), until / 2.0, until);
        assert_eq!(outcome.status, Status::Completed, "{speed}");
        assert!(record.impacts.len() >= 500, "{speed}: {} impacts", record.impacts.len());
        assert!(record.nodes.iter().all(|node| node.q[0] > 1.0 - 1e-12), "{speed}: {:e}", record.last().q[0] - 1.0);
        assert!(outcome.energy.max_drift < 1e-11, "{speed}: {:?}", outcome.energy);
    }
}

#[test]
fn without_restitution_the_first_impact_is_the_last() {
    let (record, _) = run(BALL, &["e=0", "initial.q=[1]"], None, 0.1, 3.0);
    assert_eq!(record.impacts.len(), 1);
    assert!(record.impacts[0].plus.v[0].abs() < 1e-14);
    assert!((record.holdings[0].t - (2.0f64 / 9.81).sqrt()).abs() < 1e-12);
    assert!(record.last().q[0].abs() < 1e-13);
}

/// N = g − 2t: the floor lets go at g/2, and the ball rises as (t − g/2)³/3.
#[test]
fn a_growing_pull_lifts_a_ball_off_the_floor() {
    let text = BALL.replace("[initial]", "[forces]\ny = \"2*t\"\n[initial]");
    let (record, _) = run(&text, &[], None, 0.13, 6.0);
    let [rest, release] = record.holdings[..] else { panic!("{:?}", record.holdings) };
    assert!(rest.begins && rest.t == 0.0);
    assert!(!release.begins && (release.t - 4.905).abs() < 1e-9, "lets go at {}", release.t);
    let due = (6.0 - 4.905f64).powi(3) / 3.0;
    assert!((record.last().q[0] - due).abs() < 1e-9, "{} and {due}", record.last().q[0]);
}

/// A particle that slides down a dome of radius 1 leaves it where g cos θ = v².
#[test]
fn a_particle_leaves_a_dome_where_it_must() {
    let text = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.81*y"
[[wall]]
name = "dome"
phi = "x^2 + y^2 - 1"
restitution = 0.5
[[wall]]
name = "ground"
phi = "y"
restitution = 0.5
[initial]
q = [0, 1]
v = [0.5, 0]
[run]
until = 0.9
"#;
    for method in ["gauss4+ctec", "galerkin6+ctec"] {
        let (record, _) = run(text, &[], Some(method), 0.02, 0.9);
        let release = record.holdings.iter().find(|holding| !holding.begins).expect("it leaves");
        let before = record.nodes.iter().rfind(|node| node.t <= release.t).expect("a node");
        // On the dome until it leaves, and never in it.
        assert!((before.q[0].hypot(before.q[1]) - 1.0).abs() < 1e-12, "{method}");
        assert!(record.nodes.iter().all(|node| node.q[0].hypot(node.q[1]) > 1.0 - 1e-12), "{method}");
        // cos θ = 2/3 + v₀²/(3g); time by the first integral, ∫dθ/√(v₀² + 2g(1 − cos θ)).
        let end = (2.0 / 3.0 + 0.25 / (3.0 * 9.81f64)).acos();
        let speed = |theta: f64| (0.25 + 2.0 * 9.81 * (1.0 - theta.cos())).sqrt();
        let n = 20_000;
        let weight = |k: usize| {
            if k == 0 || k == n {
                1.0
            } else if k % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        let time: f64 =
            (0..=n).map(|k| weight(k) / speed(end * k as f64 / n as f64)).sum::<f64>() * end / (3 * n) as f64;
        assert!((release.t - time).abs() < 1e-8, "{method}: leaves at {}, due at {time}", release.t);
    }
}

/// A table that shakes: while Aω² < g the ball stays on it; above that it is let go where sin ωt = g/(Aω²).
#[test]
fn a_ball_on_a_shaken_table() {
    let text = BALL.replace("phi = \"y\"", "phi = \"y - A*sin(4*t)\"").replace("e = 0.5", "e = 0.5\nA = 0.5");
    let text = text.replace("v = [0]", "v = [\"4*A\"]");
    let (record, outcome) = run(&text, &[], None, 0.05, 3.0);
    for node in &record.nodes {
        let due = 0.5 * (4.0 * node.t).sin();
        assert!((node.q[0] - due).abs() < 1e-10, "t = {}: {} and {due}", node.t, node.q[0]);
    }
    assert_eq!(record.holdings.len(), 1, "{:?}", record.holdings);
    let account = outcome.account.expect("the table moves");
    assert!(account.unexplained.abs() < 1e-9, "{account:?}");
    let (record, _) = run(&text, &["A=0.8"], None, 0.05, 0.5);
    let release = record.holdings.iter().find(|holding| !holding.begins).expect("it is thrown");
    let due = (9.81f64 / (0.8 * 16.0)).asin() / 4.0;
    assert!((release.t - due).abs() < 1e-9, "{} and {due}", release.t);
}

/// A ball in a groove ends on both its sides, and a bar that falls ends flat on the floor.
#[test]
fn several_walls_hold_at_once() {
    let groove = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.81*y"
[[wall]]
name = "left"
phi = "y + 0.8*x"
restitution = 0.4
[[wall]]
name = "right"
phi = "y - 0.5*x"
restitution = 0.6
[initial]
q = [0.1, 1]
v = [0.3, 0]
[run]
until = 12
"#;
    let (record, outcome) = run(groove, &[], None, 0.05, 12.0);
    assert_eq!(outcome.status, Status::Completed);
    let last = record.last();
    assert!(last.q[0].abs() < 1e-6 && last.q[1].abs() < 1e-6, "{last:?}");
    assert!(
        record.nodes.iter().all(|node| node.q[1] + 0.8 * node.q[0] > -1e-10 && node.q[1] - 0.5 * node.q[0] > -1e-10)
    );
    let bar = r#"
coordinates = ["y", "theta"]
[lagrangian]
T = "y'^2/2 + theta'^2/24"
V = "9.81*y"
[[wall]]
name = "left end"
phi = "y - sin(theta)/2"
restitution = 0.5
[[wall]]
name = "right end"
phi = "y + sin(theta)/2"
restitution = 0.5
[initial]
q = [1, 0.3]
v = [0, 0.2]
[run]
until = 8
"#;
    let (record, outcome) = run(bar, &[], None, 0.05, 8.0);
    assert_eq!(outcome.status, Status::Completed);
    let last = record.last();
    assert!(last.q.iter().chain(&last.v).all(|x| x.abs() < 1e-6), "{last:?}");
    assert!(outcome.energy.last.abs() < 1e-5, "{:?}", outcome.energy);
}

/// Every shipped model with e < 1 runs to its end time with its own settings.
#[test]
fn shipped_models_with_losses_run_through() {
    for name in ["bouncing-ball", "rimless-wheel", "braked-pendulum", "impact-oscillator", "floor-and-ceiling"] {
        let model = model(shipped(name), &[]);
        let method = model.run.method.clone().unwrap_or(default_for(&model, None).into());
        let until = model.run.until.expect("it has a horizon");
        let (record, outcome) = run(shipped(name), &[], Some(&method), model.run.step.unwrap_or(0.02), until);
        assert_eq!(outcome.status, Status::Completed, "{name}");
        assert!((record.last().t - until).abs() < 1e-12, "{name}");
    }
}

/// The bounces before rest become short, and with them the steps; what constraints are rounded to, over such a step, is no
/// small velocity. On a rod and on a box the motion comes to rest all the same.
#[test]
fn what_constraints_hold_comes_to_rest() {
    let pendulum = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.81*y"
[[constraint]]
g = "x^2 + y^2 - 1"
[[wall]]
phi = "x - 0.6"
restitution = 0.5
[initial]
q = [1, 0]
v = [0, 0]
"#;
    let in_the_angle = r#"
coordinates = ["a"]
[lagrangian]
T = "a'^2/2"
V = "-9.81*cos(a)"
[[wall]]
phi = "sin(a) - 0.6"
restitution = 0.5
[initial]
q = ["pi/2"]
v = [0]
"#;
    let (angle, _) = run(in_the_angle, &[], Some("gauss6+ctec"), 0.01, 3.0);
    for (method, tolerance) in [("gauss4+ctec", 1e-9), ("svc+ctec", 1e-3), ("suzuki4+ctec", 1e-6)] {
        for step in [0.01, 0.037] {
            let (record, outcome) = run(pendulum, &[], Some(method), step, 3.0);
            assert_eq!(outcome.status, Status::Completed, "{method}, {step}");
            let late = (record.holdings[0].t - angle.holdings[0].t).abs();
            assert!(late < tolerance * (step / 0.01_f64).powi(4), "{method}, {step}: rests {late:e} late");
            let [x, y] = [record.last().q[0], record.last().q[1]];
            assert!((x - 0.6).abs() + (y + 0.8).abs() < 1e-14, "{method}, {step}: {x}, {y}");
        }
    }
}

const TABLE: &str = r#"
coordinates = ["y"]
[lagrangian]
T = "y'^2/2"
V = "9.81*y"
[[wall]]
phi = "y - 0.5*sin(5*t)"
restitution = 0.3
[initial]
q = [0]
v = [2.5]
"#;

/// A table swings, and falls faster than a ball while 12.5 sin 5t > g: also where that is over before the step is.
#[test]
fn a_wall_lets_go_within_a_step() {
    let due = (9.81_f64 / 12.5).asin() / 5.0;
    for step in [0.625, 0.1] {
        let (record, _) = run(TABLE, &[], Some("gauss6+ctec"), step, 0.7);
        let first = record.holdings.iter().find(|holding| !holding.begins).map(|holding| holding.t);
        assert!(first.is_some_and(|t| (t - due).abs() < 1e-9), "{step}: {first:?}, not {due}");
    }
}

/// The energy at the start is the same if a simulation that ended at rest runs again.
#[test]
fn a_run_after_rest_begins_free() {
    let model = Model::from_text("ball", shipped("bouncing-ball"), &["initial.v[0]=3".into()]).expect("a model");
    let method = Method::named("gauss2+ctec", None).expect("it is registered");
    let simulation = Simulation::new(&model, &method, 0.1, 30.0).expect("it compiles");
    let energies = [(); 2].map(|()| simulation.watch(&mut ()).expect("it runs").energy);
    assert_eq!(energies[0], energies[1]);
}

/// A body that a table has thrown up with e = 0 leaves it with φ̇ = 0 and φ̈ > 0: at first its gap is less than roundoff.
#[test]
fn a_body_leaves_a_wall_slowly() {
    const THROWN: &str = r#"
coordinates = ["s"]
[lagrangian]
T = "s'^2/2"
V = "-s/2"
[[wall]]
phi = "s - 0.749999999 - 0.1*sin(3*t)"
restitution = 0
[initial]
q = [0.75]
v = [0]
"#;
    let (record, outcome) = run(THROWN, &[], Some("gauss6+ctec"), 0.1, 1.0);
    assert_eq!((outcome.status, record.impacts.len()), (Status::Completed, 1));
    // It is met at t₁ = 1e-9/0.3; then s = 0.75 + 0.3 (t − t₁) + (t − t₁)²/4.
    let (s, due) = (outcome.state.z.q()[0], 1.3 - 0.8e-9 / 0.3);
    assert!((s - due).abs() < 1e-13, "{s}, not {due}");
}
