//! Holonomic constraints: references, closed loops, impacts.

use carom::lab::catalogue::find;
use carom::lab::method::{Method, default_for};
use carom::lab::model::Model;
use carom::lab::run::{Outcome, Status};
use carom::lab::simulation::Simulation;
use carom_tests::motion::{self, Motion, model};
use carom_tests::reference::{numbers, projections_and_constraints};

fn run(model: &Model, method: &str, step: f64, until: f64) -> (Motion, Outcome) {
    let motion = motion::run(model, method, step, until);
    let outcome = motion.outcome.clone();
    (motion, outcome)
}

fn shipped(name: &str) -> &'static str {
    find(name).expect("it ships").text
}

fn lambdas(record: &Motion) -> Vec<f64> {
    record.nodes[1..].iter().map(|node| node.lambda[0]).collect()
}

/// λ of [TPC eqs. 6, 9] from two configurations one step apart.
#[test]
fn multipliers_of_one_point_and_two_point_constraints() {
    let file = projections_and_constraints();
    let cases = [
        ("circle-xy", "circle_xy_onept_v10", false),
        ("circle-polar", "circle_polar_onept_v10", false),
        ("circle-xy", "circle_xy_twopt_v10", true),
        ("circle-polar", "circle_polar_twopt_v10_lam1_0", true),
    ];
    for (name, key, two_point) in cases {
        let text = shipped(name).replace("\"one-point\"", if two_point { "\"two-point\"" } else { "\"one-point\"" });
        let (record, _) = run(&model(&text, &[]), "midpoint", 0.01, 0.65);
        let (found, expected) = (lambdas(&record), numbers(&file["circle"][key]["lam"]));
        for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
            assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{key}, step {}: {a}, reference {b}", k + 1);
        }
        assert_eq!(expected.len(), 45);
        if key == "circle_xy_twopt_v10" {
            let configurations = file["circle"][key]["q"].as_array().expect("a list");
            for (node, expected) in record.nodes.iter().zip(configurations) {
                let gap: f64 = node.q.iter().zip(numbers(expected)).map(|(a, b)| (a - b).abs()).sum();
                assert!(gap < 1e-9, "{:?}, reference {expected}", node.q);
            }
        }
    }
}

const ROUND: &str = r#"
coordinates = ["x", "y"]
[lagrangian]
L = "(x'^2 + y'^2)/2"
[[constraint]]
g = "x^2 + y^2 - 1"
enforce = "two-point"
"#;

/// A two-point start from two configurations can be sampled before the second of them.
#[test]
fn the_first_step_of_two_configurations_can_be_sampled() {
    let start = "[initial]\nq = [1, 0]\nq1 = [\"cos(0.1)\", \"sin(0.1)\"]\n[run]\nstep = 0.01\n";
    let motion = motion::run_sampled(&model(&format!("{ROUND}{start}"), &[]), "midpoint", 0.01, 0.05, 0.004);
    assert_eq!(motion.samples.len(), 13);
    for node in &motion.samples {
        // The middles of the steps, 0.1 long, are on the circle; nodes are off it by about 0.1²/4.
        assert!((node.q[0].hypot(node.q[1]) - 1.0).abs() < 5e-3, "{node:?}");
    }
}

/// `initial.project` moves a start onto two-point constraints as onto others.
#[test]
fn a_start_is_moved_onto_two_point_constraints() {
    let start = "[initial]\nq = [1.1, 0]\nv = [-0.5, 2]\nproject = true\n";
    let start = model(&format!("{ROUND}{start}"), &[]).start().expect("it can be moved");
    let off = [start.q[0] - 1.0, start.q[1], start.v[0], start.v[1] - 2.0];
    assert!(off.iter().all(|x| x.abs() < 1e-12), "{start:?}");
}

/// A small error in the start of a uniform two-point motion grows as theory says, with alternating sign.
#[test]
fn two_point_errors_grow_at_the_predicted_rate() {
    let delta = 0.1f64;
    let lambda = 2.0 / 0.01 * (0.5 * delta).tan().powi(2) + 1e-7;
    let text = shipped("circle-xy")
        .replace("enforce = \"one-point\"", &format!("enforce = \"two-point\"\nlambda1 = {lambda:?}"))
        .replace("q = [1, 0]", "q = [\"1/cos(delta/2)\", 0]")
        .replace("[\"cos(delta)\", \"sin(delta)\"]", "[\"cos(delta)/cos(delta/2)\", \"sin(delta)/cos(delta/2)\"]");
    let model = model(&text, &[]);
    let (record, _) = run(&model, "midpoint", 0.01, 0.65);
    let found = lambdas(&record);
    let jumps: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(jumps[5..60].windows(2).all(|pair| pair[0] * pair[1] < 0.0), "the sign alternates: {jumps:?}");
    let rho = (jumps[62] / jumps[50]).abs().powf(1.0 / 12.0);
    let predicted = model.two_point_growth().expect("it has a start")[0].1;
    assert!((rho - 1.104803).abs() < 5e-5, "{rho}");
    assert!((predicted - 1.104803).abs() < 2e-3, "from the start alone: {predicted}");
}

const BAR_ON_A_CURVE: &str = r#"
coordinates = ["y", "x", "theta"]
[lagrangian]
T = "(x'^2 + y'^2)/2 + theta'^2/24"
V = "9.81*y"
[[wall]]
phi = "y - cos(theta)/2"
[[constraint]]
name = "curve"
g = "x - 0.3*y^2 - 0.5*y"
[initial]
q = [0.38242109364224425, 0.23508431467988117, 0.7]
v = [-2.0, -1.458905312370693, 1.5]
[run]
until = 0.5
"#;

/// The impact map of [GP eqs. 30–32], corrected; the start is on the wall and moves into it.
#[test]
fn constrained_impact_map() {
    let expected = &projections_and_constraints()["constrained_impact_map"]["f=0.3y^2+0.5y"];
    let model = model(BAR_ON_A_CURVE, &[]);
    for method in ["gauss4+ctec", "svc+ctec", "galerkin6+ctec"] {
        let (record, _) = run(&model, method, 1e-3, 1e-3);
        let impact = &record.impacts[0];
        assert!(impact.minus.t.abs() < 1e-15);
        let lambda = expected["lambda_u"].as_f64().expect("a number");
        assert!((impact.lambda - lambda).abs() < 1e-12, "{method}: λ = {}, reference {lambda}", impact.lambda);
        for (a, b) in impact.plus.v.iter().zip(numbers(&expected["v_plus"])) {
            assert!((a - b).abs() < 1e-12, "{method}: {:?}", impact.plus.v);
        }
    }
}

/// Every rule that supports constraints keeps p⁺ on them and conserves its energy; `mcvac` refuses them.
#[test]
fn every_rule_in_its_constrained_form() {
    let model = model(BAR_ON_A_CURVE, &["initial.v=[-2.0, -1.458905312370693, 0]"]);
    for method in ["gauss3+ctec", "svc+dtec", "svc+shadow", "svc+mhc", "galerkin4+shadow", "galerkin4+dtec"] {
        let (record, outcome) = run(&model, method, 0.002, 2.0);
        assert_eq!(outcome.status, Status::Completed, "{method}");
        assert!(record.impacts.len() >= 3, "{method}: {} impacts", record.impacts.len());
        for impact in &record.impacts {
            let (q, v) = (&impact.plus.q, &impact.plus.v);
            let rate = v[1] - (0.6 * q[0] + 0.5) * v[0];
            assert!(rate.abs() < 1e-12, "{method}: dg/dt = {rate:e} after an impact");
            assert!(impact.lambda > 0.0);
        }
        let carom::lab::plant::Violated { position: g, rate } = outcome.violation.expect("there is a constraint");
        assert!(g < 1e-12 && rate < 1e-11, "{method}: g = {g:e}, dg/dt = {rate:e}");
        let drift = outcome.energy.max_drift / outcome.energy.initial.abs();
        assert!(drift < 2e-4, "{method}: energy drift {drift:e}");
    }
    let method = Method::named("mcvac", None).expect("it is registered");
    let error = Simulation::new(&model, &method, 0.01, 1.0).expect_err("it is refused").to_string();
    assert!(error.contains("independent coordinates"), "{error}");
}

const PENDULUM_XY: &str = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.8*y"
[[wall]]
phi = "x"
[[constraint]]
g = "x^2 + y^2 - 1"
[initial]
q = ["sin(pi/3)", "-cos(pi/3)"]
v = [0, 0]
[run]
until = 5.0
"#;

/// The pendulum of [NOTES] in (x, y) with a rod hits its wall when that in θ does.
#[test]
fn a_rod_is_as_good_as_an_angle() {
    let file = &projections_and_constraints()["notes_pendulum"];
    let model = model(PENDULUM_XY, &[]);
    let (record, _) = run(&model, default_for(&model, None), 0.01, 5.0);
    let expected = file["impacts"].as_array().expect("a list");
    assert_eq!(record.impacts.len(), expected.len());
    for (impact, expected) in record.impacts.iter().zip(expected) {
        let t: f64 = expected["t"].as_str().expect("a string").parse().expect("a number");
        let w: f64 = expected["w_plus"].as_str().expect("a string").parse().expect("a number");
        assert!((impact.minus.t - t).abs() < 1e-9, "an impact at {}, reference {t}", impact.minus.t);
        assert!((impact.plus.v[0] - w).abs() < 1e-9, "{:?}, reference {w}", impact.plus.v);
    }
    let [theta, _] = numbers(&file["final"])[..] else { panic!("two numbers") };
    let last = record.nodes.last().expect("there are nodes");
    assert!((last.q[0] - theta.sin()).abs() < 1e-9 && (last.q[1] + theta.cos()).abs() < 1e-9);
    // The rod pulls with m(v² − r·g): the constraint force is −2λ(x, y).
    let node = &record.nodes[30];
    let pull = node.force[0] * node.q[0] + node.force[1] * node.q[1];
    let expected = -(node.v[0] * node.v[0] + node.v[1] * node.v[1]) + 9.8 * node.q[1];
    assert!((pull - expected).abs() < 1e-9, "the rod pulls with {pull}, not {expected}");
}

/// The state at t = 0.03. β is that of an independent run in quadruple precision, the others are those of gauss5 with half the
/// step. The published state (Mazzia & Magherini, Test Set for Initial Value Problem Solvers) has β = 15.81077119629904, which
/// is wrong from its 11th digit on.
#[test]
fn andrews_squeezer() {
    let reference = [
        15.810_771_195_153_707,
        -15.75637105841166,
        0.04082224011964447,
        -0.5347301163420826,
        0.524409965879954,
        0.5347301163420827,
        1.048080741041938,
    ];
    let model = model(shipped("squeezer"), &[]);
    let (record, outcome) = run(&model, "gauss4+ctec", 1e-4, 0.03);
    for (found, expected) in record.nodes.last().expect("there are nodes").q.iter().zip(reference) {
        assert!((found - expected).abs() < 1e-11, "{found}, expected {expected}");
    }
    assert!(outcome.violation.is_some_and(|v| v.position < 1e-15 && v.rate < 1e-12));
}

/// A closed loop that hits a stop: conserved quantities, and agreement with a run on a finer mesh.
#[test]
fn four_bar_linkage() {
    let model = model(shipped("four-bar"), &[]);
    let start = model.start().expect("it is right");
    assert!(start.moved.is_some_and(|[q, _]| q > 0.01), "the start is moved onto the loop");
    let (coarse, outcome) = run(&model, "gauss4+ctec", 0.01, 2.0);
    let (fine, _) = run(&model, "galerkin8+ctec", 0.005, 2.0);
    assert!(!fine.impacts.is_empty(), "the stop is hit");
    assert_eq!(coarse.impacts.len(), fine.impacts.len());
    for (a, b) in coarse.impacts.iter().zip(&fine.impacts) {
        assert!((a.minus.t - b.minus.t).abs() < 1e-9, "{} and {}", a.minus.t, b.minus.t);
    }
    let carom::lab::plant::Violated { position: g, rate } = outcome.violation.expect("there are constraints");
    assert!(g < 1e-12 && rate < 1e-12, "g = {g:e}, dg/dt = {rate:e}");
    assert!(outcome.energy.max_drift < 1e-8, "energy drift {:e}", outcome.energy.max_drift);
}

/// A driven coordinate makes a loop move: the constraint depends on the time.
#[test]
fn a_moving_constraint_is_kept() {
    let text = r#"
coordinates = ["s", "x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.8*y"
[prescribed]
s = "0.2*sin(3*t)"
[[constraint]]
g = "(x - s)^2 + y^2 - 1"
[initial]
q = [0, 0.6, -0.8]
v = [0.6, 0, 0.45]
project = true
[run]
until = 3
"#;
    let angle = r#"
coordinates = ["s", "theta"]
[definitions]
x = "s + sin(theta)"
y = "-cos(theta)"
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.8*y"
[prescribed]
s = "0.2*sin(3*t)"
[initial]
q = [0, "asin(0.6)"]
v = [0.6, THETA]
[run]
until = 3
"#;
    let moving = model(text, &[]);
    let start = moving.start().expect("it is right");
    // θ̇ from ẋ = ṡ + θ̇ cos θ.
    let theta_rate = (start.v[1] - 0.6) / 0.8;
    let free = model(&angle.replace("THETA", &format!("{theta_rate:?}")), &[]);
    let (constrained, outcome) = run(&moving, "gauss4", 0.01, 3.0);
    let (angles, _) = run(&free, "gauss4", 0.01, 3.0);
    let (a, b) = (constrained.nodes.last().expect("nodes"), angles.nodes.last().expect("nodes"));
    let x = b.q[0] + b.q[1].sin();
    assert!((a.q[1] - x).abs() < 1e-9, "{} and {x}", a.q[1]);
    // The account of what moves the pivot closes.
    let account = outcome.account.expect("the constraint moves");
    assert!(account.drives.abs() > 0.1 && account.unexplained.abs() < 1e-9, "{account:?}");
    assert!(outcome.violation.is_some_and(|v| v.position < 1e-13 && v.rate < 1e-12), "{:?}", outcome.violation);
}

/// The constraints block the wall's normal direction, so no impulse can act: the run fails with that message.
#[test]
fn a_wall_that_cannot_push() {
    let text = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "0"
[[wall]]
phi = "0.5 - y + t"
[[constraint]]
g = "y - 1 - 2*t"
[initial]
q = [0, 1]
v = [1, 2]
[run]
until = 1
"#;
    let error = Model::from_text("model", text, &[]).and_then(|model| model.start()).expect_err("inside the wall");
    assert!(error.to_string().contains("inside the wall"), "{error}");
    let (_, outcome) = run(&model(&text.replace("0.5 - y + t", "1.5 - y + t"), &[]), "svc", 0.01, 1.0);
    let Status::Failed(failure) = outcome.status else { panic!("{:?}", outcome.status) };
    assert!(failure.message.contains("no impulse can act"), "{}", failure.message);
    assert!((failure.t - 0.5).abs() < 0.011, "{}", failure.t);
}

/// A rod on a pivot that is driven, with friction and a stop: at impacts the rod pushes too, and its end moves.
#[test]
fn the_account_closes_where_a_constraint_moves() {
    let text = r#"
coordinates = ["X", "x", "y"]
[lagrangian]
T = "X'^2/2 + (x'^2 + y'^2)/2"
V = "9.81*y"
[prescribed]
X = "0.1*sin(5*t)"
[[constraint]]
g = "(x - X)^2 + y^2 - 1"
[forces]
x = "-0.2*x'"
y = "-0.2*y'"
[[wall]]
phi = "x + 0.2"
restitution = 0.6
[initial]
q = [0, 0.6, -0.8]
v = [0.5, 0.5, 0]
"#;
    let (record, outcome) = run(&model(text, &[]), "gauss4+ctec", 0.05, 5.0);
    assert_eq!(record.impacts.len(), 3);
    let account = outcome.account.expect("there are forces");
    assert!(account.unexplained.abs() < 1e-9, "{account:?}");
}

/// `initial.project` moves a start onto the constraints to roundoff, even from far away.
#[test]
fn a_start_is_moved_from_far_away() {
    let text = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
[[constraint]]
g = "x^2 + y^2 - 1"
[initial]
q = [1e6, 3]
v = [5, 7]
project = true
"#;
    let start = model(text, &[]).start().unwrap_or_else(|e| panic!("{e}"));
    let off = start.q[0].hypot(start.q[1]) - 1.0;
    assert!(off.abs() < 1e-15, "{off:e} at {:?}", start.q);
}

/// A relativistic ball: p = v/√(1 − v²) bends so much that Newton's method finds no v from rest. It meets the floor with
/// γ = 2, at t = |p| = √3.
#[test]
fn a_relativistic_ball_bounces() {
    let text = r#"
coordinates = ["x"]
[lagrangian]
L = "-sqrt(1 - x'^2) - x"
[[wall]]
phi = "x"
[initial]
q = [1]
v = [0]
"#;
    let (record, _) = run(&model(text, &[]), "gauss6+ctec", 0.1, 10.0);
    for (impact, k) in record.impacts.iter().zip([1.0, 3.0, 5.0]) {
        assert!((impact.minus.t - k * 3.0_f64.sqrt()).abs() < 1e-11, "{}", impact.minus.t);
    }
    assert_eq!(record.impacts.len(), 3);
}
