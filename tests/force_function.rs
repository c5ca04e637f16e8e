//! A force that is a function of the caller gives the motion of the same force as an expression.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use carom::lab::flow::registry;
use carom::lab::model::Model;
use carom::{ForceFunction, RunError, Trajectory};
use carom_tests::motion::model;

/// A law of force: what the model says, and what the function does.
struct Scene {
    what: &'static str,
    text: &'static str,
    forces: &'static str,
    function: fn(f64, &[f64], &[f64], &mut [f64]),
}

/// Impacts with loss, rest, and sliding with a normal force; a constraint; velocities that are implicit in the momenta; a kink.
const SCENES: [Scene; 4] = [
    Scene {
        what: "a ball that comes to rest and slides",
        text: r#"
coordinates = ["x", "y"]
lagrangian = {T = "(x'^2 + y'^2 + x'*y'*sin(x))/2", V = "9.81*y + x^2"}
wall = [{name = "floor", phi = "y - 0.1*x^2", restitution = 0.4}]
initial = {q = [0.3, 0.5], v = [0.4, 0]}
outputs = {N = "force('floor')"}
run = {until = 3}
"#,
        forces: "forces = {x = \"-0.3*x'^3 + 0.2*cos(3*t)*y\", y = \"-0.1*y'*x^2\"}",
        function: |t, q, v, force| {
            force[0] = -0.3 * v[0].powi(3) + 0.2 * (3.0 * t).cos() * q[1];
            force[1] = -0.1 * v[1] * q[0] * q[0];
        },
    },
    Scene {
        what: "a pendulum on a constraint",
        text: r#"
coordinates = ["x", "y"]
lagrangian = {T = "(x'^2 + y'^2)/2", V = "9.81*y"}
constraint = [{name = "rod", g = "(x^2 + y^2 - 1)/2"}]
wall = [{name = "side", phi = "x + 0.5", restitution = 0.7}]
initial = {q = [0.6, -0.8], v = [0.8, 0.6]}
run = {until = 2}
"#,
        forces: "forces = {x = \"-0.2*x' + sin(t)*y\", y = \"-0.2*y'\"}",
        function: |t, q, v, force| {
            force[0] = -0.2 * v[0] + t.sin() * q[1];
            force[1] = -0.2 * v[1];
        },
    },
    Scene {
        what: "a relativistic oscillator",
        text: r#"
coordinates = ["x"]
lagrangian = {L = "-sqrt(1 - x'^2) - 2*x^2"}
wall = [{phi = "x + 0.3"}]
initial = {q = [0.5], v = [0]}
run = {until = 3}
"#,
        forces: "forces = {x = \"-0.3*x'\"}",
        function: |_, _, v, force| force[0] = -0.3 * v[0],
    },
    Scene {
        what: "a potential with a kink",
        text: r#"
coordinates = ["x"]
lagrangian = {T = "x'^2/2", V = "abs(x)"}
wall = [{phi = "x + 0.4", restitution = 0.9}]
initial = {q = [0.5], v = [0]}
run = {until = 3}
"#,
        forces: "forces = {x = \"0.1*sin(2*t) - 0.1*x'\"}",
        function: |t, _, v, force| force[0] = 0.1 * (2.0 * t).sin() - 0.1 * v[0],
    },
];

impl Scene {
    fn with_expressions(&self) -> Model {
        model(&format!("{}{}", self.text, self.forces), &[])
    }

    fn with_function(&self) -> Model {
        model(self.text, &[]).with_force(ForceFunction::new(self.function)).expect("all coordinates are free")
    }
}

/// The largest difference of two lists, relative to the largest entry.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
}

fn compare(what: &str, a: &Trajectory, b: &Trajectory) {
    let close = |part: &str, a: &[f64], b: &[f64]| {
        let off = apart(a, b);
        assert!(off < 1e-9, "{what}: {part} differs by {off:e}");
    };
    let times = |run: &Trajectory| run.impacts().iter().map(|impact| impact.minus.t).collect::<Vec<f64>>();
    let lambdas = |run: &Trajectory| run.impacts().iter().map(|impact| impact.lambda).collect::<Vec<f64>>();
    close("the end", &a.state().z.z, &b.state().z.z);
    close("the times of impacts", &times(a), &times(b));
    close("the impulses", &lambdas(a), &lambdas(b));
    assert_eq!(a.contacts().len(), b.contacts().len(), "{what}: contacts");
    let (a, b) = (a.account().expect("a force acts"), b.account().expect("a force acts"));
    close("the account", &[a.work, a.drives, a.impacts], &[b.work, b.drives, b.impacts]);
    assert!(b.work.abs() > 1e-3, "{what}: the force does work, {}", b.work);
}

#[test]
fn every_flow_follows_a_function_as_it_follows_an_expression() {
    let mut compared = 0;
    for scene in SCENES {
        let (expressions, function) = (scene.with_expressions(), scene.with_function());
        for kind in registry(None) {
            let what = format!("`{}`, {}", kind.name, scene.what);
            let run = |model: &Model| model.simulation().method(&kind.name).step(0.01).run();
            let found = run(&function);
            if kind.name == "dop853" {
                let error = found.err().map(|error: RunError| error.to_string()).unwrap_or_default();
                assert!(error.contains("`dop853` does not call a function"), "{what}: {error}");
                assert!(error.contains("`gauss4`"), "{what}: {error}");
                continue;
            }
            match (found, run(&expressions)) {
                (Ok(found), Ok(expected)) => {
                    compare(&what, &found, &expected);
                    compared += 1;
                }
                // `rk4` cannot rest or keep constraints, flows of order 1 may fail to let a motion go.
                (Err(found), Err(expected)) => assert_eq!(
                    found.to_string().lines().next(),
                    expected.to_string().lines().next(),
                    "{what}: another reason"
                ),
                (found, expected) => panic!("{what}: {:?}, not {:?}", found.err(), expected.err()),
            }
        }
    }
    assert!(compared > 80, "{compared} runs were compared");
}

/// The forces of constraints and walls, which outputs and tables show.
#[test]
fn reactions_contain_the_function() {
    let [ball, rod, ..] = SCENES;
    let run = |model: Model| model.simulation().method("gauss4").step(0.01).run().expect("it runs");
    let (found, expected) = (run(rod.with_function()), run(rod.with_expressions()));
    let [found, expected] = [found, expected].map(|run| run.lambda("rod").expect("it is a constraint").to_vec());
    assert!(apart(&found, &expected) < 1e-9, "λ of the rod differs by {:e}", apart(&found, &expected));
    let (found, expected) = (run(ball.with_function()), run(ball.with_expressions()));
    let [found, expected] = [found, expected].map(|run| run.output("N").expect("it is an output").to_vec());
    assert!(apart(&found, &expected) < 1e-9, "N differs by {:e}", apart(&found, &expected));
    assert!(expected.last().is_some_and(|n| *n > 1.0), "the floor holds the ball at the end");
}

/// Without a method and a step, steps of equal length meet the tolerance.
#[test]
fn the_default_meets_its_tolerance() {
    for scene in SCENES {
        let expected = scene.with_expressions().simulation().method("gauss6").step(0.001).run().expect("it runs");
        let found = scene.with_function().simulation().tolerance(1e-8).run().expect("it runs");
        let off = apart(&found.state().z.z, &expected.state().z.z);
        assert!(off < 1e-7, "{}: {off:e}", scene.what);
        assert!(found.error_estimate().is_some(), "{}", scene.what);
    }
}

#[test]
fn what_needs_expressions_refuses_a_function() {
    let [.., oscillator, _] = SCENES;
    let model = oscillator.with_function();
    let simulation = model.simulation().method("svc").step(0.01);
    let told: Vec<(&str, String)> = vec![
        ("a derivative", simulation.sensitivity().of("final").by("initial").run().err().map(text).unwrap_or_default()),
        ("a sweep", model.sweep().record("final").and_then(|sweep| sweep.build()).err().map(text).unwrap_or_default()),
        ("optimal control", model.optimize().run().err().map(text).unwrap_or_default()),
        ("`php`", model.simulation().method("php").step(0.01).run().err().map(|e| e.to_string()).unwrap_or_default()),
    ];
    for (who, told) in told {
        assert!(told.contains(who) && told.contains("a force that is a function"), "{who}: {told:?}");
    }
    for rule in ["dtec", "mhc", "shadow"] {
        let error = model.simulation().method(&format!("svc+{rule}")).step(0.01).run().err();
        let told = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(told.contains("forces act on the system"), "{rule}: {told:?}");
    }
    let driven = "coordinates = [\"x\", \"y\"]\nlagrangian = {T = \"x'^2 + y'^2\"}\nprescribed = {y = \"sin(t)\"}\n";
    let refused = carom_tests::motion::model(driven, &[]).with_force(ForceFunction::new(|_, _, _, _| ()));
    let told = refused.err().map(text).unwrap_or_default();
    assert!(told.contains("the coordinate `y` is prescribed"), "{told}");
}

fn text(error: carom::Error) -> String {
    error.to_string()
}

/// A function that is not finite ends the run, and the message says where.
#[test]
fn a_force_that_is_not_finite_ends_the_run() {
    let [.., oscillator, _] = SCENES;
    let broken = ForceFunction::new(|t, _, _, force| force[0] = if t < 0.5 { 0.0 } else { f64::NAN });
    let model = model(oscillator.text, &[]).with_force(broken).expect("all coordinates are free");
    for method in ["svc", "gauss4", "kahan-li8", "rk4"] {
        let error = model.simulation().method(method).step(0.01).run().expect_err("it cannot go on");
        let told = error.to_string();
        assert!(told.contains("the function for the force gives [NaN] at t = 0.5"), "{method}: {told}");
    }
    let told = model.simulation().run().expect_err("it cannot go on").to_string();
    assert!(told.contains("the function for the force gives [NaN]"), "{told}");
}

/// q = s·Q: the motion has the same digits, and asks the function as often, whatever the unit of length. The start has zeros in q and
/// in v, where differences take their lengths from the motion.
#[test]
fn a_function_knows_no_unit() {
    let run = |s: f64, method: &str| {
        let text = r#"
coordinates = ["x", "y"]
lagrangian = {T = "(x'^2 + 2*y'^2)/2", V = "3*x^2 + y^2"}
wall = [{phi = "y + x", restitution = 0.8}]
run = {until = 2}
"#;
        let start = format!("initial = {{q = [0, {:e}], v = [{:e}, 0]}}\n", 0.3 * s, 0.5 * s);
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let law = ForceFunction::new(move |t, q, v, force| {
            counted.fetch_add(1, Ordering::Relaxed);
            let [x, y, w] = [q[0] / s, q[1] / s, v[0] / s];
            force[0] = s * (-40.0 * x * x * x - 0.3 * w + t * y);
            force[1] = s * (-30.0 * y * x * x - 0.1 * v[1] / s);
        });
        let model = model(&format!("{text}{start}"), &[]).with_force(law).expect("all coordinates are free");
        let end = model.simulation().method(method).step(0.05).run().expect("it runs").state().z.z.clone();
        (end.iter().map(|x| x / s).collect::<Vec<f64>>(), calls.load(Ordering::Relaxed))
    };
    for method in ["svc", "midpoint", "gauss2", "gauss4", "galerkin4"] {
        let (expected, calls) = run(1.0, method);
        for s in [2.0_f64.powi(-40), 2.0_f64.powi(40)] {
            let (found, other) = run(s, method);
            assert_eq!(found, expected, "{method}, s = {s:e}");
            assert_eq!(other, calls, "{method}, s = {s:e}: calls");
        }
    }
}
