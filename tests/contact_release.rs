//! Walls that let go: the motion leaves them at once and for good, with every flow that can rest on them.

use carom::lab::flow::registry;
use carom_tests::motion::{lowest_gap, model, run, shipped};

/// A bead on a ramp y = cx³ that a force 12cx presses on it until x = 0. From there x = vτ and y = 2cvτ³, which is above the ramp
/// for v² < 2; but without the force at its end a step would go along y = 0, which is below it.
const RAMP: &str = r#"
parameters = {c = 0.5, v = 1.0}
mechanism = {dimension = 2}
forces = {y = "12*c*x"}
[[body]]
name = "bead"
joint = ["tx", "ty"]
coordinates = ["x", "y"]
mass = 1
[[wall]]
name = "ramp"
phi = "y - c*x^3"
restitution = 0.8
[initial]
q = {x = -0.5, y = "-c/8"}
v = {x = "v", y = "0.75*c*v"}
"#;

/// The names of the flows of at least order 2 that can rest.
fn flows() -> Vec<String> {
    let kinds = registry(None).into_iter().filter(|kind| kind.order >= 2 && kind.is_symplectic);
    let names: Vec<String> = kinds.map(|kind| kind.name.to_string()).chain(["bodies".into()]).collect();
    assert!(names.len() > 15, "{names:?}");
    names
}

#[test]
fn a_bead_leaves_a_ramp_where_nothing_presses_it() {
    for flow in flows() {
        for (step, v) in [(0.1, 0.9), (0.1, 1.2), (0.03, 1.0), (0.03, 1.2), (0.01, 0.9), (0.01, 1.0), (0.003, 1.2)] {
            let what = format!("{flow}, step {step}, v = {v}");
            let model = model(RAMP, &[&format!("v={v}")]);
            let motion = run(&model, &flow, step, 1.2).completed();
            let [rest, release] = motion.holdings[..] else { panic!("{what}: {:?}", motion.holdings) };
            assert!(rest.begins && !release.begins && motion.impacts.is_empty(), "{what}: {:?}", motion.impacts);
            let end = motion.last();
            let tau = end.t - release.t;
            let off = [end.q[0] - end.v[0] * tau, end.q[1] - end.v[0] * tau.powi(3)];
            assert!(off.iter().all(|off| off.abs() < 2.0 * step * step), "{what}: off by {off:?}");
            for node in &motion.nodes {
                let gap = lowest_gap(&model, node);
                assert!(gap > -1e-13, "{what}: {gap:e} in the ramp at t = {}", node.t);
            }
        }
    }
}

/// The arm rests on its hand, then on its elbow three times. Gauss collocation of order 8 says when.
#[test]
fn a_robot_arm_rests_and_leaves_the_same_with_every_flow() {
    let (arm, step) = (shipped("robot-arm", &[]), 0.005);
    let due = run(&arm, "gauss4", step, 2.0).completed();
    assert_eq!(due.holdings.len(), 7, "{:?}", due.holdings);
    for flow in flows() {
        let motion = run(&arm, &flow, step, 2.0).completed();
        assert_eq!(motion.holdings.len(), due.holdings.len(), "{flow}: {:?}", motion.holdings);
        for (found, due) in motion.holdings.iter().zip(&due.holdings) {
            assert_eq!((found.wall, found.begins), (due.wall, due.begins), "{flow}");
            assert!((found.t - due.t).abs() < 100.0 * step * step, "{flow}: at {}, not at {}", found.t, due.t);
        }
    }
}

/// A free body with three hinges, two of which start at limits with e = 1, falls on a floor. The limits do not press in free fall: what
/// their rates are there is roundoff, not an impact.
const FALLING: &str = r#"
[mechanism]
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "base"
joint = "free"
mass = 1.613
inertia = 0.1
[[body]]
name = "upper"
parent = "base"
at = [0.442, 0.24]
mass = 0.519
com = [0.422, -0.471]
inertia = 0.02
limits = [-0.3, 1.132]
restitution = 1
[[body]]
name = "lower"
parent = "upper"
at = [-0.031, -0.253]
mass = 0.112
com = [0.044, 0.074]
inertia = 0.02
limits = [0, 0.56]
restitution = 1
[[body]]
name = "hand"
parent = "lower"
at = [0.262, -0.428]
mass = 0.219
com = [0.118, -0.055]
inertia = 0.02
limits = [0, 1.467]
restitution = 1
[points]
foot = {on = "base", at = [0, 0]}
[[wall]]
name = "floor"
phi = "foot.y"
restitution = 0.7
[initial.q]
"base.y" = 1
upper = -0.2
"#;

#[test]
fn limits_strike_no_body_in_free_fall() {
    let model = model(FALLING, &[]);
    for flow in ["gauss6", "midpoint", "bodies"] {
        let motion = run(&model, flow, 0.01, 0.8).completed();
        let impulses: Vec<f64> = motion.impacts.iter().map(|impact| impact.lambda.abs()).collect();
        let largest = impulses.iter().copied().fold(0.0, f64::max);
        assert!(impulses.len() >= 10, "{flow}: {impulses:?}");
        assert!(impulses.iter().all(|&lambda| lambda > 1e-6 * largest), "{flow}: {impulses:?}");
    }
}
