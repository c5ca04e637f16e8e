//! No unit of φ matters: the motion does not change with a factor in it.

use carom::lab::catalogue::EXAMPLES;
use carom::lab::expr::Expr;
use carom::lab::model::Model;
use carom::lab::run::Status;
use carom_tests::motion::{Motion, run};

/// Shipped models whose motion is not chaotic over this time, with a short end time.
fn models() -> impl Iterator<Item = (&'static str, Model)> {
    let chaotic = ["sinai-billiard", "jack-in-a-box", "galperin"];
    let shipped = EXAMPLES.iter().filter(move |example| !chaotic.contains(&example.name));
    shipped.filter_map(|example| {
        let model = Model::from_text(example.name, example.text, &[]).expect("it is right");
        (!model.system.walls.is_empty()).then_some((example.name, model))
    })
}

fn travel(model: &Model) -> Motion {
    let method = if model.system.constraints.is_empty() { "gauss4+ctec" } else { "gauss2+ctec" };
    run(model, method, 0.01, 1.0)
}

fn compare(name: &str, what: &str, a: &Motion, b: &Motion, to: f64) {
    assert_eq!(a.outcome.status == Status::Completed, b.outcome.status == Status::Completed, "{name}, {what}");
    let walls = |motion: &Motion| motion.impacts.iter().map(|impact| impact.wall).collect::<Vec<_>>();
    assert_eq!(walls(a), walls(b), "{name}, {what}: the impacts differ");
    for (x, y) in a.last().q.iter().zip(&b.last().q) {
        assert!((x - y).abs() <= to * (1.0 + y.abs()), "{name}, {what}: {x} and {y}");
    }
}

#[test]
fn a_factor_in_phi_does_not_matter() {
    for (name, model) in models() {
        let plain = travel(&model);
        // A power of two changes no bit, unless walls that hold make the order of pivots another one: then the last.
        for (factor, to) in [(2f64.powi(30), 1e-14), (2f64.powi(-30), 1e-14), (1e9, 1e-9), (1e-9, 1e-9)] {
            let mut scaled = model.clone();
            scaled.system.walls.iter_mut().for_each(|wall| wall.phi = Expr::constant(factor) * wall.phi);
            compare(name, &format!("φ times {factor:e}"), &travel(&scaled), &plain, to);
        }
    }
}
