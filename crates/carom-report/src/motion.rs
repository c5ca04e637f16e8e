//! The motion of a model's drawing: positions of its places at equal time intervals, and the shapes between them.

use carom::lab::error::Result;
use carom::lab::expr::Expr;
use carom::lab::model::{Model, Place, Viewpoint};
use carom::{Dense, Node};
use serde_json::{Value, json};

use crate::encode::base64;
use crate::fit::Curve;
use crate::flash::Flashes;
use crate::floor::patches;
use crate::geometry::{Compiled, Places};
use crate::palette::Ink;
use crate::recording::Recording;
use crate::stage::{Form, Sketch, Stage};
use crate::thin::{Row, Thinned};
use crate::view::{Seen, view};

/// The maximum number of frames.
const FRAMES: f64 = 1500.0;
/// The minimum number of frames while a coordinate crosses its range at its mean speed.
const PER_CROSSING: f64 = 12.0;
/// How long such a crossing is seen where the animation is not in real time, in seconds.
const CROSSING: f64 = 0.6;
/// A small animation has at most one frame of so many.
const STRIDE: usize = 3;
/// It has at most about this many numbers, which take five characters of a page each.
const FEW_NUMBERS: usize = 12_000;

/// A shape with its colour.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The shape; places are given by index.
    pub form: Form,
    /// The name to write beside it.
    pub name: Option<String>,
    /// Its colour.
    pub ink: Ink,
}

/// A drawing in motion.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The time of the first frame.
    pub begin: f64,
    /// The time between frames.
    pub dt: f64,
    /// The number of frames.
    pub frames: usize,
    /// x and y of each place in each frame, or once if the place does not move.
    pub points: Vec<Vec<[f64; 2]>>,
    /// In space, how far towards the viewer each place is in each frame; empty in the plane.
    pub depths: Vec<Vec<f64>>,
    /// In space, the vertical: its part that is up in the picture and its part towards the viewer.
    pub up: Option<[f64; 2]>,
    /// The shapes, from back to front.
    pub shapes: Vec<Shape>,
    /// Places that leave a trail, and its colour.
    pub traced: Vec<(usize, Ink)>,
    /// Text at fixed positions.
    pub words: Vec<(String, [f64; 2])>,
    /// Impacts: the time, and the place of the contact.
    pub flashes: Vec<(f64, [f64; 2])>,
    /// The visible range: smallest x, largest x, smallest y, largest y.
    pub view: [f64; 4],
    /// True if the run continues after the last frame.
    pub is_part: bool,
    /// How often a coordinate crosses its range, at its mean speed.
    crossings: f64,
}

/// Samples the beginning of a recorded run from its dense output, as much of it as an animation can show. There may be several runs,
/// each where the one before it ended.
pub fn film(runs: &mut [Dense], model: &Model, recording: &Recording) -> Result<Motion> {
    let [begin, end] = recording.span;
    let crossing = crossing_time(recording);
    let last = runs.last().map_or(begin, Dense::end);
    let shown = (end.min(last) - begin).min(FRAMES / PER_CROSSING * crossing);
    let mut stage = Stage::new(model, recording)?;
    let mut places = Places::new(model, &stage.places)?;
    let (dt, mut node) = (shown / FRAMES, Node::default());
    let mut pictures: Vec<Vec<[f64; 2]>> = Vec::new();
    let mut depth = Compiled::new(model, &depths_of(model, &stage))?;
    let mut depths: Vec<Vec<f64>> = Vec::new();
    let mut floor = Compiled::new(model, stage.floors.as_flattened())?;
    let mut planes: Vec<Vec<[f64; 6]>> = Vec::new();
    for frame in 0..=FRAMES as usize {
        let t = (begin + frame as f64 * dt).min(begin + shown);
        let run = runs.iter().rposition(|run| run.begin() <= t).unwrap_or(0);
        runs[run].at(t, false, &mut node)?;
        let mut picture = places.at(node.t, &node.q).to_vec();
        depths.push(depth.at(node.t, &node.q, &[]).to_vec());
        planes.push(floor.at(node.t, &node.q, &[]).as_chunks().0.to_vec());
        let known = pictures.first();
        for (k, trial) in stage.fitted.iter_mut().enumerate() {
            let at = stage.places.len() + 2 * k;
            match known.filter(|_| !trial.is_moving) {
                Some(first) => picture.extend_from_slice(&first[at..at + 2]),
                None => picture.extend(ends(trial.curve(node.t))),
            }
        }
        pictures.push(picture);
    }
    if let Some(view) = model.view.filter(|_| !stage.floors.is_empty()) {
        lay_floors(&view, &mut pictures, &mut depths, &planes);
    }
    let mut flashes = Vec::new();
    let mut finder = Flashes::new(model, &stage)?;
    for impact in recording.first.iter().filter(|impact| impact.minus.t <= begin + shown) {
        flashes.push((impact.minus.t, finder.place(impact)?));
    }
    let motion = in_space(motion(model, stage, &pictures), model, &depths);
    let is_part = shown < end - begin;
    Ok(Motion { begin, dt, flashes, is_part, crossings: shown / crossing, ..motion })
}

/// Adds the corners of the floors to each frame.
fn lay_floors(view: &Viewpoint, pictures: &mut [Vec<[f64; 2]>], depths: &mut [Vec<f64>], planes: &[Vec<[f64; 6]>]) {
    let spot = |([x, y], depth): (&[f64; 2], &f64)| [*x, *y, *depth];
    let spots: Vec<Vec<[f64; 3]>> = pictures
        .iter()
        .zip(depths.iter())
        .map(|(places, depths)| places.iter().zip(depths).map(spot).collect())
        .collect();
    let up = [view.axes[0][2], view.axes[1][2], view.from[2]];
    for ((picture, depth), floors) in pictures.iter_mut().zip(depths).zip(patches(&spots, planes, up)) {
        for [x, y, z] in floors.into_iter().flatten() {
            picture.push([x, y]);
            depth.push(z);
        }
    }
}

/// The depths of the places of a drawing of space; none in the plane.
fn depths_of(model: &Model, stage: &Stage) -> Vec<Expr> {
    let depth =
        |place: &Place| model.depths.iter().find(|(known, _)| known == place).map_or(Expr::constant(0.0), |d| d.1);
    if model.view.is_some() { stage.places.iter().map(depth).collect() } else { Vec::new() }
}

/// Adds the depths of all frames.
fn in_space(motion: Motion, model: &Model, frames: &[Vec<f64>]) -> Motion {
    let Some(view) = model.view else { return motion };
    let path = |k: usize| frames.iter().map(|frame| frame[k]).collect();
    let depths = (0..frames.first().map_or(0, Vec::len)).map(path).collect();
    Motion { depths, up: Some([view.axes[1][2], view.from[2]]), ..motion }
}

/// Two places that determine a line, which is free on the left, or a circle. A wall that cannot be told at some time is not drawn
/// there.
fn ends(curve: Option<Curve>) -> [[f64; 2]; 2] {
    match curve {
        Some(Curve::Line { foot: [x, y], normal: [a, b] }) => [[x, y], [x + b, y - a]],
        Some(Curve::Circle { center: [x, y], radius, .. }) => [[x, y], [x + radius, y]],
        None => [[f64::NAN; 2]; 2],
    }
}

/// The shortest time in which a coordinate could cross its range at its mean speed. Not at its largest: an impact may throw a light
/// body at a speed that it has for one frame only.
fn crossing_time(recording: &Recording) -> f64 {
    let duration = recording.span[1] - recording.span[0];
    let time = |values: &Thinned| {
        let [low, high] = values.range(0);
        let way = |w: &[Row]| (w[1].t - w[0].t) * (w[0].values[1].abs() + w[1].values[1].abs()) / 2.0;
        (high - low) * duration / values.rows.windows(2).map(way).sum::<f64>()
    };
    let times = recording.coordinates.iter().map(time).filter(|time| *time > 0.0);
    times.fold(duration, f64::min)
}

/// Puts the pictures together.
fn motion(model: &Model, stage: Stage, pictures: &[Vec<[f64; 2]>]) -> Motion {
    let is_fixed = |form: &Form| form.places().iter().all(|&place| stage.is_fixed(model, place));
    let path = |k: usize| -> Vec<[f64; 2]> { pictures.iter().map(|picture| picture[k]).collect() };
    let short = |path: Vec<[f64; 2]>| if path.windows(2).all(|w| w[0] == w[1]) { path[..1].to_vec() } else { path };
    let points: Vec<Vec<[f64; 2]>> = (0..pictures[0].len()).map(|k| short(path(k))).collect();
    let seen = |sketch: &Sketch| -> bool { sketch.form.is_surroundings() || is_fixed(&sketch.form) };
    let all = stage.sketches.iter().map(|sketch| {
        let paths = sketch.form.places().iter().map(|&k| points[k].as_slice()).collect();
        Seen { form: &sketch.form, paths, is_fixed: seen(sketch) }
    });
    let view = view(&all.collect::<Vec<_>>(), &stage.words);
    let mut colors = Colors::default();
    let shapes: Vec<Shape> = stage
        .sketches
        .iter()
        .map(|sketch| {
            let ink = colors.ink(sketch, is_fixed(&sketch.form), &pictures[0]);
            Shape { form: sized(&sketch.form, view), name: sketch.name.clone(), ink }
        })
        .collect();
    let traced = traced(&shapes, &points);
    let (words, frames, flashes) = (stage.words, pictures.len(), Vec::new());
    let (begin, dt, is_part, crossings) = (0.0, 1.0, false, 1.0);
    let (depths, up) = (Vec::new(), None);
    Motion { begin, dt, frames, points, depths, up, shapes, traced, words, flashes, view, is_part, crossings }
}

/// Colours of shapes: equal shapes have equal colours.
#[derive(Default)]
struct Colors {
    /// The sizes that tell shapes apart, in the order of their colours.
    known: Vec<Vec<f64>>,
}

impl Colors {
    fn ink(&mut self, sketch: &Sketch, is_fixed: bool, picture: &[[f64; 2]]) -> Ink {
        if let Some(color) = &sketch.color {
            return Ink::Own(color.clone());
        }
        let sizes = match &sketch.form {
            _ if is_fixed || sketch.form.is_surroundings() => return Ink::Faint,
            Form::Disk(_, radius) | Form::Ball(_, radius) => vec![*radius],
            Form::Capsule(_, _, radius) => vec![*radius, 1.0],
            Form::Block(_) => vec![1.0, 1.0],
            Form::Polygon(all) => {
                let side = |k: usize| {
                    let ([x, y], [u, v]) = (picture[all[k]], picture[all[(k + 1) % all.len()]]);
                    (u - x).hypot(v - y)
                };
                (0..all.len()).map(side).collect()
            }
            _ => return Ink::Ink,
        };
        let is_equal = |known: &Vec<f64>| {
            known.len() == sizes.len() && known.iter().zip(&sizes).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs())
        };
        let number = self.known.iter().position(is_equal).unwrap_or_else(|| {
            self.known.push(sizes.clone());
            self.known.len() - 1
        });
        Ink::Series(number)
    }
}

/// Gives a disk at least a visible radius.
fn sized(form: &Form, [x0, x1, y0, y1]: [f64; 4]) -> Form {
    match form {
        Form::Disk(center, radius) => Form::Disk(*center, radius.max(0.008 * (x1 - x0).max(y1 - y0))),
        other => other.clone(),
    }
}

/// The places with trails: moving disks or, if there are none, free ends of links.
fn traced(shapes: &[Shape], points: &[Vec<[f64; 2]>]) -> Vec<(usize, Ink)> {
    let moving = |(k, _): &(usize, Ink)| points[*k].len() > 1;
    let disk = |shape: &Shape| match shape.form {
        Form::Disk(k, _) | Form::Ball(k, _) => Some((k, shape.ink.clone())),
        _ => None,
    };
    let end = |shape: &Shape| {
        if let Form::Link(link) = &shape.form { Some((*link.last()?, Ink::Series(0))) } else { None }
    };
    let disks: Vec<(usize, Ink)> = shapes.iter().filter_map(disk).filter(moving).collect();
    if disks.is_empty() { shapes.iter().filter_map(end).filter(moving).collect() } else { disks }
}

impl Motion {
    /// The position of a place in a frame.
    pub fn place(&self, point: usize, frame: usize) -> [f64; 2] {
        let path = &self.points[point];
        path[frame.min(path.len() - 1)]
    }

    /// This motion with fewer frames, for a small file.
    pub fn small(self) -> Motion {
        let moving = |path: usize| if path > 1 { path } else { 0 };
        let numbers: usize = self.points.iter().map(|path| 2 * moving(path.len())).sum::<usize>()
            + self.depths.iter().map(|path| moving(path.len())).sum::<usize>();
        self.coarser(numbers.div_ceil(FEW_NUMBERS).max(STRIDE))
    }

    /// This motion with one frame in `stride`.
    fn coarser(mut self, stride: usize) -> Motion {
        fn some<T: Copy>(path: &mut Vec<T>, stride: usize) {
            if path.len() > 1 {
                *path = path.iter().copied().step_by(stride).collect();
            }
        }
        self.points.iter_mut().for_each(|path| some(path, stride));
        self.depths.iter_mut().for_each(|path| some(path, stride));
        self.frames = self.frames.div_ceil(stride);
        self.dt *= stride as f64;
        self
    }

    /// How far towards the viewer a place is in a frame; 0 in the plane.
    pub fn depth(&self, point: usize, frame: usize) -> f64 {
        self.depths.get(point).map_or(0.0, |path| path[frame.min(path.len() - 1)])
    }

    /// x, y, and how far towards the viewer a place is in a frame.
    pub fn spot(&self, point: usize, frame: usize) -> [f64; 3] {
        let [x, y] = self.place(point, frame);
        [x, y, self.depth(point, frame)]
    }

    /// The time of a frame.
    pub fn time(&self, frame: usize) -> f64 {
        self.begin + frame as f64 * self.dt
    }

    /// The duration of the animation: real time if that is from 3 to 120 s, otherwise a duration that fits the motion.
    pub fn seconds(&self) -> f64 {
        let time = self.length();
        if (3.0..=120.0).contains(&time) { time } else { (CROSSING * self.crossings).clamp(4.0, 75.0) }
    }

    /// The time that passes in a second of the animation; 1 if it is shown in real time.
    pub fn rate(&self) -> f64 {
        self.length() / self.seconds()
    }

    fn length(&self) -> f64 {
        self.frames.saturating_sub(1) as f64 * self.dt
    }

    /// True if places that touch walls are marked.
    pub fn has_marks(&self) -> bool {
        self.shapes.iter().any(|shape| matches!(shape.form, Form::Ring(..)))
    }

    pub(crate) fn json(&self) -> Value {
        let single = |x: &f64| (*x as f32).to_le_bytes();
        let points: Vec<String> =
            self.points.iter().map(|path| base64(path.as_flattened().iter().flat_map(single))).collect();
        let depths: Vec<String> = self.depths.iter().map(|path| base64(path.iter().flat_map(single))).collect();
        let shape = |shape: &Shape| {
            let (kind, radius, more) = match &shape.form {
                Form::Link(_) => ("link", 0.0, Value::Null),
                Form::Disk(_, radius) => ("disk", *radius, Value::Null),
                Form::Circle(_, radius) => ("circle", *radius, Value::Null),
                Form::Segment(..) => ("segment", 0.0, Value::Null),
                Form::Spring(..) => ("spring", 0.0, Value::Null),
                Form::Polygon(_) => ("polygon", 0.0, Value::Null),
                Form::Label(text, _) => ("label", 0.0, json!(text)),
                Form::Ground(_) => ("ground", 0.0, Value::Null),
                Form::Wall(..) => ("wall", 0.0, Value::Null),
                Form::Post(_, _, inside) => ("post", 0.0, json!(inside)),
                Form::Ring(_, radius) => ("ring", *radius, Value::Null),
                Form::Ball(_, radius) => ("ball", *radius, Value::Null),
                Form::Capsule(_, _, radius) => ("capsule", *radius, Value::Null),
                Form::Block(_) => ("block", 0.0, Value::Null),
                Form::Cord(..) => ("cord", 0.0, Value::Null),
                Form::Floor(_) => ("floor", 0.0, Value::Null),
            };
            json!({
                "kind": kind, "at": shape.form.places(), "radius": radius, "more": more,
                "color": shape.ink.css(), "name": shape.name,
            })
        };
        let traced: Vec<Value> = self.traced.iter().map(|(place, ink)| json!([place, ink.css()])).collect();
        json!({
            "begin": self.begin, "dt": self.dt, "frames": self.frames, "seconds": self.seconds(), "points": points,
            "shapes": self.shapes.iter().map(shape).collect::<Vec<_>>(),
            "depths": depths, "up": self.up, "traced": traced, "words": self.words, "flashes": self.flashes, "view": self.view,
        })
    }
}
