//! Periodic orbits with impacts and Lyapunov exponents at values in closed form, and of an event-driven code of its own.

use std::f64::consts::{PI, TAU};

use carom::analysis::Mark;
use carom::{Model, Simulation};

fn shipped(name: &str, settings: &[&str]) -> Model {
    let text = carom::EXAMPLES.iter().find(|e| e.name == name).expect("it ships").text;
    written(name, text, settings)
}

fn written(name: &str, text: &str, settings: &[&str]) -> Model {
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    Model::from_text(name, text, &settings).expect("the model is right")
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}: off by {:e}", found - expected);
}

const TABLE: &str = r#"
coordinates = ["y"]
parameters = {m = 1.5, g = 9.81, A = 0.1, w = 7.0, e = 0.5, y0 = 0.0, v0 = 0.0}
lagrangian = {T = "m*y'^2/2", V = "m*g*y"}
wall = [{name = "table", phi = "y - A*sin(w*t)", restitution = "e"}]
initial = {q = ["y0"], v = ["v0"]}
run = {until = 1}
"#;

/// The ball on a table with Γ = A w²/g, started on its orbit with one bounce in each period: at the impact Γ cos φ = π(1−e)/(1+e), and
/// the ball leaves the table with g T/2.
fn bouncing(gamma: f64) -> Simulation {
    let (g, w, e) = (9.81, 7.0, 0.5);
    let amplitude = gamma * g / (w * w);
    let phase = (PI * (1.0 - e) / (1.0 + e) / gamma).acos();
    let period = TAU / w;
    let passed = period - phase / w;
    let leaves = 0.5 * g * period;
    let (y, v) = (amplitude * phase.sin() + leaves * passed - 0.5 * g * passed * passed, leaves - g * passed);
    let settings = [format!("A={amplitude:?}"), format!("y0={y:?}"), format!("v0={v:?}")];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    written("table", TABLE, &settings).simulation().method("gauss3+ctec").step(0.02)
}

#[test]
fn the_ball_on_the_table_has_its_orbit_and_its_bifurcations() {
    let (gamma, e) = (1.2f64, 0.5f64);
    let orbit = bouncing(gamma).orbit().period("2*pi/w").expect("a formula").find().expect("it closes");
    assert_eq!(orbit.impacts.len(), 1);
    let phase = (PI / 3.0 / gamma).acos();
    near(orbit.impacts[0].minus.t * 7.0, phase, 1e-9, "phase of the impact");
    let trace: f64 = orbit.multipliers.iter().map(|m| m.0).sum();
    near(trace, 1.0 + e * e - (1.0 + e).powi(2) * gamma * phase.sin(), 1e-9, "trace");
    let product = orbit.multipliers.iter().fold((1.0, 0.0), |(a, b), m| (a * m.0 - b * m.1, a * m.1 + b * m.0));
    near(product.0, e * e, 1e-10, "determinant");
    assert!(orbit.is_stable);
    let of_gamma = |gamma: f64| gamma * 9.81 / 49.0;
    let flips = bouncing(1.4).orbit().period("2*pi/w").expect("a formula").along("A", of_gamma(1.4), of_gamma(1.6));
    let flips = flips.find().expect("it closes").branch;
    let flip = flips.iter().find(|point| point.mark == Some(Mark::Flip)).expect("the period doubles");
    near(flip.value / of_gamma(1.0), 1.526_823_700_519_060_8, 1e-8, "flip");
    near(flip.multipliers[0].0, -1.0, 1e-7, "multiplier at the flip");
    near(flip.multipliers[1].0, -0.25, 1e-7, "other multiplier at the flip");
    near(flips.last().expect("points").value, of_gamma(1.6), 1e-14, "end of the branch");
    let folds = bouncing(1.2).orbit().period("2*pi/w").expect("a formula").along("A", of_gamma(1.2), of_gamma(0.9));
    let folds = folds.find().expect("it closes").branch;
    let fold = folds.iter().find(|point| point.mark == Some(Mark::Fold)).expect("the branch turns");
    near(fold.value / of_gamma(1.0), 1.047_197_551_196_597_6, 1e-8, "fold");
    near(folds.last().expect("points").value, of_gamma(1.2), 1e-12, "the branch leaves where it came from");
}

#[test]
fn the_impact_oscillator_has_its_orbit_flip_and_grazing() {
    let model = shipped("impact-oscillator", &["A=0.8"]);
    let simulation = model.simulation().method("gauss4+ctec").step(0.05);
    let orbit = simulation.orbit().period("2*pi/omega").expect("a formula").discard(300.0).find().expect("it closes");
    assert_eq!(orbit.impacts.len(), 1);
    near((0.7 * orbit.impacts[0].minus.t).rem_euclid(TAU), 5.936_644_048_673_714, 1e-9, "phase of the impact");
    near(orbit.impacts[0].minus.v[0], 1.272_164_465_616_798_2, 1e-9, "speed of the impact");
    near(orbit.multipliers[0].0, 0.253_089_676_683_922_95, 1e-9, "real part of the multipliers");
    near(orbit.multipliers[0].1.abs(), 0.205_539_215_515_098_7, 1e-9, "imaginary part of the multipliers");
    assert!(orbit.is_stable && orbit.residual < 1e-11);

    let model = shipped("impact-oscillator", &["A=0.5"]);
    let simulation = model.simulation().method("gauss4+ctec").step(0.05);
    // The period is that of the drive, and follows it.
    let orbit = simulation.orbit().impacts(1).discard(400.0);
    let orbit = orbit.along("omega", 0.92, 0.86).find().expect("it closes");
    // Impacts near the start of the period move it before the branch begins, so that the branch is one curve.
    let begin = orbit.branch[0].start.t;
    assert!(orbit.branch.iter().all(|point| point.start.t == begin), "the start moves along the branch");
    let flip = orbit.branch.iter().find(|point| point.mark == Some(Mark::Flip)).expect("the period doubles");
    near(flip.value, 0.887_139_953_924_053_5, 1e-8, "flip");
    near(flip.multipliers[0].0, -1.0, 1e-7, "multiplier at the flip");
    near(flip.multipliers[1].0, -0.155_238_778_453_338, 1e-7, "other multiplier at the flip");

    let model = shipped("impact-oscillator", &[]);
    let simulation = model.simulation().method("gauss4+ctec").step(0.05);
    let orbit = simulation.orbit().period("2*pi/omega").expect("a formula").discard(300.0).along("A", 0.4, 0.6);
    let orbit = orbit.find().expect("it closes");
    assert!(orbit.impacts.is_empty());
    let grazing = orbit.branch.last().expect("points");
    assert_eq!(grazing.mark, Some(Mark::Grazing));
    near(grazing.value, 0.528_866_712_887_094_1, 1e-8, "grazing");
}

/// det P' = e² exp(−4πζ/ω), whatever the orbit: with negative damping its complex pair crosses the unit circle at ζ = ω ln e/(2π).
#[test]
fn the_impact_oscillator_has_its_torus_point() {
    let model = shipped("impact-oscillator", &["A=0.8"]);
    let simulation = model.simulation().method("gauss4+ctec").step(0.05);
    let orbit = simulation.orbit().impacts(1).discard(200.0).along("zeta", 0.1, -0.05).find().expect("it closes");
    let marked: Vec<_> = orbit.branch.iter().filter(|point| point.mark.is_some()).collect();
    assert_eq!(marked.iter().map(|point| point.mark).collect::<Vec<_>>(), [Some(Mark::Torus)]);
    near(marked[0].value, 0.7 * 0.8f64.ln() / TAU, 1e-8, "torus point");
    let (re, im) = marked[0].multipliers[0];
    near(re.hypot(im), 1.0, 1e-7, "size of the multipliers there");
    assert!(im.abs() > 0.1, "the pair is complex: {re} + {im} i");
}

/// Two walls without loss: every motion between them is periodic, and so is a bounce under gravity.
#[test]
fn systems_that_are_not_driven_find_their_period() {
    let model = shipped("bouncing-ball", &["e=1", "h=1.3", "g=9.81"]);
    let simulation = model.simulation().method("gauss2+ctec").step(0.02).until(5.0);
    let orbit = simulation.orbit().impacts(1).find().expect("it closes");
    assert_eq!(orbit.impacts.len(), 1);
    let speed = orbit.impacts[0].plus.v[0];
    near(orbit.period, 2.0 * speed / 9.81, 1e-9, "period");
    for multiplier in &orbit.multipliers {
        near(multiplier.0.hypot(multiplier.1), 1.0, 1e-5, "multiplier of the phase or of the energy");
    }
}

/// Σλ = −2ζ + 2 ln e · (impacts per unit of time), at any time.
#[test]
fn exponents_have_the_sum_of_the_losses() {
    for (until, discard) in [(40.0, 4.0), (333.0, 20.0)] {
        let model = shipped("impact-oscillator", &["A=0.8"]);
        let simulation = model.simulation().method("gauss4+ctec").step(0.05).until(until);
        let found = simulation.lyapunov().discard(discard).every(0.5).run().expect("it runs");
        let sum: f64 = found.exponents.iter().sum();
        let time = found.history.last().expect("factors").0 - discard;
        assert!(found.impacts > 2, "{}", found.impacts);
        near(sum, -0.2 + 2.0 * 0.8f64.ln() * found.impacts as f64 / time, 2e-3 / time, "sum of the exponents");
    }
}

/// Exponents of conservative systems come in pairs.
#[test]
fn conservative_exponents_come_in_pairs() {
    let model = shipped("double-pendulum", &[]);
    let found = model.simulation().method("gauss4+ctec").step(0.02).until(300.0).lyapunov().run().expect("it runs");
    let [a, b, c, d] = found.exponents[..] else { panic!("four exponents") };
    // Over a finite time the pairs hold up to a constant over the time.
    near(a + d, 0.0, 10.0 / 270.0, "the outer pair");
    near(b + c, 0.0, 10.0 / 270.0, "the inner pair");
    near(a + b + c + d, 0.0, 1e-6, "sum");
    assert!(a > 10.0 * b.abs() && a > 0.1, "{:?}", found.exponents);
}

const STADIUM: &str = r#"
coordinates = ["x", "y"]
parameters = {a = 1.0}
lagrangian = {T = "(x'^2 + y'^2)/2"}
wall = [{name = "cushion", phi = "(1 - y^2 - ((abs(x) - a + abs(abs(x) - a))/2)^2)/2"}]
initial = {q = [0.3, 0.2], v = ["cos(1)", "sin(1)"]}
run = {method = "gauss2+ctec", step = 0.25, until = 1000}
"#;

/// The billiards of Sinai and Bunimovich; `CAROM_LYAPUNOV=1000000` asks for more time.
#[test]
fn billiards_have_the_exponents_of_an_event_driven_code() {
    let until: f64 = std::env::var("CAROM_LYAPUNOV").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000.0);
    for (model, exponent) in [(shipped("sinai-billiard", &[]), 0.8592), (written("stadium", STADIUM, &[]), 0.4295)] {
        let found = model.simulation().until(until).lyapunov().run().expect("it runs");
        let error = found.errors[0];
        eprintln!("{}: {:?} ± {error:.1e} after {until}", model.title, found.exponents);
        assert!(error < 4.0 / until.sqrt(), "{error}");
        near(found.exponents[0], exponent, 4.0 * error + 0.0004, &model.title);
        near(found.exponents.iter().sum(), 0.0, 1e-9, "sum");
        near(found.exponents[0] + found.exponents[3], 0.0, 10.0 / until, "pair");
    }
}

/// In a unit square with a small post, per hit of the post λ = −2 ln R + 1 − 4 ln 2 + 27ζ(3)/(2π²) + O(R ln² R), and the mean time
/// between two hits is (1 − πR²)/(2R). [P. Dahlqvist, Nonlinearity 10, 159, 1997]
#[test]
fn a_small_post_has_the_exponent_of_dahlqvist() {
    const RADIUS: f64 = 0.01;
    const ZETA_3: f64 = 1.202_056_903_159_594;
    let text = r#"
        coordinates = ["x", "y"]
        parameters = {R = 0.01}
        lagrangian = {T = "(x'^2 + y'^2)/2"}
        contact = [
          {name = "table", points = "ball", box = [[-0.5, -0.5], [0.5, 0.5]]},
          {name = "post", points = "ball", circle = {center = [0, 0], radius = "R"}, side = "outside"},
        ]
        initial = {q = [0.35, 0.05], v = ["cos(1)", "sin(1)"]}
        run = {method = "gauss2+ctec", step = 0.1, until = 20000}
        points = {ball = ["x", "y"]}
    "#;
    let found = written("small post", text, &[]).simulation().lyapunov().count(1).run().expect("it runs");
    let time = (1.0 - std::f64::consts::PI * RADIUS * RADIUS) / (2.0 * RADIUS);
    let pi_squared = std::f64::consts::PI.powi(2);
    let limit = -2.0 * RADIUS.ln() + 1.0 - 4.0 * 2f64.ln() + 27.0 * ZETA_3 / (2.0 * pi_squared);
    let (per_hit, error) = (time * found.exponents[0], time * found.errors[0]);
    eprintln!("λ per hit {per_hit:.3} ± {error:.3}, in the limit {limit:.3}");
    assert!(error < 0.5, "{error}");
    near(per_hit, limit, 4.0 * error + 0.05, "exponent per hit");
}
