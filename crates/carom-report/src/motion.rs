//! The motion of a model's drawing: positions of its points at equal time intervals, and the shapes between them.

use carom::lab::error::Result;
use carom::lab::expr::{Expr, eval};
use carom::lab::model::{Drawing, Model};
use carom::{Dense, Impact, Node};
use serde_json::{Value, json};

use crate::encode::base64;
use crate::geometry::Places;
use crate::plots::pretty;
use crate::recording::Recording;

/// The maximum number of frames.
const FRAMES: f64 = 1500.0;
/// The minimum number of frames while a coordinate crosses its range.
const PER_CROSSING: f64 = 8.0;
/// Fixed parts may extend beyond the motion by this fraction of its size.
const ROOM: f64 = 0.35;

/// A shape; points are given by index.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Rods from point to point.
    Link(Vec<usize>),
    /// A disk: centre and radius.
    Disk(usize, f64),
    /// A straight line of the surroundings.
    Segment(usize, usize),
}

impl Shape {
    /// The points of the shape.
    fn points(&self) -> Vec<usize> {
        match self {
            Shape::Link(link) => link.clone(),
            Shape::Disk(center, _) => vec![*center],
            Shape::Segment(a, b) => vec![*a, *b],
        }
    }
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
    /// x and y of each point in each frame, or once if the point is fixed.
    pub points: Vec<Vec<[f64; 2]>>,
    /// The shapes, from back to front.
    pub shapes: Vec<Shape>,
    /// Points that leave a trail.
    pub traced: Vec<usize>,
    /// Text at fixed positions.
    pub words: Vec<(String, [f64; 2])>,
    /// Impacts: the time, and the point with the largest jump in velocity.
    pub flashes: Vec<(f64, usize)>,
    /// The visible range: smallest x, largest x, smallest y, largest y.
    pub view: [f64; 4],
    /// True if the run continues after the last frame.
    pub is_part: bool,
    /// An upper bound on how often a coordinate crosses its range.
    crossings: f64,
}

/// The shapes and points, before they are sampled.
struct Stage {
    points: Vec<[Expr; 2]>,
    shapes: Vec<Shape>,
    words: Vec<(String, [f64; 2])>,
}

/// Samples the beginning of a recorded run from its dense output, as much of it as an animation can show.
pub fn film(dense: &mut Dense, model: &Model, recording: &Recording) -> Result<Motion> {
    let [begin, end] = recording.span;
    let crossing = crossing_time(recording);
    let shown = (end.min(dense.end()) - begin).min(FRAMES / PER_CROSSING * crossing);
    let stage = Stage::new(model, recording);
    let mut camera = Camera { places: Places::new(model, &stage.points)?, pictures: Vec::new(), flashes: Vec::new() };
    let (dt, mut node) = (shown / FRAMES, Node::default());
    for frame in 0..=FRAMES as usize {
        dense.at((begin + frame as f64 * dt).min(begin + shown), false, &mut node)?;
        camera.pictures.push(camera.places.at(node.t, &node.q).to_vec());
    }
    recording.first.iter().filter(|impact| impact.minus.t <= begin + shown).for_each(|impact| camera.flash(impact));
    let motion = stage.motion(camera, begin, dt, shown < end - begin);
    Ok(Motion { crossings: shown / crossing, ..motion })
}

/// The shortest time in which a coordinate could cross its range at its largest speed.
fn crossing_time(recording: &Recording) -> f64 {
    let time = |values: &crate::thin::Thinned| {
        let range = |k: usize| {
            let all = values.rows.iter().map(|row| row.values[k]);
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
        };
        let ((low, high), (slowest, fastest)) = (range(0), range(1));
        (high - low) / slowest.abs().max(fastest.abs())
    };
    let times = recording.coordinates.iter().map(time).filter(|time| *time > 0.0);
    times.fold(recording.span[1] - recording.span[0], f64::min)
}

impl Stage {
    fn new(model: &Model, recording: &Recording) -> Stage {
        if model.points.is_empty() {
            return Stage::of_axes(model, recording);
        }
        let mut points: Vec<[Expr; 2]> = model.points.iter().map(|point| point.at).collect();
        let mut shapes = Vec::new();
        for drawing in &model.drawings {
            shapes.push(match drawing {
                Drawing::Link(link) => Shape::Link(link.clone()),
                Drawing::Disk { center, radius } => {
                    Shape::Disk(*center, eval(&[*radius], &model.parameter_values())[0].abs())
                }
                Drawing::Segment(ends) => {
                    points.extend(ends);
                    Shape::Segment(points.len() - 2, points.len() - 1)
                }
            });
        }
        if shapes.is_empty() {
            shapes.extend((0..points.len()).map(|k| Shape::Disk(k, 0.0)));
        }
        shapes.sort_by_key(|shape| match shape {
            Shape::Segment(..) => 0,
            Shape::Link(_) => 1,
            Shape::Disk(..) => 2,
        });
        Stage { points, shapes, words: Vec::new() }
    }

    /// The default drawing: each coordinate as a point on its own axis.
    fn of_axes(model: &Model, recording: &Recording) -> Stage {
        let constant = Expr::constant;
        let (mut points, mut shapes, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (k, (c, values)) in model.system.coordinates.iter().zip(&recording.coordinates).enumerate() {
            let y = -0.5 * k as f64;
            let all = values.rows.iter().map(|row| row.values[0]);
            let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            let size = if high > low { high - low } else { 1.0 };
            let x = (c.q - low) / size * 4.0;
            let at = points.len();
            points.extend([[constant(0.0), constant(y)], [constant(4.0), constant(y)], [x, constant(y)]]);
            shapes.extend([Shape::Segment(at, at + 1), Shape::Disk(at + 2, 0.07)]);
            words.push((pretty(&c.name), [-0.35, y]));
            let label = |x: f64| format!("{:.3}", if x.abs() < 5e-4 { 0.0 } else { x }).replace('-', "−");
            words.extend([(label(low), [0.0, y - 0.2]), (label(high), [4.0, y - 0.2])]);
        }
        Stage { points, shapes, words }
    }

    fn motion(self, camera: Camera, begin: f64, dt: f64, is_part: bool) -> Motion {
        let frames = camera.pictures.len();
        let path = |k: usize| -> Vec<[f64; 2]> { camera.pictures.iter().map(|p| [p[2 * k], p[2 * k + 1]]).collect() };
        let fixed = |path: Vec<[f64; 2]>| if path.windows(2).all(|w| w[0] == w[1]) { path[..1].to_vec() } else { path };
        let points: Vec<Vec<[f64; 2]>> = (0..self.points.len()).map(|k| fixed(path(k))).collect();
        let traced = traced(&self.shapes, &points);
        let flashes = camera.flashes.iter().map(|(t, jumps)| (*t, most_moved(&self.shapes, jumps))).collect();
        let view = view(&self.shapes, &points, &self.words);
        let shapes = self.shapes.into_iter().map(|shape| sized(shape, view)).collect();
        Motion { begin, dt, frames, points, shapes, traced, words: self.words, flashes, view, is_part, crossings: 1.0 }
    }
}

/// Gives a disk at least a visible radius.
fn sized(shape: Shape, [x0, x1, y0, y1]: [f64; 4]) -> Shape {
    match shape {
        Shape::Disk(center, radius) => Shape::Disk(center, radius.max(0.008 * (x1 - x0).max(y1 - y0))),
        other => other,
    }
}

/// The points with trails: moving disks or, if there are none, free ends of links.
fn traced(shapes: &[Shape], points: &[Vec<[f64; 2]>]) -> Vec<usize> {
    let moving = |k: &usize| points[*k].len() > 1;
    let disks = shapes.iter().filter_map(|shape| if let Shape::Disk(k, _) = shape { Some(*k) } else { None });
    let disks: Vec<usize> = disks.filter(moving).collect();
    let ends =
        shapes.iter().filter_map(|shape| if let Shape::Link(link) = shape { link.last().copied() } else { None });
    if disks.is_empty() { ends.filter(moving).collect() } else { disks }
}

/// The drawn point whose velocity an impact changes most.
fn most_moved(shapes: &[Shape], jumps: &[f64]) -> usize {
    let drawn = shapes.iter().flat_map(|shape| match shape {
        Shape::Link(link) => link.clone(),
        Shape::Disk(center, _) => vec![*center],
        Shape::Segment(..) => Vec::new(),
    });
    drawn.max_by(|a, b| jumps[*a].total_cmp(&jumps[*b])).unwrap_or(0)
}

/// A bounding box: smallest and largest x, smallest and largest y.
#[derive(Clone, Copy)]
struct Frame([f64; 4]);

impl Frame {
    const EMPTY: Frame = Frame([f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY]);

    /// Makes room for a disk; a place that is not finite has none.
    fn include(&mut self, [x, y]: [f64; 2], radius: f64) {
        if !(x.is_finite() && y.is_finite() && radius.is_finite()) {
            return;
        }
        let Frame([x0, x1, y0, y1]) = self;
        (*x0, *x1) = (x0.min(x - radius), x1.max(x + radius));
        (*y0, *y1) = (y0.min(y - radius), y1.max(y + radius));
    }

    fn size(&self) -> f64 {
        let Frame([x0, x1, y0, y1]) = self;
        (x1 - x0).max(y1 - y0)
    }
}

/// The visible range: the whole motion, and nearby fixed parts.
fn view(shapes: &[Shape], points: &[Vec<[f64; 2]>], words: &[(String, [f64; 2])]) -> [f64; 4] {
    let (mut moving, mut fixed) = (Frame::EMPTY, Vec::new());
    for shape in shapes {
        let numbers = shape.points();
        let radius = if let Shape::Disk(_, radius) = shape { *radius } else { 0.0 };
        let is_fixed = numbers.iter().all(|&k| points[k].len() == 1);
        for place in numbers.iter().flat_map(|&k| &points[k]) {
            if is_fixed { fixed.push(*place) } else { moving.include(*place, radius) }
        }
    }
    if moving.0[0] > moving.0[1] {
        fixed.iter().for_each(|place| moving.include(*place, 0.0));
    }
    if moving.0[0] > moving.0[1] {
        moving.include([0.0, 0.0], 1.0);
    }
    let (Frame([x0, x1, y0, y1]), room) = (moving, ROOM * moving.size());
    for [x, y] in fixed.iter().copied().chain(words.iter().map(|(_, place)| *place)) {
        moving.include([x.clamp(x0 - room, x1 + room), y.clamp(y0 - room, y1 + room)], 0.0);
    }
    margins(moving)
}

/// Adds a margin on all sides, and limits the aspect ratio.
fn margins(frame: Frame) -> [f64; 4] {
    let size = if frame.size() > 0.0 { frame.size() } else { 1.0 };
    let Frame([x0, x1, y0, y1]) = frame;
    let least = [0.6 * size, 0.45 * size];
    let widen = |a: f64, b: f64, least: f64| {
        let more = (0.5 * (least - (b - a))).max(0.0) + 0.05 * size;
        [a - more, b + more]
    };
    let ([x0, x1], [y0, y1]) = (widen(x0, x1, least[0]), widen(y0, y1, least[1]));
    [x0, x1, y0, y1]
}

/// Samples the points during a run.
struct Camera {
    places: Places,
    pictures: Vec<Vec<f64>>,
    /// The time of each impact, and the change in velocity of each point.
    flashes: Vec<(f64, Vec<f64>)>,
}

impl Camera {
    fn flash(&mut self, impact: &Impact) {
        let (minus, plus) = (&impact.minus, &impact.plus);
        let before = self.places.rates(minus.t, &minus.q, &minus.v).to_vec();
        let after = self.places.rates(plus.t, &plus.q, &plus.v);
        let jumps = before.chunks(2).zip(after.chunks(2)).map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]));
        self.flashes.push((minus.t, jumps.collect()));
    }
}

impl Motion {
    /// The position of a point in a frame.
    pub fn place(&self, point: usize, frame: usize) -> [f64; 2] {
        let path = &self.points[point];
        path[frame.min(path.len() - 1)]
    }

    /// True if a shape never moves and so belongs to the surroundings.
    pub fn is_fixed(&self, shape: &Shape) -> bool {
        shape.points().iter().all(|&k| self.points[k].len() == 1)
    }

    /// The time of a frame.
    pub fn time(&self, frame: usize) -> f64 {
        self.begin + frame as f64 * self.dt
    }

    /// The duration of the animation: real time if that is from 3 to 120 s, otherwise a duration that fits the motion.
    pub fn seconds(&self) -> f64 {
        let time = self.frames.saturating_sub(1) as f64 * self.dt;
        if (3.0..=120.0).contains(&time) { time } else { (0.4 * self.crossings).clamp(4.0, 75.0) }
    }

    pub(crate) fn json(&self) -> Value {
        let single = |x: &f64| (*x as f32).to_le_bytes();
        let points: Vec<String> =
            self.points.iter().map(|path| base64(path.as_flattened().iter().flat_map(single))).collect();
        let shape = |shape: &Shape| match shape {
            Shape::Link(link) => json!({"link": link}),
            Shape::Disk(center, radius) => json!({"disk": center, "radius": radius}),
            Shape::Segment(a, b) => json!({"segment": [a, b]}),
        };
        json!({
            "begin": self.begin, "dt": self.dt, "frames": self.frames, "seconds": self.seconds(), "points": points,
            "shapes": self.shapes.iter().map(shape).collect::<Vec<_>>(),
            "traced": self.traced, "words": self.words, "flashes": self.flashes, "view": self.view,
        })
    }
}
