//! Laws of mechanics on trees of bodies, for both rules with recursive kernels.

use carom::lab::tree::{
    Body, Equations, Force, Joint, Mat3, MidpointStep, Pose, Quaternion, Rattle, Surroundings, Tree, Vec3,
};
use carom_tests::Random;
use carom_tests::tree::{differences, distance, moved, numbers, random_tree, vector};
use carom_tests::tree_reference::Motion;

/// A body that floats: three slides and a ball; its children follow.
fn floating(random: &mut Random, children: usize) -> Tree {
    let mut bodies: Vec<Body> =
        (0..3).map(|k: usize| Body::new(k.checked_sub(1), Joint::Prismatic(Mat3::ONE.rows()[k]))).collect();
    bodies.push(solid(random, Some(2), Joint::Ball));
    for i in 0..children {
        let joint = match i % 3 {
            0 => Joint::Ball,
            1 => Joint::Revolute(Vec3(0.0, 1.0, 0.0)),
            _ => Joint::Revolute(Vec3(0.6, 0.0, 0.8)),
        };
        let parent = 3 + random.below(i + 1);
        bodies.push(solid(random, Some(parent), joint));
    }
    Tree::new(bodies)
}

fn solid(random: &mut Random, parent: Option<usize>, joint: Joint) -> Body {
    let turn = Mat3::rotation(vector(random));
    let moments = Mat3(Vec3(0.11, 0.0, 0.0), Vec3(0.0, 0.14, 0.0), Vec3(0.0, 0.0, 0.19));
    Body {
        at: vector(random) * 0.5,
        turn: Mat3::rotation(vector(random)),
        mass: random.between(0.5, 2.0),
        com: vector(random) * 0.3,
        inertia: turn * moments * turn.transpose(),
        ..Body::new(parent, joint)
    }
}

fn start(random: &mut Random, tree: &Tree, size: f64) -> (Vec<f64>, Vec<f64>) {
    let mut q = numbers(random, tree.coordinates, 1.0);
    for link in tree.links.iter().filter(|link| link.freedoms == 3) {
        q[link.q..link.q + 4].copy_from_slice(&Quaternion::rotation(vector(random)).array());
    }
    (q, numbers(random, tree.freedoms, size))
}

fn total<E: Equations>(motion: &mut Motion<E>) -> Force {
    let (_, v, _) = motion.projected();
    let mut pose = Pose::new(&motion.tree);
    pose.place(&motion.tree, &motion.around, &motion.q, &v);
    pose.total_momentum()
}

/// Slides the whole tree so that its momentum vanishes: its centre of mass rests.
fn stop_drifting(tree: &Tree, q: &[f64], v: &mut [f64]) {
    let mass: f64 = tree.links.iter().map(|link| link.body.mass).sum();
    let mut pose = Pose::new(tree);
    pose.place(tree, &Surroundings::default(), q, v);
    let f = pose.total_momentum().f.array();
    v[..3].iter_mut().zip(f).for_each(|(v, f)| *v -= f / mass);
}

/// Noether: a floating tree keeps its momentum and its angular momentum about the origin.
fn keeps_momentum<E: Equations>(rule: fn(&Tree) -> E, steps: usize, drifts: bool, what: &str) {
    let mut random = Random::new(5);
    let tree = floating(&mut random, 6);
    let (q, mut v) = start(&mut random, &tree, 1.5);
    let mut motion = Motion::new(rule, tree.clone(), Vec3::ZERO, Vec::new(), &q, &v);
    let momentum = total(&mut motion).f.norm();
    if !drifts {
        stop_drifting(&tree, &q, &mut v);
        motion = Motion::new(rule, tree, Vec3::ZERO, Vec::new(), &q, &v);
    }
    let before = total(&mut motion);
    assert_eq!(before.f.norm() > 1e-9, drifts, "{what}: {:?}", before.f);
    (0..steps).for_each(|_| motion.step(0.01));
    let after = total(&mut motion);
    let errors = [(after.n - before.n).norm() / before.n.norm(), (after.f - before.f).norm() / momentum];
    println!("{what}, {steps} steps, drifting {drifts}: {errors:?}");
    assert!(errors.iter().all(|error| *error < 1e-12), "{what}, {steps} steps: {errors:?}");
}

/// In many steps a tree that drifts goes far: its places are then rounded to 1e-13, which its momentum turns into angular momentum about
/// the origin. So the longest run is that of a tree that stays.
#[test]
fn floating_trees_keep_their_momentum() {
    keeps_momentum(MidpointStep::new, 2_000, true, "midpoint");
    keeps_momentum(Rattle::new, 2_000, true, "bodies");
    // 1e5 steps with CAROM_SOAK=1.
    let steps = if std::env::var_os("CAROM_SOAK").is_some() { 100_000 } else { 2_000 };
    keeps_momentum(MidpointStep::new, steps, false, "midpoint");
    keeps_momentum(Rattle::new, steps, false, "bodies");
}

/// The map with −h is the inverse of the map with h.
fn is_reversible<E: Equations>(rule: fn(&Tree) -> E, what: &str) {
    let mut random = Random::new(11);
    let tree = floating(&mut random, 5);
    let (q, v) = start(&mut random, &tree, 1.0);
    let mut motion = Motion::new(rule, tree, Vec3(0.0, 0.0, -9.81), Vec::new(), &q, &v);
    let p = motion.p.clone();
    (0..100).for_each(|_| motion.step(0.01));
    motion.turn_back();
    (0..100).for_each(|_| motion.step(-0.01));
    let error = distance(&motion.q, &q).max(distance(&motion.p, &p));
    assert!(error < 1e-11, "{what}: {error:e}");
}

#[test]
fn steps_are_reversible() {
    is_reversible(MidpointStep::new, "midpoint");
    is_reversible(Rattle::new, "bodies");
}

/// DΦᵀ Ω DΦ = Ω, with derivatives along the freedoms; the momenta of balls are conjugate to rotations in body axes, for which the
/// symplectic form has the term μ·(a×b).
fn is_symplectic<E: Equations>(rule: fn(&Tree) -> E, what: &str) {
    for seed in 1..=6 {
        let mut random = Random::new(seed);
        let tree = undamped(random_tree(&mut random, 4, false));
        let (q, v) = start(&mut random, &tree, 0.7);
        let n = tree.freedoms;
        let first = Motion::new(rule, tree.clone(), Vec3(0.3, 0.2, -5.0), Vec::new(), &q, &v);
        let p = first.p.clone();
        let map = |change: &[f64]| {
            let from = moved(&tree, &q, &change[..n]);
            let momenta: Vec<f64> = p.iter().zip(&change[n..]).map(|(p, x)| p + x).collect();
            let mut motion = Motion::new(rule, tree.clone(), Vec3(0.3, 0.2, -5.0), Vec::new(), &from, &v);
            motion.p = momenta;
            motion.step(0.05);
            (motion.q, motion.p)
        };
        let (q1, p1) = map(&vec![0.0; 2 * n]);
        let component = |k: usize| {
            differences(2 * n, 1e-5, |change| {
                let (q, p) = map(change);
                if k < n { turned(&tree, &q1, &q)[k] } else { p[k - n] }
            })
        };
        let rows: Vec<Vec<f64>> = (0..2 * n).map(component).collect();
        let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
        for a in 0..2 * n {
            for b in 0..a {
                let unit = |k: usize| (0..2 * n).map(|i| if i == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
                let before = form(&tree, &p, &unit(a), &unit(b));
                let after = form(&tree, &p1, &column(a), &column(b));
                assert!((before - after).abs() < 1e-6, "{what}, tree {seed}: Ω({a}, {b}) was {before}, is {after}");
            }
        }
    }
}

fn undamped(mut tree: Tree) -> Tree {
    tree.set(|_, body| body.damping = 0.0);
    tree
}

/// Ω(x, y) = δq·δ′p − δp·δ′q + Σ over balls of μ·(δq×δ′q), up to sign.
fn form(tree: &Tree, p: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let n = p.len();
    let mut sum: f64 = (0..n).map(|i| x[i] * y[n + i] - x[n + i] * y[i]).sum();
    for link in tree.links.iter().filter(|link| link.freedoms == 3) {
        let read = |from: &[f64]| Vec3(from[link.v], from[link.v + 1], from[link.v + 2]);
        sum += read(p).dot(read(x).cross(read(y)));
    }
    sum
}

/// The small rotations and slides that take q0 to q1.
fn turned(tree: &Tree, q0: &[f64], q1: &[f64]) -> Vec<f64> {
    let mut way = vec![0.0; tree.freedoms];
    for link in &tree.links {
        match link.freedoms {
            0 => {}
            1 => way[link.v] = q1[link.q] - q0[link.q],
            _ => {
                let by = Quaternion::read(&q0[link.q..]).body(Quaternion::read(&q1[link.q..]), 2.0).array();
                way[link.v..link.v + 3].copy_from_slice(&by);
            }
        }
    }
    way
}

#[test]
fn steps_are_symplectic() {
    is_symplectic(MidpointStep::new, "midpoint");
    is_symplectic(Rattle::new, "bodies");
}

/// A planar chain of links of length 1, hinged about y.
fn chain(n: usize) -> Tree {
    let link = |i: usize| Body {
        at: if i == 0 { Vec3::ZERO } else { Vec3(0.0, 0.0, -1.0) },
        mass: 1.0,
        com: Vec3(0.0, 0.0, -0.5),
        inertia: Mat3::symmetric([1.0 / 12.0, 1.0 / 12.0, 0.001, 0.0, 0.0, 0.0]),
        ..Body::new(i.checked_sub(1), Joint::Revolute(Vec3(0.0, 1.0, 0.0)))
    };
    Tree::new((0..n).map(link).collect())
}

/// The energy stays near its start, and its later half is no farther than its first.
fn keeps_energy<E: Equations>(rule: fn(&Tree) -> E, steps: usize, part: f64, what: &str) {
    let mut motion = Motion::new(rule, chain(3), Vec3(0.0, 0.0, -9.81), Vec::new(), &[0.6, -0.3, 0.2], &[0.0; 3]);
    let (begin, mut halves) = (motion.energy(&[0.0; 3]), [0.0_f64; 2]);
    for k in 0..steps {
        motion.step(0.01);
        if k % 10 == 0 {
            let (_, v, _) = motion.projected();
            let drift = (motion.energy(&v) - begin).abs();
            halves[2 * k / steps] = halves[2 * k / steps].max(drift);
        }
    }
    assert!(halves[1] < part && halves[1] < 1.5 * halves[0], "{what}: {halves:?}");
}

#[test]
fn energy_stays_near_its_start() {
    let steps = if std::env::var_os("CAROM_SOAK").is_some() { 100_000 } else { 10_000 };
    keeps_energy(MidpointStep::new, steps, 2e-3, "midpoint");
    keeps_energy(Rattle::new, steps, 2e-2, "bodies");
}

/// Errors fall with the square of the step.
fn has_order_two<E: Equations>(rule: fn(&Tree) -> E, what: &str) {
    let ends: Vec<Vec<f64>> = [1, 2, 4, 64]
        .iter()
        .map(|&finer| {
            let mut random = Random::new(2);
            let tree = floating(&mut random, 3);
            let (q, v) = start(&mut random, &tree, 1.0);
            let mut motion = Motion::new(rule, tree, Vec3(0.0, 1.0, -9.81), Vec::new(), &q, &v);
            (0..20 * finer).for_each(|_| motion.step(0.02 / f64::from(finer)));
            motion.q
        })
        .collect();
    let errors = [0, 1, 2].map(|k| distance(&ends[k], &ends[3]));
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.8..2.3).contains(&order), "{what}: order {order}, errors {errors:?}");
    }
}

#[test]
fn steps_have_order_two() {
    has_order_two(MidpointStep::new, "midpoint");
    has_order_two(Rattle::new, "bodies");
}

/// A floating pair of bodies, rooted at one or at the other: the same motion.
#[test]
fn the_choice_of_the_root_has_no_effect() {
    let inertia = [Mat3::symmetric([0.1, 0.12, 0.15, 0.0, 0.0, 0.0]), Mat3::symmetric([0.2, 0.22, 0.3, 0.0, 0.0, 0.0])];
    let (masses, joint) = ([1.0, 1.7], [Vec3(0.5, 0.1, 0.0), Vec3(-0.4, 0.0, 0.2)]);
    // The bodies meet in a ball joint, at joint[i] from the centre of mass of body i.
    let rooted = |root: usize| {
        let other = 1 - root;
        let mut bodies: Vec<Body> =
            (0..3).map(|k: usize| Body::new(k.checked_sub(1), Joint::Prismatic(Mat3::ONE.rows()[k]))).collect();
        bodies.push(Body { mass: masses[root], inertia: inertia[root], ..Body::new(Some(2), Joint::Ball) });
        bodies.push(Body {
            at: joint[root],
            mass: masses[other],
            com: -joint[other],
            inertia: inertia[other],
            ..Body::new(Some(3), Joint::Ball)
        });
        Tree::new(bodies)
    };
    let turns = [Quaternion::rotation(Vec3(0.3, -0.2, 0.5)), Quaternion::rotation(Vec3(-0.7, 0.4, 0.1))];
    let rates = [Vec3(0.5, 1.0, -0.3), Vec3(-1.2, 0.3, 0.8)];
    let ends: Vec<[Vec3; 2]> = (0..2)
        .map(|root: usize| {
            let (tree, other) = (rooted(root), 1 - root);
            // The joint is at the origin and at rest.
            let r = turns.map(Quaternion::matrix);
            let place = -(r[root] * joint[root]);
            let world = [r[0] * rates[0], r[1] * rates[1]];
            let moving = world[root].cross(place);
            let inverse = Quaternion { w: turns[root].w, v: -turns[root].v };
            let relative = r[other].tr_mul(world[other] - world[root]);
            let q = [&place.array()[..], &turns[root].array(), &(inverse * turns[other]).array()].concat();
            let v = [moving.array(), rates[root].array(), relative.array()].concat();
            let mut motion = Motion::new(MidpointStep::new, tree, Vec3(0.0, 0.0, -9.81), Vec::new(), &q, &v);
            (0..2000).for_each(|_| motion.step(0.0005));
            let mut pose = Pose::new(&motion.tree);
            pose.place(&motion.tree, &motion.around, &motion.q, &[0.0; 9]);
            let centre = |i: usize| pose.bodies[i].p + pose.bodies[i].d;
            if root == 0 { [centre(3), centre(4)] } else { [centre(4), centre(3)] }
        })
        .collect();
    // The discrete motions differ by the error of the rule, the motion does not.
    for k in 0..2 {
        let error = (ends[0][k] - ends[1][k]).norm();
        assert!(error < 1e-5, "body {k}: {error:e}");
    }
}

/// The order of siblings, and the units of length, mass and time, change nothing but roundoff.
#[test]
fn order_of_bodies_and_units_have_no_effect() {
    let arms = |order: [usize; 3]| {
        let mut bodies = vec![solid(&mut Random::new(40), None, Joint::Ball)];
        for seed in order {
            let parent = bodies.len();
            bodies.push(solid(&mut Random::new(41 + seed as u64), Some(0), Joint::Revolute(Vec3(0.0, 1.0, 0.0))));
            bodies.push(solid(&mut Random::new(51 + seed as u64), Some(parent), Joint::Ball));
        }
        Tree::new(bodies)
    };
    let ball = |seed: u64| Quaternion::rotation(vector(&mut Random::new(seed))).array();
    let run = |order: [usize; 3]| {
        let (mut q, mut v) = (ball(60).to_vec(), vec![0.4, -0.3, 0.8]);
        for k in order {
            q.push(0.2 * k as f64);
            q.extend(ball(61 + k as u64));
            v.extend([0.5, 0.1 * k as f64, -0.6, 0.3]);
        }
        let mut motion = Motion::new(MidpointStep::new, arms(order), Vec3(0.0, 0.0, -9.81), Vec::new(), &q, &v);
        (0..100).for_each(|_| motion.step(0.01));
        (0..3).map(|k| motion.q[4 + 5 * order.iter().position(|i| *i == k).unwrap_or(0)]).collect::<Vec<f64>>()
    };
    let error = distance(&run([0, 1, 2]), &run([2, 0, 1]));
    assert!(error < 1e-12, "order: {error:e}");

    // Metres, kilograms and seconds; then millimetres, grams and milliseconds.
    let run = |[length, mass, time]: [f64; 3]| {
        let mut tree = random_tree(&mut Random::new(3), 6, false);
        let (q, v) = start(&mut Random::new(4), &tree, 1.0);
        let slides: Vec<bool> = tree.links.iter().map(|link| matches!(link.body.joint, Joint::Prismatic(_))).collect();
        tree.set(|i, body| {
            body.at = body.at * length;
            body.com = body.com * length;
            body.mass *= mass;
            body.inertia = body.inertia * (mass * length * length);
            let force = if slides[i] { mass } else { mass * length * length };
            body.stiffness *= force / (time * time);
            body.damping *= force / time;
            body.rest *= if slides[i] { length } else { 1.0 };
        });
        let (mut q, mut v) = (q, v);
        for link in &tree.links {
            let unit = if matches!(link.body.joint, Joint::Prismatic(_)) { length } else { 1.0 };
            if link.freedoms == 1 {
                q[link.q] *= unit;
            }
            (link.v..link.v + link.freedoms).for_each(|i| v[i] *= unit / time);
        }
        let gravity = Vec3(0.0, 2.0, -9.81) * (length / (time * time));
        let mut motion = Motion::new(MidpointStep::new, tree, gravity, Vec::new(), &q, &v);
        (0..100).for_each(|_| motion.step(0.01 * time));
        for link in motion.tree.links.iter().filter(|link| matches!(link.body.joint, Joint::Prismatic(_))) {
            motion.q[link.q] /= length;
        }
        motion.q
    };
    let error = distance(&run([1.0; 3]), &run([1e3; 3]));
    assert!(error < 1e-11, "units: {error:e}");
}

#[test]
fn a_hanging_chain_stays_at_rest() {
    let mut motion =
        Motion::new(MidpointStep::new, chain(20), Vec3(0.0, 0.0, -9.81), Vec::new(), &[0.0; 20], &[0.0; 20]);
    (0..100).for_each(|_| motion.step(0.05));
    assert!(motion.q.iter().all(|q| q.abs() < 1e-13), "{:?}", motion.q);
}
