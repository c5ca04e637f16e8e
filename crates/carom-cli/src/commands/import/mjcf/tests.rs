//! Imported models against MuJoCo itself: `tests/mjcf/reference.json`, made by `tests/mjcf/reference.py`.

use carom::{Model, Trajectory};
use serde_json::Value;

fn text_of(name: &str, text: &str) -> String {
    super::super::model(&format!("{name}.xml"), text, false).unwrap_or_else(|error| panic!("{error}"))
}

fn read(text: &str) -> Model {
    Model::from_text("model.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

const FILES: [(&str, &str); 3] = [
    ("arm", include_str!("../../../../tests/mjcf/arm.xml")),
    ("free", include_str!("../../../../tests/mjcf/free.xml")),
    ("loop", include_str!("../../../../tests/mjcf/loop.xml")),
];

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../../tests/mjcf/reference.json")).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn run(model: &Model, until: f64) -> Trajectory {
    let run = model.simulation().method("midpoint-kahan-li8").step(0.001).until(until).run();
    run.unwrap_or_else(|error| panic!("{error}"))
}

fn largest(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The state of MuJoCo as carom has it: counted from the reference, quaternions with the sign of another state.
fn converted(qpos: &[f64], qpos0: &[f64], like: &[f64], model: &Model) -> Vec<f64> {
    let names: Vec<&str> = model.system.coordinates.iter().map(|c| c.name.as_str()).collect();
    let mut q = qpos.to_vec();
    for (i, name) in names.iter().enumerate() {
        if !name.contains('.') {
            q[i] -= qpos0[i];
        }
        if name.ends_with(".qw") {
            let same: f64 = (i..i + 4).map(|k| q[k] * like[k]).sum();
            q[i..i + 4].iter_mut().for_each(|x| *x *= same.signum());
        }
    }
    q
}

/// Masses, places, energies and motions: what moves depends on every number of the file.
#[test]
fn imported_models_move_as_in_mujoco() {
    for (name, file) in FILES {
        let due = &reference()[name];
        let mut text = text_of(name, file);
        text += "[outputs]\n";
        let sites = due["sites"].as_object().expect("sites");
        for site in sites.keys() {
            text += &["x", "y", "z"].map(|axis| format!("out_{site}_{axis} = \"{site}.{axis}\"\n")).concat();
        }
        let model = read(&text);
        let (start, qpos0) = (model.start().expect("it starts"), numbers(&due["qpos0"]));
        let q0 = converted(&numbers(&due["start"]), &qpos0, &start.q, &model);
        let has_loops = due["end"].is_null();
        if has_loops {
            // The wheel is put where the equality asks for it.
            assert!(largest(&start.q, &q0) < 0.2, "{name}");
            let moved = model.simulation().method("midpoint").step(0.01).until(0.2).run().expect("a run");
            assert!(moved.outcome().violation.expect("it has loops").position < 1e-12);
            continue;
        }
        assert!(largest(&start.q, &q0) < 1e-15, "{name}: {:?}, not {q0:?}", start.q);
        let run = run(&model, 0.02);
        let energy = due["energy"].as_f64().expect("a number");
        assert!((run.energy()[0] - energy).abs() < 1e-12 * energy.abs(), "{name}: {}, not {energy}", run.energy()[0]);
        for (site, place) in sites {
            let found = ["x", "y", "z"].map(|axis| run.output(&format!("out_{site}_{axis}")).expect("an output")[0]);
            assert!(largest(&found, &numbers(place)) < 1e-14, "{name}, {site}: {found:?}, not {place}");
        }
        let end = converted(&numbers(&due["end"]), &qpos0, &run.outcome().last.q, &model);
        let off = largest(&run.outcome().last.q, &end);
        // MuJoCo took 200 steps of RK4.
        assert!(off < 1e-10, "{name}: off by {off:e}");
    }
}

const FOUR_BAR: &str = include_str!("../../../../tests/mjcf/four-bar.xml");

/// The four-bar with ends that are not in one plane.
fn offset() -> String {
    let with_sites = FOUR_BAR
        .replace("<joint name=\"coupler\"", "<site name='p' pos='0.5 0 0.2'/><joint name=\"coupler\"")
        .replace("<joint name=\"rocker\"", "<site name='q' pos='0.1 0.05 0.4'/><joint name=\"rocker\"");
    with_sites.replace("body1=\"coupler\" body2=\"rocker\" anchor=\"0.5 0 0.2\"", "site1='p' site2='q'")
}

/// The ends of a loop in a plane meet in all three directions, wherever the plane is and whatever carries it.
#[test]
fn loops_in_a_plane_run_and_close() {
    let inside = |frame: &str, rest: &str| {
        let open = format!("<worldbody><body name='frame' {frame}>{rest}");
        FOUR_BAR.replace("<worldbody>", &open).replace("</worldbody>", "</body></worldbody>")
    };
    let cases = [
        ("in the plane y = 0", FOUR_BAR.to_string(), 2),
        ("tilted", inside("pos='1 2 3' euler='0.3 0.4 0.5'", ""), 2),
        ("carried by a free body", inside("euler='0.3 0.4 0.5'", "<freejoint/><geom size='0.3'/>"), 2),
        ("with axes to six digits", FOUR_BAR.replace("0 -1 0", "0.000001 -1 0"), 2),
        ("with an offset", offset(), 2),
        (
            "with a slide",
            FOUR_BAR.replace("name=\"rocker\" axis=\"0 -1 0\"", "name=\"rocker\" type=\"slide\" axis=\"1 0 0.5\""),
            2,
        ),
        (
            "with slides alone",
            FOUR_BAR
                .replace("0 1 0\"", "0.3 0 1\" type=\"slide\"")
                .replace("axis=\"0 -1 0\"", "axis=\"0.3 0 1\" type=\"slide\""),
            1,
        ),
        ("in space", FOUR_BAR.replace("0 -1 0", "0.1 -1 0"), 3),
        (
            "welded",
            FOUR_BAR
                .replace(
                    "<body name=\"rocker\"",
                    "<body name='foot' pos='0.8 0 0'><joint axis='0 1 0'/><geom size='0.1'/><body name=\"rocker\"",
                )
                .replace("0.6 0 0", "-0.2 0 0.1")
                .replace("</worldbody>", "</body></worldbody>")
                .replace("<connect", "<weld"),
            3,
        ),
    ];
    for (name, file, rows) in cases {
        let mut text = text_of(name, &file);
        text += "[outputs]\n";
        text += &["x", "y", "z"].map(|axis| format!("off_{axis} = \"tie1_a.{axis} - tie1_b.{axis}\"\n")).concat();
        let model = read(&text);
        let constraints = model.system.stated_constraints();
        assert_eq!(constraints.len(), rows, "{name}: {:?}", constraints.iter().map(|c| &c.name).collect::<Vec<_>>());
        assert_eq!(text.contains("# Left out: the equation"), name != "in space", "{name}:\n{text}");
        if name == "in space" {
            continue;
        }
        let run = model.simulation().method("midpoint").step(0.01).until(0.3).run();
        let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
        let moved = largest(&run.outcome().last.q, &model.start().expect("it starts").q);
        assert!(moved > 0.01, "{name}: moved by {moved}");
        let few_digits = if name.contains("digits") { 1e-5 } else { 1e-12 };
        for axis in ["x", "y", "z"] {
            let off = run.output(&format!("off_{axis}")).expect("an output").iter().fold(0.0f64, |a, b| a.max(b.abs()));
            assert!(off < few_digits, "{name}: open by {off:e} along {axis}");
        }
    }
}

#[test]
fn what_is_left_out_is_listed() {
    let text = text_of("loop", FILES[2].1);
    for part in
        ["actuator (1)", "connect that is not active", "contacts of 7 geoms", "`other half` is called `other_half`"]
    {
        assert!(text.contains(part), "nothing is said of {part} in\n{text}");
    }
    for part in [
        "the equation y of equality 1, which the joints of its loop cannot break",
        "an offset of 0.050 in equality 1, which the joints of its loop cannot close",
    ] {
        let text = text_of("four-bar", &offset());
        assert!(text.contains(part), "nothing is said of {part} in\n{text}");
    }
    let text = text_of("arm", FILES[0].1);
    for part in ["the keyframe other", "the reference 0.1 of slide"] {
        assert!(text.contains(part), "nothing is said of {part} in\n{text}");
    }
}

#[test]
fn balls_have_no_springs_limits_or_dampers_here() {
    let text = text_of(
        "ball",
        "<mujoco><worldbody><body><joint name='b' type='ball' damping='1' stiffness='2' range='0 1' armature='3' frictionloss='4'/>\
         <geom size='1'/></body></worldbody></mujoco>",
    );
    assert!(text.contains("# Left out: friction, limits, damping, stiffness, armature of b."), "{text}");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let inside = |body: &str| format!("<mujoco><worldbody>{body}</worldbody></mujoco>");
    let cases = [
        ("<mujoco/>".to_string(), "no body has a joint"),
        ("<mujoco><include file='a.xml'/></mujoco>".into(), "include"),
        ("<mujoco><compiler angle='turn'/></mujoco>".into(), "unknown `angle`"),
        ("<mujoco><compiler coordinate='global'/></mujoco>".into(), "global"),
        (inside("<joint/>"), "the world has no joint"),
        (inside("<body><joint/></body>"), "has no mass"),
        (inside("<body><joint type='screw'/><geom size='1'/></body>"), "screw"),
        (inside("<body><joint axis='0 0 0'/><geom size='1'/></body>"), "no direction"),
        (inside("<body><joint/><geom type='mesh' mesh='a'/></body>"), "mass of a mesh"),
        (inside("<body><joint/><geom type='box' size='1 1'/></body>"), "must be positive"),
        (inside("<body pos='1 2'><joint/><geom size='1'/></body>"), "three numbers"),
        (inside("<body quat='0 0 0 0'><joint/><geom size='1'/></body>"), "no direction"),
        (inside("<body><joint range='1 -1'/><geom size='1'/></body>"), "range"),
        (inside("<frame/>"), "`frame` is not supported"),
        (inside("<body><freejoint/><joint/><geom size='1'/></body>"), "its only joint"),
        (
            "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody><equality><connect body1='a' anchor='0 0 0'/></equality></mujoco>".into(),
            "unknown body `a`",
        ),
        (
            "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody><keyframe><key qpos='1 2'/></keyframe></mujoco>".into(),
            "`qpos` has 2 numbers, not 1",
        ),
    ];
    for (text, part) in cases {
        let error = super::super::model("model.xml", &text, false).expect_err(&text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
