//! Runs of the projected Hamilton's principle: the motion of the event-driven run, without any jump.

use carom::lab::compare::Recorded;
use carom::lab::mechanics::Mechanics;
use carom::lab::mechanics::Node;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::{Status, View, Watcher};
use carom::lab::simulation::Simulation;
use carom_tests::motion::{model, shipped};
use carom_tests::projected::{HILLS, SINH, distance};
use carom_tests::reference::{number, numbers, projections_and_constraints};

/// The bar with a guided centre, with x put in by hand.
const GUIDED: &str = r#"
coordinates = ["y", "theta"]
[definitions]
x = "0.3*sin(2*y)"
[lagrangian]
T = "(x'^2 + y'^2)/2 + theta'^2/24"
V = "9.81*y"
[[wall]]
phi = "y - cos(theta)/2"
[initial]
q = [1, 0.3]
v = [0, 1]
[run]
until = 2
"#;

fn run(model: &Model, method: &str, step: f64) -> Recorded {
    let method = Method::named(method, None).expect("it is registered");
    let until = model.run.until.expect("a horizon");
    let simulation = Simulation::new(model, &method, step, until).expect("it compiles");
    let trajectory = Recorded::of(&simulation).expect("it runs");
    assert_eq!(trajectory.outcome.status, Status::Completed, "{} with {}", model.title, method.name);
    trajectory
}

/// The largest difference of two lists of impacts, in time, λ, q, v and p.
fn difference(a: &Recorded, b: &Recorded) -> f64 {
    assert_eq!(a.impacts.len(), b.impacts.len());
    let sides = |x: &Node, y: &Node| distance(&x.q, &y.q) + distance(&x.v, &y.v) + distance(&x.p, &y.p);
    let each = a.impacts.iter().zip(&b.impacts).map(|(x, y)| {
        let node = sides(&x.minus, &y.minus) + sides(&x.plus, &y.plus);
        (x.minus.t - y.minus.t).abs() + (x.lambda - y.lambda).abs() + node
    });
    each.sum::<f64>() + sides(&a.outcome.last, &b.outcome.last)
}

/// Times, velocities and λ of every impact that the file lists, and the final state, from event to event and by `php`.
#[test]
fn impacts_agree_with_the_reference() {
    let file = projections_and_constraints();
    for (key, example, count) in [("bar", "bar", 11), ("particle", "wavy-floor", 5)] {
        for (method, step) in [("gauss6+ctec", 0.05), ("php", 0.002)] {
            let trajectory = run(&shipped(example, &[]), method, step);
            assert_eq!(trajectory.impacts.len(), count, "{key} with {method}");
            let expected = file[key]["impacts"].as_array().expect("a list");
            for (i, (impact, expected)) in trajectory.impacts.iter().zip(expected).enumerate() {
                let off = [
                    (impact.minus.t - number(&expected["t"])).abs(),
                    distance(&impact.minus.q, &numbers(&expected["q"])),
                    distance(&impact.minus.v, &numbers(&expected["v_minus"])),
                    distance(&impact.plus.v, &numbers(&expected["v_plus"])),
                    (impact.lambda - number(&expected["lam"])).abs(),
                ];
                assert!(off.iter().all(|x| *x < 1e-9), "{key} with {method}, impact {i}: {off:?}");
            }
            let last = &trajectory.outcome.last;
            let off = [
                distance(&last.q, &numbers(&file[key]["final_q"])),
                distance(&last.v, &numbers(&file[key]["final_v"])),
            ];
            assert!(off.iter().all(|x| *x < 1e-9), "{key} with {method}, final state: {off:?}");
        }
    }
}

#[test]
fn impacts_on_the_circle_agree_with_the_reference() {
    let file = projections_and_constraints();
    let expected = &file["pendulum_S1"]["pendulum_S1_xc0.3"];
    for (method, step) in [("gauss6+ctec", 0.05), ("php", 0.02)] {
        let trajectory = run(&shipped("circle-pendulum", &[]), method, step);
        let impacts = expected["impacts"].as_array().expect("a list");
        assert_eq!(trajectory.impacts.len(), impacts.len(), "{method}");
        for (impact, expected) in trajectory.impacts.iter().zip(impacts) {
            let theta = number(&expected["theta"]);
            // [p] = λφ': λ = 2w⁺/(−sin θ).
            let lambda = 2.0 * number(&expected["w_plus"]) / -theta.sin();
            let off = [
                impact.minus.t - number(&expected["t"]),
                impact.minus.q[0] - theta,
                impact.plus.q[0] - theta,
                impact.minus.v[0] - number(&expected["w_minus"]),
                impact.plus.v[0] - number(&expected["w_plus"]),
                impact.lambda - lambda,
            ];
            assert!(off.iter().all(|x| x.abs() < 1e-9), "{method}: {off:?}");
        }
        let last = &trajectory.outcome.last;
        assert!(distance(&[last.q[0], last.v[0]], &numbers(&expected["final"])) < 1e-9, "{method}: {last:?}");
    }
}

/// The smooth path gives the impacts of the event-driven run: also where the paper's map on the circle would fail, where a
/// pendulum turns over, in three dimensions, with a wall that is not linear, and with one degree of freedom.
#[test]
fn php_is_the_event_driven_motion() {
    let cases = [
        (shipped("bar", &[]), 0.002),
        (shipped("wavy-floor", &[]), 0.002),
        (shipped("circle-pendulum", &["x_c=0.8"]), 0.002),
        (shipped("circle-pendulum", &["x_c=-0.9", "initial.v=[9]"]), 0.001),
        (shipped("pendulum", &[]), 0.02),
        (shipped("cart-pendulum", &["run.until=3"]), 0.002),
        (model(HILLS, &[]), 0.002),
        (model(SINH, &[]), 0.002),
    ];
    for (model, step) in cases {
        let (smooth, jumping) = (run(&model, "php", step), run(&model, "gauss6+ctec", 0.01));
        assert!(smooth.impacts.len() >= 2, "{}: {} impacts", model.title, smooth.impacts.len());
        let off = difference(&smooth, &jumping);
        assert!(off < 1e-8, "{}: the two runs are {off:e} apart", model.title);
        let drift = smooth.outcome.energy.max_drift;
        assert!(drift < 1e-9, "{}: the energy drifts by {drift:e}", model.title);
    }
}

/// [p] = λ∇φ and [H] = 0 are nowhere put in; they follow from the continuity of p_z. (7)
#[test]
fn the_impact_law_follows_from_the_principle() {
    for (model, step) in [(shipped("bar", &[]), 0.002), (model(HILLS, &[]), 0.002), (model(SINH, &[]), 0.002)] {
        let mechanics = Mechanics::new(&model.system);
        let gradient = carom::lab::expr::grad(mechanics.walls[0], &mechanics.q);
        for impact in run(&model, "php", step).impacts {
            let place = mechanics.q.iter().copied().zip(impact.minus.q.iter().copied());
            let at: Vec<_> = model.parameter_values().into_iter().chain(place).collect();
            let normal = carom::lab::expr::eval(&gradient, &at);
            let kicked: Vec<f64> = impact.minus.p.iter().zip(&normal).map(|(p, g)| p + impact.lambda * g).collect();
            let off = distance(&kicked, &impact.plus.p);
            assert!(off < 1e-9, "{}: p⁺ − p⁻ is {off:e} off λ∇φ at t = {}", model.title, impact.minus.t);
            assert!(impact.lambda > 0.0, "{}: λ = {}", model.title, impact.lambda);
            let power = |node: &Node| node.p.iter().zip(&node.v).map(|(p, v)| p * v).sum::<f64>();
            let jump = power(&impact.plus) - power(&impact.minus);
            assert!(jump.abs() < 1e-9, "{}: 2T jumps by {jump:e}", model.title);
        }
    }
}

/// By elimination: the guided bar is the bar in two coordinates; x, x' and the momenta are reported too.
#[test]
fn a_constraint_is_eliminated() {
    let bar = shipped("constrained-bar", &[]);
    let (smooth, by_hand) = (run(&bar, "php", 0.002), run(&model(GUIDED, &[]), "gauss6+ctec", 0.01));
    assert_eq!(smooth.impacts.len(), by_hand.impacts.len());
    for (a, b) in smooth.impacts.iter().zip(&by_hand.impacts) {
        let off = [a.minus.t - b.minus.t, a.lambda - b.lambda, a.plus.v[0] - b.plus.v[0], a.plus.v[2] - b.plus.v[1]];
        assert!(off.iter().all(|x| x.abs() < 1e-9), "{off:?}");
        for node in [&a.minus, &a.plus] {
            let (y, rate) = (node.q[0], node.v[0]);
            assert!((node.q[1] - 0.3 * (2.0 * y).sin()).abs() < 1e-14, "{node:?}");
            assert!((node.v[1] - 0.6 * (2.0 * y).cos() * rate).abs() < 1e-13, "{node:?}");
            assert!((node.p[1] - node.v[1]).abs() < 1e-13, "{node:?}");
        }
    }
    assert!(smooth.outcome.energy.max_drift < 1e-9, "{:?}", smooth.outcome.energy);
    let last = &smooth.outcome.last;
    let end = [last.q[0], last.q[2], last.v[0], last.v[2]];
    let expected = &by_hand.outcome.last;
    assert!(distance(&end, &[expected.q[0], expected.q[1], expected.v[0], expected.v[1]]) < 1e-8, "{last:?}");
}

/// A run goes on from its own final state, eliminated coordinates included.
#[test]
fn a_run_can_be_resumed() {
    let model = shipped("constrained-bar", &[]);
    let method = Method::named("php", None).expect("it is registered");
    let half = shipped("constrained-bar", &["run.until=1.0"]);
    let (whole, first) = (run(&model, "php", 0.002), run(&half, "php", 0.002));
    let last = &first.outcome.last;
    let second = Simulation::new(&model, &method, 0.002, 2.0).expect("it compiles").start_at(1.0, &last.q, &last.p);
    let off = distance(&second.watch(&mut ()).expect("it runs").last.q, &whole.outcome.last.q);
    assert!(off < 1e-9, "{off:e}");
}

#[derive(Default)]
struct Samples(Vec<Node>);

impl Watcher for Samples {
    fn sample(&mut self, view: &mut View) {
        self.0.push(view.node());
    }
}

/// Samples between the nodes, on both sides of the wall, are those of the motion.
#[test]
fn samples_are_projected() {
    let model = shipped("wavy-floor", &[]);
    let samples = |method: &str, step: f64| {
        let simulation = Simulation::new(&model, &Method::named(method, None).expect("known"), step, 4.0)
            .expect("right")
            .every(0.0371);
        let mut samples = Samples::default();
        simulation.watch(&mut samples).expect("it runs");
        samples.0
    };
    let (smooth, jumping) = (samples("php", 0.004), samples("gauss6+ctec", 0.02));
    assert_eq!(smooth.len(), jumping.len());
    for (a, b) in smooth.iter().zip(&jumping) {
        let off = distance(&a.q, &b.q) + distance(&a.v, &b.v);
        assert!(off < 1e-8, "{off:e} apart at t = {}", a.t);
    }
}

fn slope(steps: &[f64], errors: &[f64]) -> f64 {
    let last = steps.len() - 1;
    (errors[0] / errors[last]).ln() / (steps[0] / steps[last]).ln()
}

/// With located switches the order is that of the flow.
#[test]
fn located_switches_keep_the_order() {
    let model = shipped("wavy-floor", &["run.until=2.5"]);
    let exact = run(&model, "gauss8+ctec", 0.01);
    let cases = [
        ("gauss1+php", 2.0, [0.004, 0.001]),
        ("svc+php", 2.0, [0.002, 0.0005]),
        ("gauss2+php", 4.0, [0.004, 0.001]),
        ("gauss3+php", 6.0, [0.002, 0.0007]),
    ];
    for (method, order, steps) in cases {
        let errors: Vec<f64> = steps.iter().map(|&h| difference(&run(&model, method, h), &exact)).collect();
        let found = slope(&steps, &errors);
        assert!((found - order).abs() < 0.35, "{method}: order {found:.2} from {errors:?}");
    }
}

/// Without location each impact costs an order: the mean error over many steps, and with it the energy, falls as h.
#[test]
fn without_location_the_order_is_one() {
    let model = shipped("wavy-floor", &["run.until=0.9"]);
    let exact = run(&model, "gauss8+ctec", 0.01);
    let mean = |h: f64| {
        let runs: Vec<Recorded> = (0..20).map(|k| run(&model, "php1", h * (1.0 + 0.001 * f64::from(k)))).collect();
        let count = runs.len() as f64;
        let error = runs.iter().map(|run| distance(&run.outcome.last.q, &exact.outcome.last.q)).sum::<f64>() / count;
        let energy = runs.iter().map(|run| run.outcome.energy.max_drift).sum::<f64>() / count;
        assert!(runs.iter().all(|run| run.impacts.len() == 1));
        [error, energy]
    };
    let steps = [2e-4, 1e-4, 5e-5];
    let errors: Vec<[f64; 2]> = steps.iter().map(|&h| mean(h)).collect();
    for (i, what) in ["the final state", "the energy"].into_iter().enumerate() {
        let found = slope(&steps, &errors.iter().map(|e| e[i]).collect::<Vec<_>>());
        assert!((found - 1.0).abs() < 0.15, "{what}: order {found:.2} from {errors:?}");
    }
}
