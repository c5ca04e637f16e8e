//! Drawings of space: what is drawn by itself, where it is, and in which order.

use carom::lab::expr::eval;
use carom::{Audience, Model};
use carom_report::motion::{Motion, film};
use carom_report::palette::LIGHT;
use carom_report::recording::Recorder;
use carom_report::stage::Form;
use carom_report::still;

fn model(text: &str) -> Model {
    Model::from_text("model.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

fn filmed(model: &Model) -> Motion {
    let ready = model.simulation().method("midpoint").step(0.01).until(0.5).prepare().expect("it can run");
    let mut recorder = Recorder::new(model, &ready).expect("a recorder");
    let mut dense = ready.dense(10_000).expect("dense output");
    let every = recorder.every();
    let outcome = ready
        .show(&mut [Audience { watcher: &mut recorder, every }, Audience { watcher: &mut dense, every: None }])
        .expect("a run");
    let recording = recorder.finish(outcome.last.t).expect("a recording");
    film(std::slice::from_mut(&mut dense), model, &recording).expect("a film")
}

fn count(motion: &Motion, is: impl Fn(&Form) -> bool) -> usize {
    motion.shapes.iter().filter(|shape| is(&shape.form)).count()
}

const BALL: &str = "[mechanism]\ngravity = [0, 0, -10]\n[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n[points]\nc = {on = \"B\", at = [0.1, 0, 0]}\n";
const START: &str = "[initial.q]\nB = {position = [0, 0, 1]}\n[initial.v]\nB = {velocity = [1, 0.5, 0]}\n";

/// Where a place of a motion is in world axes.
fn world(model: &Model, [x, y, depth]: [f64; 3]) -> [f64; 3] {
    let view = model.view.expect("a view");
    [0, 1, 2].map(|i| x * view.axes[0][i] + y * view.axes[1][i] + depth * view.from[i])
}

/// The patch of a floor is in its plane, below all of the motion; a wall that is a plane has one as well.
#[test]
fn floors_appear_below_the_motion() {
    let floor = "[[contact]]\npoints = \"c\"\nplane = {through = [0, 0, -1], normal = [0, 0, 1]}\n";
    let wall = "[[wall]]\nphi = \"2*c.z + 2\"\n";
    for text in [floor, wall] {
        let model = model(&format!("{BALL}{text}{START}"));
        let motion = filmed(&model);
        let corners = motion.shapes.iter().find_map(|shape| match shape.form {
            Form::Floor(corners) => Some(corners.map(|place| world(&model, motion.spot(place, 0)))),
            _ => None,
        });
        let corners = corners.unwrap_or_else(|| panic!("no floor for {text}"));
        assert!(corners.iter().all(|corner| (corner[2] + 1.0).abs() < 1e-12), "{corners:?}");
        // The point goes from (0.1, 0) to (0.6, 0.25).
        let (xs, ys) = (corners.map(|corner| corner[0]), corners.map(|corner| corner[1]));
        let spans = |all: [f64; 4], low: f64, high: f64| all.iter().any(|x| *x < low) && all.iter().any(|x| *x > high);
        assert!(spans(xs, 0.1, 0.6) && spans(ys, 0.0, 0.25), "{corners:?}");
    }
    let hidden = model(&format!("{BALL}{floor}draw = false\n{START}"));
    assert_eq!(count(&filmed(&hidden), |form| matches!(form, Form::Floor(_))), 0);
}

/// Strings and springs are drawn by themselves, unless something is drawn there already.
#[test]
fn strings_and_springs_appear() {
    let ties = "peg = [0, 0, 2]\n[[constraint]]\ndistance = [\"c\", \"peg\"]\nlength = 1\n[[spring]]\nbetween = [\"c\", [1, 1, 1]]\nstiffness = 1\n";
    let start = "[initial]\nproject = true\nq = {}\n";
    let is_tie = |form: &Form| matches!(form, Form::Cord(..) | Form::Spring(..));
    let drawn = "[[draw]]\nlink = [\"peg\", \"c\"]\n";
    for (more, due) in [("", 2), (drawn, 1)] {
        assert_eq!(count(&filmed(&model(&format!("{BALL}{ties}{start}{more}"))), is_tie), due, "{more}");
    }
    let off = ties.replace("length = 1\n", "length = 1\ndraw = false\n");
    assert_eq!(count(&filmed(&model(&format!("{BALL}{off}{start}"))), is_tie), 1);
}

/// A body without points is the box, or the ball, with its inertia.
#[test]
fn bodies_without_points_have_the_shape_of_their_inertia() {
    let of = |inertia: &str| {
        model(&format!(
            "[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 3\ninertia = {inertia}\n[initial.q]\n[initial.v]\n"
        ))
    };
    // m/12 (b² + c²), … of the edges 1, 2, 3.
    let block = of("[\"13/4\", \"10/4\", \"5/4\"]");
    let motion = filmed(&block);
    let corners = motion.shapes.iter().find_map(|shape| match &shape.form {
        Form::Block(corners) => Some(corners.iter().map(|&k| world(&block, motion.spot(k, 0))).collect::<Vec<_>>()),
        _ => None,
    });
    let corners = corners.expect("a box");
    let edges =
        [0, 1, 2].map(|i| corners[1 << i].iter().zip(corners[0]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt());
    assert!(edges.iter().zip([1.0, 2.0, 3.0]).all(|(edge, due)| (edge - due).abs() < 1e-12), "{edges:?}");
    // 2/5 m r² with r = 0.5.
    let ball = filmed(&of("[0.3, 0.3, 0.3]"));
    assert_eq!(count(&ball, |form| matches!(form, Form::Ball(_, r) if (r - 0.5).abs() < 1e-12)), 1);
}

/// The shapes of `[[draw]]` in space, with the corners of a box where its body is.
#[test]
fn boxes_spheres_and_capsules_are_drawn() {
    let draw = "[[draw]]\nbox = {on = \"B\", at = [0.1, 0, 0], size = [0.2, 0.4, 0.6], turn = [0, 0, \"pi/2\"]}\n[[draw]]\nsphere = \"c\"\nradius = 0.1\n\
                [[draw]]\ncapsule = [\"c\", [0, 0, 0]]\nradius = 0.05\n";
    let model = model(&format!("{BALL}{START}{draw}"));
    let carom::lab::model::Shape::Box(places) = &model.drawings[0].shape else { panic!("no box") };
    let start: Vec<_> = model.system.q().into_iter().zip(model.start().expect("a start").q).collect();
    let view = model.view.expect("a view");
    // Corner 7 is at (0.1, 0, 0) + (−0.2, 0.1, 0.3) of the body, which is at (0, 0, 1).
    let due = [-0.1, 0.1, 1.3];
    let seen = [0, 1].map(|k| view.axes[k].iter().zip(due).map(|(a, x)| a * x).sum::<f64>());
    let found = eval(&places[7], &start);
    assert!((found[0] - seen[0]).abs() < 1e-12 && (found[1] - seen[1]).abs() < 1e-12, "{found:?}, not {seen:?}");
    let motion = filmed(&model);
    assert_eq!(count(&motion, |form| matches!(form, Form::Ball(..) | Form::Capsule(..) | Form::Block(_))), 3);
    let svg = still::svg(&motion, "a < b", &LIGHT);
    assert!(
        svg.contains("a &lt; b") && svg.contains("<circle") && svg.contains("<polygon") && svg.contains("<polyline")
    );
    assert!(!svg.contains("NaN") && svg.trim_end().ends_with("</svg>"));
}
