//! Mechanisms against reference numbers of 113-bit arithmetic (`reference/mechanisms.json`), and their laws.

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
        for (method, step) in [("gauss6", 0.02), ("midpoint-kahan-li8", 0.005)] {
            let run = run(&model, method, step, 1.0);
            let last = run.t().len() - 1;
            let what = format!("{case}, {method}");
            assert_near(&q_at(&run, &model, last), &numbers(&exact["q"]), 1e-11, &what);
            assert_near(&v_at(&run, &model, last), &numbers(&exact["v"]), 1e-10, &what);
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
            assert_near(&p_at(&nodes, &model, steps(node)), &numbers(&node["p"]), 1e-11, &what);
            assert_near(&v_at(&nodes, &model, steps(node)), &numbers(&node["v"]), 1e-10, &what);
            let lambda: Vec<f64> = rows.iter().map(|row| nodes.lambda(row).expect("a row")[steps(node) - 1]).collect();
            assert_near(&lambda, &numbers(&node["lambda_of_node_before"]), 1e-11, &what);
        }
        let run = run(&model, "gauss4", 0.0025, 1.0);
        let (last, exact) = (run.t().len() - 1, &table["exact"][0]);
        assert_near(&q_at(&run, &model, last), &numbers(&exact["q"]), 1e-11, case);
        assert_near(&v_at(&run, &model, last), &numbers(&exact["v"]), 1e-10, case);
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
    for (case, text, h, fine) in [("racket", racket, 0.01, 0.005), ("top", top, 0.001, 0.001)] {
        let (table, model) = (&reference()[case], model(&format!("{text}{RATES}")));
        let nodes = run(&model, "midpoint", h, 100.0 * h);
        for node in list(&table["midpoint"]["nodes"]) {
            let (k, what) = (steps(node), format!("{case}, node {}", node["k"]));
            assert_near(&attitude(&nodes, "B", k), &numbers(&node["R"]), 1e-12, &what);
            assert_near(&three(&nodes, "mu", k), &numbers(&node["p_body"]), 1e-12, &what);
        }
        for exact in list(&table["exact"]) {
            let t = exact["t"].as_f64().expect("a time");
            let run = run(&model, "gauss4", fine, t);
            let last = run.t().len() - 1;
            assert_near(&attitude(&run, "B", last), &numbers(&exact["R"]), 1e-10, &format!("{case} at {t}"));
            // Relative to the rate at the start: 9/s and 120/s.
            let rate = if case == "top" { 120.0 } else { 9.0 };
            let what = format!("{case} at {t}");
            assert_near(&three(&run, "omega", last), &numbers(&exact["omega"]), 1e-10 * rate, &what);
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
    assert_near(&six(&run, "o", last), &numbers(&exact["omega"]), 1e-10, "rates");
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
    // The same start with B as the root: at q = 0 all axes are parallel, so rates add up and turn round.
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

/// The same mechanism with its bodies in another order, and in other units.
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
