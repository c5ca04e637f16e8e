//! Several impacts at one instant: corners, balls in a row.

use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::Status;
use carom::lab::simulation::Simulation;
use carom_tests::motion::{model, run, shipped};

fn close(found: &[f64], due: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), due.len(), "{what}");
    let off: f64 = found.iter().zip(due).map(|(a, b)| (a - b).abs()).sum();
    assert!(off < tolerance, "{what}: {found:?}, due {due:?}");
}

/// Three walls that are orthogonal in a mass metric which is not diagonal, met at t = 1.
fn skew_corner(order: [usize; 3], simultaneous: &str) -> Model {
    let walls = [("u", "x + y/2", 1.0), ("w", "y - 0.3*z", 0.5), ("s", "z", 0.8)];
    let mut text = format!(
        r#"
        coordinates = ["x", "y", "z"]
        [definitions]
        u = "x + y/2"
        w = "y - 0.3*z"
        [lagrangian]
        T = "u'^2/2 + w'^2 + 1.5*z'^2"
        [initial]
        q = [0.35, 1.3, 1]
        v = [-0.35, -1.3, -1]
        [run]
        simultaneous = "{simultaneous}"
    "#
    );
    for i in order {
        let (name, phi, e) = walls[i];
        text += &format!("[[wall]]\nname = \"{name}\"\nphi = \"{phi}\"\nrestitution = {e}\n");
    }
    model(&text, &[])
}

#[test]
fn orthogonal_walls_agree_with_every_order() {
    // u, w and z turn around, each with its own e.
    let (u, w, z) = (1.0, 0.5, 0.8);
    let y: f64 = w + 0.3 * z;
    let due = [u - y / 2.0, y, z];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for simultaneous in ["sequential", "moreau"] {
            let motion = run(&skew_corner(order, simultaneous), "gauss4+ctec", 0.15, 2.0).completed();
            assert_eq!(motion.impacts.len(), 3, "{order:?} {simultaneous}");
            close(&motion.outcome.last.v, &due, 1e-12, &format!("{order:?} {simultaneous}"));
            let t = motion.impacts[2].minus.t;
            assert!((t - 1.0).abs() < 1e-9, "the last at {t}");
        }
    }
}

/// A wedge whose apex is at the origin: φ = y and φ = sin α x − cos α y.
fn wedge(angle: f64, e: f64, simultaneous: &str) -> Model {
    let text = format!(
        r#"
        coordinates = ["x", "y"]
        [parameters]
        alpha = {angle:?}
        [lagrangian]
        T = "(x'^2 + y'^2)/2"
        [[wall]]
        name = "floor"
        phi = "y"
        restitution = {e:?}
        [[wall]]
        name = "roof"
        phi = "sin(alpha)*x - cos(alpha)*y"
        restitution = {e:?}
        [initial]
        q = ["cos(0.4*alpha)", "sin(0.4*alpha)"]
        v = ["-cos(0.4*alpha)", "-sin(0.4*alpha)"]
        [run]
        simultaneous = "{simultaneous}"
    "#
    );
    model(&text, &[])
}

/// A ball that hits the very apex of a wedge of angle α leaves it after at most ⌈π/α⌉ bounces, with its energy.
#[test]
fn the_apex_of_a_wedge_is_left_after_few_bounces() {
    for n in [2.0, 3.0, 5.0, 7.5, 20.0] {
        let angle = std::f64::consts::PI / n;
        let motion = run(&wedge(angle, 1.0, "sequential"), "gauss4+ctec", 0.3, 2.0).completed();
        let count = motion.impacts.len();
        assert!(count >= 2 && count as f64 <= n.ceil(), "{count} bounces at π/{n}");
        assert!(motion.impacts.iter().all(|impact| (impact.minus.t - 1.0).abs() < 1e-9));
        for [_, energy] in motion.kinetic_energies(true) {
            assert!((energy - 0.5).abs() < 1e-14, "π/{n}: {energy}");
        }
        // All at once it goes back where it came from.
        let motion = run(&wedge(angle, 1.0, "moreau"), "gauss4+ctec", 0.3, 2.0).completed();
        let start = &motion.nodes[0];
        close(&motion.outcome.last.v, &[-start.v[0], -start.v[1]], 1e-12, &format!("moreau, π/{n}"));
        assert_eq!(motion.impacts.len(), 2);
    }
}

/// With e < 1 a wedge may have infinitely many bounces; their number is bounded, and they never add energy.
#[test]
fn a_lossy_wedge_makes_no_energy() {
    for n in [2.0, 3.0, 5.0, 20.0] {
        for e in [0.0, 0.3, 0.9] {
            for simultaneous in ["sequential", "moreau"] {
                let motion = run(&wedge(std::f64::consts::PI / n, e, simultaneous), "gauss4+ctec", 0.3, 2.0);
                assert_eq!(motion.outcome.status, Status::Completed, "π/{n}, e = {e}, {simultaneous}");
                assert!(motion.impacts.len() <= 1002, "{} bounces", motion.impacts.len());
                for [before, after] in motion.kinetic_energies(simultaneous == "sequential") {
                    assert!(after <= before + 1e-15, "π/{n}, e = {e}: {before} becomes {after}");
                }
            }
        }
    }
}

#[test]
fn the_last_ball_of_a_cradle_flies_off() {
    let motion = run(&shipped("newtons-cradle", &[]), "gauss6+ctec", 0.1, 0.4).completed();
    assert_eq!(motion.impacts.len(), 4);
    let speed = motion.impacts[0].minus.v[0];
    close(&motion.impacts[3].plus.v, &[0.0, 0.0, 0.0, 0.0, speed], 1e-13, "the speed is handed on");
    // For a minute, with the first and the last ball in turn.
    let motion = run(&shipped("newtons-cradle", &[]), "gauss6+ctec", 0.05, 60.0).completed();
    assert!(motion.impacts.iter().all(|impact| impact.lambda > 1e-3), "crumbs of roundoff collide");
    assert_eq!(motion.impacts.len() % 4, 0);
    let carom::Energy { initial, max_drift: drift, .. } = motion.outcome.energy;
    assert!(drift < 1e-9 * initial, "{drift:e}");
}

/// Moreau's law is the reflection at the cone of feasible velocities: v⁺ = −v⁻ + 2 proj v⁻ = (−0.6, 0.4, 0.4, 0.4, 0.4) v.
#[test]
fn all_balls_of_a_cradle_move_where_all_collide_at_once() {
    let model = shipped("newtons-cradle", &["run.simultaneous=\"moreau\""]);
    let motion = run(&model, "gauss6+ctec", 0.1, 0.4).completed();
    let v = motion.impacts[0].minus.v[0];
    close(&motion.impacts[3].plus.v, &[-0.6 * v, 0.4 * v, 0.4 * v, 0.4 * v, 0.4 * v], 1e-12, "one share for each");
    assert_eq!(motion.impacts.len(), 4);
    let carom::Energy { initial, last: end, .. } = motion.outcome.energy;
    assert!((end - initial).abs() < 1e-12, "{initial} becomes {end}");
}

#[test]
fn balls_that_touch_at_the_start_collide_there() {
    let text = r#"
        coordinates = ["a", "b", "c"]
        [lagrangian]
        T = "(a'^2 + b'^2 + 2*c'^2)/2"
        [[wall]]
        phi = "b - a - 1"
        [[wall]]
        phi = "c - b - 1"
        [initial]
        q = [0, 1, 2]
        v = [1, 0, 0]
    "#;
    for settings in [&[][..], &["run.simultaneous=\"moreau\""]] {
        let motion = run(&model(text, settings), "svc+ctec", 0.1, 1.0).completed();
        assert!(motion.impacts.iter().all(|impact| impact.minus.t == 0.0), "{settings:?}");
        let v = &motion.outcome.last.v;
        assert!((v[0] + v[1] + 2.0 * v[2] - 1.0).abs() < 1e-14, "momentum: {v:?}");
        assert!((v[0] * v[0] + v[1] * v[1] + 2.0 * v[2] * v[2] - 1.0).abs() < 1e-14, "energy: {v:?}");
        assert!(v[0] <= v[1] + 1e-14 && v[1] <= v[2] + 1e-14, "{v:?}");
    }
}

#[test]
fn moreau_is_refused_where_it_is_no_law() {
    let refused = |model: &Model, method: &str| {
        let method = Method::named(method, None).expect("it is registered");
        Simulation::new(model, &method, 0.01, 1.0).expect_err("it is refused").to_string()
    };
    let moreau = shipped("newtons-cradle", &["run.simultaneous=\"moreau\""]);
    let due = "error: `simultaneous = \"moreau\"` cannot be used: the rule `dtec` does not conserve H\n\
               help: use `ctec`, or `sequential`";
    assert_eq!(refused(&moreau, "svc+dtec"), due);
    let text = "coordinates = [\"y\"]\n[lagrangian]\nL = \"-sqrt(1 - y'^2) - y\"\n[[wall]]\nphi = \"y\"\n\
                [initial]\nq = [1]\nv = [0]\n[run]\nsimultaneous = \"moreau\"\n";
    assert!(refused(&model(text, &[]), "svc+ctec").contains("the Lagrangian is not quadratic in the velocities"));
}

/// A ball between two walls that close on each other is crushed: the run fails with a message, for e = 1 and e < 1.
#[test]
fn a_squeeze_ends_with_a_word() {
    let text = r#"
coordinates = ["y"]
[parameters]
e = 0.5
[lagrangian]
T = "y'^2/2"
[[wall]]
phi = "y"
restitution = "e"
[[wall]]
phi = "1 - t - y"
restitution = "e"
[initial]
q = [0.4]
v = [0.3]
"#;
    for (e, words) in [("e=0", "no room"), ("e=0.5", "no room"), ("e=1", "impacts accumulate")] {
        for simultaneous in ["sequential", "moreau"] {
            let model = model(text, &[e, &format!("run.simultaneous={simultaneous}")]);
            let motion = run(&model, "gauss4+ctec", 0.1, 2.0);
            let Status::Failed(failure) = &motion.outcome.status else { panic!("{e}: {:?}", motion.outcome.status) };
            assert!(failure.message.contains(words), "{e}, {simultaneous}: {}", failure.message);
            assert!((0.9..=1.0 + 1e-9).contains(&failure.t), "{e}, {simultaneous}: t = {}", failure.t);
            assert!(motion.impacts.iter().all(|impact| impact.minus.t <= failure.t), "{e}, {simultaneous}");
            assert_eq!(motion.outcome.impacts, motion.impacts.len(), "{e}, {simultaneous}");
            let carom::Energy { initial, last: end, .. } = motion.outcome.energy;
            let last = motion.outcome.last.v[0].powi(2) / 2.0;
            assert!((end - last).abs() <= 1e-12 * (1.0 + last), "{e}, {simultaneous}: {end}, not {last}");
            let account = motion.outcome.account.expect("a wall moves");
            let turnover = initial + account.drives.abs() + account.impacts.abs();
            assert!(account.unexplained.abs() < 1e-8 * turnover, "{e}, {simultaneous}: {account:?}");
        }
    }
}
