//! Trees of bodies for tests: random ones, and differences along their freedoms.

use carom::lab::tree::{Body, Drive, Joint, Mat3, Pose, Quaternion, Surroundings, Tree, Vec3};

use crate::Random;

/// A tree with its surroundings and a state.
pub struct Sample {
    /// The tree.
    pub tree: Tree,
    /// Gravity and drives.
    pub around: Surroundings,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Rates of the freedoms.
    pub v: Vec<f64>,
}

/// A vector with entries between −1 and 1.
pub fn vector(random: &mut Random) -> Vec3 {
    Vec3(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-1.0, 1.0))
}

fn unit(random: &mut Random) -> Vec3 {
    let a = vector(random);
    a * (1.0 / a.norm())
}

/// A list of numbers between −size and size.
pub fn numbers(random: &mut Random, count: usize, size: f64) -> Vec<f64> {
    (0..count).map(|_| random.between(-size, size)).collect()
}

/// A random tree of n bodies with all joints, turned frames, springs and dampers, massless bodies inside, and driven joints if
/// `has_drives`.
pub fn random_tree(random: &mut Random, n: usize, has_drives: bool) -> Tree {
    let mut bodies: Vec<Body> = Vec::new();
    for i in 0..n {
        let parent = if i == 0 || random.below(6) == 0 { None } else { Some(i - 1 - random.below(i.min(3))) };
        let joint = match random.below(4) {
            0 => Joint::Ball,
            1 => Joint::Prismatic(unit(random)),
            _ => Joint::Revolute(unit(random)),
        };
        let mut body = Body::new(parent, joint);
        body.at = vector(random);
        body.turn = Mat3::rotation(vector(random));
        if joint != Joint::Ball {
            body.is_driven = has_drives && random.below(4) == 0;
            body.stiffness = random.between(0.0, 3.0);
            body.rest = random.between(-1.0, 1.0);
            body.damping = random.between(0.0, 0.5);
        }
        bodies.push(body);
    }
    for i in 0..n {
        let has_children = bodies.iter().any(|body| body.parent == Some(i));
        if !has_children || random.below(4) != 0 {
            let (masses, turn) = (vector(random), Mat3::rotation(vector(random)));
            // The second moments of three pairs of points: an inertia that a body can have.
            let square = |x: f64| 0.1 + x * x;
            let (x, y, z) = (square(masses.0), square(masses.1), square(masses.2));
            let moments = Mat3(Vec3(y + z, 0.0, 0.0), Vec3(0.0, z + x, 0.0), Vec3(0.0, 0.0, x + y));
            bodies[i].mass = random.between(0.5, 2.0);
            bodies[i].com = vector(random);
            bodies[i].inertia = turn * moments * turn.transpose();
        }
    }
    Tree::new(bodies)
}

/// A random state of a tree.
pub fn sample(random: &mut Random, tree: Tree) -> Sample {
    let mut q = numbers(random, tree.coordinates, 1.0);
    for link in tree.links.iter().filter(|link| link.freedoms == 3) {
        let turned = Quaternion::rotation(vector(random));
        q[link.q..link.q + 4].copy_from_slice(&turned.array());
    }
    let v = numbers(random, tree.freedoms, 1.0);
    let drive = |random: &mut Random| {
        let x = vector(random);
        Drive { q: x.0, v: x.1, a: x.2 }
    };
    let drives = (0..tree.drives).map(|_| drive(random)).collect();
    Sample { around: Surroundings { gravity: vector(random) * 9.0, drives }, tree, q, v }
}

/// q moved by a small change of each freedom; balls turn in body axes.
pub fn moved(tree: &Tree, q: &[f64], change: &[f64]) -> Vec<f64> {
    let mut moved = q.to_vec();
    for link in &tree.links {
        match link.freedoms {
            0 => {}
            1 => moved[link.q] += change[link.v],
            _ => {
                let by = Vec3(change[link.v], change[link.v + 1], change[link.v + 2]);
                let turned = Quaternion::read(&q[link.q..]) * Quaternion::rotation(by);
                moved[link.q..link.q + 4].copy_from_slice(&turned.array());
            }
        }
    }
    moved
}

/// The pose of a state.
pub fn pose(tree: &Tree, around: &Surroundings, q: &[f64], v: &[f64]) -> Pose {
    let mut pose = Pose::new(tree);
    pose.place(tree, around, q, v);
    pose
}

/// The central difference of a function along each freedom.
pub fn differences(count: usize, step: f64, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut change = vec![0.0; count];
    let mut slope = |i: usize| {
        let mut at = |x: f64| {
            change[i] = x;
            f(&change)
        };
        let slope = (at(step) - at(-step)) / (2.0 * step);
        change[i] = 0.0;
        slope
    };
    (0..count).map(&mut slope).collect()
}

/// The largest difference of two lists.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
