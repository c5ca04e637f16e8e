//! Cases that were once wrong without a warning: small units, impacts close in time, stiff motions, contact without loss.

use carom::Model;
use carom_tests::reference::{number, numbers};
use serde_json::Value;

/// A model, its exact final coordinates, and the number of impacts.
struct Case {
    name: &'static str,
    text: &'static str,
    q: &'static [f64],
    impacts: usize,
}

/// Closed forms, or integrations in quadruple precision.
const CASES: [Case; 7] = [
    Case {
        name: "two impacts 1e-11 s apart keep their order",
        text: r#"
coordinates = ["a", "b", "c"]
[lagrangian]
T = "(a'^2 + b'^2 + c'^2)/2"
[[wall]]
phi = "b - a"
[[wall]]
phi = "c - b"
[initial]
q = [-1, 0, "1 - 1e-11"]
v = [1, 0, -1]
[run]
until = 2.0
"#,
        // c meets b first and hands over −1; a then meets b, and both go back; b meets c.
        q: &[-1.0, 0.0, 1.0],
        impacts: 3,
    },
    Case {
        name: "a force that grows from zero keeps the body on an elastic wall",
        text: r#"
coordinates = ["y"]
[lagrangian]
T = "y'^2/2"
[forces]
y = "-6*t"
[[wall]]
phi = "y"
[initial]
q = [0]
v = [0]
[run]
until = 1.0
"#,
        q: &[0.0],
        impacts: 0,
    },
    Case {
        name: "the body slides along an elastic wall",
        text: r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "x*y"
[[wall]]
phi = "y"
[initial]
q = [0, 0]
v = [0.5, 0]
[run]
until = 1.0
"#,
        q: &[0.5, 0.0],
        impacts: 0,
    },
    Case {
        name: "a tangential landing on an elastic wall becomes sliding",
        text: r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
[[wall]]
phi = "y - x^3"
[initial]
q = [-1, 0]
v = [1, 0]
[run]
until = 2.0
"#,
        // From x = 0 on, the arc of y = x³ has the length 1.
        q: &[0.7907068936276048, 0.49436370157788206],
        impacts: 0,
    },
    Case {
        name: "a factor in φ does not matter",
        text: r#"
coordinates = ["y"]
[lagrangian]
T = "y'^2/2"
V = "8*y"
[[wall]]
phi = "1e-10*y"
[initial]
q = [1]
v = [0]
[run]
until = 0.75
"#,
        // The first impact is at t = 1/2 with the speed 4.
        q: &[0.75],
        impacts: 1,
    },
    Case {
        name: "a ball dropped from 1e-8 m",
        text: r#"
coordinates = ["y"]
[lagrangian]
T = "y'^2/2"
V = "8e-8*y"
[[wall]]
phi = "y"
[initial]
q = [1e-8]
v = [0]
[run]
until = 0.75
"#,
        q: &[0.75e-8],
        impacts: 1,
    },
    Case {
        name: "a spring of 1e6 N/m beside a slow fall",
        text: r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "1e6*(x - y)^2/4 + x + y"
[initial]
q = [1.001, 1]
v = [0, 0]
[run]
until = 1.0
"#,
        // The middle falls by t²/2; the distance oscillates with ω = 1000.
        q: &[0.5005 + 0.0005 * 0.562379076290703, 0.5005 - 0.0005 * 0.562379076290703],
        impacts: 0,
    },
];

#[test]
fn hard_cases_are_right_by_default() {
    for Case { name, text, q, impacts } in CASES {
        let run = Model::from_text(name, text, &[]).expect("it is right").simulate().expect("it runs");
        let last = &run.state().z;
        let size = q.iter().fold(0.0, |m: f64, q| m.max(q.abs()));
        for (found, due) in last.q().iter().zip(q) {
            assert!((found - due).abs() <= 2e-9 * size, "{name}: {:?}, not {q:?}", last.q());
        }
        // A tangential landing may begin with a bounce that no one sees.
        let strong = run.impacts().iter().filter(|impact| impact.lambda > 1e-6).count();
        assert_eq!(strong, if size < 1e-6 { 0 } else { impacts }, "{name}");
        assert_eq!(run.warnings().next(), None, "{name}");
        assert!(run.error_estimate().is_some_and(|error| error <= 1e-9), "{name}: {:?}", run.error_estimate());
    }
}

/// A force that grows from zero as any power of the way presses a body on an elastic wall. Controlled steps see that, and are not
/// given up after a long sequence of bounces that roundoff makes.
#[test]
fn a_body_slides_along_an_elastic_wall_by_default() {
    for (v, speed, until) in [("x*y", 0.5, 1.0), ("3.3*x*y", 0.77, 1.7), ("x^2*y", 0.5, 1.0), ("x^3*y", 0.5, 1.0)] {
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"{v}\"\n[[wall]]\nphi = \"y\"\n\
             [initial]\nq = [0, 0]\nv = [{speed}, 0]\n[run]\nuntil = {until}\n"
        );
        let run = Model::from_text("slide", &text, &[]).expect("it is right").simulate().expect("it runs");
        let q = run.state().z.q();
        assert!((q[0] - speed * until).abs() < 1e-12 && q[1] == 0.0, "V = {v}: {q:?}");
        assert_eq!((run.impacts().len(), run.step()), (0, None), "V = {v}");
    }
}

/// Models in extreme units, with impacts 1e-11 s apart, of 1e14 kg, and near the speed of light, against integrations in quadruple
/// precision (`reference/hard-cases.json`): the walls and times of the impacts, and q and v at the end.
#[test]
fn hard_cases_agree_with_quadruple_precision() {
    let file: Value = serde_json::from_str(include_str!("reference/hard-cases.json")).expect("JSON");
    for (name, case) in file["cases"].as_object().expect("cases") {
        let text = case["model"].as_str().expect("a model");
        let run = Model::from_text(name, text, &[]).expect("it is right").simulate().expect("it runs");
        let error = run.error_estimate().expect("the step was searched");
        let ends_within = run.warnings().next().is_none() && error <= 1e-9;
        assert!(ends_within, "{name}: estimate {error:e}, {:?}", run.warnings().collect::<Vec<_>>());
        // More steps than this are a sign of a solver that does not converge.
        assert!(run.outcome().steps <= 5_000, "{name}: {} steps", run.outcome().steps);
        let due = case["impacts"].as_array().expect("a list");
        let walls: Vec<&str> = run.impacts().iter().map(|impact| run.wall(impact)).collect();
        assert_eq!(walls, due.iter().map(|impact| &impact["wall"]).collect::<Vec<_>>(), "{name}");
        let until = run.state().z.t;
        for (impact, due) in run.impacts().iter().zip(due) {
            let (t, due) = (impact.minus.t, number(&due["t"]));
            assert!((t - due).abs() <= 2e-9 * until, "{name}: an impact at {t}, not {due}");
        }
        let last = &run.outcome().last;
        for (what, found, due) in [("q", &last.q, &case["final_q"]), ("v", &last.v, &case["final_v"])] {
            let due = numbers(due);
            let size = due.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (x, due) in found.iter().zip(&due) {
                assert!((x - due).abs() <= 4e-9 * size, "{name}: {what} is {x}, not {due}");
            }
        }
    }
}

/// 0 ≤ λ ⊥ φ̇⁺ + eφ̇⁻ ≥ 0 also for a wall that opens, however slowly.
#[test]
fn walls_that_open_take_part_in_moreaus_law() {
    for speed in [0.0, 1e-15, 1e-12, 1e-9, 1e-3] {
        let text = format!(
            "coordinates = [\"a\", \"b\", \"c\"]\n[lagrangian]\nT = \"(a'^2 + b'^2 + c'^2)/2\"\n[[wall]]\nphi = \"b - a\"\n\
             [[wall]]\nphi = \"c - b\"\n[initial]\nq = [0, 0, 0]\nv = [1, 0, {speed:e}]\n[run]\nuntil = 1.0\n\
             simultaneous = \"moreau\"\n"
        );
        let run = Model::from_text("row", &text, &[]).expect("it is right").simulate().expect("it runs");
        let p = run.state().z.p().to_vec();
        // λ₁ = (4 − 2s)/3 and λ₂ = (2 − 4s)/3 reverse both rates. The second wall then closes with s, and is resolved again: b
        // and c exchange their velocities.
        let (one, two) = ((4.0 - 2.0 * speed) / 3.0, (2.0 - 4.0 * speed) / 3.0);
        let due = [1.0 - one, two + speed, one - two];
        for (p, due) in p.iter().zip(due) {
            assert!((p - due).abs() < 1e-12, "{speed:e}: {:?}, not {due:?}", run.state().z.p());
        }
    }
}

/// Five balls of random masses touch and move at random: e = 1 keeps the energy, any e leaves no wall closing.
#[test]
fn moreaus_law_is_admissible_at_random_rates() {
    let names: Vec<String> = (0..5).map(|i| format!("x{i}")).collect();
    let kinetic: Vec<String> = names.iter().map(|x| format!("m{x}*{x}'^2/2")).collect();
    let masses: String = names.iter().map(|x| format!("m{x} = 1\n")).collect();
    let walls =
        names.windows(2).map(|pair| format!("[[wall]]\nphi = \"{} - {}\"\nrestitution = \"e\"\n", pair[1], pair[0]));
    let text = format!(
        "coordinates = {names:?}\n[parameters]\ne = 1\n{masses}[lagrangian]\nT = \"{}\"\n{}[initial]\nq = [0, 0, 0, 0, 0]\n\
         v = [1, 0, 0, 0, 0]\n[run]\nuntil = 0.1\nstep = 0.1\nmethod = \"gauss1\"\nsimultaneous = \"moreau\"\n",
        kinetic.join(" + "),
        walls.collect::<String>()
    );
    let model = Model::from_text("row", &text, &[]).expect("it is right");
    let mut random = carom_tests::Random::new(5);
    for case in 0..200 {
        let e = if case % 2 == 0 { 1.0 } else { random.between(0.0, 1.0) };
        let m: Vec<f64> = names.iter().map(|_| 10f64.powf(random.between(-1.0, 1.0))).collect();
        // Rates of very different sizes, closing and opening.
        let v: Vec<f64> = names.iter().map(|_| random.between(-1.0, 1.0).powi(1 + 4 * (case % 3))).collect();
        let p: Vec<f64> = m.iter().zip(&v).map(|(m, v)| m * v).collect();
        let set =
            names.iter().zip(&m).fold(model.simulation().set("e", e), |all, (x, m)| all.set(&format!("m{x}"), *m));
        let run = set.start_at(0.0, &[0.0; 5], &p).run().unwrap_or_else(|error| panic!("{m:?} {v:?}: {error}"));
        let after = &run.outcome().last.v;
        let size = v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let closing = after.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
        assert!(closing <= 1e-12 * size, "e = {e}, m = {m:?}, v = {v:?}: a wall closes with {closing:e}");
        let energy = |v: &[f64]| m.iter().zip(v).map(|(m, v)| m * v * v).sum::<f64>();
        let (before, after) = (energy(&v), energy(after));
        assert!(after <= before * (1.0 + 1e-12), "e = {e}, m = {m:?}, v = {v:?}: {before} becomes {after}");
        assert!(e < 1.0 || after >= before * (1.0 - 1e-12), "m = {m:?}, v = {v:?}: {before} becomes {after}");
    }
}

#[test]
fn a_start_is_checked_in_any_unit() {
    for (phi, q, is_inside) in [("1e-8*x", -1e-3, true), ("1e8*(x - 1)", 1.0, false), ("x - 1", 1.0 - 1e-12, false)] {
        let text = format!(
            "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\n[[wall]]\nphi = \"{phi}\"\n[initial]\nq = [{q:?}]\nv = [0]\n"
        );
        let start = Model::from_text("start", &text, &[]).expect("it is right").start();
        assert_eq!(start.is_err(), is_inside, "{phi} at {q}");
    }
}

/// An end time that would need more than 10⁷ steps is refused.
#[test]
fn a_span_of_too_many_steps_is_refused() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\nV = \"-cos(x)\"\n[initial]\nq = [1]\nv = [0]\n[run]\nuntil = 1e14\n";
    let error = Model::from_text("long", text, &[]).expect("it is right").simulate().expect_err("it is too long");
    assert!(error.to_string().contains("1e7 steps"), "{error}");
}

/// Too many samples are refused, and so is a window of too many nodes.
#[test]
fn what_would_not_fit_into_memory_is_refused() {
    let model = Model::load("cart-pendulum").expect("it ships");
    let samples = model.simulation().every(1e-12).watch(&mut ()).expect_err("there are too many");
    assert!(samples.to_string().contains("1e7"), "{samples}");
    let long = Model::from_text(
        "cart-pendulum",
        carom::lab::catalogue::find("cart-pendulum").expect("it ships").text,
        &["run.mhc={window = 1e9}".into()],
    );
    let long = long.expect("it is right").simulation().method("svc+mhc");
    for long in [long.clone().step(1e-3), long.tolerance(1e-6)] {
        let error = long.run().expect_err("it is too long");
        assert!(error.to_string().contains("more than 1e5"), "{error}");
    }
}

/// A wall that jumps over a body fails with every step: the search for one soon gives up.
#[test]
fn a_wall_that_jumps_fails_soon() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\n[[wall]]\nphi = \"x - 5*(1 + (t-1)/abs(t-1))\"\n\
                [initial]\nq = [1]\nv = [0]\n[run]\nuntil = 3.03\n";
    let clock = std::time::Instant::now();
    let error = Model::from_text("jump", text, &[]).expect("it is right").simulate().expect_err("it cannot go on");
    assert!(error.to_string().contains("jump"), "{error}");
    assert!(clock.elapsed().as_secs() < 20, "{:?}", clock.elapsed());
}

/// An end time too short to be divided is refused, and so are starts and states of the wrong length.
#[test]
fn what_cannot_be_stepped_is_refused() {
    let model = Model::load("cart-pendulum").expect("it ships");
    let error = model.simulation().until(5e-324).tolerance(1e-9).run().expect_err("it is too short");
    assert!(error.to_string().contains("too short"), "{error}");
    let error = model.simulation().start_at(0.0, &[1.0], &[0.0]).run().expect_err("it has two coordinates");
    assert!(error.to_string().contains("2 coordinates"), "{error}");
    let mut state = model.simulation().initial().expect("it starts");
    state.z.z.pop();
    let error = model.simulation().resume(state).run().expect_err("it is too short");
    assert!(error.to_string().contains("not one of this model"), "{error}");
}

/// p = 2 of a particle with m = 1 and c = 2: v = p/√(m² + p²/c²) = √2, which Newton's method overshoots from rest.
#[test]
fn a_relativistic_momentum_has_its_velocity() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nL = \"-4*sqrt(1 - x'^2/4)\"\n[initial]\nq = [0]\np = [2]\n[run]\nuntil = 1.0\n";
    let run = Model::from_text("fast", text, &[]).expect("it is right").simulate().expect("it runs");
    let x = run.state().z.q()[0];
    assert!((x - 2f64.sqrt()).abs() < 1e-9, "{x}");
}
