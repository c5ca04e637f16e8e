//! The plant of trees of bodies against the plant of expressions: everything that a run asks for.

use std::sync::Arc;

use carom::lab::expr::Expr;
use carom::lab::flow::named;
use carom::lab::mechanics::Node;
use carom::lab::mechanism::{
    Attached, Inertia, Kinematics, Link, LinkJoint, Matrix3, Mechanism, Vector, identity, rotation,
};
use carom::lab::phase::Phase;
use carom::lab::plant::{Bodies, Evaluator, Expressions, Plant};
use carom::lab::system::{Constraint, Coordinate, Enforce, Form, Lagrangian, Parameter, System, Wall, time};
use carom_tests::tree::distance;

fn vector(entries: [f64; 3]) -> Vector {
    entries.map(Expr::constant)
}

fn link(parent: Option<usize>, joint: LinkJoint, at: [f64; 3], coordinate: usize) -> Link {
    let zero = Expr::constant(0.0);
    Link {
        parent,
        joint,
        at: vector(at),
        turn: identity(),
        inertia: Inertia { mass: zero, com: vector([0.0; 3]), about_com: [vector([0.0; 3]); 3] },
        stiffness: zero,
        rest: zero,
        damping: zero,
        coordinate,
    }
}

fn solid(mass: Expr, com: [f64; 3], moments: [f64; 3]) -> Inertia {
    let [x, y, z] = moments;
    Inertia {
        mass,
        com: vector(com),
        about_com: [vector([x, 0.01, 0.0]), vector([0.01, y, 0.0]), vector([0.0, 0.0, z])],
    }
}

/// A model with its start.
struct Case {
    name: &'static str,
    system: System,
    outputs: Vec<Expr>,
    sections: Vec<Expr>,
    q: Vec<f64>,
    v: Vec<f64>,
    parameters: Vec<f64>,
}

/// What a case has beside its links.
#[derive(Default)]
struct Extras {
    drive: Option<usize>,
    has_ties: bool,
    has_forces: bool,
}

/// A tree of links with points, walls, outputs and sections; coordinates are q0, q1, …
fn case(name: &'static str, links: Vec<Link>, turned: Option<Matrix3>, q: &[f64], v: &[f64], extras: Extras) -> Case {
    let [m, g] = ["m", "g"].map(Expr::symbol);
    let t = time();
    let mut links = links;
    if let (Some(turn), Some(link)) = (turned, links.get_mut(1)) {
        link.turn = turn;
    }
    let last = links.len() - 1;
    let mut coordinates: Vec<Coordinate> = (0..q.len()).map(|i| Coordinate::new(&format!("q{i}"))).collect();
    if let Some(driven) = extras.drive {
        coordinates[driven].prescribed = Some(0.3 * (2.0 * t).sin() + 0.1);
    }
    let points = vec![
        Attached { name: "tip".into(), link: Some(last), at: vector([0.1, -0.2, 0.4]) },
        Attached { name: "hip".into(), link: Some(0), at: vector([0.3, 0.1, 0.0]) },
        Attached { name: "nail".into(), link: None, at: vector([0.5, 0.0, 1.5]) },
    ];
    let gravity = [Expr::constant(0.0), Expr::constant(0.3), -g];
    let mechanism = Mechanism { dimension: 3, gravity, links, bodies: Vec::new(), points };
    let (qs, vs): (Vec<Expr>, Vec<Expr>) = coordinates.iter().map(|c| (c.q, c.v)).unzip();
    let kinematics = Kinematics::new(&mechanism, &qs, &vs);
    let place = |i: usize| kinematics.pose_of(mechanism.points[i].link).place(mechanism.points[i].at);
    let (tip, hip, nail) = (place(0), place(1), place(2));
    let (kinetic, potential) = (kinematics.kinetic(), kinematics.potential());
    let mut forces = vec![Expr::constant(0.0); qs.len()];
    for link in &mechanism.links {
        let i = link.coordinate;
        forces[i] = forces[i] - link.damping * vs[i];
    }
    let mut added = Expr::constant(0.0);
    if extras.has_forces {
        forces[0] = forces[0] + 0.4 * t.cos() - 0.2 * tip[0] * vs[0];
        added = 0.7 * (tip[0] - hip[1] + 0.1 * t).squared();
    }
    let wall = |name: &str, phi: Expr| Wall { name: name.into(), phi, restitution: Expr::constant(0.7) };
    let mut constraints = Vec::new();
    if extras.has_ties {
        let square = |x: Expr| x.squared();
        let way: Expr =
            (0..3).map(|k| square(tip[k] - nail[k] - if k == 0 { 0.05 * t.sin() } else { Expr::constant(0.0) })).sum();
        // Its length is set below, so that the start is on it.
        let length = Expr::symbol("length");
        constraints.push(Constraint {
            name: "string".into(),
            g: (way - length.squared()) / 2.0,
            enforce: Enforce::OnePoint,
            form: Form::Function,
        });
    }
    for (i, link) in mechanism.links.iter().enumerate().filter(|(_, link)| link.joint == LinkJoint::Ball) {
        let g: Expr = (0..4).map(|k| qs[link.coordinate + k].squared()).sum();
        constraints.push(Constraint {
            name: String::new(),
            g: g - 1.0,
            enforce: Enforce::OnePoint,
            form: Form::Unit(i),
        });
    }
    let parameter = |name: &str, value: f64| Parameter { name: name.into(), symbol: Expr::symbol(name), value };
    let mut parameters = vec![parameter("m", 1.3), parameter("g", 9.81), parameter("length", 1.0)];
    let values = |parameters: &[Parameter], fs: &[Expr]| {
        let mut at: Vec<(Expr, f64)> = parameters.iter().map(|p| (p.symbol, p.value)).collect();
        at.extend(qs.iter().copied().zip(q.iter().copied()).chain([(t, 0.0)]));
        carom::lab::expr::eval(fs, &at)
    };
    let way: Vec<f64> = values(&parameters, &(0..3).map(|k| tip[k] - nail[k]).collect::<Vec<_>>());
    parameters[2].value = way.iter().map(|x| x * x).sum::<f64>().sqrt();
    // The gaps are small at the start.
    let phis = [tip[2] + 0.1 * t, (tip[0] - 2.0).squared() + tip[1].squared() - hip[2] * qs[0], qs[0] + 0.0];
    let gaps = values(&parameters, &phis);
    let walls = ["floor", "ball", "limit"].iter().zip(phis).zip(gaps);
    let walls = walls.map(|((name, phi), gap)| wall(name, phi - gap + 1e-3)).collect();
    let system = System {
        lagrangian: Lagrangian { l: kinetic - potential - added, parts: Some((kinetic, potential + added)) },
        walls,
        constraints,
        forces,
        function: None,
        coordinates,
        mechanism: Some(Arc::new(mechanism)),
        parameters,
    };
    let parameters = system.parameters.iter().map(|p| p.value).collect();
    let outputs = vec![tip[0] * hip[1], vs[0] + m * t, tip[2]];
    Case { name, outputs, sections: vec![tip[1] - 0.1], q: q.to_vec(), v: v.to_vec(), parameters, system }
}

fn cases() -> Vec<Case> {
    let m = Expr::symbol("m");
    let number = Expr::constant;
    let axis = |entries: [f64; 3]| vector(entries);
    let arm = |extras: Extras, name: &'static str| {
        let mut links = vec![
            link(None, LinkJoint::Revolute(axis([0.0, 0.0, 1.0])), [0.1, 0.0, 0.2], 0),
            link(Some(0), LinkJoint::Revolute(axis([0.0, 1.0, 0.0])), [0.5, 0.0, 0.0], 1),
            link(Some(1), LinkJoint::Prismatic(axis([0.6, 0.0, 0.8])), [0.0, 0.1, -0.4], 2),
            link(Some(2), LinkJoint::Revolute(axis([1.0, 0.0, 0.0])), [0.0, 0.0, 0.3], 3),
        ];
        links[1].inertia = solid(m, [0.2, 0.0, -0.1], [0.05, 0.06, 0.03]);
        links[2].inertia = solid(number(0.8), [0.0, 0.1, 0.0], [0.02, 0.03, 0.04]);
        links[3].inertia = solid(number(0.5), [0.0, -0.2, 0.1], [0.02, 0.02, 0.01]);
        (links[1].stiffness, links[1].rest, links[1].damping) = (number(3.0), number(0.2), number(0.1));
        links[2].stiffness = number(20.0);
        links[3].damping = number(0.05);
        let turn = rotation(vector([0.3, -0.2, 0.5]));
        case(name, links, Some(turn), &[0.1, 0.4, 0.05, -0.7], &[0.6, -0.4, 0.2, 1.1], extras)
    };
    let balls = {
        let mut links = vec![
            link(None, LinkJoint::Ball, [0.0, 0.0, 0.1], 0),
            link(Some(0), LinkJoint::Revolute(axis([0.0, 1.0, 0.0])), [0.0, 0.0, -0.6], 4),
            link(Some(1), LinkJoint::Ball, [0.0, 0.0, -0.4], 5),
        ];
        links[0].inertia = solid(m, [0.0, 0.0, -0.3], [0.05, 0.06, 0.03]);
        links[1].inertia = solid(number(0.6), [0.0, 0.05, -0.2], [0.02, 0.03, 0.02]);
        links[2].inertia = solid(number(0.8), [0.0, 0.1, -0.2], [0.03, 0.03, 0.04]);
        let (a, b) = ([0.5, 0.5, -0.5, 0.5], [0.8, 0.0, 0.6, 0.0]);
        let rate = |q: [f64; 4], w: [f64; 3]| {
            let ([qw, qx, qy, qz], [x, y, z]) = (q, w);
            [-qx * x - qy * y - qz * z, qw * x + qy * z - qz * y, qw * y + qz * x - qx * z, qw * z + qx * y - qy * x]
                .map(|rate| rate / 2.0)
        };
        let q = [&a[..], &[0.3], &b].concat();
        let v = [&rate(a, [0.4, -0.7, 1.5])[..], &[0.5], &rate(b, [1.0, 0.5, -2.0])].concat();
        case("balls", links, None, &q, &v, Extras::default())
    };
    vec![
        arm(Extras::default(), "arm"),
        arm(Extras { drive: Some(0), ..Extras::default() }, "driven arm"),
        arm(Extras { has_ties: true, ..Extras::default() }, "arm on a string"),
        arm(Extras { has_forces: true, ..Extras::default() }, "pushed arm"),
        balls,
    ]
}

/// Both plants of a case, with the start as a phase point.
struct Pair {
    plants: [Box<dyn Plant>; 2],
    evaluators: [Box<dyn Evaluator>; 2],
    z: Phase,
}

fn pair(case: &Case) -> Pair {
    let graph = Expressions::new(&case.system, &case.outputs, &case.sections).expect("the graph compiles");
    let bodies = Bodies::new(&case.system, &case.outputs, &case.sections).expect("the bodies compile");
    let plants: [Box<dyn Plant>; 2] = [Box::new(graph), Box::new(bodies)];
    let mut evaluators = [plants[0].evaluator(), plants[1].evaluator()];
    evaluators.iter_mut().for_each(|evaluator| evaluator.set_parameters(&case.parameters));
    let momenta = carom::lab::expr::grad(case.system.lagrangian.l, &case.system.v());
    let mut at: Vec<(Expr, f64)> = case.system.parameters.iter().map(|p| (p.symbol, p.value)).collect();
    let (mut q, mut v) = (case.q.clone(), case.v.clone());
    for (i, coordinate) in case.system.coordinates.iter().enumerate() {
        if coordinate.prescribed.is_some() {
            (q[i], v[i]) = (0.1, 0.6);
        }
    }
    at.extend(case.system.q().into_iter().zip(q.iter().copied()));
    at.extend(case.system.v().into_iter().zip(v.iter().copied()));
    at.push((time(), 0.0));
    let p = carom::lab::expr::eval(&momenta, &at);
    let mut z = evaluators[0].free_phase(0.0, &q, &p);
    assert_eq!(z, evaluators[1].free_phase(0.0, &q, &p));
    evaluators[0].project(&mut z).expect("the constraints are independent");
    Pair { plants, evaluators, z }
}

fn close(what: &str, a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{what}: {a} on the graph, {b} on the bodies");
}

/// Removes the parts along unit quaternions.
fn tangential(case: &Case, q: &[f64], gradient: &mut [f64]) {
    for link in case.system.mechanism.iter().flat_map(|m| &m.links).filter(|link| link.joint == LinkJoint::Ball) {
        let range = link.coordinate..link.coordinate + 4;
        let along: f64 = gradient[range.clone()].iter().zip(&q[range.clone()]).map(|(g, q)| g * q).sum();
        gradient[range.clone()].iter_mut().zip(&q[range]).for_each(|(g, q)| *g -= along * q);
    }
}

/// The constraints that users see: the graph also has those of unit quaternions, after them.
fn compare(name: &str, case: &Case, evaluators: &mut [Box<dyn Evaluator>; 2], z: &Phase) {
    let [graph, bodies] = evaluators;
    let lists = |what: &str, a: &[f64], b: &[f64]| {
        let error = distance(a, b);
        assert!(error < 1e-11, "{name}: {what} differ by {error:e}: {a:?}, {b:?}");
    };
    lists(
        "velocities",
        graph.velocity(z).expect("the state is regular"),
        bodies.velocity(z).expect("the state is regular"),
    );
    lists("roots of the inverse mass", &graph.roots_of_inverse_mass(z), &bodies.roots_of_inverse_mass(z));
    close(
        &format!("{name}: H"),
        graph.hamiltonian(z).expect("the state is regular"),
        bodies.hamiltonian(z).expect("the state is regular"),
        1e-13,
    );
    close(
        &format!("{name}: E"),
        graph.energy(z).expect("the state is regular"),
        bodies.energy(z).expect("the state is regular"),
        1e-13,
    );
    let [a, b] = [
        graph.hamiltonian_and_power(z).expect("the state is regular"),
        bodies.hamiltonian_and_power(z).expect("the state is regular"),
    ];
    close(&format!("{name}: p·v"), a.1, b.1, 1e-13);
    lists("restitutions", graph.restitution(), bodies.restitution());
    let n = z.q().len();
    for wall in 0..case.system.walls.len() {
        let what = format!("{name}: {}", case.system.walls[wall].name);
        let [(phi, rate), (phi_b, rate_b)] = [
            graph.gap_and_rate(wall, z).expect("the state is regular"),
            bodies.gap_and_rate(wall, z).expect("the state is regular"),
        ];
        close(&format!("{what}: φ"), phi, phi_b, 1e-13);
        close(&format!("{what}: φ̇"), rate, rate_b, 1e-12);
        let (mut normal, mut normal_b) = (vec![0.0; n], vec![0.0; n]);
        let [phi_t, phi_t_b] = [graph.normal(wall, z, &mut normal), bodies.normal(wall, z, &mut normal_b)];
        close(&format!("{what}: φ_t"), phi_t, phi_t_b, 1e-12);
        // Along a unit quaternion a gradient has no meaning.
        tangential(case, z.q(), &mut normal);
        lists("gradients", &normal, &normal_b);
        assert!(
            bodies.size_of_rate(wall, z).expect("the state is regular") > 0.0
                && bodies.size_of_gap(wall, z, &vec![0.0; n]).expect("the state is regular") > 0.0
        );
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let walls: Vec<usize> = (0..case.system.walls.len()).collect();
    let [size, size_b] = [
        graph.accelerations(z, &walls, &mut a).expect("the state is regular"),
        bodies.accelerations(z, &walls, &mut b).expect("the state is regular"),
    ];
    lists("accelerations of walls", &a, &b);
    close(&format!("{name}: √(a·Ma)"), size, size_b, 1e-11);
    let [a, b] = [graph.power(z).expect("the state is regular"), bodies.power(z).expect("the state is regular")];
    close(&format!("{name}: power of forces"), a.forces, b.forces, 1e-12);
    close(&format!("{name}: power of drives"), a.drives, b.drives, 1e-12);
    let stated = case.system.stated_constraints().len();
    if stated == case.system.constraints.len() {
        let [a, b] = [
            graph.power_of_constraints(z).expect("the state is regular"),
            bodies.power_of_constraints(z).expect("the state is regular"),
        ];
        close(&format!("{name}: power of constraints"), a, b, 1e-11);
        let [a, b] =
            [graph.violation(z).expect("the state is regular"), bodies.violation(z).expect("the state is regular")];
        close(&format!("{name}: |g|"), a.position, b.position, 1e-13);
        close(&format!("{name}: |dg/dt|"), a.rate, b.rate, 1e-13);
        let a = graph.reaction(z).expect("the state is regular");
        let b = bodies.reaction(z).expect("the state is regular");
        lists("multipliers", a.multipliers, b.multipliers);
        lists("forces of constraints", a.force, b.force);
    }
    lists(
        "sections",
        graph.sections(z).expect("the state is regular"),
        bodies.sections(z).expect("the state is regular"),
    );
    let (mut node, mut node_b) = (Node::default(), Node::default());
    graph.node(z, &mut node);
    bodies.node(z, &mut node_b);
    for (what, a, b) in [("q", &node.q, &node_b.q), ("v", &node.v, &node_b.v), ("p", &node.p, &node_b.p)] {
        lists(what, a, b);
    }
    lists("outputs", &node.outputs, &node_b.outputs);
}

#[test]
fn the_two_plants_say_the_same_of_a_state() {
    for case in cases() {
        let Pair { mut evaluators, z, .. } = pair(&case);
        compare(case.name, &case, &mut evaluators, &z);
    }
}

#[test]
fn the_two_plants_make_the_same_steps() {
    let h = 0.01;
    for case in cases() {
        for (method, tolerance) in [("midpoint", [1e-13, 1e-12]), ("midpoint-suzuki4", [1e-12, 1e-11])] {
            let Pair { plants, mut evaluators, z } = pair(&case);
            let kind = named(method, None).expect("a flow");
            let mut flows = plants.each_ref().map(|plant| plant.flow(&kind).expect("the flow compiles"));
            let mut states = [z.clone(), z.clone()];
            for k in 1..=100 {
                for (flow, state) in flows.iter_mut().zip(&mut states) {
                    flow.set_parameters(&case.parameters);
                    let mut next = state.clone();
                    flow.step(state, h, &mut next).expect("the step has a solution");
                    *state = next;
                }
                let error = distance(&states[0].z, &states[1].z);
                let limit = if k <= 10 { tolerance[0] } else { tolerance[1] };
                assert!(error < limit, "{}, {method}, step {k}: {error:e}", case.name);
            }
            let stated = case.system.stated_constraints().len();
            let impulses = flows.each_ref().map(|flow| flow.impulses().expect("impulses").clone());
            let errors = [
                distance(&impulses[0].start[..stated], &impulses[1].start),
                distance(&impulses[0].end[..stated], &impulses[1].end),
            ];
            assert!(errors.iter().all(|error| *error < 1e-11), "{}, {method}: impulses {errors:?}", case.name);
            if let Some(b) = flows[1].discrete() {
                let a = flows[0].discrete().expect("variational");
                close(&format!("{}: L_d", case.name), a.action, b.action, 1e-12);
                close(&format!("{}: −D₃L_d", case.name), a.energy, b.energy, 1e-10);
            }
            compare(&format!("{} after 100 steps", case.name), &case, &mut evaluators, &states[1]);
        }
    }
}

#[test]
fn walls_hold_on_both_plants_alike() {
    for case in cases() {
        let Pair { plants, mut evaluators, z } = pair(&case);
        let kind = named("midpoint", None).expect("a flow");
        // The limit is one of the driven coordinate.
        let with_limit: &[usize] = if case.name == "driven arm" || case.name == "balls" { &[0, 1] } else { &[0, 2] };
        for walls in [&[0][..], &[1], with_limit] {
            let mut contacts =
                plants.each_ref().map(|plant| plant.contact(&kind, walls).expect("the contact compiles"));
            contacts.iter_mut().for_each(|contact| contact.set_parameters(&case.parameters));
            let mut states = [z.clone(), z.clone()];
            // Expressions take one correction; the start is off by 1e-3.
            for (contact, state) in contacts.iter_mut().zip(&mut states) {
                (0..3).for_each(|_| assert!(contact.settle(state).is_ok(), "the walls are near"));
            }
            for state in &states {
                for &wall in walls {
                    let gap = evaluators[0].gap_and_rate(wall, state).expect("the state is regular").0;
                    assert!(gap.abs() < 1e-13, "{}, walls {walls:?}: {gap:e} from the wall", case.name);
                }
            }
            // From one and the same state.
            let state = states[1].clone();
            let forces = contacts.each_mut().map(|contact| contact.forces(&state).expect("forces").to_vec());
            let error = distance(&forces[0], &forces[1]);
            assert!(error < 1e-9, "{}, walls {walls:?}: forces differ by {error:e}: {forces:?}", case.name);
            let powers = contacts.each_mut().map(|contact| contact.power(&state).expect("power"));
            close(&format!("{}: power of walls", case.name), powers[0], powers[1], 1e-9);
            let ends = contacts.each_mut().map(|contact| {
                let (mut from, mut to) = (state.clone(), state.clone());
                for _ in 0..10 {
                    contact.flow().step(&from, 0.01, &mut to).expect("the step has a solution");
                    std::mem::swap(&mut from, &mut to);
                }
                from
            });
            let error = distance(&ends[0].z, &ends[1].z);
            assert!(error < 1e-10, "{}, walls {walls:?}: steps differ by {error:e}", case.name);
        }
    }
}
