//! Diagnostics on every flow and every shipped model: what a variational map keeps, and what another does not.

use carom::catalogue::EXAMPLES;
use carom::diagnostic::{self, Diagnostic, Momentum, REGISTRY, Subject, Symplectic};
use carom::discrete::{self, DiscreteLagrangian, Svc};
use carom::expr::Expr;
use carom::flow::{Discrete, Field, Flow, Phase, Variational};
use carom::mechanics::Mechanics;
use carom::model::Model;
use carom::solve::NoSolution;

/// Every shipped model without constraints whose start has v: its name, equations, parameters and start.
fn examples() -> Vec<(&'static str, Mechanics, Vec<f64>, Phase)> {
    let mut all = Vec::new();
    for example in EXAMPLES {
        let model = Model::from_text(example.name, example.text, &[]).expect("a shipped model is right");
        let start = model.start().expect("a shipped model is right");
        if model.system.constraints.is_empty() && !start.p.is_empty() {
            let parameters = model.parameter_values().into_iter().map(|(_, value)| value).collect();
            let pick = |all: &[f64]| model.system.free().iter().map(|&i| all[i]).collect::<Vec<f64>>();
            let z = Phase::new(0.0, &pick(&start.q), &pick(&start.p));
            all.push((example.name, Mechanics::new(&model.system), parameters, z));
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
        flow.step(&all[k], h, &mut next).expect("the step is short");
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

#[test]
fn variational_maps_are_symplectic_and_euler_is_not() {
    for (example, mechanics, parameters, z) in examples() {
        let mut symplectic = Symplectic::new(mechanics.n());
        if mechanics.forces.is_none() {
            for rule in discrete::registry(0.5) {
                let mut flow = Variational::new(&mechanics, &*rule, &parameters).expect("it compiles");
                let error = symplectic.at(&z, 0.02, &mut flow).expect("the step is short");
                assert!(error < 2e-9, "{} on {example}: {error:e}", rule.name());
            }
        }
        let field = Field::new(&mechanics, &parameters).expect("it compiles");
        let error = symplectic.at(&z, 0.02, &mut Euler(field)).expect("it has rates");
        let curved = ["pendulum", "cart-pendulum", "double-pendulum"].contains(&example);
        assert!(!curved || error > 1e-4, "Euler on {example}: {error:e}");
    }
}

#[test]
fn momentum_along_each_symmetry_is_kept() {
    let mut kept = 0;
    for (example, mechanics, parameters, z) in examples() {
        for rule in discrete::registry(0.5) {
            let subject = Subject { mechanics: &mechanics, rule: Some(&*rule), parameters: &parameters };
            let mut flow = Variational::new(&mechanics, &*rule, &parameters).expect("it compiles");
            let points = nodes(&mut flow, &z, 0.01, 100);
            for momentum in &mut diagnostic::named("momentum", &subject).expect("it compiles") {
                let values = diagnostic::along(&mut **momentum, &points, 0.01, &mut flow).expect("it has values");
                let drift = values.iter().fold(0.0, |m: f64, x| m.max((x - values[0]).abs()));
                // Galperin's heavy block has a momentum of 1e4: roundoff is relative to it.
                let bound = 1e-12 * values[0].abs().max(1.0);
                assert!(drift < bound, "{} by {} on {example}: {drift:e}", momentum.name(), rule.name());
                kept += 1;
            }
        }
    }
    assert!(kept > 0, "no model has a symmetry");
}

/// A symmetry that is no coordinate: rotations of a particle in a central field.
#[test]
fn angular_momentum_is_kept_in_a_central_field() {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nL = \"(x'^2 + y'^2)/2 + 1/sqrt(x^2 + y^2)\"\n\
                [initial]\nq = [1, 0]\nv = [0.1, 0.9]\n[run]\nuntil = 1\n";
    let model = Model::from_text("kepler", text, &[]).expect("it is right");
    let mechanics = Mechanics::new(&model.system);
    let z = Phase::new(0.0, &[1.0, 0.0], &[0.1, 0.9]);
    let xi: [Expr; 2] = [-mechanics.q[1], mechanics.q[0]];
    let mut angular = Momentum::new(&mechanics, "angular momentum", &xi, &[]).expect("it compiles");
    for rule in discrete::registry(0.5) {
        let mut flow = Variational::new(&mechanics, &*rule, &[]).expect("it compiles");
        let points = nodes(&mut flow, &z, 0.05, 200);
        let values = diagnostic::along(&mut angular, &points, 0.05, &mut flow).expect("it has values");
        let drift = values.iter().fold(0.0, |m: f64, x| m.max((x - 0.9).abs()));
        assert!(drift < 1e-12, "{}: {drift:e}", rule.name());
    }
}

#[test]
fn every_energy_is_near_h_and_varies_less() {
    let drift = |name: &str, subject: &Subject, z: &Phase| {
        let mut flow = Variational::new(subject.mechanics, &Svc, subject.parameters).expect("it compiles");
        let points = nodes(&mut flow, z, 0.005, 60);
        let mut made = diagnostic::named(name, subject).expect("it compiles");
        let values = diagnostic::along(&mut *made[0], &points, 0.005, &mut flow).expect("it has values");
        values.iter().fold(0.0, |m: f64, x| m.max((x - values[0]).abs()))
    };
    for (example, mechanics, parameters, z) in examples() {
        let subject = Subject { mechanics: &mechanics, rule: Some(&Svc), parameters: &parameters };
        if diagnostic::named("modified", &subject).is_err() {
            continue;
        }
        let scale = 1e-12 * z.z.iter().fold(10.0, |m: f64, x| m.max(x.abs()));
        let plain = drift("energy", &subject, &z);
        for name in ["modified", "cheap", "shadow"] {
            let found = drift(name, &subject, &z);
            assert!(found <= 0.1 * plain + 10.0 * scale, "{name} on {example}: {found:e}, H {plain:e}");
        }
    }
}

#[test]
fn each_registered_diagnostic_works_or_says_why_not() {
    for (example, mechanics, parameters, z) in examples() {
        for rule in discrete::registry(0.5) {
            let rule: &dyn DiscreteLagrangian = &*rule;
            let subject = Subject { mechanics: &mechanics, rule: Some(rule), parameters: &parameters };
            let mut flow = Variational::new(&mechanics, rule, &parameters).expect("it compiles");
            // The series of ten links takes its time.
            for entry in REGISTRY.iter().filter(|entry| entry.name != "series" || mechanics.n() < 6) {
                match diagnostic::named(entry.name, &subject) {
                    Ok(made) => {
                        for mut diagnostic in made {
                            let value = diagnostic.at(&z, 0.01, &mut flow);
                            assert!(value.is_ok_and(f64::is_finite), "{} on {example}: {value:?}", diagnostic.name());
                        }
                    }
                    Err(error) => {
                        let text = error.to_string();
                        let known = ["no modified Hamiltonian", "no closed form"].iter().any(|why| text.contains(why));
                        assert!(known, "{} on {example}: {text}", entry.name);
                    }
                }
            }
        }
    }
}

#[test]
fn an_unknown_name_is_an_error_with_a_suggestion() {
    let (_, mechanics, parameters, _) = examples().swap_remove(0);
    let subject = Subject { mechanics: &mechanics, rule: None, parameters: &parameters };
    let error = diagnostic::named("enrgy", &subject).err().expect("there is none").to_string();
    assert_eq!(error, "error: unknown diagnostic `enrgy`\nhelp: did you mean `energy`?");
    let error = diagnostic::named("series", &subject).err().expect("there is none").to_string();
    assert_eq!(error, "error: the flow has no discrete Lagrangian");
}
