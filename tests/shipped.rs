//! Shipped models against closed forms, references and bug reports of others.

use carom::{Model, Simulation, Status, Trajectory};
use carom_tests::motion::{energy_at, run, shipped};

fn simulation(name: &str) -> Simulation {
    Model::load(name).unwrap_or_else(|error| panic!("{error}")).simulation()
}

fn go(simulation: &Simulation) -> Trajectory {
    simulation.run().unwrap_or_else(|error| panic!("{error}"))
}

fn assert_near(found: f64, due: f64, tolerance: f64, what: &str) {
    assert!((found - due).abs() <= tolerance, "{what}: {found}, due {due}");
}

/// google/brax issue 317: the end is a smooth function of the start, with the derivative −1.
#[test]
fn a_higher_start_of_the_floating_ball_is_a_lower_end() {
    let simulation = simulation("floating-ball");
    for k in 0..=20 {
        let h = 2.9 + 0.005 * f64::from(k);
        let end = go(&simulation.clone().set("h", h)).outcome().last.q[0];
        assert_near(end, 5.0 - h + 0.2, 1e-13, &format!("h = {h}"));
    }
}

/// keenon/nimblephysics issue 97: the end of the second ball is x1 + v T + 2 r, whatever its own start.
#[test]
fn the_second_ball_ends_where_the_first_would_have() {
    let simulation = simulation("two-balls");
    for (x1, x2, v) in [(0.0, 0.52, 1.0), (0.01, 0.52, 1.0), (0.0, 0.53, 1.0), (0.0, 0.52, 1.01), (-0.3, 0.6, 2.0)] {
        let run = go(&simulation.clone().set("x1", x1).set("x2", x2).set("v", v));
        assert_near(run.impacts()[0].minus.t, (x2 - x1 - 0.2) / v, 1e-14, "the impact");
        assert_near(run.outcome().last.q[1], x1 + v + 0.2, 1e-14, "the end");
        assert_near(run.outcome().last.v[0], 0.0, 1e-14, "the first ball");
    }
}

/// keenon/nimblephysics issue 143: whatever law resolves an impact of several balls, momentum and energy are kept.
#[test]
fn three_balls_keep_momentum_and_energy() {
    for (law, e) in [("moreau", 1.0), ("sequential", 1.0), ("moreau", 0.5), ("sequential", 0.5)] {
        let settings = [format!("run.simultaneous=\"{law}\""), format!("e={e}")];
        let model = shipped("three-balls", &[&settings[0], &settings[1]]);
        let run = model.simulate().unwrap_or_else(|error| panic!("{error}"));
        let v = &run.outcome().last.v;
        let kinetic: f64 = v.iter().map(|v| 0.5 * v * v).sum();
        assert_near(v[..3].iter().sum(), 1.0, 1e-14, &format!("{law}: momentum along x"));
        assert_near(v[3..].iter().sum(), 0.0, 1e-14, &format!("{law}: momentum along y"));
        assert!(if e == 1.0 { (kinetic - 0.5).abs() < 1e-14 } else { kinetic < 0.5 }, "{law}, e = {e}: {kinetic}");
        assert_near(run.impacts()[0].minus.t, 2.0 - 0.1 * 3f64.sqrt(), 1e-14, "the impact");
        if (law, e) == ("moreau", 1.0) {
            let away = 0.2 * 3f64.sqrt();
            for (k, due) in [-0.2, 0.6, 0.6, 0.0, away, -away].into_iter().enumerate() {
                assert_near(v[k], due, 1e-14, "all at once");
            }
        }
    }
}

/// The first impact of a corner, and the square at rest on an edge.
#[test]
fn the_square_falls_onto_an_edge() {
    let run = go(&simulation("square"));
    let a = std::f64::consts::FRAC_PI_4 - 0.3;
    let t = (2.0 * (1.0 - 0.6 * a.cos() / 2f64.sqrt()) / 9.81).sqrt();
    let first = &run.impacts()[0];
    assert_near(first.minus.t, t, 1e-14, "the first impact");
    assert_near(first.lambda, 1.5 * 9.81 * t / (1.0 + 3.0 * a.sin().powi(2)), 1e-12, "its impulse");
    let last = &run.outcome().last;
    for (found, due) in last.q.iter().chain(&last.v).zip([0.0, 0.3, 0.0, 0.0, 0.0, 0.0]) {
        assert_near(*found, due, 1e-12, "at rest");
    }
}

/// `force` of a contact is the sum over its walls, that of a wall is its own; in flight both are zero.
#[test]
fn the_floor_carries_the_square() {
    let outputs = "[outputs]\nall = \"force('floor')\"\none = \"force('floor: corner[3]')\"\nother = \"force('floor: corner[4]')\"\n";
    let text = carom::lab::catalogue::find("square").expect("it ships").text;
    let model = Model::from_text("square.toml", &format!("{text}{outputs}"), &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = model.simulation().step(0.01).run().unwrap_or_else(|error| panic!("{error}"));
    let column = |name: &str| run.output(name).unwrap_or_else(|error| panic!("{error}")).to_vec();
    let (all, one, other) = (column("all"), column("one"), column("other"));
    for (k, &t) in run.t().iter().enumerate() {
        assert_near(all[k], one[k] + other[k], 1e-12, &format!("t = {t}"));
        if t < 0.3 {
            assert_eq!(all[k], 0.0, "in flight, t = {t}");
        } else if t > 1.3 {
            assert_near(all[k], 9.81, 1e-9, &format!("at rest, t = {t}"));
            assert!(one[k] > 4.0 && other[k] > 4.0, "{} and {} at t = {t}", one[k], other[k]);
        }
    }
    let last = &run.outcome().last.outputs;
    assert_near(last[0], 9.81, 1e-9, "the final state");
    let inside = run.at(1.9051).unwrap_or_else(|error| panic!("{error}"));
    assert_near(inside.outputs[0], 9.81, 1e-9, "between nodes");
}

/// Landing, stance and release of the hopper, and the force of the floor: m g − k (y − l) while it holds the foot.
#[test]
fn the_hopper_lands_and_leaves_as_in_closed_form() {
    let run = go(&simulation("hopper").tolerance(1e-11));
    let (big, small, k, g): (f64, f64, f64, f64) = (5.5, 0.5, 3000.0, 9.81);
    let t = (2.0 * 0.3 / g).sqrt();
    let first = &run.impacts()[0];
    assert_near(first.minus.t, t, 1e-11, "the landing");
    assert_near(first.lambda, small * g * t, 1e-12, "its impulse");
    // y = l − M g/k + r cos(ω τ − δ) from the landing on, until the spring pulls with m g.
    let omega = (k / big).sqrt();
    let (a, b) = (big * g / k, -g * t / omega);
    let stance = (b.atan2(a) - ((big + small) * g / k / a.hypot(b)).acos() + std::f64::consts::TAU) / omega;
    let leaves = run.contacts().iter().find(|holding| !holding.begins).expect("it leaves the floor");
    assert_near(leaves.t, t + stance, 1e-9, "the release");
    let (force, y, f) =
        (run.output("floor_force").expect("known"), run.q("y").expect("known"), run.q("f").expect("known"));
    let mut held = 0;
    for (n, &t) in run.t().iter().enumerate() {
        // The last change of contact before the node.
        let begins = run.contacts().iter().rev().find(|holding| holding.t <= t).is_some_and(|holding| holding.begins);
        held += usize::from(begins);
        let due = if begins { small * g - k * (y[n] - 0.5) } else { 0.0 };
        assert_near(force[n], due, 1e-7, &format!("t = {t}, f = {}", f[n]));
    }
    assert!(held > 10, "{held} nodes on the floor");
}

/// The string goes slack where it would have to push, and the parabola from there meets the circle after 4 v_y/g.
#[test]
fn the_string_on_the_peg_goes_slack_and_catches_the_ball() {
    let run = go(&simulation("peg-pendulum"));
    let (g, d, rho) = (9.81, 0.4, 0.6_f64);
    let slack = run.contacts().iter().find(|holding| !holding.begins).expect("it goes slack").t;
    let cos = -2.0 * d / (3.0 * rho);
    let state = run.at(slack).unwrap_or_else(|error| panic!("{error}"));
    assert_near(state.q[1], -rho * cos, 1e-8, "the height");
    let speed = (-g * rho * cos).sqrt();
    let rising = speed * (1.0 - cos * cos).sqrt();
    assert_near(state.v[1], rising, 1e-8, "the speed upward");
    assert_near(run.impacts()[0].minus.t - slack, 4.0 * rising / g, 1e-8, "the flight");
}

/// The first pin, a bin at the end, and the mirror image of the start.
#[test]
fn the_galton_board_has_a_bin_for_every_ball_and_a_mirror() {
    let model = shipped("galton-board", &[]);
    assert_eq!(model.system.walls.len(), 53, "51 pins and two sides");
    for x0 in [0.01_f64, 0.02, 0.05, 0.1] {
        let [right, left] = [x0, -x0].map(|x0| go(&simulation("galton-board").set("x0", x0)));
        let due = (2.0 * (1.0 - (0.16_f64.powi(2) - x0 * x0).sqrt()) / 9.81).sqrt();
        assert_near(right.impacts()[0].minus.t, due, 1e-14, "the first pin");
        assert!(matches!(right.status(), Status::Stopped(_)), "{:?}", right.status());
        let [right, left] = [&right, &left].map(|run| run.outcome().last.outputs[0]);
        assert!(right.fract() == 0.0 && (1.0..=9.0).contains(&right), "bin {right}");
        assert_eq!(left, 10.0 - right, "x0 = {x0}");
    }
}

/// Impact times of an independent program (SciPy, DOP853 with events, tolerance 1e-13).
#[test]
fn the_bars_of_the_triple_pendulum_knock_on_the_wall() {
    let reference = [
        (0.586_978_951_798, "wall: tip"),
        (0.655_333_575_035, "wall: joint2"),
        (0.725_086_053_947, "wall: joint1"),
        (1.766_338_100_719, "wall: tip"),
        (2.803_300_290_257, "wall: joint1"),
        (2.927_304_652_872, "wall: tip"),
    ];
    let run = go(&simulation("triple-pendulum"));
    assert_eq!(run.impacts().len(), reference.len());
    for (impact, (t, wall)) in run.impacts().iter().zip(reference) {
        assert_near(impact.minus.t, t, 1e-9, wall);
        assert_eq!(run.wall(impact), wall);
    }
    assert!(run.outcome().energy.max_drift < 1e-8, "{:e}", run.outcome().energy.max_drift);
}

/// Without a method, the first command of the README keeps the energy; the paper's method does not.
#[test]
fn the_double_pendulum_keeps_its_energy_unless_the_paper_is_asked_for() {
    let own = go(&simulation("double-pendulum")).outcome().energy;
    assert!(own.max_drift < 1e-9 * own.initial, "{:e} of {}", own.max_drift, own.initial);
    let paper = run(&shipped("double-pendulum", &[]), "cva", 0.058, 8.0);
    let start = energy_at(&shipped("double-pendulum", &[]), &paper.nodes[0]);
    assert!(paper.outcome.energy.max_drift > 0.045 * start, "{:e}", paper.outcome.energy.max_drift);
}

/// The floor test of the README (`docs/floor-test.py`): infinitely many bounces, then rest.
#[test]
fn the_ball_of_the_floor_test_rests_on_the_floor() {
    let run = go(&simulation("bouncing-ball").set("e", 0.8).set("h", 10.0).until(15.0));
    let due = (20.0_f64 / 9.81).sqrt() * 1.8 / 0.2;
    assert_near(run.contacts()[0].t, due, 1e-9, "the accumulation point");
    let last = &run.outcome().last;
    assert!(last.q[0].abs() < 1e-12 && last.v[0].abs() < 1e-12, "{last:?}");
}

/// What the texts of the shipped mechanisms promise.
#[test]
fn mechanisms_do_what_their_texts_say() {
    // Nothing pushes the walker along the ice, whatever its feet hit.
    let walker = go(&simulation("walker"));
    let p = walker.p("x").expect("a momentum");
    assert!(walker.impacts().len() > 3 && p.iter().all(|x| (x - p[0]).abs() < 1e-10), "the walker is pushed");
    // The foot of the lift ends on its stop, 0.45 of a bar from the pin: the load is n √(1 − 0.45²) high.
    let lift = go(&simulation("scissor-lift"));
    let height = lift.output("height").expect("an output").last().copied().expect("a row");
    assert_near(height, 3.0 * (1.0f64 - 0.45 * 0.45).sqrt(), 1e-9, "the lift");
    // The axle of the gyroscope goes round at about m g r/(I w), and stays level.
    let gyroscope = go(&simulation("gyroscope").until(1.0));
    let way = gyroscope.output("way").expect("an output").last().copied().expect("a row");
    assert_near(way, 9.81 * 0.05 / (0.06 * 0.06 / 2.0 * 150.0), 0.1, "the gyroscope");
    assert!(gyroscope.output("height").expect("an output").iter().all(|z| z.abs() < 0.002), "it falls");
    let platform = go(&simulation("stewart").until(0.5));
    assert!(platform.outcome().violation.expect("it has legs").position < 1e-14);
}
