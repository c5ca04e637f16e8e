//! Laws of mechanisms: momentum, choice of the root, order of the bodies, units, ways to write the same thing, impacts.

use carom::lab::flow::named;
use carom::lab::plant::{Bodies, Plant};
use carom::{Model, Trajectory};

fn model(text: &str) -> Model {
    Model::from_text("model.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

fn run(model: &Model, method: &str, step: f64, until: f64) -> Trajectory {
    let run = model.simulation().method(method).step(step).until(until).run();
    run.unwrap_or_else(|error| panic!("{method}: {error}"))
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= tolerance, "{what}: off by {off:e}\n{found:?}\n{expected:?}");
}

/// A tree that nothing holds keeps its momentum, whatever its root: a pair of bodies on a ball joint, once with the one as root
/// and once with the other. (The nodes of a method depend on the coordinates, and so on the root; the motion does not.)
#[test]
fn floating_trees_keep_their_momenta_and_do_not_know_their_root() {
    let pair = |root: &str, child: &str, at: [f64; 3], by: [f64; 3]| {
        let body = |name: &str, rest: String| {
            let (mass, com, inertia) = if name == "A" {
                (1.2, "[0.1, 0, -0.3]", "[0.05, 0.052, 0.01]")
            } else {
                (0.8, "[0, 0.05, 0.2]", "[0.02, 0.021, 0.004]")
            };
            format!("[[body]]\nname = \"{name}\"\nmass = {mass}\ncom = {com}\ninertia = {inertia}\n{rest}")
        };
        // The joint is at `at` of the root; the frame of the child has its origin there, and its body `by` further.
        format!(
            "[mechanism]\n{}{}[[body]]\nname = \"J\"\njoint = \"ball\"\nparent = \"{root}\"\nat = {at:?}\n",
            body(root, "joint = \"free\"\n".into()),
            ""
        ) + &body(child, format!("joint = \"fixed\"\nparent = \"J\"\nat = {by:?}\n"))
            + "[points]\na = {on = \"A\", at = [0.3, 0.1, 0.2]}\nb = {on = \"B\", at = [0, 0.4, 0.1]}\n"
    };
    // Both meet at (0, 0, −0.6) of A and (0, 0, 0.1) of B.
    let one = pair("A", "B", [0.0, 0.0, -0.6], [0.0, 0.0, -0.1])
        + "[initial.v]\nA = {velocity = [0.3, -0.2, 0.1], rate = [1, 0.5, -2]}\nJ = {rate = [-0.5, 1.5, 1]}\n[initial.q]\n";
    // This start, written with B as the root: at q = 0 all axes are parallel, so rates add up and change their sign.
    let omega = [1.0 - 0.5, 0.5 + 1.5, -2.0 + 1.0];
    // The origin of B is at (0, 0, −0.7) of A, 0.1 below the joint.
    let joint = [0.3 + 0.5 * -0.6, -0.2 + 0.6, 0.1];
    let origin = [joint[0] + omega[1] * -0.1, joint[1] + omega[0] * 0.1, joint[2]];
    let other = pair("B", "A", [0.0, 0.0, 0.1], [0.0, 0.0, 0.6])
        + &format!(
            "[initial.v]\nB = {{velocity = {origin:?}, rate = {omega:?}}}\nJ = {{rate = [0.5, -1.5, -1]}}\n[initial.q]\nB = {{position = [0, 0, -0.7]}}\n"
        );
    let points = "[outputs]\nax = \"a.x\"\nay = \"a.y\"\naz = \"a.z\"\nbx = \"b.x\"\nby = \"b.y\"\nbz = \"b.z\"\n";
    let ends: Vec<Vec<f64>> = [one, other]
        .into_iter()
        .map(|text| {
            let model = model(&format!("{text}{points}"));
            let run = run(&model, "midpoint-kahan-li8", 0.02, 1.0);
            let last = run.t().len() - 1;
            for axis in ["x", "y", "z"] {
                let root = if text.contains(
                    "name = \"A\"\nmass = 1.2\ncom = [0.1, 0, -0.3]\ninertia = [0.05, 0.052, 0.01]\njoint = \"free\"",
                ) {
                    "A"
                } else {
                    "B"
                };
                let p = run.p(&format!("{root}.{axis}")).expect("a momentum");
                let drift = p.iter().map(|x| (x - p[0]).abs()).fold(0.0, f64::max);
                assert!(drift < 1e-12, "p along {axis} drifts by {drift:e}");
            }
            ["ax", "ay", "az", "bx", "by", "bz"].map(|name| run.output(name).expect("an output")[last]).to_vec()
        })
        .collect();
    assert_near(&ends[0], &ends[1], 1e-11, "the other root");
}

/// Another order of the bodies, or other units, give the same motion.
#[test]
fn order_of_bodies_and_units_do_not_matter() {
    let body = |name: &str, rest: &str, unit: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\n{rest}\nmass = 2\ncom = [{}, 0]\ninertia = {}\n",
            0.3 * unit,
            0.05 * unit * unit
        )
    };
    let text = |order: [usize; 3], unit: f64| {
        let at = format!("at = [{}, 0]", 0.6 * unit);
        let all = [
            body("a", "", unit),
            body("b", &format!("parent = \"a\"\n{at}"), unit),
            body("c", &format!("parent = \"a\"\nat = [0, {}]\ndamping = {}", 0.2 * unit, 0.3 * unit * unit), unit),
        ];
        let bodies: String = order.iter().map(|&i| all[i].as_str()).collect();
        format!(
            "[mechanism]\ndimension = 2\ngravity = [0, {}]\n{bodies}[initial]\nq = {{a = 0.3, b = 1, c = -0.5}}\nv = {{a = 1, c = 2}}\n",
            -9.81 * unit
        )
    };
    let end = |text: String| {
        let model = model(&text);
        let run = run(&model, "midpoint", 0.01, 1.0);
        ["a", "b", "c"].map(|name| *run.q(name).expect("a coordinate").last().expect("a row"))
    };
    let first = end(text([0, 1, 2], 1.0));
    assert_near(&end(text([0, 2, 1], 1.0)), &first, 1e-12, "another order");
    assert_near(&end(text([0, 1, 2], 1000.0)), &first, 1e-11, "millimetres");
}

/// All ways to write the start and a component mean the same.
#[test]
fn components_can_be_written_in_three_ways() {
    let bodies =
        "[mechanism]\ngravity = [0, 0, -1]\n[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 2\ninertia = [1, 1, 1]\n";
    let starts = [
        "[initial.q]\nB.x = 0.5\nB.z = 1\n[initial.v]\nB.y = 2\n",
        "[initial.q]\nB = {x = 0.5, z = 1}\n[initial.v]\nB = {y = 2}\n",
        "[initial.q]\n\"B.x\" = 0.5\n\"B.z\" = 1\n[initial.v]\n\"B.y\" = 2\n",
        "[initial.q]\nB = {position = [0.5, 0, 1]}\n[initial.v]\nB = {velocity = [0, 2, 0]}\n",
        "[initial]\nq = [0.5, 0, 1, 1, 0, 0, 0]\nv = [0, 2, 0, 0, 0, 0, 0]\n",
    ];
    for start in starts {
        let start = model(&format!("{bodies}{start}")).start().expect("a start");
        assert_eq!(start.q, [0.5, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(start.p, [0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
    let settings = ["initial.q.B.x=0.25".to_string(), "initial.q[2]=3".to_string()];
    let set = Model::from_text("model.toml", &format!("{bodies}{}", starts[0]), &settings).expect("a model");
    assert_eq!(set.start().expect("a start").q[..3], [0.25, 0.0, 3.0]);
    // Of both quaternions of an attitude, that with w ≥ 0 starts, and v turns with it.
    let turned =
        model(&format!("{bodies}[initial.q]\nB = {{rotation = [0, 0, 4]}}\n[initial.v]\nB = {{rate = [0, 0, 1]}}\n"));
    let start = turned.start().expect("a start");
    assert!(start.q[3] > 0.0 && (start.p[3] - 2.0 * -start.q[6]).abs() < 1e-15, "{start:?}");
}

/// A torque in body axes does the work τ·ω; a damper between points takes energy, a spring gives it back.
#[test]
fn torques_and_springs_do_their_work() {
    let text = "[mechanism]\n[[body]]\nname = \"B\"\njoint = \"ball\"\nmass = 1\ninertia = [1, 2, 2.5]\n[forces]\nB = [0, 0, 3]\n[initial]\nq = {}\n[outputs]\nmu3 = \"B.mu3\"\n";
    let turned = run(&model(text), "midpoint", 0.01, 1.0);
    // About a principal axis: dμ/dt = τ.
    assert!((turned.output("mu3").expect("an output").last().expect("a row") - 3.0).abs() < 1e-12);
    let text = "[mechanism]\ndimension = 2\n[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 2\ninertia = 1\n[points]\nhere = [0, 0]\n\
                there = {on = \"B\", at = [0, 0]}\n[[spring]]\nbetween = [\"here\", \"there\"]\nstiffness = 18\nlength = 1\n[initial]\nq = {B.x = 1.1}\n";
    let swung = run(&model(&text.replace("{B.x = 1.1}", "{\"B.x\" = 1.1}")), "gauss4", 0.01, 1.0);
    // Along the line: x = 1 + 0.1 cos 3t.
    assert!((swung.q("B.x").expect("x").last().expect("a row") - (1.0 + 0.1 * 3.0f64.cos())).abs() < 1e-12);
    let damped = text.replace("length = 1", "length = 1\ndamping = 4").replace("{B.x = 1.1}", "{\"B.x\" = 1.1}");
    let swung = run(&model(&damped), "gauss4", 0.01, 1.0);
    // Damped by e^{−t}: ω² = 9 − 1.
    let omega = 8.0f64.sqrt();
    let due = 1.0 + 0.1 * (-1.0f64).exp() * (omega.cos() + omega.sin() / omega);
    assert!((swung.q("B.x").expect("x").last().expect("a row") - due).abs() < 1e-12);
}

/// n links of a repeated body are the chain that one writes by hand.
#[test]
fn a_repeated_body_is_a_chain() {
    let repeated = "[parameters]\nn = 3\n[mechanism]\ndimension = 2\ngravity = [0, -9.81]\n[[body]]\nname = \"link[1..n]\"\nparent = \"link[i-1]\"\nat = [\"min(i-1, 1)\", 0]\n\
                    mass = \"1/i\"\ncom = [0.5, 0]\ninertia = 0.1\n[points]\n\"tip[i]\" = {on = \"link[i]\", at = [1, 0]}\n[outputs]\nx = \"tip[3].x\"\ny = \"tip[3].y'\"\n\
                    [initial]\nq = {\"link[i in 1..n]\" = \"0.1*i\"}\n";
    let mut written = "[mechanism]\ndimension = 2\ngravity = [0, -9.81]\n".to_string();
    for i in 1..=3 {
        let parent = if i == 1 { "ground".into() } else { format!("link[{}]", i - 1) };
        written += &format!(
            "[[body]]\nname = \"link[{i}]\"\nparent = \"{parent}\"\nat = [{}, 0]\nmass = \"1/{i}\"\ncom = [0.5, 0]\ninertia = 0.1\n",
            (i - 1).min(1)
        );
    }
    written += "[points]\ntip = {on = \"link[3]\", at = [1, 0]}\n[outputs]\nx = \"tip.x\"\ny = \"tip.y'\"\n[initial]\nq = [0.1, 0.2, 0.3]\n";
    let ends: Vec<Vec<f64>> = [repeated, &written]
        .map(|text| {
            let model = model(text);
            let run = run(&model, "midpoint", 0.01, 0.5);
            ["x", "y"].map(|name| *run.output(name).expect("an output").last().expect("a row")).to_vec()
        })
        .into();
    assert_near(&ends[0], &ends[1], 1e-13, "by hand");
}

/// The floor, a sphere and the limits of joints stop a body, and the energy is that of the restitution.
#[test]
fn bodies_hit_planes_spheres_and_limits() {
    let ball = "[mechanism]\ngravity = [0, 0, -10]\n[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 2\ninertia = [1, 1, 1]\n[points]\nc = {on = \"B\"}\n";
    let floor = "[[contact]]\nname = \"floor\"\npoints = \"c\"\nradius = 0.5\nplane = {through = [0, 0, -1], normal = [0, 0, 2]}\nrestitution = 0.5\n[initial]\nq = {\"B.z\" = 0.75}\n";
    let fallen = run(&model(&format!("{ball}{floor}")), "midpoint", 0.01, 0.6);
    // The centre falls by 1.25 m to z = −0.5 in 0.5 s.
    assert!((fallen.impacts()[0].minus.t - 0.5).abs() < 1e-12);
    assert_eq!(fallen.wall(&fallen.impacts()[0]), "floor: c");
    assert!((fallen.impacts()[0].lambda - 2.0 * 1.5 * 5.0).abs() < 1e-11);
    let sphere = "[[contact]]\npoints = \"c\"\nsphere = {center = [0, 0, 0], radius = 1}\n[initial]\nq = {}\n";
    let fallen = run(&model(&format!("{ball}{sphere}")), "midpoint", 0.01, 0.5);
    assert!((fallen.impacts()[0].minus.t - 0.2f64.sqrt()).abs() < 1e-12);
    let door = "[mechanism]\n[[body]]\nname = \"door\"\nmass = 1\ninertia = [1, 1, 1]\nlimits = [-1, \"0.5\"]\nrestitution = 0.25\n[initial]\nq = {}\nv = {door = 1}\n";
    let shut = run(&model(door), "midpoint", 0.01, 2.0);
    assert_eq!(shut.wall(&shut.impacts()[0]), "door high");
    assert!((shut.impacts()[0].plus.v[0] + 0.25).abs() < 1e-12);
}

/// −D₃L_d of a step is the energy up to O(h²), for every rule with a recursive kernel, in the plane and in space.
#[test]
fn steps_on_trees_know_their_discrete_energy() {
    for (dimension, places) in
        [(2, ["[0, -1]", "[0.2, -0.5]", "0.1"]), (3, ["[0, 0, -1]", "[0.2, 0, -0.5]", "[0.1, 0.1, 0.05]"])]
    {
        let [at, com, inertia] = places;
        let gravity = if dimension == 2 { "[0, -9.81]" } else { "[0, 0, -9.81]" };
        let body = |name: &str, rest: &str| {
            format!("[[body]]\nname = \"{name}\"\nmass = 1\ncom = {com}\ninertia = {inertia}\nstiffness = 3\n{rest}")
        };
        let second = format!("parent = \"a\"\nat = {at}\n");
        let text = format!(
            "[mechanism]\ndimension = {dimension}\ngravity = {gravity}\n{}{}",
            body("a", ""),
            body("b", &second)
        ) + "[initial.q]\na = 0.5\nb = -0.3\n[initial.v]\na = 1\nb = -2\n";
        let model = model(&text);
        let plant = Bodies::new(&model.system, &[], &[]).expect("the kernel applies");
        let (start, mut evaluator) = (model.start().expect("a start"), plant.evaluator());
        let z = evaluator.free_phase(0.0, &start.q, &start.p);
        let energy = evaluator.energy(&z).expect("an energy");
        for rule in ["midpoint", "bodies", "midpoint-suzuki4", "midpoint-kahan-li8"] {
            let kind = named(rule, None).expect("a flow");
            let [long, short] = [0.02, 0.01].map(|h| {
                let (mut flow, mut end) = (plant.flow(&kind).expect("it has a kernel"), z.clone());
                flow.step(&z, h, &mut end).expect("a step");
                (flow.discrete().expect("an energy").energy - energy).abs()
            });
            assert!(long < 0.1, "{rule}, dimension {dimension}: {long:e} of {energy}");
            assert!(short < long / 3.5 || short < 1e-11, "{rule}, dimension {dimension}: {long:e}, then {short:e}");
        }
    }
}

/// `bodies` says what in a model with bodies has no recursive kernel.
#[test]
fn bodies_says_why_it_does_not_apply() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\nV = \"0\"\n[mechanism]\n[[body]]\nname = \"a\"\nmass = 1\n\
                com = [0, 1, 0]\ninertia = [1, 1, 1]\n[initial]\nq = {x = 1}\n";
    let refused = model(text).simulation().method("bodies").step(0.1).until(1.0).run();
    let error = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("coordinates that belong to no body"), "{error}");
}

/// A floating tree at rest falls as one body: its joints stay where they are, even on a limit, where neither the wall nor the motion
/// presses. What is left of the forces there is roundoff. One joint runs on expressions, three run on kernels.
#[test]
fn floating_trees_fall_with_their_joints_on_their_limits() {
    let link = |i: usize, limits: &str| {
        let parent = if i == 0 { "base".to_string() } else { format!("l{}", i - 1) };
        let (x, mass) = (0.1 * (i as f64 + 1.3), 0.7 + 0.4 * i as f64);
        format!(
            "[[body]]\nname = \"l{i}\"\nparent = \"{parent}\"\naxis = [{x}, 1, 0.3]\nat = [{x}, -0.2, 0.37]\nturn = [0.3, {x}, 0.1]\n\
             mass = {mass}\ncom = [0.05, {x}, -0.12]\ninertia = [0.03, 0.05, 0.04]\nlimits = {limits}\n"
        )
    };
    for limits in ["[0, 1.5]", "[-1, 0]", "[-1, 1]"] {
        for (links, restitution) in [(1, 1.0), (1, 0.5), (3, 1.0), (3, 0.0)] {
            let base = "[mechanism]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"base\"\njoint = \"free\"\nmass = 3.1\n\
                        com = [0.09, -0.08, -0.17]\ninertia = [0.08, 0.06, 0.1]\n";
            let joints: String =
                (0..links).map(|i| link(i, limits) + &format!("restitution = {restitution}\n")).collect();
            let model = model(&format!("{base}{joints}[initial.q]\n[initial.v]\n[run]\nuntil = 1.0\n"));
            let what = format!("{links} links, limits {limits}, e = {restitution}");
            let run = model.simulation().run().unwrap_or_else(|error| panic!("{what}: {error}"));
            // The momenta are about 40.
            let largest = run.impacts().iter().map(|impact| impact.lambda.abs()).fold(0.0, f64::max);
            assert!(largest < 1e-13, "{what}: an impulse of {largest:e}");
            let q = run.at(1.0).unwrap_or_else(|error| panic!("{what}: {error}")).q;
            assert!((q[2] + 0.5 * 9.81).abs() < 1e-8, "{what}: {}", q[2]);
            assert!(q[7..].iter().all(|angle| angle.abs() < 1e-11), "{what}: {:?}", &q[7..]);
        }
    }
}

/// The start of a closed loop is found from afar, in any units, and from where nothing tells which way an elbow bends.
#[test]
fn starts_are_moved_onto_loops_from_afar() {
    let arm = |links: usize, length: f64, mass: f64, post: f64, q: &[f64]| {
        let link = |i: usize| {
            let parent = if i == 0 { String::new() } else { format!("parent = \"l{}\"\nat = [{length}, 0]\n", i - 1) };
            let (com, inertia) = (0.5 * length, 0.01 * mass * length * length);
            format!("[[body]]\nname = \"l{i}\"\nmass = {mass}\ncom = [{com}, 0]\ninertia = {inertia}\n{parent}")
        };
        let start: Vec<String> = q.iter().enumerate().map(|(i, q)| format!("l{i} = {q}")).collect();
        let last = links - 1;
        format!(
            "[mechanism]\ndimension = 2\n{}[points]\ntip = {{on = \"l{last}\", at = [{length}, 0]}}\npost = [{}, 0]\n\
             [[constraint]]\nname = \"loop\"\njoin = [\"tip\", \"post\"]\n[initial]\nproject = true\nq = {{{}}}\n",
            (0..links).map(link).collect::<String>(),
            post * length,
            start.join(", ")
        )
    };
    let many: Vec<f64> = (0..12).map(|i| 0.1 * f64::from(i)).collect();
    let starts =
        [(1.5, vec![0.0, 1.0]), (1.5, vec![0.0, 1.4]), (1.5, vec![0.0, 3.1]), (1.5, vec![0.0, 0.0]), (3.0, many)];
    for (post, q) in starts {
        for (length, mass) in [(1.0, 1.0), (1e3, 1e-6), (1e-4, 1e5)] {
            let what = format!("post at {post}, from {q:?}, links of {length} and {mass}");
            let start =
                model(&arm(q.len(), length, mass, post, &q)).start().unwrap_or_else(|error| panic!("{what}: {error}"));
            let (mut angle, mut tip) = (0.0, [0.0, 0.0]);
            for q in &start.q {
                angle += q;
                tip = [tip[0] + f64::cos(angle), tip[1] + f64::sin(angle)];
            }
            assert_near(&tip, &[post, 0.0], 1e-12, &what);
        }
    }
}
