//! Derivatives of every flow, rule and feature against differences of runs.

use carom::analysis::Mode;
use carom::lab::flow::registry;
use carom::{Model, Simulation};

/// A model with the settings that show one feature, and the parameters by which it is differentiated.
struct Feature {
    name: &'static str,
    text: String,
    settings: &'static [&'static str],
    by: &'static [&'static str],
    step: f64,
    until: f64,
}

impl Feature {
    fn shipped(
        name: &'static str,
        settings: &'static [&'static str],
        by: &'static [&'static str],
        step: f64,
        until: f64,
    ) -> Feature {
        let text = carom::EXAMPLES.iter().find(|e| e.name == name).expect("it ships").text.to_string();
        Feature { name, text, settings, by, step, until }
    }

    fn written(name: &'static str, text: &str, by: &'static [&'static str], step: f64, until: f64) -> Feature {
        Feature { name, text: text.to_string(), settings: &[], by, step, until }
    }

    fn model(&self) -> Model {
        let settings: Vec<String> = self.settings.iter().map(|s| s.to_string()).collect();
        Model::from_text(self.name, &self.text, &settings).expect("the model is right")
    }
}

const CORNER: &str = r#"
coordinates = ["x", "y"]
parameters = {y0 = 0.518, vx = 2.0, xw = 0.675, b = 0.2, e1 = 0.9, e2 = 0.8}
lagrangian = {T = "(x'^2 + y'^2)/2", V = "9.81*y"}
wall = [{name = "floor", phi = "y", restitution = "e1"}, {name = "wall", phi = "(xw - x)*cos(b) + y*sin(b)", restitution = "e2"}]
initial = {q = [0, "y0"], v = ["vx", 0]}
"#;

const MOVING: &str = r#"
coordinates = ["y", "x"]
parameters = {m = 1.5, A = 0.1, w = 7.0, e = 0.85, k = 3.0}
lagrangian = {T = "m*(y'^2 + x'^2*(1 + y^2))/2", V = "m*9.81*y + k*x^2/2"}
wall = [{name = "table", phi = "y - A*sin(w*t) - 0.1*cos(x)", restitution = "e"}]
initial = {q = [0.6, 0.3], v = [0, 0.5]}
"#;

const RELATIVISTIC: &str = r#"
coordinates = ["q"]
parameters = {k = 1.0, w = 0.6, v0 = 0.3}
lagrangian = {L = "-sqrt(1 - q'^2) - k*q^4/4"}
wall = [{name = "wall", phi = "q + w"}]
initial = {q = [0.8], v = ["v0"]}
"#;

const DAMPED: &str = r#"
coordinates = ["a", "b"]
parameters = {c = 0.3, A = 0.5, om = 2.0, e = 0.7, g = 1.0}
lagrangian = {T = "(a'^2 + b'^2 + a'*b'*cos(a - b))/2", V = "-cos(a) - g*cos(b)"}
forces = {a = "-c*a' + A*cos(om*t)", b = "-c*b'*abs(b')"}
wall = [{name = "left", phi = "a + 0.4", restitution = "e"}, {name = "right", phi = "0.6 - b"}]
initial = {q = [0.9, 0.2], v = [0, 0.1]}
"#;

const DRIVEN: &str = r#"
coordinates = ["s", "theta"]
parameters = {A = 0.2, om = 3.0, l = 0.8, e = 0.9}
prescribed = {s = "A*sin(om*t)"}
lagrangian = {T = "(s'^2 + 2*l*s'*theta'*cos(theta) + l^2*theta'^2)/2", V = "-9.81*l*cos(theta)"}
wall = [{name = "post", phi = "s + l*sin(theta) + 0.1", restitution = "e"}]
initial = {q = [0, 0.7], v = ["A*om", 0]}
"#;

const ROD: &str = r#"
coordinates = ["x", "y"]
parameters = {m = 1.2, R = 1.1, g = 9.81, th0 = 1.0, om0 = 0.3, d = 0.35, s = 0.25, e = 0.7, w = 0.2}
lagrangian = {T = "m*(x'^2 + y'^2)/2", V = "m*g*y"}
constraint = [{name = "rod", g = "(x - w*sin(t))^2 + y^2 - R^2"}]
wall = [{name = "wall", phi = "x*cos(s) + y*sin(s) + d", restitution = "e"}]
initial = {q = ["R*sin(th0)", "-R*cos(th0)"], v = ["R*om0*cos(th0) + w", "R*om0*sin(th0)"]}
"#;

/// A ball that bounces to rest on a slope, and slides down it.
const SLOPE: &str = r#"
coordinates = ["x", "y"]
parameters = {m = 1.0, g = 9.81, b = 0.3, e = 0.5, h = 0.2, k = 2.0}
lagrangian = {T = "m*(x'^2 + y'^2)/2", V = "m*g*y + k*x^2/2"}
wall = [{name = "slope", phi = "y*cos(b) + x*sin(b)", restitution = "e"}]
initial = {q = [0, "h"], v = [0.3, 0]}
"#;

/// A kink of the potential that the motion passes.
const KINK: &str = r#"
coordinates = ["x"]
parameters = {k = 2.0, c = 1.5, e = 0.9}
lagrangian = {T = "x'^2/2", V = "k*abs(x) + c*max(x, 0.2)^2/2"}
wall = [{name = "wall", phi = "x + 0.9", restitution = "e"}]
initial = {q = [1], v = [0.3]}
"#;

/// A force that jumps with a velocity, on a coordinate that also hits a wall.
const FRICTION: &str = r#"
coordinates = ["x", "y"]
parameters = {k = 2.0, mu = 0.15, e = 0.9, c = 0.2}
lagrangian = {T = "(x'^2*(1 + y^2/4) + y'^2)/2", V = "k*x^2/2 + (x - y)^2"}
forces = {x = "-mu*(x' - c*y)/abs(x' - c*y)"}
wall = [{name = "wall", phi = "x + 0.2", restitution = "e"}]
initial = {q = [1, 0.2], v = [0.3, 0.1]}
"#;

/// Two balls that hit at the same instant, resolved together.
const AT_ONCE: &str = r#"
coordinates = ["x[1..3]"]
parameters = {m = 1.3, v = 1.0, e = 0.8, k = 0.4}
lagrangian = {T = "x[1]'^2/2 + m*x[2]'^2/2 + x[3]'^2/2", V = "k*x[1]^2/2"}
wall = [{name = "left", phi = "x[2] - x[1] - 0.2", restitution = "e"}, {name = "right", phi = "x[3] - x[2] - 0.2", restitution = "e"}]
initial = {q = [-1, 0, 0.2], v = ["v", 0, 0]}
run = {simultaneous = "moreau"}
"#;

/// A bead that a wall lets go of: some steps from there are made in parts (`Kind::Opens`). Then it hits a ceiling.
const RAMP: &str = r#"
coordinates = ["x", "y"]
parameters = {c = 0.5, v = 1.0, e = 0.8}
lagrangian = {T = "(x'^2 + y'^2)/2", V = "0"}
forces = {y = "12*c*(x - 0.7)"}
wall = [{name = "ramp", phi = "y - c*(x - 0.7)^3 - 2", restitution = "e"}, {name = "ceiling", phi = "3 - y", restitution = "e"}]
initial = {q = [0.2, "2 - c/8"], v = ["v", "0.75*c*v"]}
"#;

fn features() -> Vec<Feature> {
    vec![
        Feature::shipped("double-pendulum", &[], &["m1", "L2"], 0.032, 2.6),
        Feature::shipped("cart-pendulum", &[], &["m2", "beta"], 0.032, 2.0),
        Feature::written("corner", CORNER, &["y0", "vx", "xw", "b", "e1"], 0.04, 0.9),
        Feature::written("moving", MOVING, &["m", "A", "w", "e", "k"], 0.03, 1.2),
        Feature::written("relativistic", RELATIVISTIC, &["k", "w", "v0"], 0.05, 9.0),
        Feature::written("damped", DAMPED, &["c", "A", "om", "e", "g"], 0.04, 3.0),
        Feature::written("driven", DRIVEN, &["A", "om", "l", "e"], 0.03, 2.0),
        Feature::written("rod", ROD, &["R", "th0", "d", "s", "e", "w"], 0.02, 1.5),
        Feature::written("slope", SLOPE, &["g", "b", "h", "k"], 0.02, 1.5),
        Feature::written("ramp", RAMP, &["c", "v", "e"], 0.03, 1.7),
        Feature::written("kink", KINK, &["k", "c", "e"], 0.05, 3.0),
        Feature::written("friction", FRICTION, &["k", "mu", "e", "c"], 0.05, 3.0),
        Feature::written("at once", AT_ONCE, &["v", "e", "k"], 0.05, 2.0),
    ]
}

/// The final state in (q, p), or the reason why there is none.
fn end(simulation: &Simulation) -> Result<(Vec<f64>, usize), String> {
    let run = simulation.run().map_err(|error| error.to_string())?;
    let last = &run.outcome().last;
    Ok(([&last.q[..], &last.p].concat(), run.impacts().len()))
}

/// The four-point formula.
fn difference(simulation: &Simulation, name: &str, value: f64) -> Vec<f64> {
    let d = 2e-5 * value.abs().max(0.1);
    let at = |k: f64| end(&simulation.clone().set(name, value + k * d)).expect("it runs").0;
    let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(at);
    (0..a.len()).map(|i| (8.0 * (c[i] - b[i]) - (e[i] - a[i])) / (12.0 * d)).collect()
}

/// By parameters in total, for every flow and rule that takes the model.
#[test]
fn derivatives_are_those_of_differences() {
    for feature in features() {
        let model = feature.model();
        let mut compared = 0;
        for flow in registry(None).into_iter().filter(|flow| flow.is_symplectic) {
            // Only some of the many Gauss methods.
            if ["gauss1", "gauss5", "gauss6", "gauss7", "gauss8", "galerkin8", "kahan-li8"].contains(&&*flow.name)
                && feature.name != "double-pendulum"
            {
                continue;
            }
            // Steps of order 1 may not find their way off a wall.
            if feature.name == "ramp" && flow.order == 1 {
                continue;
            }
            for rule in ["ctec", "dtec"] {
                // Only `ctec` lets a motion come to rest.
                if matches!((feature.name, rule), ("slope" | "ramp", "dtec")) {
                    continue;
                }
                let method = format!("{}+{rule}", flow.name);
                let simulation = model.simulation().method(&method).step(feature.step).until(feature.until);
                let Ok((_, impacts)) = end(&simulation) else { continue };
                assert!(impacts > 0, "{}", feature.name);
                let sensitivity = simulation.sensitivity().of("final.q,final.p").by(&feature.by.join(","));
                let found = sensitivity.run().expect("it runs");
                let adjoint = sensitivity.mode(Mode::Adjoint).run().expect("it runs");
                let undefined =
                    [&found, &adjoint].into_iter().find(|all| all.derivatives.iter().flatten().any(|x| x.is_nan()));
                if let Some(undefined) = undefined {
                    // Where balls touch, roundoff may make a touch of an impact, which has no derivative; a warning says so. The
                    // adjoint makes the steps again from other guesses, and so with other roundoff.
                    let is_warned = !undefined.warnings.is_empty();
                    assert!(feature.name == "at once" && is_warned, "{method} on {}", feature.name);
                    continue;
                }
                for (j, name) in feature.by.iter().enumerate() {
                    let value = model.system.parameters.iter().find(|p| p.name == *name).expect("it exists").value;
                    let expected = difference(&simulation, name, value);
                    let size = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                    for (i, expected) in expected.iter().enumerate() {
                        let what = format!("{method} on {}, {} by {name}", feature.name, found.of[i]);
                        let (a, b) = (found.derivatives[i][j], adjoint.derivatives[i][j]);
                        // Bounces below the way of a step end in the accumulation point, which differences of runs see (7e-7).
                        let to = if feature.name == "slope" { 1e-5 } else { 1e-7 };
                        assert!((a - expected).abs() < to * size, "{what}: {a}, not {expected}");
                        assert!((a - b).abs() < 1e-11 * size, "{what}: forward {a}, adjoint {b}");
                    }
                }
                compared += 1;
            }
        }
        eprintln!("{}: {compared} methods", feature.name);
        assert!(compared > 5, "{}", feature.name);
    }
}
