//! Random boxes, polygons and starts: never outside, never NaN, no energy from nothing.

use carom::lab::model::Model;
use carom::lab::run::Status;
use carom_tests::motion::{Motion, lowest_gap, model, run};
use carom_tests::random_cases;
use proptest::prelude::*;

/// The sides of a convex polygon with corners on the unit circle, as contacts that are free inside.
fn sides(corners: &[f64], points: &str, e: f64) -> String {
    let mut angles = corners.to_vec();
    angles.sort_by(f64::total_cmp);
    let place = |a: f64| format!("[{:?}, {:?}]", a.cos(), a.sin());
    let sides = (0..angles.len()).map(|i| (i, angles[i], angles[(i + 1) % angles.len()]));
    let side = |(i, a, b): (usize, f64, f64)| {
        let line = format!("line = [{}, {}]", place(a), place(b));
        format!("[[contact]]\nname = \"side {i}\"\npoints = {points}\n{line}\nrestitution = {e:?}\n")
    };
    sides.map(side).collect()
}

/// The middle of the corners.
fn middle(corners: &[f64]) -> [f64; 2] {
    let n = corners.len() as f64;
    [corners.iter().map(|a| a.cos()).sum::<f64>() / n, corners.iter().map(|a| a.sin()).sum::<f64>() / n]
}

fn particle(walls: &str, q: [f64; 2], v: [f64; 2], g: f64, [mx, my]: [f64; 2]) -> Model {
    let text = format!(
        "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"{mx:?}*x'^2/2 + {my:?}*y'^2/2\"\nV = \"{g:?}*{my:?}*y\"\n\
         [points]\np = [\"x\", \"y\"]\n[initial]\nq = {q:?}\nv = {v:?}\n{walls}"
    );
    model(&text, &[])
}

/// Disks of radius 0.2 above each other in an open box; each has a place across it, a velocity and a mass.
fn heap(disks: &[(f64, f64, f64)], width: f64, e: f64, simultaneous: &str) -> Model {
    let n = disks.len();
    let (mut names, mut walls, mut q, mut v) = (Vec::new(), String::new(), Vec::new(), Vec::new());
    let mut wall = |phi: String| walls += &format!("[[wall]]\nphi = \"{phi}\"\nrestitution = {e:?}\n");
    for (i, &(place, speed, _)) in disks.iter().enumerate() {
        names.extend([format!("x{i}"), format!("y{i}")]);
        q.extend([place * (width - 0.41), 0.3 + 0.45 * i as f64]);
        v.extend([speed, 0.3 * speed]);
        wall(format!("y{i} - 0.2"));
        wall(format!("x{i} + {:?}", 0.5 * width - 0.2));
        wall(format!("{:?} - x{i}", 0.5 * width - 0.2));
        (i + 1..n).for_each(|j| wall(format!("sqrt((x{i} - x{j})^2 + (y{i} - y{j})^2) - 0.4")));
    }
    let kinetic = |i: usize| format!("{:?}*(x{i}'^2 + y{i}'^2)/2", disks[i].2);
    let potential = |i: usize| format!("{:?}*y{i}", 9.81 * disks[i].2);
    let sum = |term: &dyn Fn(usize) -> String| (0..n).map(term).collect::<Vec<_>>().join(" + ");
    let text = format!(
        "coordinates = {names:?}\n[lagrangian]\nT = \"{}\"\nV = \"{}\"\n{walls}\
         [initial]\nq = {q:?}\nv = {v:?}\n[run]\nsimultaneous = \"{simultaneous}\"\n",
        sum(&kinetic),
        sum(&potential),
    );
    model(&text, &[])
}

/// The run completes, and no node is outside the walls or NaN.
fn check_states(model: &Model, motion: &Motion) -> Result<(), TestCaseError> {
    prop_assert_eq!(&motion.outcome.status, &Status::Completed);
    let states = motion.nodes.iter().chain(motion.impacts.iter().flat_map(|i| [&i.minus, &i.plus]));
    for node in states {
        let sum: f64 = node.q.iter().chain(&node.p).sum();
        prop_assert!(sum.is_finite(), "NaN at t = {}", node.t);
        let gap = lowest_gap(model, node);
        prop_assert!(gap > -1e-9, "outside by {gap:e} at t = {}", node.t);
    }
    Ok(())
}

/// `check_states`, and the energy never grows; with e = 1 it is conserved.
fn check(model: &Model, motion: &Motion, e: f64, one_by_one: bool) -> Result<(), TestCaseError> {
    check_states(model, motion)?;
    let carom::Energy { initial, last: end, max_drift: drift, .. } = motion.outcome.energy;
    let scale = initial.abs() + 20.0;
    if e == 1.0 {
        prop_assert!(drift < 1e-10 * scale, "the energy drifts by {drift:e}");
    } else {
        prop_assert!(end <= initial + 1e-10 * scale, "{initial} grows to {end}");
        for [before, after] in motion.kinetic_energies(one_by_one) {
            prop_assert!(after - before <= 1e-12 * scale, "an impact gives {:e}", after - before);
        }
    }
    Ok(())
}

/// Between the floor and another disk, the lowest bounces in 1e-5 s. While a step ahead of it is looked at, the gap to the other closes and
/// opens again, before the floor is met.
#[test]
fn a_gap_that_closes_and_opens_is_met_before_another() {
    let disks = [
        (0.25134210374031746, 1.6618559002151354, 0.32925659119724676),
        (-0.1901326435872475, 0.22288393521940408, 1.5148247821332679),
        (0.45525383997348673, -0.9268232513449826, 1.5367134639527102),
    ];
    let model = heap(&disks, 0.7404107292987269, 0.41362657953769394, "sequential");
    let motion = run(&model, "gauss4+ctec", 0.03169904077919399, 0.5);
    check_states(&model, &motion).expect("no disk enters another");
}

proptest! {
    #![proptest_config(random_cases(48))]

    /// A particle in a convex polygon, with gravity: where it loses speed it comes to rest in a corner.
    #[test]
    fn a_particle_stays_in_a_polygon(
        corners in prop::collection::vec(0.0..std::f64::consts::TAU, 3..9),
        v in prop::array::uniform2(-3.0..3.0f64),
        m in prop::array::uniform2(0.3..3.0f64),
        e in prop_oneof![Just(1.0), Just(0.0), 0.0..1.0f64],
        g in 0.0..10.0f64,
        step in 0.01..0.2f64,
    ) {
        let mut sorted = corners.clone();
        sorted.sort_by(f64::total_cmp);
        // Corners too close together leave sides of no length, and no inside.
        prop_assume!(sorted.windows(2).all(|pair| pair[1] - pair[0] > 0.05));
        prop_assume!(sorted[0] + std::f64::consts::TAU - sorted[sorted.len() - 1] > 0.05);
        let model = particle(&sides(&corners, "\"p\"", e), middle(&corners), v, g, m);
        let motion = run(&model, "gauss4+ctec", step, 4.0);
        check(&model, &motion, e, true)?;
    }

    /// A rod in a box, both ends against all sides.
    #[test]
    fn a_rod_stays_in_a_box(
        size in prop::array::uniform2(0.7..2.0f64),
        half in 0.1..0.6f64,
        angle in 0.0..6.3f64,
        v in prop::array::uniform3(-3.0..3.0f64),
        e in prop_oneof![Just(1.0), Just(0.0), 0.0..1.0f64],
        radius in 0.0..0.09f64,
        step in 0.005..0.05f64,
    ) {
        let [w, h] = size;
        let text = format!(
            "coordinates = [\"x\", \"y\", \"a\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2 + {:?}*a'^2\"\nV = \"9.81*y\"\n\
             [points]\np = [\"x + {half:?}*cos(a)\", \"y + {half:?}*sin(a)\"]\n\
             q = [\"x - {half:?}*cos(a)\", \"y - {half:?}*sin(a)\"]\n\
             [[contact]]\npoints = \"all\"\nbox = [[{:?}, {:?}], [{w:?}, {h:?}]]\nradius = {radius:?}\nrestitution = {e:?}\n\
             [initial]\nq = [0, 0, {angle:?}]\nv = {v:?}\n",
            half * half / 6.0, -w, -h
        );
        let model = model(&text, &[]);
        let motion = run(&model, "gauss6+ctec", step, 2.0);
        check(&model, &motion, e, true)?;
    }

    /// A particle in a box that is shaken: what the walls give and take is all that changes the energy.
    #[test]
    fn a_shaken_box_accounts_for_every_joule(
        v in prop::array::uniform2(-3.0..3.0f64),
        m in prop::array::uniform2(0.3..3.0f64),
        shake in prop::array::uniform2(0.0..0.3f64),
        omega in 1.0..9.0f64,
        g in 0.0..10.0f64,
        e in prop_oneof![Just(1.0), Just(0.0), 0.0..1.0f64],
        step in 0.01..0.1f64,
    ) {
        let [x, y] = shake.map(|a| format!("{a:?}*sin({omega:?}*t)"));
        let walls = format!(
            "[[contact]]\npoints = \"p\"\nrestitution = {e:?}\n\
             box = [[\"{x} - 1\", \"{y} - 1\"], [\"{x} + 1\", \"1 - {y}\"]]\n"
        );
        let model = particle(&walls, [0.1, 0.2], v, g, m);
        let motion = run(&model, "gauss4+ctec", step, 4.0);
        check_states(&model, &motion)?;
        let account = motion.outcome.account.expect("the walls move");
        let turnover = 1.0 + account.drives.abs() + account.impacts.abs() + motion.outcome.energy.max_drift;
        prop_assert!(account.work == 0.0 && account.impacts <= 0.0, "{account:?}");
        // The work of a wall that holds is integrated, to the order of the flow.
        let bound = if motion.holdings.is_empty() { 1e-12 } else { 1e-8 };
        prop_assert!(account.unexplained.abs() < bound * turnover, "{account:?}");
    }

    /// Disks fall into a box and come to rest on its floor and on each other.
    #[test]
    fn disks_stay_in_a_box(
        disks in prop::collection::vec((-0.5..0.5f64, -2.0..2.0f64, 0.3..3.0f64), 2..5),
        width in 0.45..1.5f64,
        e in prop_oneof![Just(1.0), Just(0.0), 0.0..1.0f64],
        at_once in any::<bool>(),
        step in 0.01..0.05f64,
    ) {
        let model = heap(&disks, width, e, if at_once { "moreau" } else { "sequential" });
        let motion = run(&model, "gauss4+ctec", step, 3.0);
        check(&model, &motion, e, !at_once)?;
    }

    /// Straight into a corner of a rectangle, to the last bit where the numbers allow it.
    #[test]
    fn a_corner_hit_exactly_sends_the_particle_back(
        p in 1u32..9, q in 1u32..9, time in 1u32..7, step in 0.02..0.9f64, m in prop::array::uniform2(0.3..3.0f64),
        moreau in any::<bool>(),
    ) {
        // Speeds and distances that are exact in binary.
        let (vx, vy, t) = (f64::from(p) / 8.0, f64::from(q) / 8.0, f64::from(time));
        let walls = "[[wall]]\nphi = \"x\"\n[[wall]]\nphi = \"y\"\n";
        let law = if moreau { "moreau" } else { "sequential" };
        let walls = format!("{walls}[run]\nsimultaneous = \"{law}\"\n");
        let model = particle(&walls, [vx * t, vy * t], [-vx, -vy], 0.0, m);
        let motion = run(&model, "gauss4+ctec", step, 2.0 * t);
        check(&model, &motion, 1.0, !moreau)?;
        prop_assert_eq!(motion.impacts.len(), 2);
        let last = &motion.outcome.last;
        let off = (last.q[0] - vx * t).abs() + (last.q[1] - vy * t).abs();
        prop_assert!(off < 1e-8, "{off:e} away from the start");
    }
}
