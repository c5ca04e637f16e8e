//! Trees of bodies: each formula against differences, on random trees with all joints.

use carom::lab::tree::{
    Articulated, Body, BodyPoint, Equations, Force, Joint, Mat3, MidpointStep, Over, Planar, PlanarRattle, Quaternion,
    Rattle, Tree, Vec3, move_by, pull,
};
use carom_tests::Random;
use carom_tests::tree::{Sample, differences, distance, moved, numbers, pose, random_tree, sample, vector};

/// So many random trees for each law.
const TREES: u64 = 40;

/// Calls a law with random trees, with and without driven joints.
fn on_random_trees(mut law: impl FnMut(&mut Random, &Sample, &str)) {
    for seed in 1..=TREES {
        let mut random = Random::new(seed);
        let n = 1 + random.below(9);
        let tree = random_tree(&mut random, n, seed % 2 == 0);
        let sample = sample(&mut random, tree);
        law(&mut random, &sample, &format!("tree {seed} with {n} bodies"));
    }
}

/// p = M v, with the momentum of the drives.
fn momenta(tree: &Tree, sample: &Sample, v: &[f64]) -> Vec<f64> {
    let mut p = vec![0.0; tree.freedoms];
    let mut sums = vec![Force::default(); tree.links.len()];
    pose(tree, &sample.around, &sample.q, v).momenta(tree, &mut sums, &mut p);
    p
}

/// T and V.
fn energies(sample: &Sample, q: &[f64], v: &[f64]) -> (f64, f64) {
    let pose = pose(&sample.tree, &sample.around, q, v);
    (pose.kinetic(), pose.potential(&sample.tree, &sample.around) + sample.tree.spring_energy(q))
}

#[test]
fn momenta_are_derivatives_of_the_kinetic_energy() {
    on_random_trees(|_, sample, name| {
        let Sample { tree, q, v, .. } = sample;
        let slopes = differences(tree.freedoms, 1e-3, |change| {
            let v: Vec<f64> = v.iter().zip(change).map(|(v, x)| v + x).collect();
            energies(sample, q, &v).0
        });
        let error = distance(&slopes, &momenta(tree, sample, v));
        assert!(error < 1e-9, "{name}: {error:e}");
    });
}

#[test]
fn articulated_bodies_invert_the_mass_matrix() {
    on_random_trees(|_, sample, name| {
        let Sample { tree, around, q, v } = sample;
        let at_rest = vec![0.0; tree.freedoms];
        let driven = momenta(tree, sample, &at_rest);
        let mut x: Vec<f64> = momenta(tree, sample, v).iter().zip(&driven).map(|(p, p_driven)| p - p_driven).collect();
        let mut factors = Articulated::new(tree);
        let pose = pose(tree, around, q, v);
        factors.factor(tree, &pose).expect("every chain ends with mass");
        factors.solve(tree, &pose, &mut x);
        let error = distance(&x, v);
        assert!(error < 1e-11, "{name}: {error:e}");
    });
}

#[test]
fn a_chain_that_ends_without_mass_is_named() {
    let mut random = Random::new(7);
    let mut tree = random_tree(&mut random, 5, false);
    let last = tree.links.len() - 1;
    tree.set(|i, body| {
        if i == last {
            (body.mass, body.inertia) = (0.0, Default::default());
        }
    });
    let sample = sample(&mut random, tree);
    let pose = pose(&sample.tree, &sample.around, &sample.q, &sample.v);
    assert_eq!(Articulated::new(&sample.tree).factor(&sample.tree, &pose), Err(last));
}

/// The rate of the momentum of a subtree about a fixed point, projected on the joint, is the force of weight, springs, dampers and
/// the user.
#[test]
fn accelerations_obey_newton_and_euler() {
    on_random_trees(|random, sample, name| {
        let Sample { tree, around, q, v } = sample;
        let force = numbers(random, tree.freedoms, 2.0);
        let now = pose(tree, around, q, v);
        let (mut factors, mut a) = (Articulated::new(tree), vec![0.0; tree.freedoms]);
        factors.factor(tree, &now).expect("every chain ends with mass");
        factors.accelerations(tree, &now, around, (q, v), &force, &mut a);
        let pose_at = |tau: f64| {
            let change: Vec<f64> = v.iter().zip(&a).map(|(v, a)| tau * v + 0.5 * tau * tau * a).collect();
            let rates: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + tau * a).collect();
            let mut around = around.clone();
            for drive in &mut around.drives {
                drive.q += tau * drive.v + 0.5 * tau * tau * drive.a;
                drive.v += tau * drive.a;
            }
            pose(tree, &around, &moved(tree, q, &change), &rates)
        };
        // The momenta of all subtrees at time τ, about the joints of now.
        let momenta_at = |tau: f64| {
            let then = pose_at(tau);
            let mut sums: Vec<Force> =
                (0..tree.links.len()).map(|i| then.bodies[i].momentum.back(then.bodies[i].p)).collect();
            for (i, link) in tree.links.iter().enumerate().rev() {
                if let Some(parent) = link.body.parent {
                    let child = sums[i];
                    sums[parent] += child;
                }
            }
            (0..sums.len()).map(|i| sums[i].back(-now.bodies[i].p)).collect::<Vec<Force>>()
        };
        let tau = 1e-5;
        let (before, after) = (momenta_at(-tau), momenta_at(tau));
        let mut weights = vec![Force::default(); tree.links.len()];
        for (i, link) in tree.links.iter().enumerate().rev() {
            let f = around.gravity * link.body.mass;
            weights[i] += Force { n: now.bodies[i].d.cross(f), f };
            if let Some(parent) = link.body.parent {
                let child = weights[i].back(now.bodies[i].r);
                weights[parent] += child;
            }
        }
        for (i, link) in tree.links.iter().enumerate().filter(|(_, link)| link.freedoms > 0) {
            let rate = (after[i] - before[i]) * (0.5 / tau) - weights[i];
            let demand = now.bodies[i].project(link.body.joint, rate).array();
            for k in 0..link.freedoms {
                let body = &link.body;
                let own = match link.freedoms {
                    1 => -body.stiffness * (q[link.q] - body.rest) - body.damping * v[link.v],
                    _ => 0.0,
                };
                let error = (demand[k] - own - force[link.v + k]).abs();
                assert!(error < 1e-6, "{name}, body {i}: {error:e}");
            }
        }
        // A point: the difference of its velocity.
        let body = tree.links.len() - 1;
        let point = BodyPoint { body: Some(body), at: vector(random) };
        let velocity_at = |tau: f64| point.velocity(&pose_at(tau));
        let difference = (velocity_at(tau) - velocity_at(-tau)) * (0.5 / tau);
        let x = point.place(&now);
        let acceleration = factors.point_accelerations(tree, &now, around, &a)(body, x);
        let error = (acceleration - difference).norm();
        assert!(error < 1e-6, "{name}, point: {error:e}");
    });
}

#[test]
fn gradients_are_pulled_up_the_chains() {
    on_random_trees(|random, sample, name| {
        let Sample { tree, around, q, v } = sample;
        let (point, f) = (BodyPoint { body: Some(random.below(tree.links.len())), at: vector(random) }, vector(random));
        let now = pose(tree, around, q, v);
        let mut gradient = vec![0.0; tree.freedoms];
        pull(tree, &now, point.body, point.place(&now), f, &mut gradient);
        let slopes = differences(tree.freedoms, 1e-5, |change| {
            f.dot(point.place(&pose(tree, around, &moved(tree, q, change), v)))
        });
        let error = distance(&gradient, &slopes);
        assert!(error < 1e-9, "{name}: {error:e}");
        if tree.drives == 0 {
            let rate: f64 = gradient.iter().zip(v).map(|(g, v)| g * v).sum();
            let error = (rate - f.dot(point.velocity(&now))).abs();
            assert!(error < 1e-13, "{name}: rate {error:e}");
        }
    });
}

/// A step that moves by u.
struct Step<'a> {
    sample: &'a Sample,
    p0: Vec<f64>,
    u: Vec<f64>,
    h: f64,
}

impl Step<'_> {
    fn from<'a>(&'a self, q: &'a [f64]) -> Over<'a> {
        let around = &self.sample.around;
        Over { q, p: &self.p0, h: self.h, t: 0.0, around: [around, around, around] }
    }

    fn over(&self) -> Over<'_> {
        self.from(&self.sample.q)
    }

    fn residual(&self, rule: &mut dyn Equations, q0: &[f64], u: &[f64]) -> Vec<f64> {
        let mut r = vec![0.0; u.len()];
        rule.residual(&self.sample.tree, self.from(q0), &mut |_, _| {}, u, &mut r);
        r
    }
}

fn rules(tree: &Tree) -> [(&'static str, Box<dyn Equations>); 2] {
    [("midpoint", Box::new(MidpointStep::new(tree))), ("bodies", Box::new(Rattle::new(tree)))]
}

fn on_random_steps(mut law: impl FnMut(&mut Random, &Step, &mut dyn Equations, &str)) {
    on_random_trees(|random, sample, name| {
        for (rule_name, mut rule) in rules(&sample.tree) {
            let (p0, u) = (numbers(random, sample.tree.freedoms, 1.0), numbers(random, sample.tree.freedoms, 0.5));
            law(random, &Step { sample, p0, u, h: 0.2 }, &mut *rule, &format!("{rule_name}, {name}"));
        }
    });
}

/// Newton's matrix: J⁻¹(Jδ) = δ, with Jδ by central differences.
#[test]
fn the_elimination_inverts_newtons_matrix() {
    on_random_steps(|random, step, rule, name| {
        let Sample { tree, q, .. } = step.sample;
        let delta = numbers(random, tree.freedoms, 1.0);
        let at = |rule: &mut dyn Equations, x: f64| {
            let u: Vec<f64> = step.u.iter().zip(&delta).map(|(u, d)| u + x * d).collect();
            step.residual(rule, q, &u)
        };
        let (after, before) = (at(rule, 1e-6), at(rule, -1e-6));
        let mut x: Vec<f64> = after.iter().zip(&before).map(|(a, b)| (a - b) / 2e-6).collect();
        step.residual(rule, q, &step.u);
        rule.factor(tree, step.over(), &step.u).expect("the matrix is regular");
        rule.apply_inverse(tree, &mut x);
        let error = distance(&x, &delta);
        assert!(error < 1e-7, "{name}: {error:e}");
    });
}

/// The u of the step from q0 to q1.
fn between(tree: &Tree, q0: &[f64], q1: &[f64]) -> Vec<f64> {
    let mut u = vec![0.0; tree.freedoms];
    for link in &tree.links {
        match link.freedoms {
            0 => {}
            1 => u[link.v] = q1[link.q] - q0[link.q],
            _ => {
                // C² = (1 − σ², 2σ)/(1 + σ²), so σ = v/(1 + w).
                let (start, end) = (Quaternion::read(&q0[link.q..]), Quaternion::read(&q1[link.q..]));
                let back = Quaternion { w: start.w, v: -start.v };
                let turn = back * end;
                let sigma = turn.v * (1.0 / (1.0 + turn.w));
                u[link.v..link.v + 3].copy_from_slice(&(sigma * 4.0).array());
            }
        }
    }
    u
}

/// r = p0 + D₁L_d + f⁻ and p1 = D₂L_d + f⁺, where dampers share their force between f⁻ and f⁺; and −D₃L_d, by differences.
#[test]
fn residual_and_momenta_are_the_slot_derivatives_of_the_discrete_lagrangian() {
    on_random_steps(|_, step, rule, name| {
        let Sample { tree, q, .. } = step.sample;
        let (h, u) = (step.h, &step.u);
        let mut q1 = vec![0.0; tree.coordinates];
        move_by(tree, q, u, &mut q1);
        let rule = std::cell::RefCell::new(rule);
        let l_d = |q0: &[f64], q1: &[f64], h: f64| {
            let step = Step { sample: step.sample, p0: step.p0.clone(), u: between(tree, q0, q1), h };
            let mut rule = rule.borrow_mut();
            step.residual(&mut **rule, q0, &step.u);
            rule.discrete(tree, step.from(q0)).0
        };
        let d1 = differences(tree.freedoms, 1e-5, |change| l_d(&moved(tree, q, change), &q1, h));
        let d2 = differences(tree.freedoms, 1e-5, |change| l_d(q, &moved(tree, &q1, change), h));
        let d3 = differences(1, 1e-5, |change| l_d(q, &q1, h + change[0]));
        let mut rule = rule.borrow_mut();
        let r = step.residual(&mut **rule, q, u);
        let mut p1 = vec![0.0; tree.freedoms];
        rule.momenta(tree, h, u, &vec![0.0; tree.freedoms], &mut p1);
        for link in tree.links.iter() {
            for i in link.v..link.v + link.freedoms {
                let damper = -0.5 * link.body.damping * u[i];
                let errors = [r[i] - step.p0[i] - d1[i] - damper, p1[i] - d2[i] - damper];
                assert!(errors.iter().all(|error| error.abs() < 1e-8), "{name}, freedom {i}: {errors:?}");
            }
        }
        if tree.drives == 0 {
            let energy = rule.discrete(tree, step.over()).1;
            let error = (energy + d3[0]).abs() / (1.0 + energy.abs());
            assert!(error < 1e-7, "{name}, −D₃L_d: {error:e}");
        }
    });
}

#[test]
fn places_of_points_on_the_ground_are_fixed() {
    let mut random = Random::new(3);
    let tree = random_tree(&mut random, 3, false);
    let sample = sample(&mut random, tree);
    let pose = pose(&sample.tree, &sample.around, &sample.q, &sample.v);
    let point = BodyPoint { body: None, at: Vec3(1.0, 2.0, 3.0) };
    assert_eq!((point.place(&pose), point.velocity(&pose)), (point.at, Vec3::ZERO));
}

/// A random tree in the plane: hinges about ±z and slides, turned frames, springs, dampers and drives.
fn planar_tree(random: &mut Random, n: usize) -> Tree {
    let flat = |x: Vec3| Vec3(x.0, x.1, 0.0);
    let mut tree: Vec<Body> = Vec::new();
    for i in 0..n {
        let direction = random.between(0.0, 6.0);
        let joint = match random.below(3) {
            0 => Joint::Prismatic(Vec3(direction.cos(), direction.sin(), 0.0)),
            1 => Joint::Revolute(Vec3(0.0, 0.0, -1.0)),
            _ => Joint::Revolute(Vec3(0.0, 0.0, 1.0)),
        };
        tree.push(Body {
            at: flat(vector(random)),
            turn: Mat3::rotation(Vec3(0.0, 0.0, random.between(-2.0, 2.0))),
            com: flat(vector(random)),
            mass: random.between(0.5, 2.0),
            inertia: Mat3::symmetric([0.0, 0.0, random.between(0.1, 1.0), 0.0, 0.0, 0.0]),
            stiffness: random.between(0.0, 3.0),
            damping: random.between(0.0, 0.5),
            is_driven: i > 0 && random.below(5) == 0,
            ..Body::new(i.checked_sub(1 + random.below(2)), joint)
        });
    }
    Tree::new(tree)
}

#[test]
fn the_kernel_of_the_plane_is_that_of_space() {
    for seed in 1..=TREES {
        let mut random = Random::new(seed);
        let n = 1 + random.below(9);
        let tree = planar_tree(&mut random, n);
        let mut sample = sample(&mut random, tree);
        sample.around.gravity.2 = 0.0;
        let tree = &sample.tree;
        let step = Step {
            p0: numbers(&mut random, tree.freedoms, 1.0),
            u: numbers(&mut random, tree.freedoms, 0.3),
            h: 0.1,
            sample: &sample,
        };
        let rules: [[&mut dyn Equations; 2]; 2] = [
            [&mut MidpointStep::new(tree), &mut Planar::new(tree)],
            [&mut Rattle::new(tree), &mut PlanarRattle::new(tree)],
        ];
        let delta = numbers(&mut random, tree.freedoms, 1.0);
        for (pair, name) in rules.into_iter().zip(["midpoint", "bodies"]) {
            let all = pair.map(|rule| {
                let r = step.residual(rule, &sample.q, &step.u);
                rule.factor(tree, step.over(), &step.u).expect("regular");
                let (mut x, mut p1) = (delta.clone(), vec![0.0; tree.freedoms]);
                rule.apply_inverse(tree, &mut x);
                rule.momenta(tree, step.h, &step.u, &r, &mut p1);
                let (action, energy) = rule.discrete(tree, step.over());
                [r, x, p1, vec![action, energy]].concat()
            });
            let error = distance(&all[0], &all[1]);
            assert!(error < 1e-11, "{name}, tree {seed} with {n} bodies: {error:e}");
        }
    }
}
