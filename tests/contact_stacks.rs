//! Balls above each other that fall on a floor and come to rest: infinitely many bounces, of many walls at once.

use carom::lab::model::Model;
use carom::lab::run::Status;
use carom_tests::motion::{self, Motion, energy_at, lowest_gap, model, shipped};
use carom_tests::random_cases;
use proptest::prelude::*;

/// Balls of these masses on a line, from below, over a floor; `restitution` has one e for the floor and each pair.
fn stack(masses: &[f64], restitution: &[f64], heights: &[f64], simultaneous: &str) -> Model {
    model(&stack_text(masses, restitution, heights, simultaneous), &[])
}

fn stack_text(masses: &[f64], restitution: &[f64], heights: &[f64], simultaneous: &str) -> String {
    let n = masses.len();
    let sum = |term: &dyn Fn(usize) -> String| (1..=n).map(term).collect::<Vec<_>>().join(" + ");
    let names = (1..=n).map(|i| format!("\"x{i}\"")).collect::<Vec<_>>().join(", ");
    let walls = (1..=n).map(|i| {
        let phi = if i == 1 { "x1".to_string() } else { format!("x{i} - x{}", i - 1) };
        format!("[[wall]]\nphi = \"{phi}\"\nrestitution = {}\n", restitution[i - 1])
    });
    format!(
        "coordinates = [{names}]\n[lagrangian]\nT = \"({})/2\"\nV = \"9.81*({})\"\n{}[initial]\nq = {heights:?}\nv = {:?}\n\
         [run]\nsimultaneous = \"{simultaneous}\"\n",
        sum(&|i| format!("{}*x{i}'^2", masses[i - 1])),
        sum(&|i| format!("{}*x{i}", masses[i - 1])),
        walls.collect::<String>(),
        vec![0.0; n],
    )
}

/// Nothing is inside anything, the energy falls, and the account of it closes.
fn check(model: &Model, motion: &Motion, what: &str) {
    assert_eq!(motion.outcome.status, Status::Completed, "{what}, at t = {}", motion.outcome.last.t);
    let most = motion.outcome.energy.initial;
    let mut energy = most;
    for node in &motion.nodes {
        let lowest = lowest_gap(model, node);
        assert!(lowest > -1e-11, "{what}: {lowest:e}");
        let before = std::mem::replace(&mut energy, energy_at(model, node));
        assert!(energy <= before + 1e-12 * most, "{what}: {before} grows to {energy} at t = {}", node.t);
    }
    let account = motion.outcome.account.expect("walls take energy");
    assert!(account.unexplained.abs() <= 1e-10 * most, "{what}: {account:?}");
}

/// All heights are zero, and every wall holds.
fn check_rest(motion: &Motion, what: &str) {
    let last = motion.last();
    let held = |wall| motion.holdings.iter().rfind(|h| h.wall == wall).is_some_and(|h| h.begins);
    assert!((0..last.q.len()).all(held), "{what}: {:?}", motion.holdings);
    let far: f64 = last.q.iter().map(|q| q.abs()).sum();
    assert!(far < 1e-13, "{what}: {far:e}");
}

#[test]
fn stacks_come_to_rest() {
    for n in [2, 3, 5, 10] {
        for e in [0.0, 0.3, 0.5, 0.8] {
            for simultaneous in ["sequential", "moreau"] {
                for apart in [0.0, 0.1] {
                    let what = format!("{n} balls, {apart} apart, e = {e}, {simultaneous}");
                    let heights: Vec<f64> = (0..n).map(|i| 0.5 + apart * i as f64).collect();
                    let model = stack(&vec![1.0; n], &vec![e; n], &heights, simultaneous);
                    let motion = motion::run(&model, "gauss2+ctec", 0.05, 5.0);
                    check(&model, &motion, &what);
                    check_rest(&motion, &what);
                }
            }
        }
    }
}

/// Three balls in contact, e = 0: the floor stops the stack at once, by either law.
#[test]
fn a_stack_that_does_not_rebound_stops_where_it_lands() {
    for simultaneous in ["sequential", "moreau"] {
        let model = stack(&[1.0; 3], &[0.0; 3], &[0.5; 3], simultaneous);
        let motion = motion::run(&model, "gauss2+ctec", 0.05, 1.0);
        let due = (2.0 * 0.5 / 9.81_f64).sqrt();
        for holding in &motion.holdings {
            assert!((holding.t - due).abs() < 1e-12, "{simultaneous}: {holding:?}");
        }
        check_rest(&motion, simultaneous);
    }
}

/// Balls that touch and fall alike do not collide before the floor does, also where roundoff says that they do.
#[test]
fn what_falls_together_does_not_collide() {
    for masses in [[0.833, 1.806, 0.81, 1.878, 1.233], [1.326, 1.562, 0.936, 0.3, 2.7]] {
        for simultaneous in ["sequential", "moreau"] {
            for e in [0.0, 0.2, 1.0] {
                let heights: Vec<f64> = (0..5).map(|k| 0.3 + 0.4 * k as f64).collect();
                let mut text = stack_text(&masses, &[e; 5], &heights, simultaneous);
                (2..=5).for_each(|k| {
                    text = text.replace(&format!("x{k} - x{}\"", k - 1), &format!("x{k} - x{} - 0.4\"", k - 1))
                });
                let model = model(&text, &[]);
                let motion = motion::run(&model, "gauss4+ctec", 0.013, 0.24).completed();
                assert!(motion.impacts.is_empty(), "{masses:?}, e = {e}, {simultaneous}: {:?}", motion.impacts[0]);
                assert!(motion.holdings.is_empty(), "{masses:?}, e = {e}, {simultaneous}: {:?}", motion.holdings);
            }
        }
    }
}

/// `moreau` still resolves the three walls together when the bounces get slow, and rarely needs a second pass.
#[test]
fn slow_impacts_of_all_at_once_are_few() {
    let text = stack_text(&[1.326, 1.562, 0.936], &[0.2; 3], &[0.3, 0.7, 1.1], "moreau");
    let text = text.replace("x2 - x1\"", "x2 - x1 - 0.4\"").replace("x3 - x2\"", "x3 - x2 - 0.4\"");
    let motion = motion::run(&model(&text, &[]), "gauss4+ctec", 0.013, 3.0).completed();
    for instant in motion.impacts.chunk_by(|a, b| a.minus.t == b.minus.t) {
        assert!(instant.len() <= 6, "{} impacts at t = {}", instant.len(), instant[0].minus.t);
    }
}

/// With e = 0.9 and 0.95 the ten balls of the row have thousands of bounces before they lie still.
#[test]
fn the_row_of_ten_balls_comes_to_rest() {
    for (e, until) in [("e=0.9", 20.0), ("e=0.95", 20.0), ("e=0.5", 10.0)] {
        for simultaneous in ["sequential", "moreau"] {
            let what = format!("{e}, {simultaneous}");
            let model = shipped("ball-row", &[e, &format!("run.simultaneous={simultaneous}")]);
            let motion = motion::run(&model, "gauss2+ctec", 0.1, until);
            check(&model, &motion, &what);
            check_rest(&motion, &what);
        }
    }
}

proptest! {
    #![proptest_config(random_cases(16))]

    /// With any masses and any e, the run completes and passes `check`.
    #[test]
    fn any_stack_runs_through(
        balls in prop::collection::vec((0.1..10.0, 0.0..0.95, 0.0..0.5), 2..6),
        at_once in any::<bool>(),
    ) {
        let masses: Vec<f64> = balls.iter().map(|ball| ball.0).collect();
        let restitution: Vec<f64> = balls.iter().map(|ball| ball.1).collect();
        let heights: Vec<f64> = balls.iter().scan(0.1, |x, ball| { *x += ball.2; Some(*x) }).collect();
        let simultaneous = if at_once { "moreau" } else { "sequential" };
        let model = stack(&masses, &restitution, &heights, simultaneous);
        let motion = motion::run(&model, "gauss2+ctec", 0.05, 5.0);
        check(&model, &motion, &format!("{balls:?}, {simultaneous}"));
    }
}
