//! No unit matters: of a coordinate, of L, of the time, of φ, of g.
//!
//! Every shipped model is run with one of these units changed by s (`carom_tests::units`). With s = 2^±30 every number of the run
//! is the same up to its exponent, bit for bit. With s = 10^±9 the units round; the impacts and their order are the same, and the
//! final states agree to 1e-9.
//!
//! `CAROM_UNITS=all` runs every method, `CAROM_UNITS=php` one.

use carom::lab::catalogue::EXAMPLES;
use carom::lab::model::{InitialMotion, Model};
use carom_tests::motion::model;
use carom_tests::projected::{HILLS, SINH};
use carom_tests::units::{Case, Seen, Unit};

/// Up to here the motions are compared; no impact of a shipped model is at this time.
const UNTIL: f64 = 0.98;

/// What is the same only to roundoff under powers of two, and why.
const ROUNDED: [(&str, Unit, &str); 0] = [];

/// On a circle the projected principle takes the angle in radians.
fn is_fixed(model: &Model, method: &str, unit: Unit) -> bool {
    let on_circle = model.projection.as_ref().is_some_and(|projection| projection.circle);
    on_circle && method.contains("php") && matches!(unit, Unit::Coordinate(_))
}

fn wants_all() -> bool {
    std::env::var("CAROM_UNITS").is_ok_and(|value| value == "all")
}

/// The methods that are run with a given step.
fn methods() -> Vec<String> {
    let all = carom::methods().into_iter().flat_map(|(_, list)| list).map(|method| method.name);
    match std::env::var("CAROM_UNITS") {
        Ok(wanted) if wanted == "all" => all.collect(),
        Ok(wanted) => vec![wanted],
        Err(_) => ["gauss4", "svc", "php"].map(String::from).to_vec(),
    }
}

/// The shipped models, with their end times. Mechanisms make their coordinates themselves; control problems are Lagrangians like
/// others.
fn shipped() -> impl Iterator<Item = (&'static str, Model, f64)> {
    let all = EXAMPLES.iter().map(|example| {
        let model = Model::from_text(example.name, example.text, &[]).expect("it is right");
        let until = model.run.until.unwrap_or(1.0).min(1.0) * UNTIL;
        (example.name, model, until)
    });
    all.filter(|(_, model, _)| model.system.mechanism.is_none() && model.problem.phases.is_empty())
}

/// What differs between the runs of a case in all units.
fn differences(name: &str, how: &str, model: &Model, case: &Case) -> Vec<String> {
    let plain = match case.plain() {
        Ok(plain) => plain,
        Err(error) => return vec![format!("{name} by {how}: {error}")],
    };
    let mut found = Vec::new();
    for unit in Unit::all(model).into_iter().filter(|unit| !is_fixed(model, how, *unit)) {
        for s in [2f64.powi(30), 2f64.powi(-30), 1e9, 1e-9] {
            let difference = match case.run(unit, s) {
                Ok(seen) => {
                    let may_round = ROUNDED.iter().any(|(n, u, _)| *n == name && *u == unit);
                    difference(&seen, &plain, s.log2().fract() == 0.0 && !may_round)
                }
                Err(error) => Some(error),
            };
            found.extend(difference.map(|what| format!("{name} by {how}, {unit:?} times {s:e}: {what}")));
        }
    }
    found
}

/// What differs between two runs that ought to be the same: to the last bit, or to their errors.
fn difference(seen: &Seen, plain: &Seen, is_exact: bool) -> Option<String> {
    let apart = seen.distance(plain);
    // Where a step is searched, another one may be found; then the runs differ by their errors.
    let to = match (seen.error, plain.error) {
        (Some(a), Some(b)) if a > 1e-11 || b > 1e-11 => 10.0 * (a + b),
        _ => 1e-9,
    };
    if is_exact && !seen.is_same(plain) {
        Some(format!("not the same bits, by {apart:e}"))
    } else if seen.walls() != plain.walls() {
        Some("the impacts differ".into())
    } else if seen.is_complete != plain.is_complete {
        Some("only one of the runs is complete".into())
    } else {
        (apart.is_nan() || apart > to).then(|| format!("{apart:e} apart"))
    }
}

#[test]
fn no_unit_matters_with_a_given_step() {
    let mut found = Vec::new();
    for (name, model, until) in shipped() {
        for method in &methods() {
            let case = Case::new(&model, Some((method, until / 63.0)), until);
            // Not every method suits every model.
            if case.plain().is_ok() || ["gauss4", "svc"].contains(&method.as_str()) {
                found.extend(differences(name, method, &model, &case));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Several coordinates beside the one that is solved for, and a given k.
#[test]
fn no_unit_matters_to_the_projected_principle() {
    let mut found = Vec::new();
    for (name, text) in [("hills", HILLS), ("sinh", SINH)] {
        let model = model(text, &[]);
        found.extend(differences(name, "php", &model, &Case::new(&model, Some(("php", 0.01)), 1.9)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_unit_matters_by_default() {
    // A start from two configurations needs a step; a search on these takes long, and they differ from others only in their size.
    let large = ["chain-10", "squeezer", "ball-row", "jack-in-a-box", "newtons-cradle"];
    let mut found = Vec::new();
    for (name, model, until) in shipped() {
        let starts_from_two = matches!(model.initial.as_ref().map(|i| &i.motion), Some(InitialMotion::Next(_)));
        if !starts_from_two && (wants_all() || !large.contains(&name)) {
            found.extend(differences(name, "default", &model, &Case::new(&model, None, until)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// In a molecule of two atoms of 1e-27 kg that vibrates by 1e-12 m in 1e-14 s, no number is near 1.
#[test]
fn a_molecule_in_si_units() {
    let text = r#"
coordinates = ["a", "b"]
[lagrangian]
T = "1e-27*(a'^2 + b'^2)/2"
V = "500*(b - a - 1e-10)^2/2"
[[wall]]
phi = "b - a - 0.995e-10"
[initial]
q = [0, 1.01e-10]
v = [0, 0]
[run]
until = 2e-14
"#;
    let run = model(text, &[]).simulate().expect("it runs");
    // The distance is a cosine of ω = √(2k/m) around 1e-10 from 1.01e-10, reflected at 0.995e-10.
    let omega = (2.0f64 * 500.0 / 1e-27).sqrt();
    let period = 2.0 * (-0.5f64).acos() / omega;
    let phase = (2e-14 / period - (2e-14 / period).floor()) * period;
    let way = 1e-12 * (omega * phase.min(period - phase)).cos();
    let q = run.state().z.q();
    // Each coordinate is within the tolerance 1e-9 of its way.
    assert!((q[1] - q[0] - 1e-10 - way).abs() < 2e-9 * 1e-12, "{} and {}", q[1] - q[0] - 1e-10, way);
    assert_eq!(run.impacts().len(), (2e-14 / period + 0.5) as usize);
    assert_eq!(run.warnings().next(), None);
}

/// A platform that moves as sin 2t − ½ throws a body that rests on a table at 0, whatever its mass.
#[test]
fn a_moving_wall_throws_a_body_at_rest() {
    for mass in [1e-15, 1.0, 1e15] {
        let text = format!(
            r#"
coordinates = ["y"]
[parameters]
m = {mass:e}
[lagrangian]
T = "m*y'^2/2"
V = "9.81*m*y"
[[wall]]
phi = "y"
restitution = 0
[[wall]]
phi = "y - sin(2*t) + 0.5"
restitution = 0.5
[initial]
q = [0]
v = [0]
[run]
until = 0.3
"#
        );
        let run = model(&text, &[]).simulate().expect("it runs");
        let impacts = run.impacts();
        assert_eq!(impacts.len(), 1, "{mass:e} kg: {impacts:?}");
        let rate = 2.0 * (std::f64::consts::PI / 6.0).cos();
        let off =
            [impacts[0].minus.t / (std::f64::consts::PI / 12.0) - 1.0, impacts[0].lambda / (1.5 * mass * rate) - 1.0];
        assert!(off.iter().all(|x| x.abs() < 1e-9), "{mass:e} kg: {off:?}");
    }
}

/// A ball that comes to rest between two slopes whose gaps are written in other units: both hold it.
#[test]
fn each_wall_may_have_its_own_unit() {
    let end = |first: &str, second: &str, how: Option<f64>| {
        let text = format!(
            r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.81*y"
[[wall]]
phi = "{first}*(y - 0.4*x + 0.5)"
restitution = 0.5
[[wall]]
phi = "{second}*(y + 1.7*x + 0.5)"
restitution = 0.8
[initial]
q = [-0.17, 0.22]
v = [0.23, 0.14]
[run]
until = 5
"#
        );
        let simulation = model(&text, &[]).simulation();
        let simulation = how.map_or(simulation.clone(), |step| simulation.method("gauss4").step(step));
        let run = simulation.run().unwrap_or_else(|error| panic!("φ times {first} and {second}: {error}"));
        let walls: Vec<usize> = run.impacts().iter().map(|impact| impact.wall).collect();
        (run.state().z.q().to_vec(), walls)
    };
    for how in [None, Some(0.05)] {
        let (q, walls) = end("1", "1", how);
        assert!((q[1] + 0.5).abs() < 1e-12 && q[0].abs() < 1e-12, "{q:?}");
        for (first, second) in [("1e-9", "1e9"), ("1e12", "1e-12")] {
            let (other, other_walls) = end(first, second, how);
            let apart = (q[0] - other[0]).abs().max((q[1] - other[1]).abs());
            assert!(apart < 1e-12, "φ times {first} and {second}: {q:?} and {other:?}");
            assert_eq!(walls.len(), other_walls.len(), "φ times {first} and {second}");
        }
        let (other, other_walls) = end("1073741824", "1", how);
        assert_eq!((&q, &walls), (&other, &other_walls), "not the same bits");
    }
}
