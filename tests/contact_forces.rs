//! Forces through the discrete Lagrange–d'Alembert principle: to the order of the flow.

use carom::lab::flow::{FlowKind, registry};
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::phase::Phase;
use carom_tests::motion::{model, run};
use carom_tests::order::{is_declared, measured_order, needs_single_steps, order_of_single_steps, travel};

struct Forced {
    model: Model,
    time: f64,
    exact: Phase,
}

fn flow(model: &Model, kind: &FlowKind) -> Box<dyn carom::lab::phase::Flow> {
    let parameters: Vec<f64> = model.parameter_values().iter().map(|p| p.1).collect();
    kind.build(&Mechanics::new(&model.system), &parameters).expect("it compiles")
}

fn start(model: &Model) -> Phase {
    let start = model.start().expect("it is right");
    Phase::new(0.0, &start.q, &start.p)
}

/// x″ + 2ζx′ + x = A cos ωt from rest at 0: what is driven, and what dies out.
fn oscillator() -> Forced {
    let text = r#"
        coordinates = ["x"]
        [lagrangian]
        T = "x'^2/2"
        V = "x^2/2"
        [forces]
        x = "0.7*cos(1.3*t) - 0.4*x'"
        [initial]
        q = [0]
        v = [0]
    "#;
    let (zeta, a, omega, t) = (0.2f64, 0.7f64, 1.3f64, 4.0f64);
    let (re, im) = (1.0 - omega * omega, 2.0 * zeta * omega);
    let size = a / (re * re + im * im);
    // x = c cos ωt + s sin ωt + e^(−ζt)(b cos νt + d sin νt)
    let (c, s, nu) = (size * re, size * im, (1.0 - zeta * zeta).sqrt());
    let (b, d) = (-c, (-zeta * c - omega * s) / nu);
    let decay = (-zeta * t).exp();
    let x = c * (omega * t).cos() + s * (omega * t).sin() + decay * (b * (nu * t).cos() + d * (nu * t).sin());
    let transient = -zeta * (b * (nu * t).cos() + d * (nu * t).sin()) + nu * (d * (nu * t).cos() - b * (nu * t).sin());
    let v = omega * (s * (omega * t).cos() - c * (omega * t).sin()) + decay * transient;
    Forced { model: model(text, &[]), time: t, exact: Phase::new(t, &[x], &[v]) }
}

/// A pendulum with air drag and a moment that turns, on a cart that a push moves: nothing in it is linear.
fn pendulum() -> Forced {
    let text = r#"
        coordinates = ["s", "theta"]
        [definitions]
        x = "s + sin(theta)"
        y = "-cos(theta)"
        [lagrangian]
        T = "s'^2 + (x'^2 + y'^2)/2"
        V = "9.8*y + 2*s^2"
        [forces]
        theta = "-0.3*theta' - 0.2*theta'^3 + 0.5*sin(2*t)*cos(theta)"
        [[push]]
        at = ["x", "y"]
        force = ["0.4*cos(3*t) - 0.2*x'", "-0.2*y'"]
        [initial]
        q = [0.1, 1.2]
        v = [0.4, -0.3]
    "#;
    let model = model(text, &[]);
    let finest = registry(None).into_iter().find(|kind| kind.name == "gauss8").expect("it is registered");
    let exact = travel(&mut *flow(&model, &finest), &start(&model), 4.0 / 800.0, 800);
    Forced { model, time: 4.0, exact }
}

#[test]
fn every_forced_flow_has_its_declared_order() {
    let finest = registry(None).into_iter().find(|kind| kind.name == "gauss8").expect("it is registered");
    for (name, forced) in [("oscillator", oscillator()), ("pendulum", pendulum())] {
        for kind in registry(None) {
            let [mut flow, mut finest] = [&kind, &finest].map(|kind| flow(&forced.model, kind));
            let begin = start(&forced.model);
            if kind.order > 8 {
                let end = travel(&mut *flow, &begin, forced.time / 80.0, 80);
                let off: f64 = end.z.iter().zip(&forced.exact.z).map(|(a, b)| (a - b).abs()).sum();
                assert!(off < 1e-12, "{} on {name}: {off:e}", kind.name);
                continue;
            }
            let order = if needs_single_steps(&kind) {
                order_of_single_steps(&mut *flow, &mut *finest, &begin, forced.time, 1e-13)
            } else {
                measured_order(&mut *flow, &begin, forced.time, &forced.exact, 1e-12)
            };
            let order = order.unwrap_or_else(|| panic!("{} on {name}: exact at once", kind.name));
            println!("{:<10} on the {name:<10} {order:.3}", kind.name);
            assert!(is_declared(&kind, order), "{} on the {name}: order {order:.3}", kind.name);
        }
    }
}

/// A push on an oscillator at rest, F = F₀ exp(−(t − c)²/s²): long before it the force is smaller than any normal number.
/// When it is over, x = F₀ s √π exp(−s²/4) sin(t − c).
#[test]
fn a_push_out_of_nothing_is_followed() {
    let text = r#"
coordinates = ["x"]
[lagrangian]
T = "x'^2/2"
V = "x^2/2"
[forces]
x = "15*exp(-((t - 6.02)/0.2)^2)/sqrt(pi)"
[initial]
q = [0]
v = [0]
"#;
    for flow in registry(None).into_iter().filter(|flow| flow.order >= 4) {
        let motion = run(&model(text, &[]), &flow.name, 0.02, 10.0).completed();
        let due = 3.0 * (-0.01_f64).exp() * (10.0 - 6.02_f64).sin();
        let off = (motion.last().q[0] - due).abs();
        assert!(off < if flow.order == 4 { 1e-4 } else { 1e-8 }, "{}: off by {off:e}", flow.name);
    }
}
