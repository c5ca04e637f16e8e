//! Functions of time that vary within less than a step are seen, or a warning names them.

use carom::lab::model::Model;
use carom_tests::motion::model;

/// A free particle from rest, with a force and an end time.
fn pushed(force: &str, until: f64) -> Model {
    let text = format!(
        "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\n[forces]\nx = \"{force}\"\n[initial]\nq = [0]\nv = [0]\n\
         [run]\nuntil = {until}\n"
    );
    model(&text, &[])
}

/// Kicks as functions of X, with ∫ dX. All are even, so that they act as if all at once in their middle.
const KICKS: [(&str, f64); 5] = [
    ("exp(-X^2)", 1.772_453_850_905_516),
    ("1/cosh(X)^2", 2.0),
    ("1/(exp(X) + exp(-X))^2", 0.5),
    ("exp(-X^2/2)*exp(-X^2/2)", 1.772_453_850_905_516),
    ("tanh(X + 1) - tanh(X - 1)", 4.0),
];

/// A kick is an impulse A w ∫, from its middle on, wherever it is and however short.
#[test]
fn kicks_of_any_width_are_seen() {
    let mut seed = 7u64;
    let mut dice = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    for (kick, area) in KICKS {
        for width in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
            let middle = 0.5 + 9.0 * dice();
            let force = format!("{}*({kick})", 1.0 / width).replace('X', &format!("((t - {middle})/{width})"));
            let run = pushed(&force, 10.0).simulate().expect("it runs");
            let due = area * (10.0 - middle);
            let x = run.state().z.q()[0];
            assert!((x - due).abs() <= 2e-9 * due, "{force}: {x}, not {due}");
            assert_eq!(run.warnings().next(), None, "{force}");
            assert!(run.error_estimate().is_some_and(|error| error <= 1e-9), "{force}: {:?}", run.error_estimate());
            assert!(run.t().len() < 300, "{force}: {} nodes", run.t().len());
        }
    }
}

/// A Lorentzian 1/(1 + X²) has long tails: v = w(atan((T − a)/w) + atan(a/w)).
#[test]
fn a_kick_with_long_tails_is_seen() {
    for (width, middle) in [(1e-2_f64, 7.7_f64), (1e-4, 3.21), (1e-6, 1.234)] {
        let force = format!("{}/(1 + ((t - {middle})/{width})^2)", 1.0 / width);
        let run = pushed(&force, 10.0).simulate().expect("it runs");
        let due = ((10.0 - middle) / width).atan() + (middle / width).atan();
        let v = run.state().z.p()[0];
        assert!((v - due).abs() <= 2e-9 * due, "{force}: {v}, not {due}");
        assert!(run.t().len() < 300, "{force}: {} nodes", run.t().len());
    }
}

/// A pulse of straight lines with ∫ = 2w has a node at each corner.
#[test]
fn pulses_with_corners_are_seen() {
    for (middle, width) in [(3.3, 1e-3), (7.1234, 1e-5), (0.777, 0.25)] {
        let x = format!("(t - {middle})/{width}");
        for pulse in [format!("2*max(0, 1 - abs({x}))"), format!("2*max(0, min(1 + {x}, 1 - {x}))")] {
            let run = pushed(&format!("{}*({pulse})", 1.0 / width), 10.0).simulate().expect("it runs");
            let (x, due) = (run.state().z.q()[0], 2.0 * (10.0 - middle));
            assert!((x - due).abs() <= 2e-9 * due, "{pulse}: {x}, not {due}");
            assert_eq!(run.warnings().next(), None, "{pulse}");
            assert!(run.error_estimate().is_some_and(|error| error <= 1e-9), "{pulse}: {:?}", run.error_estimate());
        }
    }
    let run = pushed("max(0, 1 - abs(t - 3.3)/0.001)", 10.0).simulation().step(0.01).run().expect("it runs");
    assert!(run.warnings().any(|warning| warning.contains("varies within less than the step")));
}

/// A kick in V, in a drive and in a wall.
#[test]
fn kicks_are_seen_wherever_they_stand() {
    let spring = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\nV = \"x*c\"\n[definitions]\n\
                  c = \"1e5*exp(-((t - 2.345)/1e-5)^2)\"\n[initial]\nq = [0]\nv = [0]\n[run]\nuntil = 5\n";
    let run = model(spring, &[]).simulate().expect("it runs");
    let due = -std::f64::consts::PI.sqrt() * (5.0 - 2.345);
    assert!((run.state().z.q()[0] - due).abs() < 1e-8, "{:?}", run.state().z);
    // The force of a spring on a point that is moved out and back: ẍ = s − x with ∫s dt = 1.
    let driven = "coordinates = [\"x\", \"s\"]\n[lagrangian]\nT = \"x'^2/2\"\nV = \"(x - s)^2/2\"\n[prescribed]\n\
                  s = \"1e4*exp(-pi*((t - 2.345)/1e-4)^2)\"\n[initial]\nq = [0, 0]\nv = [0, 0]\n[run]\nuntil = 5\n";
    let run = model(driven, &[]).simulate().expect("it runs");
    // To O(w²) of the width.
    let due = (5.0f64 - 2.345).sin();
    assert!((run.state().z.q()[0] - due).abs() < 1e-8, "{:?}, not {due}", run.state().z);
    // A wall that jumps out of the floor and back meets a ball at rest, long before a step would end.
    let wall = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\n[[wall]]\nphi = \"x - 2*exp(-((t - 2.345)/1e-3)^2)\"\n\
                [initial]\nq = [1]\nv = [0]\n[run]\nuntil = 5\n";
    let run = model(wall, &[]).simulate().expect("it runs");
    let due = 2.345 - 1e-3 * 2f64.ln().sqrt();
    assert_eq!(run.impacts().len(), 1);
    assert!((run.impacts()[0].minus.t - due).abs() < 1e-9, "{} and not {due}", run.impacts()[0].minus.t);
}

/// ẍ = sin ωt from rest: x = t/ω − sin(ωt)/ω².
#[test]
fn a_fast_oscillation_is_resolved() {
    let run = pushed("sin(1e5*t)", 0.1).simulate().expect("it runs");
    let due = 0.1 / 1e5 - 1e4f64.sin() / 1e10;
    let x = run.state().z.q()[0];
    assert!((x - due).abs() <= 2e-9 * due, "{x}, not {due}");
}

/// The steps of the user stay as they are, and a warning shows what they may miss.
#[test]
fn a_given_step_is_kept_with_a_warning() {
    let model = pushed("50*exp(-((t-3.3)/0.001)^2)", 10.0);
    let run = model.simulation().step(0.01).run().expect("it runs");
    assert_eq!(run.t().len(), 1001);
    let warnings: Vec<&str> = run.warnings().collect();
    let [warning] = warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.contains("`50*exp(-((t-3.3)/0.001)^2)` varies within less than the step"), "{warning}");
    assert!(warning.contains(":5:6"), "{warning}");
    let fine = model.simulation().step(0.001).run().expect("it runs");
    assert_eq!(fine.warnings().next(), None);
}

/// What cannot be bounded is named, and there is no estimate.
#[test]
fn what_is_not_finite_has_no_estimate() {
    let run = pushed("1 + 1e-30/(t - 3.3)", 10.0).simulate().expect("it runs");
    let warnings: Vec<&str> = run.warnings().collect();
    assert!(warnings.iter().any(|warning| warning.contains("`1e-30/(t - 3.3)` could not be bounded")), "{warnings:?}");
    assert_eq!(run.error_estimate(), None);
}
