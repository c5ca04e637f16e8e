//! Mechanisms against reference numbers of 113-bit arithmetic (`reference/mechanisms.json`).

use carom::{Model, Trajectory};
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("reference/mechanisms.json")).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn name(value: &Value) -> &str {
    value.as_str().expect("a name")
}

/// A list of the first `count` numbers, as a model has it.
fn entries(value: &Value, count: usize) -> String {
    format!("{:?}", &numbers(value)[..count])
}

/// The bodies of a table of the reference, as a model. In the plane there is only I_zz.
fn bodies(table: &Value, dimension: usize) -> String {
    let mut text =
        format!("[mechanism]\ndimension = {dimension}\ngravity = {}\n", entries(&table["gravity"], dimension));
    for body in list(&table["bodies"]) {
        let of = |key: &str| name(&body[key]);
        text += &format!("[[body]]\nname = \"{}\"\nparent = \"{}\"\n", of("name"), of("parent"));
        text += &format!("joint = \"{}\"\ncoordinate = \"{}\"\n", of("joint"), of("coordinate"));
        text += &format!("at = {}\nmass = {}\n", entries(&body["at"], dimension), body["mass"]);
        text += &format!("com = {}\n", entries(&body["com"], dimension));
        if dimension == 3 {
            text += &format!("axis = {}\ninertia = {}\n", entries(&body["axis"], 3), entries(&body["inertia"], 6));
        } else {
            text += &format!("inertia = {}\n", body["inertia"][2]);
        }
    }
    text + &format!("[initial]\nq = {:?}\nv = {:?}\n", numbers(&table["start"]["q"]), numbers(&table["start"]["v"]))
}

fn model(text: &str) -> Model {
    Model::from_text("model.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

fn run(model: &Model, method: &str, step: f64, until: f64) -> Trajectory {
    let run = model.simulation().method(method).step(step).until(until).run();
    run.unwrap_or_else(|error| panic!("{method}: {error}"))
}

/// A row of the columns that `of` gives for each coordinate of the model.
fn row(model: &Model, k: usize, of: impl Fn(&str) -> Vec<f64>) -> Vec<f64> {
    model.system.coordinates.iter().map(|c| of(&c.name)[k]).collect()
}

fn q_at(run: &Trajectory, model: &Model, k: usize) -> Vec<f64> {
    row(model, k, |name| run.q(name).expect("a coordinate").to_vec())
}

fn v_at(run: &Trajectory, model: &Model, k: usize) -> Vec<f64> {
    row(model, k, |name| run.v(name).expect("a coordinate").to_vec())
}

fn p_at(run: &Trajectory, model: &Model, k: usize) -> Vec<f64> {
    row(model, k, |name| run.p(name).expect("a coordinate").to_vec())
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= tolerance, "{what}: off by {off:e}\n{found:?}\n{expected:?}");
}

/// The rotation matrix of a unit quaternion, by rows.
fn matrix([w, x, y, z]: [f64; 4]) -> [f64; 9] {
    [
        w * w + x * x - y * y - z * z,
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        w * w - x * x + y * y - z * z,
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        w * w - x * x - y * y + z * z,
    ]
}

/// The attitude of a ball joint in row k.
fn attitude(run: &Trajectory, body: &str, k: usize) -> [f64; 9] {
    matrix(["qw", "qx", "qy", "qz"].map(|q| run.q(&format!("{body}.{q}")).expect("a quaternion")[k]))
}

/// Three outputs `name1` to `name3` in row k.
fn three(run: &Trajectory, name: &str, k: usize) -> [f64; 3] {
    [1, 2, 3].map(|i| run.output(&format!("{name}{i}")).expect("an output")[k])
}

fn steps(node: &Value) -> usize {
    node["k"].as_u64().expect("a count") as usize
}

/// Nodes of `midpoint` with h = 0.01 up to 100 steps, and the exact motion by a method of order 12.
#[test]
fn chains_follow_the_reference() {
    for (case, dimension) in [("planar3", 2), ("universal2", 3)] {
        let table = &reference()[case];
        let model = model(&bodies(table, dimension));
        let nodes = run(&model, "midpoint", 0.01, 1.0);
        for node in list(&table["midpoint"]["nodes"]) {
            let what = format!("{case}, node {}", node["k"]);
            assert_near(&q_at(&nodes, &model, steps(node)), &numbers(&node["q"]), 1e-12, &what);
            assert_near(&p_at(&nodes, &model, steps(node)), &numbers(&node["p"]), 1e-12, &what);
        }
        let exact = &table["exact"][0];
        for (method, step) in [("gauss6", 0.01), ("midpoint-kahan-li8", 0.0025)] {
            let run = run(&model, method, step, 1.0);
            let last = run.t().len() - 1;
            let what = format!("{case}, {method}");
            assert_near(&q_at(&run, &model, last), &numbers(&exact["q"]), 1e-11, &what);
            assert_near(&v_at(&run, &model, last), &numbers(&exact["v"]), 1e-11, &what);
        }
    }
}

fn fourbar() -> String {
    bodies(&reference()["fourbar"], 2)
        + "[points]\nB1 = {on = \"coupler\", at = [1.0, 0]}\nB2 = {on = \"rocker\", at = [0.9, 0]}\n\
           [[constraint]]\nname = \"loop\"\njoin = [\"B1\", \"B2\"]\n"
}

/// The hand on a string whose end and length are driven.
fn string_arm() -> String {
    let motion = |value: &Value| {
        format!("{} + {}*(1 - cos({}*t))", value["start"], value["amplitude"], value["omega"]).replace("+ -", "- ")
    };
    let constraint = &reference()["arm"]["constraints"][0];
    let anchor: Vec<String> = list(&constraint["anchor"]).iter().map(motion).collect();
    bodies(&reference()["arm"], 3)
        + &format!(
            "[points]\nhook = {{on = \"hand\", at = {}}}\nend = {anchor:?}\n\
             [[constraint]]\nname = \"string\"\ndistance = [\"hook\", \"end\"]\nlength = \"{}\"\n",
            entries(&constraint["point"]["at"], 3),
            motion(&constraint["length"]),
        )
}

#[test]
fn closed_loops_and_strings_follow_the_reference() {
    for (case, text, rows) in [("fourbar", fourbar(), vec!["loop x", "loop y"]), ("arm", string_arm(), vec!["string"])]
    {
        let (table, model) = (&reference()[case], model(&text));
        let nodes = run(&model, "midpoint", 0.01, 1.0);
        let violated = nodes.outcome().violation.expect("it has constraints");
        assert!(violated.position < 1e-14, "{case}: |g| = {:e}", violated.position);
        for node in list(&table["midpoint"]["nodes"]) {
            let what = format!("{case}, node {}", node["k"]);
            assert_near(&q_at(&nodes, &model, steps(node)), &numbers(&node["q"]), 1e-12, &what);
            assert_near(&p_at(&nodes, &model, steps(node)), &numbers(&node["p"]), 1e-12, &what);
            assert_near(&v_at(&nodes, &model, steps(node)), &numbers(&node["v"]), 1e-12, &what);
            let lambda: Vec<f64> = rows.iter().map(|row| nodes.lambda(row).expect("a row")[steps(node) - 1]).collect();
            assert_near(&lambda, &numbers(&node["lambda_of_node_before"]), 1e-12, &what);
        }
        let run = run(&model, "gauss4", 0.0025, 1.0);
        let (last, exact) = (run.t().len() - 1, &table["exact"][0]);
        assert_near(&q_at(&run, &model, last), &numbers(&exact["q"]), 1e-12, case);
        assert_near(&v_at(&run, &model, last), &numbers(&exact["v"]), 2e-12, case);
    }
}

const RATES: &str = "[outputs]\nomega1 = \"B.omega1\"\nomega2 = \"B.omega2\"\nomega3 = \"B.omega3\"\n\
                     mu1 = \"B.mu1\"\nmu2 = \"B.mu2\"\nmu3 = \"B.mu3\"\n";

/// A free rigid body (Jacobi's functions) and a heavy top (elliptic integrals), by ball joints.
#[test]
fn turning_bodies_follow_the_reference() {
    let racket = "[mechanism]\n[[body]]\nname = \"B\"\njoint = \"ball\"\nmass = 0.34\n\
                  inertia = [0.00121, 0.01639, 0.01748]\n[initial]\nq = {}\nv = {B = {rate = [0.1, 9.0, 0.05]}}\n";
    let top = "[mechanism]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"B\"\njoint = \"ball\"\nmass = 0.5\n\
               com = [0, 0, 0.06]\ninertia = [0.0008, 0.0008, 0.0006]\n\
               [initial]\nq = {B = {rotation = [0.5, 0, 0]}}\nv = {B = {rate = [0, 0, 120]}}\n";
    for (case, text, h, fine) in [("racket", racket, 0.01, ("gauss6", 0.02)), ("top", top, 0.001, ("gauss4", 0.001))] {
        let (table, model) = (&reference()[case], model(&format!("{text}{RATES}")));
        let nodes = run(&model, "midpoint", h, 100.0 * h);
        for node in list(&table["midpoint"]["nodes"]) {
            let (k, what) = (steps(node), format!("{case}, node {}", node["k"]));
            assert_near(&attitude(&nodes, "B", k), &numbers(&node["R"]), 1e-12, &what);
            assert_near(&three(&nodes, "mu", k), &numbers(&node["p_body"]), 1e-12, &what);
        }
        for exact in list(&table["exact"]) {
            let t = exact["t"].as_f64().expect("a time");
            let run = run(&model, fine.0, fine.1, t);
            let last = run.t().len() - 1;
            let what = format!("{case} at {t}");
            // The rates of the racket are 9/s. As it turns over, at t = 0.75, a change of the momentum about its long axis by 1e-17
            // changes them by 2e-11 at t = 2: the roundoff of its momenta, which are 0.3, amounts to 1e-10 there, with any method.
            let [turned, rates] = match case {
                "top" => [2e-11, 5e-11],
                _ if t > 1.0 => [1e-10, 9.0 * 1e-10],
                _ => [1e-11, 1e-11],
            };
            assert_near(&attitude(&run, "B", last), &numbers(&exact["R"]), turned, &what);
            assert_near(&three(&run, "omega", last), &numbers(&exact["omega"]), rates, &what);
        }
    }
}

/// Two links on ball joints.
fn ball2() -> String {
    let table = &reference()["ball2"];
    let of = |key: &str, i: usize| format!("{}", table[key][i]);
    let rate = numbers(&table["omega0_relative_body"][0]);
    let other = numbers(&table["omega0_relative_body"][1]);
    let below = |i: usize| format!("[0, 0, -{}]", of("com_below_joint", i));
    format!(
        "[mechanism]\ngravity = [0, 0, -9.81]\n\
         [[body]]\nname = \"link[1]\"\njoint = \"ball\"\nmass = {}\ncom = {}\ninertia = {}\n\
         [[body]]\nname = \"link[2]\"\nparent = \"link[1]\"\njoint = \"ball\"\nat = [0, 0, -{}]\nmass = {}\ncom = {}\n\
         inertia = {}\n\
         [initial.q]\n\"link[1]\" = {{rotation = {}}}\n\"link[2]\" = {{rotation = {}}}\n\
         [initial.v]\n\"link[1]\" = {{rate = {rate:?}}}\n\"link[2]\" = {{rate = {other:?}}}\n\
         [outputs]\n\"a[i in 1..3]\" = 0\n",
        of("masses", 0),
        below(0),
        of("inertias", 0),
        of("lengths", 0),
        of("masses", 1),
        below(1),
        of("inertias", 1),
        of("rotation_vectors0", 0),
        of("rotation_vectors0", 1),
    )
    .replace(
        "\"a[i in 1..3]\" = 0\n",
        &(1..=2)
            .flat_map(|k| {
                (1..=3).map(move |i| format!("m{k}{i} = \"link[{k}].mu{i}\"\no{k}{i} = \"link[{k}].omega{i}\"\n"))
            })
            .collect::<String>(),
    )
}

#[test]
fn links_on_balls_follow_the_reference() {
    let (table, model) = (&reference()["ball2"], model(&ball2()));
    let six = |run: &Trajectory, letter: &str, k: usize| {
        [three(run, &format!("{letter}1"), k), three(run, &format!("{letter}2"), k)].concat()
    };
    let nodes = run(&model, "midpoint", 0.01, 1.0);
    for node in list(&table["midpoint"]["nodes"]) {
        let (k, what) = (steps(node), format!("node {}", node["k"]));
        for (i, link) in ["link[1]", "link[2]"].into_iter().enumerate() {
            assert_near(&attitude(&nodes, link, k), &numbers(&node["R"][i]), 1e-12, &what);
        }
        assert_near(&six(&nodes, "m", k), &numbers(&node["p"]), 1e-12, &what);
    }
    let run = run(&model, "gauss4", 0.005, 1.0);
    let (last, exact) = (run.t().len() - 1, &table["exact"][0]);
    for (i, link) in ["link[1]", "link[2]"].into_iter().enumerate() {
        assert_near(&attitude(&run, link, last), &numbers(&exact["R"][i]), 1e-11, link);
    }
    assert_near(&six(&run, "o", last), &numbers(&exact["omega"]), 1e-11, "rates");
}
