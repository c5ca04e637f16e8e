//! What is drawn is where it is: flashes at contacts, walls where φ = 0, equal things alike.

#![allow(clippy::unwrap_used)]

use carom::lab::catalogue;
use carom::lab::model::Model;
use carom::{Audience, Impact};
use carom_report::motion::{Motion, film};
use carom_report::palette::Ink;
use carom_report::recording::{Recorder, Recording};
use carom_report::stage::Form;

fn model(text: &str) -> Model {
    Model::from_text("model.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

/// Runs a model and samples its drawing.
fn filmed(model: &Model) -> (Recording, Motion) {
    let ready = model.simulation().prepare().unwrap_or_else(|error| panic!("{}: {error}", model.title));
    let mut recorder = Recorder::new(model, &ready).unwrap();
    let mut dense = ready.dense(100_000).unwrap();
    let every = recorder.every();
    let mut audience = [Audience { watcher: &mut recorder, every }, Audience { watcher: &mut dense, every: None }];
    let end = ready.show(&mut audience).unwrap().last.t;
    let recording = recorder.finish(end).unwrap();
    let motion = film(std::slice::from_mut(&mut dense), model, &recording).unwrap();
    (recording, motion)
}

/// The distance of a place from a drawn wall, in the last frame before a time.
fn distance(motion: &Motion, form: &Form, [x, y]: [f64; 2], t: f64) -> f64 {
    let frame = ((t - motion.begin) / motion.dt) as usize;
    let at = |place: usize| motion.place(place, frame);
    let from_line = |a: usize, b: usize| {
        let ([x0, y0], [x1, y1]) = (at(a), at(b));
        ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / (x1 - x0).hypot(y1 - y0)
    };
    match form {
        Form::Wall(a, b) => from_line(*a, *b).abs(),
        Form::Ground(all) => all.windows(2).map(|w| from_line(w[0], w[1]).abs()).fold(f64::INFINITY, f64::min),
        Form::Post(a, b, _) => {
            let ([x0, y0], [x1, y1]) = (at(*a), at(*b));
            ((x - x0).hypot(y - y0) - (x1 - x0).hypot(y1 - y0)).abs()
        }
        _ => f64::INFINITY,
    }
}

fn walls(motion: &Motion) -> Vec<&Form> {
    let is_wall = |form: &&Form| matches!(form, Form::Wall(..) | Form::Post(..) | Form::Ground(_));
    motion.shapes.iter().map(|shape| &shape.form).filter(is_wall).collect()
}

/// A square in the plane; its floor as contact of its corners, or as a wall for each corner.
fn square(theta: f64, floor: &str) -> Model {
    let corner =
        |k: u32| format!("corner{k} = [\"x + 0.5*cos(theta + {k}*pi/2)\", \"y + 0.5*sin(theta + {k}*pi/2)\"]\n");
    let corners: String = (0..4).map(corner).collect();
    model(&format!(
        "title = \"Square\"\ncoordinates = [\"x\", \"y\", \"theta\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2 + theta'^2/24\"\n\
         V = \"9.81*y\"\n[points]\n{corners}{floor}\n[[draw]]\npolygon = [\"corner0\", \"corner1\", \"corner2\", \
         \"corner3\"]\n[initial]\nq = [0.2, 1.5, {theta}]\nv = [0.3, 0, 0.4]\n[run]\nuntil = 1.2\n"
    ))
}

#[test]
fn a_square_that_lands_on_a_corner_flashes_there() {
    let contact = "[[contact]]\nname = \"floor\"\npoints = \"all\"\nline = [[0, 0], [1, 0]]\n".to_string();
    let wall = |k: u32| format!("[[wall]]\nname = \"wall{k}\"\nphi = \"y + 0.5*sin(theta + {k}*pi/2)\"\n");
    let separate: String = (0..4).map(wall).collect();
    for floor in [contact, separate] {
        for theta in [0.1, 0.5, 1.0, 2.0, 3.5, 5.5] {
            let model = square(theta, &floor);
            let (recording, motion) = filmed(&model);
            assert!(!motion.flashes.is_empty());
            for (impact, (t, [x, y])) in recording.first.iter().zip(&motion.flashes) {
                let Impact { wall, minus, .. } = impact;
                let angle = minus.q[2] + *wall as f64 * std::f64::consts::FRAC_PI_2;
                let corner = [minus.q[0] + 0.5 * angle.cos(), minus.q[1] + 0.5 * angle.sin()];
                let off = (x - corner[0]).hypot(y - corner[1]);
                assert!(off < 1e-9, "θ = {theta}: at t = {t} it flashes {off} beside corner {wall}");
            }
        }
    }
}

/// Every impact of a shipped model flashes on a wall, where walls are drawn at all.
#[test]
fn impacts_flash_on_the_walls_that_are_drawn() {
    let mut checked = 0;
    for example in catalogue::EXAMPLES {
        let model = Model::from_text(example.name, example.text, &["run.until=1.5".into()]).unwrap();
        // Their walls are no lines and no circles, or between bodies, or move.
        if ["four-bar", "ball-row", "galperin", "impact-oscillator", "newtons-cradle", "vibrating-table"]
            .contains(&example.name)
            || model.system.walls.is_empty()
        {
            continue;
        }
        let (_, motion) = filmed(&model);
        let (walls, [x0, x1, ..]) = (walls(&motion), motion.view);
        for (t, place) in motion.flashes.iter().filter(|_| !walls.is_empty()) {
            let off = walls.iter().map(|form| distance(&motion, form, *place, *t)).fold(f64::INFINITY, f64::min);
            assert!(off < 1e-7 * (x1 - x0), "{}: at t = {t} it flashes {off} off the wall", example.name);
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} impacts were checked");
}

#[test]
fn walls_and_contacts_appear_by_themselves() {
    let wanted = [
        ("double-pendulum", "Wall"),
        ("bar", "Wall"),
        ("bouncing-ball", "Wall"),
        ("circle-pendulum", "Wall"),
        ("chain-5", "Wall"),
        ("impact-oscillator", "Ground Wall"),
        ("galperin", "Wall"),
        ("sinai-billiard", "Ground Post"),
        ("floor-and-ceiling", "Wall Wall"),
        ("newtons-cradle", "Ground"),
        ("elliptic-billiard", ""),
        ("wavy-floor", ""),
        ("jack-in-a-box", ""),
    ];
    for (name, wanted) in wanted {
        let text = catalogue::find(name).unwrap().text;
        let (_, motion) = filmed(&Model::from_text(name, text, &["run.until=0.5".into()]).unwrap());
        let name_of = |form: &&Form| format!("{form:?}").split('(').next().unwrap_or("").to_string();
        let mut found: Vec<String> = walls(&motion).iter().map(name_of).collect();
        found.sort();
        assert_eq!(found.join(" "), wanted, "{name}");
    }
}

const BALL: &str = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"9.81*y\"\n[points]\n\
                    ball = [\"x\", \"y\"]\n[initial]\nq = [0.1, 1]\nv = [0.2, 0]\n[run]\nuntil = 2\n";

#[test]
fn a_moving_wall_moves_and_a_hidden_one_is_hidden() {
    let (_, motion) = filmed(&model(&format!("{BALL}[[wall]]\nphi = \"y - 0.1*sin(3*t)\"\n")));
    let all = walls(&motion);
    assert!(matches!(all[..], [Form::Wall(..)]), "{all:?}");
    for frame in [0, 333, 1000] {
        let t = motion.time(frame);
        let off = distance(&motion, all[0], [0.7, 0.1 * (3.0 * t).sin()], t + 0.1 * motion.dt);
        assert!(off < 1e-9, "at t = {t} the wall is {off} off");
    }
    for hidden in [
        "[[wall]]\nphi = \"y\"\ndraw = false\n",
        "[[contact]]\npoints = \"ball\"\nline = [[0, 0], [1, 0]]\ndraw = false\n",
    ] {
        let (_, motion) = filmed(&model(&format!("{BALL}{hidden}")));
        assert!(walls(&motion).is_empty() && motion.flashes.len() > 1, "{hidden}");
    }
}

/// A block that stays where it is, as before its control problem is solved: the track beside it gives the scale.
#[test]
fn without_motion_the_surroundings_are_seen() {
    let (_, motion) = filmed(&Model::load("double-integrator").unwrap());
    let [x0, x1, ..] = motion.view;
    assert!(x0 < -0.2 && x1 > 1.2, "the track from −0.2 to 1.2 is cut at {x0} and {x1}");
}

/// Impacts throw light bodies at up to 100 times their mean speed. The animation is not slower for that.
#[test]
fn the_animation_is_as_fast_as_the_motion_on_average() {
    for (name, slowest) in [("walker", 0.25), ("marionette-drop", 1.0)] {
        let model = Model::load(name).unwrap();
        let (_, motion) = filmed(&model);
        let rate = motion.rate();
        assert!(!motion.is_part && rate >= slowest * (1.0 - 1e-9) && rate <= 1.0 + 1e-9, "{name}: {rate} of real time");
    }
    // A fast oscillation is slowed down until each swing is seen.
    let fast = "coordinates = [\"x\"]\n[lagrangian]\nL = \"x'^2/2 - 50000*x^2\"\n[initial]\nq = [1]\nv = [0]\n[run]\nuntil = 2\n";
    let (_, motion) = filmed(&model(fast));
    let swing = std::f64::consts::PI / 316.2 / motion.rate();
    assert!(swing > 0.3 && swing < 1.5, "a swing takes {swing} s");
}

/// φ as a distance, as its square, and as a contact: the same circle.
#[test]
fn a_circle_is_drawn_however_it_is_written() {
    for wall in [
        "[[wall]]\nphi = \"4 - (x - 0.5)^2 - y^2\"\n",
        "[[wall]]\nphi = \"2 - sqrt((x - 0.5)^2 + y^2)\"\n",
        "[[contact]]\npoints = \"ball\"\ncircle = {center = [0.5, 0], radius = 2}\n",
    ] {
        let (_, motion) = filmed(&model(&format!("{BALL}{wall}")));
        let all = walls(&motion);
        let [Form::Post(center, rim, true)] = all[..] else { panic!("{all:?} of\n{wall}") };
        let ([x, y], [x1, y1]) = (motion.place(*center, 0), motion.place(*rim, 0));
        let off = (x - 0.5).abs() + y.abs() + ((x1 - x).hypot(y1 - y) - 2.0).abs();
        assert!(off < 1e-9, "{off} off: centre ({x}, {y}) of\n{wall}");
        assert!(!motion.flashes.is_empty());
    }
}

/// On the circle of a pendulum the distance to a peg is affine: it is a circle because it is written as one.
#[test]
fn a_peg_beside_a_pendulum_is_a_circle() {
    let text = "coordinates = [\"theta\"]\n[definitions]\nx = \"sin(theta)\"\ny = \"-cos(theta)\"\n[lagrangian]\n\
                T = \"theta'^2/2\"\nV = \"9.81*y\"\n[[wall]]\nphi = \"(x + 0.5)^2 + (y + 0.8)^2 - 0.04\"\n[points]\n\
                bob = [\"x\", \"y\"]\n[initial]\nq = [1]\nv = [0]\n[run]\nuntil = 3\n";
    let (_, motion) = filmed(&model(text));
    let all = walls(&motion);
    let [Form::Post(center, _, false)] = all[..] else { panic!("{all:?}") };
    let [x, y] = motion.place(*center, 0);
    assert!((x + 0.5).hypot(y + 0.8) < 1e-9, "the peg is at ({x}, {y})");
}

#[test]
fn equal_things_look_equal_and_colours_are_obeyed() {
    let (_, motion) = filmed(&Model::load("newtons-cradle").unwrap());
    let disks = motion.shapes.iter().filter(|shape| matches!(shape.form, Form::Disk(..)));
    let inks: Vec<&Ink> = disks.map(|shape| &shape.ink).collect();
    assert_eq!(inks, [&Ink::Series(0); 5]);
    let two = "[[draw]]\ndisk = \"ball\"\nradius = 0.1\ncolor = \"red\"\nname = \"A\"\n[[draw]]\ndisk = [\"x + 1\", \"y\"]\n\
               radius = 0.2\n";
    let (_, motion) = filmed(&model(&format!("{BALL}{two}")));
    let told: Vec<(Option<&str>, &Ink)> = motion.shapes.iter().map(|s| (s.name.as_deref(), &s.ink)).collect();
    assert_eq!(told, [(Some("A"), &Ink::Own("red".into())), (None, &Ink::Series(0))]);
}

/// Only the last bob of a chain hits the wall; the other links swing through it.
#[test]
fn the_points_that_touch_are_marked() {
    let (_, motion) = filmed(&Model::load("chain-3").unwrap());
    let marked: Vec<&Form> =
        motion.shapes.iter().map(|s| &s.form).filter(|form| matches!(form, Form::Ring(..))).collect();
    let [Form::Ring(place, _)] = marked[..] else { panic!("{marked:?}") };
    let lowest = motion.flashes.iter().all(|(t, [x, _])| {
        let frame = ((t - motion.begin) / motion.dt) as usize;
        (x + 0.5).abs() < 1e-9 && (motion.place(*place, frame)[0] - x).abs() < 0.1
    });
    assert!(lowest && motion.has_marks());
}

#[test]
fn every_shipped_model_and_that_of_the_readme_has_a_drawing() {
    let readme = include_str!("../../../README.md");
    let blocks = readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(""));
    let of_readme = blocks.filter(|text| text.contains("coordinates =")).map(|text| ("README.md", text));
    let all = catalogue::EXAMPLES.iter().map(|example| (example.name, example.text)).chain(of_readme);
    let mut count = 0;
    for (name, text) in all {
        assert!(!model(text).drawings.is_empty(), "{name} has no drawing");
        count += 1;
    }
    assert!(count > catalogue::EXAMPLES.len(), "the README has a model");
}
