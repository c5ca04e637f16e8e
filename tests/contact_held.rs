//! Samples, sections, constraint forces and the energy account of motions that walls hold for a part of the time.

use carom_tests::motion::{model, run, run_sampled};

/// A ball that slides on where it lands, e = 0.
const LANDING: &str = r#"
coordinates = ["y", "x"]
[lagrangian]
T = "(y'^2 + x'^2)/2"
V = "9.81*y"
[[wall]]
phi = "y"
restitution = 0
[[section]]
g = "y' + 2"
direction = "falling"
[initial]
q = [1, 0]
v = [0, 1]
"#;

/// The ball lands within the first step: samples before the landing are in free fall.
#[test]
fn samples_and_sections_know_when_the_motion_was_free() {
    for method in ["gauss4+ctec", "svc+ctec", "galerkin4+ctec", "suzuki4+ctec"] {
        let motion = run_sampled(&model(LANDING, &[]), method, 0.5, 1.0, 0.05);
        let landing = (2.0 / 9.81_f64).sqrt();
        assert_eq!(motion.samples.len(), 21, "{method}");
        for node in &motion.samples {
            let due = if node.t < landing { -9.81 * node.t } else { 0.0 };
            assert!((node.v[0] - due).abs() < 1e-12, "{method}: v = {} at t = {}, not {due}", node.v[0], node.t);
            assert!((node.v[1] - 1.0).abs() < 1e-12, "{method}");
        }
        let [crossing] = &motion.crossings[..] else { panic!("{method}: {:?}", motion.crossings) };
        assert!((crossing.node.t - 2.0 / 9.81).abs() < 1e-12, "{method}: {}", crossing.node.t);
    }
}

/// The final velocity of a run that a section stops is that at the section.
#[test]
fn a_run_ends_at_a_section_before_it_rests() {
    let stops = LANDING.replace("direction", "stop = true\ndirection");
    let motion = run(&model(&stops, &[]), "gauss4+ctec", 0.5, 1.0);
    let last = &motion.outcome.last;
    assert!((last.t - 2.0 / 9.81).abs() < 1e-12 && (last.v[0] + 2.0).abs() < 1e-12, "{last:?}");
}

/// A point on a rail that swings, which comes to rest on a wall; in several geometries. All that drives it is in the account.
#[test]
fn the_account_closes_where_constraints_move_and_walls_hold() {
    let cases = [
        ("y - x - 0.3*sin(2*t)", "x", 0.0),
        ("y - 0.5 - 0.3*sin(2*t)", "x - 0.2*y", 0.0),
        ("y - 0.5 - 0.3*sin(2*t)", "x - 0.2*y", 0.5),
        ("y - 0.5 - 0.3*sin(2*t)", "x - 0.2*y^2 - 0.1*sin(t)", 0.3),
    ];
    for (g, phi, e) in cases {
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"9.81*x\"\n\
             [[constraint]]\ng = \"{g}\"\n[[wall]]\nphi = \"{phi}\"\nrestitution = {e:?}\n\
             [initial]\nq = [0.5, 0.5]\nv = [0, 0.6]\n"
        );
        let motion = run(&model(&text, &[]), "gauss4+ctec", 0.01, 3.0).completed();
        assert!(!motion.holdings.is_empty(), "{g}, {phi}, {e}");
        let account = motion.outcome.account.expect("the rail moves");
        assert!(account.drives.abs() > 1e-3, "{g}, {phi}, {e}: {account:?}");
        assert!(account.unexplained.abs() < 1e-9, "{g}, {phi}, {e}: {account:?}");
    }
}

/// A pendulum in x and y that leans on a wall: its rod carries the weight, and what the wall pushes the rod does not.
#[test]
fn a_constraint_pushes_as_it_does_beside_a_wall_that_holds() {
    let text = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.81*y - 20*x"
[[constraint]]
g = "x^2 + y^2 - 1"
[[wall]]
phi = "0.6 - x"
restitution = 0.3
[initial]
q = [0, -1]
v = [1, 0]
"#;
    for (step, method) in [(0.01, "gauss4+ctec"), (0.01, "svc+ctec"), (0.03, "galerkin6+ctec")] {
        let motion = run_sampled(&model(text, &[]), method, step, 3.0, 0.25).completed();
        let last = motion.last();
        assert!((last.q[0] - 0.6).abs() + (last.q[1] + 0.8).abs() < 1e-12, "{method}: {last:?}");
        // −Gᵀλ = c(x, y) and c y = 9.81.
        let due = [9.81 * 0.6 / -0.8, 9.81];
        let sample = motion.samples.last().expect("there are samples");
        for node in [last, sample, &motion.samples[motion.samples.len() - 2]] {
            let off = node.force.iter().zip(due).map(|(f, due)| (f - due).abs()).sum::<f64>();
            assert!(off < 1e-9, "{method}: {:?} at t = {}, not {due:?}", node.force, node.t);
            // G = 2(x, y), so that λ h = −9.81 h/(2 y); in one step, at a node or between two.
            let lambda = 9.81 * step / 1.6;
            assert!((node.lambda[0] / lambda - 1.0).abs() < 1e-9, "{method}: {:?} at t = {}", node.lambda, node.t);
        }
    }
}
