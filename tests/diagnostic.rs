//! Diagnostics on every flow and every shipped model: variational flows conserve what they should, and explicit Euler does not.

use carom::lab::catalogue::{EXAMPLES, find};
use carom::lab::diagnostic::{self, Momentum, Monitor, Panel, REGISTRY, Subject, Symplectic};
use carom::lab::expr::Expr;
use carom::lab::flow::{self, FlowKind};
use carom::lab::mechanics::Field;
use carom::lab::mechanics::{Mechanics, MomentumMap};
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::phase::{Discrete, Flow, Phase};
use carom::lab::plant::Expressions;
use carom::lab::simulation::Simulation;
use carom::lab::simulation::series;
use carom::lab::solve::{NoSolution, larger};
use carom::lab::system::System;

/// A model that can be run: its name, system, equations, parameters and start.
struct Case {
    name: &'static str,
    system: System,
    mechanics: Mechanics,
    plant: Expressions,
    parameters: Vec<f64>,
    z: Phase,
}

impl Case {
    fn subject<'a>(&'a self, flow: &'a FlowKind) -> Subject<'a> {
        let Case { system, plant, parameters, .. } = self;
        Subject { system, plant, flow, parameters }
    }

    fn build(&self, flow: &FlowKind) -> Box<dyn Flow> {
        flow.build(&self.mechanics, &self.parameters).expect("it compiles")
    }
}

/// Every shipped model without constraints whose start has v, if it is small enough for methods on expressions.
fn examples() -> Vec<Case> {
    let mut all = Vec::new();
    for example in EXAMPLES {
        let model = Model::from_text(example.name, example.text, &[]).expect("a shipped model is right");
        let start = model.start().expect("a shipped model is right");
        let is_small = model.system.coordinates.len() <= 12;
        if model.system.constraints.is_empty() && !start.p.is_empty() && is_small {
            let parameters = model.parameter_values().into_iter().map(|(_, value)| value).collect();
            let pick = |all: &[f64]| model.system.free().iter().map(|&i| all[i]).collect::<Vec<f64>>();
            let z = Phase::new(0.0, &pick(&start.q), &pick(&start.p));
            let plant = Expressions::new(&model.system, &[], &[]).expect("it compiles");
            let (name, mechanics, system) = (example.name, Mechanics::new(&model.system), model.system);
            all.push(Case { name, system, mechanics, plant, parameters, z });
        }
    }
    assert!(all.len() >= 8, "{} models", all.len());
    all
}

/// A few nodes of the free motion.
fn nodes(flow: &mut dyn Flow, z: &Phase, h: f64, count: usize) -> Vec<Phase> {
    let mut all = vec![z.clone()];
    for k in 0..count {
        let mut next = z.clone();
        flow.step(&all[k], h, &mut next)
            .unwrap_or_else(|e| panic!("{e:?} at step {k} of a motion of {} coordinates", z.q().len()));
        all.push(next);
    }
    all
}

/// Explicit Euler, which keeps nothing.
#[derive(Clone)]
struct Euler(Field);

impl Flow for Euler {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        let rates = self.0.at(z0.t, &z0.z)?;
        z1.z.iter_mut().zip(&z0.z).zip(rates).for_each(|((z1, z0), rate)| *z1 = z0 + h * rate);
        z1.t = z0.t + h;
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.0.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.0.forget();
    }

    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn order(&self) -> usize {
        1
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}

fn variational() -> impl Iterator<Item = FlowKind> {
    flow::registry(None).into_iter().filter(|flow| flow.discrete_lagrangian().is_some())
}

fn largest_drift(values: &[f64]) -> f64 {
    values.iter().map(|x| (x - values[0]).abs()).fold(0.0, larger)
}

#[test]
fn variational_maps_are_symplectic_and_euler_is_not() {
    for case in examples() {
        let mut symplectic = Symplectic::new(case.mechanics.n());
        if case.mechanics.forces.is_none() {
            for flow in variational() {
                let error = symplectic.at(&case.z, 0.02, &mut *case.build(&flow)).expect("the step is short");
                assert!(error < 2e-9, "{} on {}: {error:e}", flow.name, case.name);
            }
        }
        let field = Field::new(&case.mechanics, &case.parameters).expect("it compiles");
        let error = symplectic.at(&case.z, 0.02, &mut Euler(field)).expect("it has rates");
        let curved = ["pendulum", "cart-pendulum", "double-pendulum"].contains(&case.name);
        assert!(!curved || error > 1e-4, "Euler on {}: {error:e}", case.name);
    }
}

#[test]
fn momentum_along_each_symmetry_is_kept() {
    let mut kept = 0;
    for case in examples() {
        // The dampers of the walker are too stiff for some methods with the longer step.
        let h = if case.name == "walker" { 0.001 } else { 0.01 };
        for kind in variational() {
            let mut flow = case.build(&kind);
            let points = nodes(&mut *flow, &case.z, h, 100);
            for momentum in diagnostic::named("momentum", &case.subject(&kind)).iter_mut().flatten() {
                let values = diagnostic::along(&mut **momentum, &points, h, &mut *flow).expect("it has values");
                let drift = largest_drift(&values);
                // Galperin's heavy block has a momentum of 1e4: roundoff is relative to it.
                let bound = 1e-12 * values[0].abs().max(1.0);
                assert!(drift < bound, "{} by {} on {}: {drift:e}", momentum.name(), kind.name, case.name);
                kept += 1;
            }
        }
    }
    assert!(kept > 0, "no model has a symmetry");
}

/// A ball above a floor, thrown sideways, and a rotor whose symmetry is hidden in sin² + cos².
const BALL: &str = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"y\"\n\
                    [[wall]]\nname = \"floor\"\nphi = \"y\"\n[initial]\nq = [0, 1]\nv = [0.3, 0]\n[run]\nuntil = 9\n";
const ROTOR: &str = "coordinates = [\"a\"]\n[definitions]\nx = \"2*cos(a)\"\ny = \"2*sin(a)\"\n[lagrangian]\n\
                     T = \"(x'^2 + y'^2)/2\"\nV = \"0\"\n[initial]\nq = [0]\nv = [1]\n[run]\nuntil = 9\n";

/// Noether at impacts: the momentum of a coordinate that occurs in no wall is conserved; other coordinates have no such diagnostic.
#[test]
fn a_momentum_needs_a_symmetry_of_the_walls_too() {
    let svc = Method::named("svc", None).expect("it is registered");
    for (text, kept, bounces) in [(BALL, "momentum_x", 3), (ROTOR, "momentum_a", 0)] {
        let model = Model::from_text("model", text, &[]).expect("it is right");
        let table = series(&model, &svc, 0.05, 9.0, &["momentum"]).expect("it runs");
        let keys: Vec<&str> = table.columns.iter().map(|column| column.key.as_str()).collect();
        assert_eq!(keys, [kept]);
        assert_eq!(table.t.len(), 181);
        assert!(table.summaries[0].drift < 1e-13, "{kept}: {:e}", table.summaries[0].drift);
        let simulation = Simulation::new(&model, &svc, 0.05, 9.0).expect("it compiles");
        assert_eq!(simulation.watch(&mut ()).expect("it runs").impacts, bounces);
    }
    let tilted = BALL.replace("phi = \"y\"", "phi = \"y + x/9\"");
    let model = Model::from_text("model", &tilted, &[]).expect("it is right");
    let plant = Expressions::new(&model.system, &[], &[]).expect("it compiles");
    let panel = Panel::new(&model, &plant, &svc, Some(0.05), &["momentum"]).expect("it compiles");
    assert_eq!(panel.names(), []);
    assert_eq!(panel.left_out()[0].why, "L, a wall or a force depends on each coordinate");
}

/// A symmetry that is not a translation of a coordinate: rotations of a particle in a central field.
#[test]
fn angular_momentum_is_kept_in_a_central_field() {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nL = \"(x'^2 + y'^2)/2 + 1/sqrt(x^2 + y^2)\"\n\
                [initial]\nq = [1, 0]\nv = [0.1, 0.9]\n[run]\nuntil = 1\n";
    let model = Model::from_text("kepler", text, &[]).expect("it is right");
    let mechanics = Mechanics::new(&model.system);
    let z = Phase::new(0.0, &[1.0, 0.0], &[0.1, 0.9]);
    let xi: [Expr; 2] = [-mechanics.q[1], mechanics.q[0]];
    let map = MomentumMap::new(&mechanics, &xi, &[]).expect("it compiles");
    let mut angular = Momentum::new("angular momentum", map);
    for kind in variational() {
        let mut flow = kind.build(&mechanics, &[]).expect("it compiles");
        let points = nodes(&mut *flow, &z, 0.05, 200);
        let values = diagnostic::along(&mut angular, &points, 0.05, &mut *flow).expect("it has values");
        let drift = largest_drift(&values);
        assert!(drift < 1e-12, "{}: {drift:e}", kind.name);
    }
}

#[test]
fn every_energy_is_near_h_and_varies_less() {
    let svc = flow::registry(None).into_iter().find(|flow| flow.name == "svc").expect("it is registered");
    let drift = |name: &str, case: &Case| {
        let mut flow = case.build(&svc);
        let points = nodes(&mut *flow, &case.z, 0.005, 60);
        let mut made = diagnostic::named(name, &case.subject(&svc)).expect("it compiles");
        let values = diagnostic::along(&mut *made[0], &points, 0.005, &mut *flow).expect("it has values");
        largest_drift(&values)
    };
    for case in examples() {
        if diagnostic::named("modified", &case.subject(&svc)).is_err() {
            continue;
        }
        let scale = 1e-12 * case.z.z.iter().map(|x| x.abs()).fold(10.0, larger);
        let plain = drift("energy", &case);
        for name in ["modified", "cheap", "shadow"] {
            let found = drift(name, &case);
            assert!(found <= 0.1 * plain + 10.0 * scale, "{name} on {}: {found:e}, H {plain:e}", case.name);
        }
    }
}

/// Why a diagnostic may not apply.
const REASONS: [&str; 9] = [
    "no modified Hamiltonian",
    "no closed form",
    "is not the flow of one discrete Lagrangian",
    "has no discrete Lagrangian",
    "is not symmetric",
    "are too long for it",
    "depends on each coordinate",
    "forces act on the system",
    "there are no walls",
];

#[test]
fn each_registered_diagnostic_works_or_says_why_not() {
    for case in examples() {
        for kind in flow::registry(None) {
            let mut flow = case.build(&kind);
            // The series of ten links takes its time.
            for entry in REGISTRY.iter().filter(|entry| entry.name != "series" || case.mechanics.n() < 6) {
                match diagnostic::named(entry.name, &case.subject(&kind)) {
                    Ok(made) => {
                        for mut diagnostic in made {
                            let value = diagnostic.at(&case.z, 0.01, &mut *flow);
                            let what = || format!("{} of {} on {}", diagnostic.name(), kind.name, case.name);
                            assert!(value.is_ok_and(f64::is_finite), "{}: {value:?}", what());
                        }
                    }
                    Err(error) => {
                        let text = error.to_string();
                        let known = REASONS.iter().any(|why| text.contains(why));
                        assert!(known, "{} of {} on {}: {text}", entry.name, kind.name, case.name);
                    }
                }
            }
        }
    }
}

/// The names and reasons of a panel.
fn panel(name: &str, method: &str) -> (Vec<String>, Vec<(&'static str, String)>) {
    let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
    let method = Method::named(method, None).expect("it is registered");
    let plant = Expressions::new(&model.system, &[], &[]).expect("it compiles");
    let panel = Panel::new(&model, &plant, &method, Some(0.01), &[]).expect("it compiles");
    let keys = panel.names().iter().map(|(key, _)| key.clone()).collect();
    (keys, panel.left_out().iter().map(|out| (out.name, out.why.clone())).collect())
}

#[test]
fn what_does_not_apply_is_left_out_and_named() {
    let (keys, left_out) = panel("double-pendulum", "cva");
    let energies = ["energy", "discrete_energy", "modified", "series", "cheap", "shadow", "shadow_window"];
    assert_eq!(keys, [&energies[..], &["symplectic", "gap_left wall"]].concat());
    assert_eq!(left_out, [("momentum", "L, a wall or a force depends on each coordinate".into())]);
    let (keys, left_out) = panel("double-pendulum", "rk4");
    assert_eq!(keys, ["energy", "symplectic", "gap_left wall"]);
    let names: Vec<&str> = left_out.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["discrete-energy", "modified", "series", "cheap", "shadow", "shadow-window", "momentum"]);
    assert_eq!(left_out[0].1, "`rk4` has no discrete Lagrangian");
}

/// The summaries are those of the columns, except for the last node, which a shorter step leads to.
#[test]
fn the_summary_is_that_of_the_series_on_the_mesh() {
    let model = Model::from_text("pendulum", find("pendulum").expect("it ships").text, &[]).expect("it is right");
    let method = Method::named("svc", None).expect("it is registered");
    let table = series(&model, &method, 0.02, 0.509, &[]).expect("it runs");
    assert_eq!(table.t.len(), 27);
    for (column, summary) in table.columns.iter().zip(&table.summaries) {
        let on_mesh = &column.values[..26];
        assert_eq!(column.values.len(), 27, "{}", column.key);
        assert_eq!((summary.initial, summary.missing), (on_mesh[0], 0), "{}", column.key);
        assert_eq!(summary.drift, largest_drift(on_mesh), "{}", column.key);
        let worst = table.t.iter().position(|t| *t == summary.at).expect("a node");
        assert_eq!((on_mesh[worst] - on_mesh[0]).abs(), summary.drift, "{}", column.key);
    }
    let drift = |key: &str| {
        let column = table.columns.iter().position(|column| column.key == key).expect("it applies");
        table.summaries[column].drift
    };
    assert!(drift("shadow") < 1e-3 * drift("energy"), "{:e} {:e}", drift("shadow"), drift("energy"));
}

#[test]
fn an_unknown_name_is_an_error_with_a_suggestion() {
    let case = examples().swap_remove(0);
    let rk4 = flow::registry(None).pop().expect("the last is rk4");
    let error = diagnostic::named("enrgy", &case.subject(&rk4)).err().expect("there is none").to_string();
    assert_eq!(error, "error: unknown diagnostic `enrgy`\nhelp: did you mean `energy`?");
    let error = diagnostic::named("series", &case.subject(&rk4)).err().expect("there is none").to_string();
    assert_eq!(error, "error: `rk4` is not the flow of one discrete Lagrangian");
}
