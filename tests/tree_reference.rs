//! Steps on trees against reference numbers of two independent implementations in more than 30 digits.

use carom::Model;
use carom::lab::tree::{Body, Equations, Joint, Mat3, MidpointStep, Quaternion, Rattle, Tree, Vec3};
use carom_tests::reference::{number, numbers};
use carom_tests::tree::distance;
use carom_tests::tree_reference::{Motion, Tie, point, tree};
use serde_json::Value;

fn mechanisms() -> Value {
    serde_json::from_str(include_str!("reference/mechanisms.json")).expect("JSON")
}

fn vec3(value: &Value) -> Vec3 {
    let [x, y, z] = numbers(value).try_into().expect("three numbers");
    Vec3(x, y, z)
}

/// Steps from node to node, and compares each with the file.
fn follow<E: Equations>(motion: &mut Motion<E>, steps: &Value, mut compare: impl FnMut(&mut Motion<E>, &Value)) {
    let (h, mut k) = (number(&steps["h"]), 0);
    for node in steps["nodes"].as_array().expect("nodes") {
        while k < node["k"].as_u64().expect("a number") {
            motion.step(h);
            k += 1;
        }
        compare(motion, node);
    }
}

fn close(what: &str, k: &Value, a: &[f64], b: &Value, tolerance: f64) {
    let error = distance(a, &numbers(b));
    assert!(error < tolerance, "{what} at node {k}: {error:e}");
}

/// Compares the nodes of the models with revolute joints that the file has for a rule.
fn follow_revolute<E: Equations>(rule: fn(&Tree) -> E, key: &str) {
    let all = mechanisms();
    for name in ["planar3", "universal2", "fourbar", "arm"] {
        let model = &all[name];
        let (bodies, Some(steps)) = (&model["bodies"], model.get(key)) else { continue };
        let tie = |value: &Value| match value.get("length") {
            Some(_) => Tie::cord(bodies, value, "point", "anchor"),
            None => {
                let axis = if value["name"] == "loop x" { Vec3(1.0, 0.0, 0.0) } else { Vec3(0.0, 1.0, 0.0) };
                Tie::Join([point(bodies, &value["a"]), point(bodies, &value["b"])], axis)
            }
        };
        let ties = model.get("constraints").and_then(Value::as_array).into_iter().flatten().map(tie).collect();
        let [q, v] = ["q", "v"].map(|key| numbers(&model["start"][key]));
        let mut motion = Motion::new(rule, tree(bodies), vec3(&model["gravity"]), ties, &q, &v);
        follow(&mut motion, steps, |motion, node| {
            let (p, v, g) = motion.projected();
            close(&format!("{name}: q"), &node["k"], &motion.q, &node["q"], 1e-12);
            close(&format!("{name}: p"), &node["k"], &p, &node["p"], 1e-12);
            if let Some(expected) = node.get("v") {
                close(&format!("{name}: v"), &node["k"], &v, expected, 1e-12);
                close(&format!("{name}: lambda"), &node["k"], &motion.lambda, &node["lambda_of_node_before"], 1e-12);
            }
            let error = (motion.energy(&v) - number(&node["energy"])).abs();
            assert!(error < 1e-12, "{name}: energy {error:e}");
            assert!(g < 1e-14, "{name}: |g| = {g:e}");
        });
        println!("{key}, {name}: {} corrections in 100 steps", motion.iterations);
    }
}

#[test]
fn nodes_with_revolute_joints_agree() {
    follow_revolute(MidpointStep::new, "midpoint");
    follow_revolute(Rattle::new, "bodies_rule");
}

fn ball(parent: Option<usize>, at: Vec3, mass: f64, com: Vec3, moments: &[f64]) -> Body {
    let inertia = Mat3::symmetric([moments[0], moments[1], moments[2], 0.0, 0.0, 0.0]);
    Body { at, mass, com, inertia, ..Body::new(parent, Joint::Ball) }
}

#[test]
fn nodes_with_ball_joints_agree() {
    follow_balls(MidpointStep::new, "midpoint");
    follow_balls(Rattle::new, "bodies");
}

fn follow_balls<E: Equations>(rule: fn(&Tree) -> E, key: &str) {
    let all = mechanisms();
    let model = &all["ball2"];
    let part = |key: &str, i: usize| number(&model[key][i]);
    let body = |i: usize| {
        let at = if i == 0 { Vec3::ZERO } else { Vec3(0.0, 0.0, -part("lengths", 0)) };
        let com = Vec3(0.0, 0.0, -part("com_below_joint", i));
        ball(i.checked_sub(1), at, part("masses", i), com, &numbers(&model["inertias"][i]))
    };
    let start = |i: usize| Quaternion::rotation(vec3(&model["rotation_vectors0"][i])).array();
    let v = [numbers(&model["omega0_relative_body"][0]), numbers(&model["omega0_relative_body"][1])].concat();
    let gravity = Vec3(0.0, 0.0, -number(&model["g"]));
    let q = [start(0), start(1)].concat();
    let mut motion = Motion::new(rule, Tree::new(vec![body(0), body(1)]), gravity, Vec::new(), &q, &v);
    follow(&mut motion, &model[key], |motion, node| {
        motion.rotations().iter().enumerate().for_each(|(i, r)| close("R", &node["k"], r, &node["R"][i], 1e-12));
        close("p", &node["k"], &motion.p, &node["p"], 1e-12);
    });
    let racket = &all["racket"];
    let body = ball(None, Vec3::ZERO, 0.3, Vec3::ZERO, &numbers(&racket["inertia"]));
    let top = &all["top"];
    let [transverse, axial] = ["I_transverse_about_com", "I3"].map(|key| number(&top[key]));
    let com = Vec3(0.0, 0.0, number(&top["distance"]));
    let spinning = ball(None, Vec3::ZERO, number(&top["mass"]), com, &[transverse, transverse, axial]);
    let tilt = Quaternion::rotation(Vec3(number(&top["theta0"]), 0.0, 0.0)).array();
    let spin = [0.0, 0.0, number(&top["spin"])];
    let rate = numbers(&racket["omega0"]);
    let cases = [
        (racket, body, Vec3::ZERO, Quaternion::ONE.array(), &rate[..]),
        (top, spinning, Vec3(0.0, 0.0, -number(&top["g"])), tilt, &spin[..]),
    ];
    for (model, body, gravity, q, v) in cases {
        let mut motion = Motion::new(rule, Tree::new(vec![body]), gravity, Vec::new(), &q, v);
        follow(&mut motion, &model[key], |motion, node| {
            close("R", &node["k"], &motion.rotations()[0], &node["R"], 1e-12);
            close("p", &node["k"], &motion.p, &node["p_body"], 1e-12);
        });
    }
}

#[test]
fn the_marionette_follows_its_strings() {
    let model: Value = serde_json::from_str(include_str!("reference/marionette.json")).expect("JSON");
    let bodies = &model["bodies"];
    let ties = || {
        let strings = model["strings"].as_array().expect("strings").iter();
        strings.map(|string| Tie::cord(bodies, string, "hook", "end")).collect()
    };
    let [q, v] = ["q", "v"].map(|key| numbers(&model["start"][key]));
    for key in ["midpoint", "midpoint_long_step"] {
        let mut motion = Motion::new(MidpointStep::new, tree(bodies), vec3(&model["gravity"]), ties(), &q, &v);
        let (mut worst, mut largest): (f64, f64) = (0.0, 0.0);
        follow(&mut motion, &model[key], |motion, node| {
            let (_, v, g) = motion.projected();
            largest = largest.max(g);
            worst = worst.max(distance(&motion.q, &numbers(&node["q"])));
            close("q", &node["k"], &motion.q, &node["q"], 1e-9);
            close("lambda", &node["k"], &motion.lambda, &node["lambda_of_node_before"], 1e-9);
            for (name, place) in node["points"].as_object().expect("points") {
                close(name, &node["k"], &motion.place(point(bodies, &model["points"][name])).array(), place, 1e-9);
            }
            let error = (motion.energy(&v) - number(&node["energy"])).abs();
            assert!(error < 1e-9, "energy {error:e}");
            assert!(g < 1e-14, "|g| = {g:e}");
        });
        println!("{key}: {worst:e}, |g| {largest:e}, {} corrections", motion.iterations);
    }
}

/// The reference nodes of the marionette, from the text of its model through a whole simulation.
#[test]
fn the_model_of_the_marionette_agrees() {
    let file: Value = serde_json::from_str(include_str!("reference/marionette.json")).expect("JSON");
    let model = Model::from_text("marionette.toml", include_str!("reference/marionette.toml"), &[]).expect("a model");
    for (key, h) in [("midpoint", 0.01), ("midpoint_long_step", 0.1)] {
        let simulation = model.simulation().method("midpoint").step(h);
        let simulation = simulation.until(10.0);
        assert!(simulation.prepare().expect("it compiles").is_recursive());
        let run = simulation.run().expect("the run completes");
        let columns =
            |of: &dyn Fn(&str) -> f64| model.system.coordinates.iter().map(|c| of(&c.name)).collect::<Vec<f64>>();
        for node in file[key]["nodes"].as_array().expect("nodes") {
            let k = node["k"].as_u64().expect("a number") as usize;
            let q = columns(&|name| run.q(name).expect("a coordinate")[k]);
            close(&format!("{key}: q"), &node["k"], &q, &node["q"], 1e-9);
        }
    }
    let long = model.simulation().method("midpoint").step(0.1).until(200.0).run().expect("it is stable");
    for coordinate in &model.system.coordinates {
        let v = long.v(&coordinate.name).expect("a coordinate");
        assert!(v.len() == 2001 && v.iter().all(|v| v.abs() < 10.0), "{}", coordinate.name);
    }
}
