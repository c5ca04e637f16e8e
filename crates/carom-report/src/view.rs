//! The visible range of a drawing.

use crate::stage::Form;

/// Fixed parts may extend beyond the motion by this fraction of its size.
const ROOM: f64 = 0.35;

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

    fn is_empty(&self) -> bool {
        self.0[0] > self.0[1]
    }

    fn size(&self) -> f64 {
        let Frame([x0, x1, y0, y1]) = self;
        (x1 - x0).max(y1 - y0)
    }

    fn center(&self) -> [f64; 2] {
        let Frame([x0, x1, y0, y1]) = self;
        [0.5 * (x0 + x1), 0.5 * (y0 + y1)]
    }
}

/// A shape with the path of each of its places; a fixed place has a path of one.
pub struct Seen<'a> {
    /// The shape.
    pub form: &'a Form,
    /// The paths of its places.
    pub paths: Vec<&'a [[f64; 2]]>,
    /// True if it is part of the surroundings.
    pub is_fixed: bool,
}

/// The visible range: the whole motion, and nearby parts of the surroundings; all of them if nothing moves.
pub fn view(shapes: &[Seen], words: &[(String, [f64; 2])]) -> [f64; 4] {
    let mut moving = Frame::EMPTY;
    for seen in shapes.iter().filter(|seen| !seen.is_fixed) {
        let radius = radius(seen.form);
        seen.paths.iter().flat_map(|path| path.iter()).for_each(|place| moving.include(*place, radius));
    }
    let mut fixed: Vec<[f64; 2]> = words.iter().map(|(_, place)| *place).collect();
    let center = if moving.is_empty() { [0.0, 0.0] } else { moving.center() };
    for seen in shapes.iter().filter(|seen| seen.is_fixed) {
        fixed.extend(surroundings(seen, center));
    }
    // Without motion the surroundings give the scale.
    if moving.is_empty() || shapes.iter().filter(|seen| !seen.is_fixed).all(|seen| is_still(seen, moving.size())) {
        fixed.iter().for_each(|place| moving.include(*place, 0.0));
    }
    if moving.is_empty() {
        moving.include([0.0, 0.0], 1.0);
    }
    let (Frame([x0, x1, y0, y1]), room) = (moving, ROOM * moving.size());
    for [x, y] in fixed {
        moving.include([x.clamp(x0 - room, x1 + room), y.clamp(y0 - room, y1 + room)], 0.0);
    }
    margins(moving)
}

/// True if no place of the shape moves by a visible part of `size`.
fn is_still(seen: &Seen, size: f64) -> bool {
    let extent = |path: &[[f64; 2]]| {
        let mut frame = Frame::EMPTY;
        path.iter().for_each(|place| frame.include(*place, 0.0));
        frame.size()
    };
    seen.paths.iter().all(|path| extent(path) <= 1e-6 * size)
}

fn radius(form: &Form) -> f64 {
    match form {
        Form::Disk(_, radius)
        | Form::Circle(_, radius)
        | Form::Ring(_, radius)
        | Form::Ball(_, radius)
        | Form::Capsule(_, _, radius) => *radius,
        _ => 0.0,
    }
}

/// The places of the surroundings that should be seen: of a whole line the one nearest to the centre.
fn surroundings(seen: &Seen, [x, y]: [f64; 2]) -> Vec<[f64; 2]> {
    let count = seen.paths.iter().map(|path| path.len()).max().unwrap_or(0);
    let at = |path: &[[f64; 2]], frame: usize| path[frame.min(path.len() - 1)];
    match (seen.form, seen.paths.as_slice()) {
        (Form::Wall(..), [from, to]) => {
            let foot = |frame: usize| {
                let ([x0, y0], [x1, y1]) = (at(from, frame), at(to, frame));
                let (dx, dy) = (x1 - x0, y1 - y0);
                let along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy);
                [x0 + along * dx, y0 + along * dy]
            };
            (0..count).map(foot).collect()
        }
        (Form::Post(..), [center, rim]) => {
            let box_of = |frame: usize| {
                let ([x, y], [x1, y1]) = (at(center, frame), at(rim, frame));
                let r = (x1 - x).hypot(y1 - y);
                [[x - r, y - r], [x + r, y + r]]
            };
            (0..count).flat_map(box_of).collect()
        }
        (form, paths) => {
            let r = radius(form);
            paths.iter().flat_map(|path| path.iter()).flat_map(|[x, y]| [[x - r, y - r], [x + r, y + r]]).collect()
        }
    }
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
