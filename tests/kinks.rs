//! Kinks of potentials and forces are located, so that the order of a method is kept, or named.

use carom::{RunError, Trajectory};
use carom_tests::motion::model;

fn simulated(text: &str) -> Trajectory {
    model(text, &[]).simulate().expect("it runs")
}

/// A particle on a line with these lines of mechanics, from x with v.
fn particle(mechanics: &str, x: f64, v: f64, until: f64) -> String {
    format!(
        "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\n{mechanics}\n[initial]\nq = [{x:?}]\nv = [{v:?}]\n[run]\nuntil = {until:?}\n"
    )
}

/// Checks the final state, the estimate and that the steps are few.
fn check(name: &str, run: &Trajectory, due: f64, nodes: usize) {
    let x = run.state().z.q()[0];
    assert!((x - due).abs() <= 2e-9, "{name}: {x}, not {due}, with {} nodes", run.t().len());
    assert_eq!(run.warnings().next(), None, "{name}");
    assert!(run.error_estimate().is_some_and(|error| error <= 1e-9), "{name}: {:?}", run.error_estimate());
    assert!(run.t().len() <= nodes, "{name}: {} nodes", run.t().len());
}

/// V = |x| from x = 1 at rest: parabolas with the period 4√2. Written with abs, max and min.
fn triangular(t: f64) -> f64 {
    let half = 2.0 * 2f64.sqrt();
    let (turns, s) = ((t / half).floor(), t % half);
    let sign = if turns % 2.0 == 0.0 { 1.0 } else { -1.0 };
    // From ±1 through zero to the other side.
    let quarter = 2f64.sqrt();
    sign * if s < quarter { 1.0 - 0.5 * s * s } else { 0.5 * (half - s).powi(2) - 1.0 }
}

#[test]
fn a_kink_of_a_potential_is_located() {
    for v in ["abs(x)", "max(x, -x)", "-min(-x, x)", "2*max(x, 0) - x", "abs(x/2) + abs(-x)/2"] {
        let run = simulated(&particle(&format!("V = \"{v}\""), 1.0, 0.0, 20.0));
        check(v, &run, triangular(20.0), 40);
        let middle = run.at(7.7).expect("it is in the run").q[0];
        assert!((middle - triangular(7.7)).abs() < 1e-9, "{v}: {middle} at t = 7.7");
    }
}

/// A floor with a penalty: parabolas above it, and below it oscillations with ω = 100 about −g/ω².
#[test]
fn a_penalty_floor_is_right() {
    let (g, omega) = (9.81f64, 100.0);
    let (fall, speed, a) = ((2.0 / g).sqrt(), (2.0 * g).sqrt(), g / 1e4);
    let contact = 2.0 * (std::f64::consts::PI - (speed / (a * omega)).atan()) / omega;
    let s = (5.0 - fall) % (contact + 2.0 * fall);
    let due = if s < contact {
        -a + a * (omega * s).cos() - speed / omega * (omega * s).sin()
    } else {
        let s = s - contact;
        speed * s - 0.5 * g * s * s
    };
    for v in ["1e4*(abs(x)-x)^2/8", "1e4*max(-x, 0)^2/2"] {
        let run = simulated(&particle(&format!("V = \"9.81*x + {v}\""), 1.0, 0.0, 5.0));
        check(v, &run, due, 400);
    }
}

/// A power that ends at its kink: V = |x|ⁿ from x = 1 at rest has the period 4√(π/2) Γ(1 + 1/n)/Γ(½ + 1/n).
#[test]
fn a_power_of_a_kink_is_located() {
    let split = "max(x, 0)^2.5 + max(-x, 0)^2.5";
    let (short, long) = (4.162_419_683_468_17, 4.878_300_568_010_465);
    for (v, period) in [("abs(x)^1.5", long), ("abs(x)^2.5", short), ("max(x, -x)^2.5", short), (split, short)] {
        let run = simulated(&particle(&format!("V = \"{v}\""), 1.0, 0.0, period));
        let (x, estimate) = (run.state().z.q()[0], run.error_estimate().expect("it completes"));
        assert!((x - 1.0).abs() <= 20.0 * estimate && estimate <= 1e-9, "{v}: {x}, estimate {estimate:e}");
        assert_eq!(run.warnings().next(), None, "{v}");
    }
}

/// Hertz's contact: a ball that falls on an elastic half-space, with V = k d^(5/2), comes back to where it began.
#[test]
fn a_ball_rebounds_from_an_elastic_floor() {
    for text in [
        particle("V = \"9.81*x + 1e4*max(-x, 0)^2.5\"", 1.0, 0.0, 2.0),
        particle("V = \"9.81*x\"\n[forces]\nx = \"2.5e4*max(-x, 0)^1.5\"", 1.0, 0.0, 2.0),
    ] {
        let run = simulated(&text);
        let fine = model(&text, &[]).simulation().method("gauss4").step(1e-4).run().expect("it runs");
        check("Hertz", &run, fine.state().z.q()[0], 20_000);
    }
}

/// A method keeps its order across a kink of a potential, and across a force that jumps with the velocity: halving the step divides
/// the error by 2^r.
#[test]
fn the_order_is_kept() {
    let jump = "V = \"cosh(x)\"\n[forces]\nx = \"-0.1*x'/abs(x') - 0.2*max(x', 0.1)\"";
    for forces in ["V = \"abs(x) + cosh(x)\"", jump] {
        let model = model(&particle(forces, 1.0, 0.3, 6.0), &[]);
        let at = |method: &str, h: f64| {
            let run = model.simulation().method(method).step(h).run().expect("it runs");
            run.state().z.q()[0]
        };
        let exact = at("gauss6", 0.01);
        for (method, order, h) in [("svc", 2, 0.02), ("gauss2", 4, 0.1), ("suzuki4", 4, 0.05), ("gauss3", 6, 0.2)] {
            let (rough, fine) = ((at(method, h) - exact).abs(), (at(method, 0.5 * h) - exact).abs());
            let found = (rough / fine).log2();
            let what = format!("{method}, {forces}: order {found}, errors {rough:e}, {fine:e}");
            assert!((found - f64::from(order)).abs() < 0.5, "{what}");
        }
    }
}

/// A body rests on a kink: at the bottom of |x|, on the top of −|x|, and beside a floor with a penalty that it just touches.
#[test]
fn a_body_can_rest_on_a_kink() {
    for v in ["abs(x)", "-abs(x)", "max(x, 0)^2"] {
        let run = simulated(&particle(&format!("V = \"{v}\""), 0.0, 0.0, 3.0));
        assert_eq!(run.state().z.z, [0.0, 0.0], "{v}");
    }
    // Only on one side of this kink does the force point away from it.
    let run = simulated(&particle("V = \"abs(x)/2 - x\"", 0.0, 0.0, 2.0));
    check("it leaves", &run, 1.0, 40);
}

/// Kinks in several coordinates, in forces, and together with walls that hold: ẍ = −sgn x on a floor that y slides along.
#[test]
fn kinks_go_with_walls() {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"abs(x) + 3*y\"\n[[wall]]\nphi = \"y\"\n\
                restitution = 0.5\n[initial]\nq = [1, 0.5]\nv = [0, 0]\n[run]\nuntil = 20\n";
    let run = simulated(text);
    let z = run.state().z.clone();
    assert!((z.q()[0] - triangular(20.0)).abs() < 1e-8 && z.q()[1].abs() < 1e-12, "{z:?}");
    assert!(run.impacts().len() > 10);
    // d' = sgn(x)·x': a force that jumps at x = 0. From x = 1 with v = −1: e^(−t) until x = 0 …
    let force = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\n[definitions]\nd = \"abs(x)\"\n[forces]\nx = \"-d'\"\n\
                 [initial]\nq = [1]\nv = [-2]\n[run]\nuntil = 1.5\n";
    let run = simulated(force);
    // x = 2e^(−t) − 1 to t = ln 2, there v = −1; then v′ = v and x = 1 − e^(t − ln 2).
    let due = 1.0 - (1.5f64 - 2f64.ln()).exp();
    check("a force that jumps", &run, due, 60);
}

/// V = √|x| from x = 1 at rest: the force is infinite at x = 0, which the motion reaches after 4√2/3. No step may end there, or the next has
/// no beginning. The tolerance is not met, and the kink is named.
#[test]
fn a_force_may_be_infinite_at_a_kink() {
    for v in ["sqrt(abs(x))", "abs(x)^0.5", "abs(x - 2*x)^(1/2)"] {
        let run = simulated(&particle(&format!("V = \"{v}\""), 1.0, 0.0, 10.0));
        let quarter = 4.0 * 2f64.sqrt() / 3.0;
        let due = quarter_root_motion(10.0, quarter);
        let (error, estimate) = ((run.state().z.q()[0] - due).abs(), run.error_estimate().expect("it completes"));
        assert!(error < 1e-3 && error <= 10.0 * estimate, "{v}: {error:e}, not {estimate:e}");
        assert!(run.outcome().steps < 10_000, "{v}: {} steps", run.outcome().steps);
        let warnings = run.warnings().collect::<Vec<_>>().join(" ");
        assert!(warnings.contains("have a kink") || warnings.contains("has a kink"), "{v}: {warnings}");
    }
}

/// The motion in V = √|x| from x = 1: from the turning point, with u = √(1 − √|x|), dt = 2√2 (1 − u²) du.
fn quarter_root_motion(t: f64, quarter: f64) -> f64 {
    let part = (t / quarter) % 4.0;
    let side = if (1.0..3.0).contains(&part) { -1.0 } else { 1.0 };
    let from_turn = if part % 2.0 < 1.0 { part % 1.0 } else { 1.0 - part % 1.0 };
    // u − u³/3 = from_turn·2/3, by bisection.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let u: f64 = 0.5 * (low + high);
        if u - u * u * u / 3.0 < from_turn * 2.0 / 3.0 { low = u } else { high = u }
    }
    side * (1.0 - low * low).powi(2)
}

/// Dry friction μ on a spring, from x = 1 at rest: half oscillations about ±μ, each shorter by 2μ, until the friction holds the body.
fn rubbed(mu: f64, t: f64) -> f64 {
    let turns = (t / std::f64::consts::PI).floor();
    let (sign, amplitude) = (if turns % 2.0 == 0.0 { 1.0 } else { -1.0 }, 1.0 - 2.0 * mu * turns);
    sign * (mu + (amplitude - mu) * (t - turns * std::f64::consts::PI).cos())
}

#[test]
fn friction_is_right_while_the_body_moves() {
    let text = particle("V = \"x^2/2\"\n[forces]\nx = \"-0.1*x'/abs(x')\"", 1.0, 0.0, 10.0);
    let run = simulated(&text);
    check("friction", &run, rubbed(0.1, 10.0), 60);
    let middle = run.at(7.7).expect("it is in the run").q[0];
    assert!((middle - rubbed(0.1, 7.7)).abs() < 1e-9, "{middle} at t = 7.7");
}

/// ẍ = −x − c|ẋ| from x = 1 at rest: growing on the way down, shrinking on the way up by as much, with the period 2π/ω.
#[test]
fn a_force_with_the_absolute_velocity_is_right() {
    let (c, t) = (0.5f64, 20.0);
    let omega = (1.0 - 0.25 * c * c).sqrt();
    let half = std::f64::consts::PI / omega;
    let s = t % (2.0 * half);
    // From rest at a, with the damping ±c: x = a e^(∓cs/2)(cos ωs ± c/(2ω) sin ωs).
    let from_rest =
        |a: f64, c: f64, s: f64| a * (-0.5 * c * s).exp() * ((omega * s).cos() + 0.5 * c / omega * (omega * s).sin());
    let due = if s < half { from_rest(1.0, -c, s) } else { from_rest(from_rest(1.0, -c, half), c, s - half) };
    let run = simulated(&particle("V = \"x^2/2\"\n[forces]\nx = \"-0.5*abs(x')\"", 1.0, 0.0, t));
    check("|x'|", &run, due, 60);
}

/// A body rebounds elastically from a wall, where the velocity jumps past the kink: with friction μ, v² falls by 2μ on each unit of way.
#[test]
fn an_impact_changes_the_side_of_a_kink() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\n[forces]\nx = \"-0.2*x'/abs(x')\"\n[[wall]]\nphi = \"x\"\n\
                [initial]\nq = [1]\nv = [-2]\n[run]\nuntil = 5\n";
    let fast = 3.6f64.sqrt();
    let left = 5.0 - (2.0 - fast) / 0.2;
    check("it rebounds", &simulated(text), fast * left - 0.1 * left * left, 40);
}

/// A block slides up a slope of 1/2 on which it lies, and down again: 5/4 ẍ = −g/2 − μ sgn ẋ.
#[test]
fn a_block_slides_up_and_down_a_slope() {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"9.81*y\"\n[forces]\nx = \"-1.5*x'/abs(x')\"\n\
                [[wall]]\nphi = \"y - x/2\"\nrestitution = 0\n[initial]\nq = [0, 0]\nv = [2, 1]\n[run]\nuntil = 1.5\n";
    let [up, down] = [1.5, -1.5].map(|friction| (4.905 + friction) / 1.25);
    let (top, left) = (2.0 / up, 1.5 - 2.0 / up);
    check("it slides", &simulated(text), 2.0 * top - 0.5 * up * top * top - 0.5 * down * left * left, 40);
}

/// Friction that holds a body is not simulated: the run ends there, with the reason, at any step and by default.
#[test]
fn a_force_that_holds_a_body_is_named() {
    let friction = "V = \"x^2/2\"\n[forces]\nx = \"-0.1*x'/abs(x')\"";
    let (moving, resting) = (particle(friction, 0.95, 0.0, 20.0), particle(friction, 0.05, 0.0, 20.0));
    for (text, t) in [(moving, 5.0 * std::f64::consts::PI), (resting, 0.0)] {
        let model = model(&text, &[]);
        for simulation in [model.simulation(), model.simulation().method("gauss4").step(0.01)] {
            let error = simulation.run().expect_err("it sticks");
            assert!(error.to_string().contains("holds the motion where that velocity is zero"), "{error}");
            if let RunError::Failed(run) = &error {
                assert!(error.to_string().contains("`x'/abs(x')` jumps"), "{error}");
                let last = run.outcome().last.t;
                assert!((last - t).abs() < 1e-6, "it ends at {last}, not {t}");
            } else {
                assert_eq!(t, 0.0, "{error}");
            }
        }
    }
}

/// A kink that cannot be located is named when the tolerance is not met: where the slope of the force is infinite.
#[test]
fn steep_kinks_are_named() {
    let text = particle("V = \"x^2/2\"\n[forces]\nx = \"-5*x'*abs(x')^0.5\"", 1.0, 0.3, 1e5);
    let error = model(&text, &[]).simulation().method("gauss6+ctec").tolerance(1e-12).run();
    let error = error.expect_err("it would take too many steps").to_string();
    assert!(error.contains("`abs(x')`, `abs(x')^0.5` have a kink"), "{error}");
}

/// Quadratic drag has a kink where the velocity is zero. With every tolerance the estimate covers the error.
#[test]
fn quadratic_drag_has_the_error_that_it_says() {
    for drag in [0.3, 5.0] {
        let text = particle(&format!("V = \"x^2/2\"\n[forces]\nx = \"-{drag}*x'*abs(x')\""), 1.0, 0.3, 5.0);
        let model = model(&text, &[]);
        let exact = model.simulation().method("gauss6").step(1e-4).run().expect("it runs");
        for tolerance in [1e-2, 1e-4, 1e-7, 1e-9, 1e-10, 1e-12] {
            let run = model.simulation().tolerance(tolerance).run().expect("it runs");
            let (estimate, scale) = (run.error_estimate(), run.outcome().error_scale.clone());
            let (estimate, scale) = (estimate.expect("it completes"), scale.expect("it completes"));
            let error = (run.state().z.q()[0] - exact.state().z.q()[0]).abs() / scale.q[0];
            assert!(error <= 10.0 * estimate + 1e-12, "drag {drag}, {tolerance:e}: {error:e}, not {estimate:e}");
        }
    }
}

/// Of forty oscillators with drag none has an error far above its estimate, although tries that agree with a finer run by chance are
/// preferred.
#[test]
fn no_drag_agrees_by_chance() {
    for k in 0..40 {
        let (drag, x) = (0.1 + 0.07 * f64::from(k), 0.5 + 0.013 * f64::from(k));
        let text = particle(&format!("V = \"1.3*x^2/2\"\n[forces]\nx = \"-{drag}*x'*abs(x')\""), x, -0.9, 6.0);
        let model = model(&text, &[]);
        let exact = model.simulation().method("gauss6").step(5e-4).run().expect("it runs");
        let run = model.simulate().expect("it runs");
        let scale = run.outcome().error_scale.clone().expect("it completes");
        let error = (run.state().z.q()[0] - exact.state().z.q()[0]).abs() / scale.q[0];
        let estimate = run.error_estimate().expect("it completes");
        println!("drag {drag:.2}: {error:.1e}, estimate {estimate:.1e}");
        assert!(error <= 10.0 * estimate + 1e-10, "drag {drag}: {error:e}, not {estimate:e}");
    }
}
