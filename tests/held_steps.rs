//! Steps on walls that hold are those of the flow that is compiled with these walls as constraints.

use carom::lab::flow::{FlowKind, registry};
use carom::lab::mechanics::{Field, Mechanics, Reaction};
use carom::lab::model::Model;
use carom::lab::phase::{Flow, Phase, Polynomial};
use carom::lab::plant::{Contact, Expressions, Plant};
use carom_tests::motion::model;
use carom_tests::order::distance;

/// Three coordinates with a mass matrix that is not constant, a force that depends on all, and a wall that bends and moves.
const FREE: &str = r#"
coordinates = ["x", "y", "s"]
[parameters]
k = 0.3
[lagrangian]
T = "(x'^2 + (1 + k*sin(s))*y'^2 + s'^2 + x'*s'*cos(y))/2"
V = "9.81*y + x^2 + s^2*y/2"
[forces]
x = "0.2*cos(3*t) - 0.1*x'*s"
[initial]
q = [0.2, 0.012, 0.1]
v = [0.5, 0.26, -0.4]
"#;

/// Constant masses and forces: beside a straight wall that moves at a constant speed, the acceleration is constant.
const UNIFORM: &str = r#"
coordinates = ["x", "y", "s"]
[parameters]
k = 0.3
[lagrangian]
T = "(x'^2 + (1 + k)*y'^2 + s'^2 + x'*s')/2"
V = "9.81*y + 0.7*x"
[forces]
s = "0.2*k"
[initial]
q = [0.2, 0.06, 0.1]
v = [0.5, 0.25, -0.4]
"#;

const STRAIGHT: &str = "y - k*x - 0.1*t";
const WALL: &str = "y - k*x^2 - 0.1*sin(2*t)";
const CONSTRAINT: &str = "[[constraint]]\ng = \"s + 0.8*x - 0.26 + (y - 0.012)^2\"\n";

struct Case {
    what: &'static str,
    /// With the wall, and with a constraint in its place.
    wall: Model,
    constraint: Model,
}

fn cases() -> Vec<Case> {
    let all = [
        ("a wall", FREE.to_owned(), WALL),
        ("a wall beside a constraint", format!("{FREE}{CONSTRAINT}"), WALL),
        ("a straight wall", UNIFORM.to_owned(), STRAIGHT),
    ];
    let case = |(what, text, wall): (&'static str, String, &str)| Case {
        what,
        wall: model(&format!("{text}[[wall]]\nphi = \"{wall}\"\n"), &[]),
        constraint: model(&format!("{text}[[constraint]]\ng = \"{wall}\"\n"), &[]),
    };
    all.map(case).into()
}

struct Flows {
    held: Box<dyn Flow>,
    compiled: Box<dyn Flow>,
    start: Phase,
}

fn parameters(model: &Model) -> Vec<f64> {
    model.parameter_values().iter().map(|p| p.1).collect()
}

/// The contact of the only wall of a model.
fn contact(model: &Model, kind: &FlowKind) -> Box<dyn Contact> {
    let plant = Expressions::new(&model.system, &[], &[]).expect("it compiles");
    let mut contact = plant.contact(kind, &[0]).expect("it knows constraints");
    contact.set_parameters(&parameters(model));
    contact
}

fn flows(case: &Case, kind: &FlowKind) -> Flows {
    let start = case.constraint.start().expect("it is on the constraint");
    Flows {
        held: contact(&case.wall, kind).flow().boxed_clone(),
        compiled: kind.build(&Mechanics::new(&case.constraint.system), &parameters(&case.wall)).expect("it compiles"),
        start: Phase::new(0.0, &start.q, &start.p),
    }
}

/// Both flows give the same states, impulses, actions and discrete energies, for other steps and backwards too, from momenta off the
/// tangent space.
#[test]
fn held_steps_are_those_of_the_compiled_constraint() {
    for case in cases() {
        for kind in registry(None).into_iter().filter(|kind| kind.is_symplectic) {
            let what = format!("{} with {}", kind.name, case.what);
            let Flows { mut held, mut compiled, start } = flows(&case, &kind);
            let off = start.p().iter().map(|p| p + 0.01).collect::<Vec<_>>();
            let (mut a, mut b) = (Phase::new(0.0, start.q(), &off), Phase::new(0.0, start.q(), &off));
            let (mut next_a, mut next_b) = (start.clone(), start.clone());
            for step in 0..30 {
                let h = if step % 10 == 9 { 0.013 } else { 0.02 };
                held.step(&a, h, &mut next_a).unwrap_or_else(|e| panic!("{what}, step {step}: {e:?}"));
                compiled.step(&b, h, &mut next_b).unwrap_or_else(|e| panic!("{what}, step {step}: {e:?}"));
                std::mem::swap(&mut a, &mut next_a);
                std::mem::swap(&mut b, &mut next_b);
                assert!(distance(&a, &b) < 1e-12, "{what}, step {step}: {:e}", distance(&a, &b));
                let [i, j] = [&held, &compiled].map(|flow| flow.impulses().expect("there are constraints").clone());
                let pairs = i.start.iter().zip(&j.start).chain(i.end.iter().zip(&j.end));
                let off: f64 = pairs.map(|(i, j)| (i - j).abs()).sum();
                assert!(off < 1e-12, "{what}, step {step}: impulses {i:?}, not {j:?}");
            }
            let [i, j] = [&mut held, &mut compiled].map(|flow| flow.discrete());
            if let (Some(i), Some(j)) = (i, j) {
                let off = (i.action - j.action).abs() + (i.energy - j.energy).abs();
                assert!(off < 1e-11, "{what}: {i:?}, not {j:?}");
            }
            held.step_back(&a, 0.02, &mut next_a).unwrap_or_else(|e| panic!("{what}, back: {e:?}"));
            compiled.step_back(&b, 0.02, &mut next_b).unwrap_or_else(|e| panic!("{what}, back: {e:?}"));
            assert!(distance(&next_a, &next_b) < 1e-12, "{what}, back: {:e}", distance(&next_a, &next_b));
        }
    }
}

/// The polynomial that a step leaves is near the motion inside it, for another copy of the flow too: it ends where the step ends, and the
/// distance to partial steps falls with a shorter step.
#[test]
fn polynomials_of_steps_are_near_partial_steps() {
    let mut count = 0;
    for case in cases() {
        for kind in registry(None).into_iter().filter(|kind| kind.is_symplectic) {
            let Flows { held, compiled, start } = flows(&case, &kind);
            for (mut flow, which) in [(held, "held"), (compiled, "compiled")] {
                let what = format!("{which} {} with {}", kind.name, case.what);
                let [mut end, mut seen, mut due] = [(); 3].map(|()| start.clone());
                let mut errors = Vec::new();
                for h in [0.2, 0.1] {
                    flow.step(&start, h, &mut end).unwrap_or_else(|e| panic!("{what}: {e:?}"));
                    let mut polynomial = Polynomial::default();
                    if !flow.write_polynomial(&start, h, &mut polynomial) {
                        break;
                    }
                    let [mut reader, mut partial] = [(); 2].map(|()| flow.boxed_clone());
                    assert!(reader.read(&start, &polynomial, h, &mut seen), "{what}");
                    let at_end: f64 = seen.q().iter().zip(end.q()).map(|(a, b)| (a - b).abs()).sum();
                    assert!(at_end < 1e-13, "{what}: the end is off by {at_end:e}");
                    let mut error = 0.0_f64;
                    for part in [0.3, 0.5, 0.8] {
                        assert!(reader.read(&start, &polynomial, part * h, &mut seen), "{what}");
                        partial.step(&start, part * h, &mut due).unwrap_or_else(|e| panic!("{what}: {e:?}"));
                        error = error.max(distance(&seen, &due));
                    }
                    errors.push(error);
                }
                if let [long, short] = errors[..] {
                    count += 1;
                    // Between two points alone the velocity is constant, and its error goes as h.
                    assert!(short < 0.6 * long || short < 1e-12, "{what}: {long:e}, then {short:e}");
                }
            }
        }
    }
    assert!(count > 8, "only {count} flows have polynomials");
}

/// A two-point constraint beside a wall that holds: for the flows that know such constraints.
#[test]
fn two_point_constraints_stay_two_point_beside_a_wall_that_holds() {
    let more = CONSTRAINT.replace("\n", "\nenforce = \"two-point\"\n").replacen("enforce = \"two-point\"\n", "", 1);
    let case = Case {
        what: "a two-point constraint",
        wall: model(&format!("{FREE}{more}[[wall]]\nphi = \"{WALL}\"\n"), &[]),
        constraint: model(&format!("{FREE}{more}[[constraint]]\ng = \"{WALL}\"\n"), &[]),
    };
    for kind in registry(None).into_iter().filter(|kind| kind.name == "svc" || kind.name == "midpoint") {
        let Flows { mut held, mut compiled, start } = flows(&case, &kind);
        let (mut a, mut b) = (start.clone(), start.clone());
        let (mut next_a, mut next_b) = (start.clone(), start);
        for step in 0..5 {
            held.step(&a, 0.02, &mut next_a).unwrap_or_else(|e| panic!("{}, step {step}: {e:?}", kind.name));
            compiled.step(&b, 0.02, &mut next_b).unwrap_or_else(|e| panic!("{}, step {step}: {e:?}", kind.name));
            std::mem::swap(&mut a, &mut next_a);
            std::mem::swap(&mut b, &mut next_b);
            assert!(distance(&a, &b) < 1e-12, "{}, step {step}: {:e}", kind.name, distance(&a, &b));
        }
    }
}

/// Forces and powers on a wall that holds are those of the constraint in its place, and so are momenta that are moved onto it.
#[test]
fn held_forces_are_those_of_the_compiled_constraint() {
    let kind = registry(None).into_iter().find(|kind| kind.name == "svc").expect("it is registered");
    for case in cases() {
        let parameters = parameters(&case.wall);
        let mut contact = contact(&case.wall, &kind);
        let mechanics = Mechanics::new(&case.constraint.system);
        let constraints = mechanics.tangent_constraints();
        let mut reaction = Reaction::new(&mechanics, &constraints, &parameters).expect("it compiles");
        let mut field = Field::new(&mechanics, &parameters).expect("it compiles");
        let start = case.constraint.start().expect("it is on the constraint");
        // Off the tangent space.
        let z = Phase::new(0.0, &start.q, &start.p.iter().map(|p| p + 0.1).collect::<Vec<_>>());
        let (mut settled, mut due) = (z.clone(), z.clone());
        contact.settle(&mut settled).expect("there is a way");
        field.project(&mut due).expect("there is a velocity");
        assert!(distance(&settled, &due) < 1e-12, "{}: {settled:?}, not {due:?}", case.what);
        let v = field.velocity(due.t, &due.z).expect("there is a velocity").to_vec();
        reaction.at(due.t, due.q(), &v).expect("the rows are independent");
        let found = contact.reaction(&due).expect("the rows are independent").multipliers.to_vec();
        let off: f64 = found.iter().zip(reaction.multipliers()).map(|(a, b)| (a - b).abs()).sum();
        assert!(off < 1e-11, "{}: {found:?}, not {:?}", case.what, reaction.multipliers());
        let power = contact.power(&due).expect("the rows are independent");
        assert!((power - reaction.power()).abs() < 1e-11, "{}: {power}, not {}", case.what, reaction.power());
    }
}

/// No unit matters: with φ in other units, and masses in others, the motion is the same.
#[test]
fn held_steps_do_not_depend_on_units() {
    let kind = registry(None).into_iter().find(|kind| kind.name == "gauss4").expect("it is registered");
    let start = cases()[0].constraint.start().expect("it is on the constraint");
    let travel = |factor: &str, mass: f64| {
        let text = FREE.replace("T = \"(", "T = \"m*(").replace("V = \"", "V = \"m*(").replace("/2\"\n[f", "/2)\"\n[f");
        let text = text.replace("k = 0.3", &format!("k = 0.3\nm = {mass:e}")).replace("0.2*cos", "m*0.2*cos");
        let text = text.replace("- 0.1*x'*s", "- m*0.1*x'*s");
        let model = model(&format!("{text}[[wall]]\nphi = \"{factor}*({WALL})\"\n"), &[]);
        let mut contact = contact(&model, &kind);
        let flow = contact.flow();
        let mut z = Phase::new(0.0, &start.q, &start.p.iter().map(|p| mass * p).collect::<Vec<_>>());
        let mut next = z.clone();
        for _ in 0..20 {
            flow.step(&z, 0.02, &mut next).unwrap_or_else(|e| panic!("{factor}, {mass:e}: {e:?}"));
            std::mem::swap(&mut z, &mut next);
        }
        z.q().to_vec()
    };
    let due = travel("1", 1.0);
    for (factor, mass) in [("1e-9", 1.0), ("1e9", 1.0), ("1", 1e-12), ("1", 1e12), ("1e6", 1e-6)] {
        let off: f64 = travel(factor, mass).iter().zip(&due).map(|(a, b)| (a - b).abs()).sum();
        assert!(off < 1e-13, "{factor}, {mass:e}: {off:e}");
    }
}
