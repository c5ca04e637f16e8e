//! Laws of mechanics for every flow on systems with holonomic constraints.

use carom::lab::diagnostic::{Monitor, Symplectic};
use carom::lab::discrete::DiscreteLagrangian;
use carom::lab::flow::{FlowKind, registry};
use carom::lab::mechanics::Field;
use carom::lab::mechanics::Manifold;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::phase::{Discrete, Flow, Phase};
use carom::lab::simulation::Simulation;
use carom::lab::solve::NoSolution;
use carom_tests::law::{System, symplectic_defect};
use carom_tests::motion::model;
use carom_tests::order::{measured_order, travel};

const SPHERICAL: &str = r#"
coordinates = ["x", "y", "z"]
[lagrangian]
T = "(x'^2 + y'^2 + z'^2)/2"
V = "z + x^2*y/3"
[[constraint]]
name = "sphere"
g = "x^2 + y^2 + z^2 - 1"
[initial]
q = [0.6, 0, -0.8]
v = [0.2, 0.9, 0.15]
"#;

/// Two rods, with a mass matrix that depends on q: the second is measured from the first.
const TWO_RODS: &str = r#"
coordinates = ["x", "y", "u", "w"]
[lagrangian]
T = "(x'^2 + y'^2)/2 + ((x' + u')^2 + (y' + w')^2)*(1 + x^2/4)/2"
V = "y + (y + w)"
[[constraint]]
name = "first rod"
g = "x^2 + y^2 - 1"
[[constraint]]
name = "second rod"
g = "u^2 + w^2 - 1"
[initial]
q = [0.6, -0.8, 0.8, 0.6]
v = [0.4, 0.3, -0.15, 0.2]
"#;

/// Not quadratic in v, on a wavy surface.
const QUARTIC: &str = r#"
coordinates = ["x", "y", "z"]
[definitions]
speed2 = "x'^2 + y'^2 + z'^2"
[lagrangian]
L = "speed2/2 + speed2^2/4 - 2*z - x^2*y/3"
[[constraint]]
name = "wave"
g = "z - (x^2 + sin(y))/2"
[initial]
q = [0.4, 0.7, "(0.16 + sin(0.7))/2"]
v = [0.6, 0.9, "0.24 + 0.45*cos(0.7)"]
"#;

fn systems() -> Vec<System> {
    let system = |(name, text, time): (&'static str, &str, f64)| {
        let model = Model::from_text(name, text, &[]).unwrap_or_else(|e| panic!("{e}"));
        System { time, ..System::new(name, &model) }
    };
    [("spherical pendulum", SPHERICAL, 3.0), ("two rods", TWO_RODS, 3.0), ("quartic bead", QUARTIC, 3.0)]
        .map(system)
        .into()
}

fn flows() -> impl Iterator<Item = FlowKind> {
    registry(None).into_iter().filter(|kind| kind.is_symplectic)
}

#[test]
fn every_flow_has_its_declared_order_on_constraints() {
    for system in systems() {
        let finest = registry(None).into_iter().find(|kind| kind.name == "gauss6").expect("it is registered");
        let exact = travel(&mut *system.flow(&finest), &system.start, system.time / 200.0, 200);
        // Order 8 reaches roundoff on the third system before its error is a pure power.
        let highest = if system.name == "quartic bead" { 6 } else { 8 };
        for kind in flows().filter(|kind| kind.order <= highest) {
            let order = measured_order(&mut *system.flow(&kind), &system.start, system.time, &exact, 1e-11);
            let order = order.unwrap_or_else(|| panic!("{} on {}: exact at once", kind.name, system.name));
            println!("{:<10} on {:<20} {order:.3}", kind.name, system.name);
            assert!((order - kind.order as f64).abs() < 0.15, "{} on {}: order {order:.3}", kind.name, system.name);
        }
    }
}

#[test]
fn every_symmetric_flow_can_be_reversed_on_constraints() {
    for system in systems() {
        for kind in flows() {
            system.check_reversal(&kind);
        }
    }
}

/// A step preserves the symplectic form ω on the tangent space of the constraints; tested with curves on them through the start.
#[test]
fn every_flow_keeps_the_symplectic_form_on_constraints() {
    for system in systems() {
        let (mechanics, parameters) = (&system.mechanics, &system.parameters);
        let mut manifold = Manifold::new(mechanics, parameters).expect("it compiles");
        let mut field = Field::new(mechanics, parameters).expect("it compiles");
        for kind in flows() {
            let onto = |z: &mut Phase| manifold.project(z, &mut field).expect("it is near");
            let defect = symplectic_defect(&mut *system.flow(&kind), &system.start, 0.1, onto);
            assert!(defect < 1e-8, "{} on {}: {defect:e}", kind.name, system.name);
        }
    }
}

/// The diagnostic `symplectic` is zero for these flows, and not for a map with damping.
#[test]
fn the_diagnostic_knows_the_tangent_space() {
    for system in systems() {
        let compile = || {
            let (mechanics, parameters) = (&system.mechanics, &system.parameters);
            let manifold = Manifold::new(mechanics, parameters).expect("it compiles");
            (manifold, Field::new(mechanics, parameters).expect("it compiles"))
        };
        let (manifold, field) = compile();
        let mut symplectic = Symplectic::new(system.mechanics.n()).onto(manifold, field);
        for kind in flows() {
            let error = symplectic.at(&system.start, 0.05, &mut *system.flow(&kind)).expect("the step is short");
            assert!(error < 2e-9, "{} on {}: {error:e}", kind.name, system.name);
        }
        let (manifold, field) = compile();
        let error = symplectic.at(&system.start, 0.05, &mut Damped { manifold, field }).expect("the step is short");
        assert!(error > 1e-3, "a damped map on {}: {error:e}", system.name);
    }
}

/// Takes a part of the momenta in each step, on the constraints.
struct Damped {
    manifold: Manifold,
    field: Field,
}

impl Flow for Damped {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        z1.copy_from(z0);
        let n = z0.q().len();
        let v = self.field.velocity(z0.t, &z0.z)?.to_vec();
        (0..n).for_each(|i| z1.z[i] += h * v[i]);
        z1.p_mut().iter_mut().for_each(|p| *p *= 1.0 - h);
        z1.t += h;
        self.manifold.project(z1, &mut self.field)
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.manifold.set_parameters(parameters);
        self.field.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.field.forget();
    }

    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn order(&self) -> usize {
        1
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(Damped { manifold: self.manifold.clone(), field: self.field.clone() })
    }
}

/// Noether, with a constraint: a spherical pendulum keeps its angular momentum about the vertical.
#[test]
fn momentum_along_each_symmetry_is_kept_on_constraints() {
    let text = SPHERICAL.replace(" + x^2*y/3", "");
    let model = Model::from_text("spherical", &text, &[]).expect("it is right");
    let start = model.start().expect("it is right");
    let mechanics = Mechanics::new(&model.system);
    let start = Phase::new(0.0, &start.q, &start.p);
    let angular = |z: &Phase| z.z[0] * z.z[4] - z.z[1] * z.z[3];
    for kind in flows() {
        let mut flow = kind.build(&mechanics, &[]).expect("it compiles");
        let end = travel(&mut *flow, &start, 0.05, 400);
        let drift = (angular(&end) - angular(&start)).abs();
        assert!(drift < 1e-11, "{}: {drift:e}", kind.name);
    }
}

/// g and dg/dt stay at roundoff and the energy stays bounded over many steps. `CAROM_STEPS=1000000` makes a million.
#[test]
fn constraints_and_energy_hold_for_ever() {
    let steps: usize = std::env::var("CAROM_STEPS").ok().and_then(|s| s.parse().ok()).unwrap_or(20_000);
    let model = Model::from_text("spherical pendulum", SPHERICAL, &[]).expect("it is right");
    for name in ["svc", "midpoint", "galerkin4", "gauss2", "suzuki4"] {
        let method = carom::lab::method::Method::named(name, None).expect("it is registered");
        let h = 0.02;
        let drift_over = |steps: usize| {
            let until = h * steps as f64;
            let outcome =
                Simulation::new(&model, &method, h, until).expect("it compiles").watch(&mut ()).expect("it runs");
            assert_eq!(outcome.steps, steps, "{name}");
            let carom::lab::plant::Violated { position: g, rate } = outcome.violation.expect("there are constraints");
            println!("{name}: {steps} steps, |g| {g:.1e}, |dg/dt| {rate:.1e}, energy {:.1e}", outcome.energy.max_drift);
            assert!(g <= 1e-12 && rate <= 1e-12, "{name}: g = {g:e}, dg/dt = {rate:e}");
            outcome.energy.max_drift
        };
        let (short, long) = (drift_over(steps / 10), drift_over(steps));
        assert!(long < 1.5 * short + 1e-11, "{name}: the energy drift {short:e} grows to {long:e}");
    }
}

/// The energy error of a constrained system decreases with the order of the flow.
#[test]
fn energy_has_the_slope_of_the_order() {
    let model = Model::from_text("spherical", SPHERICAL, &[]).expect("it is right");
    for (name, order) in [("svc", 2.0), ("midpoint", 2.0), ("galerkin4", 4.0), ("gauss2", 4.0), ("suzuki4", 4.0)] {
        let method = carom::lab::method::Method::named(name, None).expect("it is registered");
        let drift = |h: f64| {
            Simulation::new(&model, &method, h, 10.0)
                .expect("it compiles")
                .watch(&mut ())
                .expect("it runs")
                .energy
                .max_drift
        };
        let slope = (drift(0.05) / drift(0.025)).log2();
        assert!((slope - order).abs() < 0.25, "{name}: {slope}");
    }
}

/// One pendulum in three sets of coordinates.
#[test]
fn coordinates_agree_to_the_order_of_the_method() {
    let angle = r#"
coordinates = ["theta"]
[lagrangian]
T = "theta'^2/2"
V = "-9.8*cos(theta)"
[initial]
q = [1.1]
v = [0.4]
"#;
    let plane = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.8*y"
[[constraint]]
g = "x^2 + y^2 - 1"
[initial]
q = ["sin(1.1)", "-cos(1.1)"]
v = ["0.4*cos(1.1)", "0.4*sin(1.1)"]
"#;
    let polar = r#"
coordinates = ["theta", "r"]
[lagrangian]
T = "(r'^2 + r^2*theta'^2)/2"
V = "-9.8*r*cos(theta)"
[[constraint]]
g = "r^2 - 1"
[initial]
q = [1.1, 1]
v = [0.4, 0]
"#;
    let end = |text: &str, method: &str, h: f64| {
        let model = Model::from_text("pendulum", text, &[]).expect("it is right");
        let method = carom::lab::method::Method::named(method, None).expect("it is registered");
        Simulation::new(&model, &method, h, 2.0).expect("it compiles").watch(&mut ()).expect("it runs").last.q
    };
    for (method, order) in [("svc", 2.0), ("gauss2", 4.0), ("galerkin6", 6.0)] {
        let gaps = |h: f64| {
            let theta = end(angle, method, h)[0];
            let (xy, r) = (end(plane, method, h), end(polar, method, h));
            [(xy[0].atan2(-xy[1]) - theta).abs(), (r[0] - theta).abs()]
        };
        let (coarse, fine) = (gaps(0.04), gaps(0.02));
        println!("{method}: {coarse:?} {fine:?}");
        assert!(coarse[0] < 40.0 * 0.04f64.powf(order), "{method}: {coarse:?}");
        let slope = (coarse[0] / fine[0]).log2();
        assert!((slope - order).abs() < 0.3, "{method}: {slope}");
        // In polar coordinates r is constant and the constraint changes nothing.
        assert!(coarse[1] < 1e-12, "{method}: {coarse:?}");
    }
}

/// A foot that a constraint keeps at zero: the body on its spring moves as if the foot were fixed. All that moves the foot is roundoff,
/// whatever the units are.
#[test]
fn a_constraint_may_keep_a_coordinate_at_zero() {
    let start = |y: f64, v: f64| format!("k = 80\nM = 1\nl = 0.5\ng = 9.81\ny0 = {y}\nv0 = {v}");
    let fixed = "coordinates = [\"y\"]\n[lagrangian]\nT = \"M*y'^2/2\"\nV = \"M*g*y + k*(y - l)^2/2\"\n[initial]\nq = [\"y0\"]\nv = [\"v0\"]\n";
    let held = "coordinates = [\"y\", \"z\"]\n[lagrangian]\nT = \"M*(y'^2 + 0.2*z'^2)/2\"\nV = \"M*g*(y + 0.2*z) + k*(y - z - l)^2/2\"\n\
                [initial]\nq = [\"y0\", 0]\nv = [\"v0\", 0]\n";
    let mut runs = 0;
    for (y, v) in [(0.5485, -1.25), (0.5 - 9.81 / 80.0, 0.0)] {
        let parameters = format!("[parameters]\n{}\n", start(y, v));
        let alone = model(&format!("{fixed}{parameters}"), &[]);
        for g in ["z", "z^2 + z", "3*z*(1 + y^2)"] {
            let model = model(&format!("{held}{parameters}[[constraint]]\ng = \"{g}\"\n"), &[]);
            for kind in registry(None).iter().filter(|kind| !["rk4", "dop853"].contains(&kind.name.as_str())) {
                for (step, units) in [(0.05, 1.0), (0.013, 1.0), (0.013, 1e-9)] {
                    let run = |model: &Model| {
                        let scaled = model.simulation().set("k", 80.0 * units).set("M", units);
                        scaled.method(&kind.name).step(step).until(0.5).run()
                    };
                    let what = format!("`{}` with step {step} on {g}, units {units:e}", kind.name);
                    let found = run(&model).unwrap_or_else(|error| panic!("{what}: {error}"));
                    runs += 1;
                    // Between nodes `sva` and `svb` let it move.
                    let lets_go =
                        |rule: &dyn DiscreteLagrangian| rule.inner_points() > 0 && !rule.constrains_inner_points();
                    if kind.with_quadrature(lets_go) == Some(true) {
                        continue;
                    }
                    let expected = run(&alone).expect("nothing holds it");
                    let off = (found.state().z.z[0] - expected.state().z.z[0]).abs();
                    assert!(off < 1e-11, "{what}: {off:e}");
                }
            }
        }
    }
    assert!(runs > 300, "{runs}");
}
