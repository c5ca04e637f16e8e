//! Where walls touch the drawing: the drawn places that hit each wall, and the line or circle that the wall is.

use std::collections::HashSet;

use carom::lab::error::Result;
use carom::lab::expr::{Expr, ExprNode, Func, grad, substitute, with_arena};
use carom::lab::model::{Model, Outline, Place};
use carom::lab::system::time;

use crate::fit::{Curve, curve, fit, is_undecided};
use crate::floor::{Plane, plane_of};
use crate::geometry::Compiled;

/// The number of configurations at which φ is compared with lines and circles: the largest fit has five coefficients.
const TRIALS: usize = 16;
/// At most this many of the places that a wall concerns are tried in pairs.
const MOST_PAIRED: usize = 40;
/// Larger sets of gradients, in numbers, are not compiled for the sake of a flash.
const MOST_GRADIENTS: usize = 4000;

/// Symbols for x and y; a model cannot use such names.
const IN_PLANE: [&str; 2] = ["x#", "y#"];

/// What touches at a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// A drawn place touches the outline of a contact, by index.
    Contact(usize, usize),
    /// φ is a line or a circle for this drawn place.
    At(usize),
    /// φ is a function of the distance of these drawn places.
    Between(usize, usize),
    /// None of these: see [`Forces`].
    Unknown,
}

/// The walls of a model, as far as they concern the drawing.
pub struct Walls {
    /// What touches at each wall.
    pub touches: Vec<Touch>,
    /// The walls to draw, each a line or a circle for some place.
    pub drawn: Vec<Trial>,
    /// The walls of space to draw, each a plane for some place.
    pub planes: Vec<Plane>,
}

/// φ and a place, at trial configurations.
pub struct Trial {
    /// φ, x and y; driven coordinates follow their prescription.
    values: Compiled,
    /// The coordinates, or what stands in for them.
    trials: Vec<Vec<f64>>,
    /// True if the values change with time.
    pub is_moving: bool,
}

/// The coordinates on which a place or a gap depends, by index.
fn coordinates(model: &Model, expressions: &[Expr]) -> Vec<usize> {
    let free = model.system.free();
    free.into_iter().filter(|&i| expressions.iter().any(|e| e.depends_on(&[model.system.coordinates[i].q]))).collect()
}

/// x and what stands for it, or −x and what stands for that: a sum that contains x may be written as a difference.
fn unsigned(x: Expr, symbol: Expr) -> (Expr, Expr) {
    match with_arena(|arena| arena.node(x)) {
        ExprNode::Unary(Func::Neg, negative) => (negative, -symbol),
        _ => (x, symbol),
    }
}

/// Trial configurations that fill the box of the ranges, and some room around it (a Kronecker sequence).
fn trials(ranges: &[[f64; 2]]) -> Vec<Vec<f64>> {
    let value = |trial: usize, k: usize, [low, high]: [f64; 2]| {
        let size = if high > low { high - low } else { 0.5 * low.abs().max(1.0) };
        // Square roots of primes are independent over the rationals.
        let prime = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0][k % 10] + (k / 10) as f64 * 0.123;
        let part = ((trial + 1) as f64 * f64::sqrt(prime)).fract();
        0.5 * (low + high) + (part - 0.5) * 1.4 * size
    };
    let configuration = |trial: usize| ranges.iter().enumerate().map(|(k, range)| value(trial, k, *range)).collect();
    (0..TRIALS).map(configuration).collect()
}

impl Trial {
    /// A wall and a place. If φ is written in terms of x and y, these are varied instead of the coordinates: the answer then does
    /// not depend on how the place can move.
    fn new(model: &Model, phi: Expr, [x, y]: Place, ranges: &[[f64; 2]]) -> Result<Trial> {
        let system = &model.system;
        let driven = system.drive(&[phi, x, y]);
        let is_moving = driven.iter().any(|e| e.depends_on(&[time()]));
        let free: Vec<Expr> = system.free().iter().map(|&i| system.coordinates[i].q).collect();
        let in_plane = driven[1..].iter().zip(IN_PLANE).filter(|(e, _)| e.depends_on(&free));
        let (from, to): (Vec<Expr>, Vec<Expr>) = in_plane.map(|(e, name)| unsigned(*e, Expr::symbol(name))).unzip();
        let replaced = substitute(&driven, &from, &to);
        let is_of_place = driven[1] != driven[2] && !replaced[0].depends_on(&free);
        let trial = Trial { values: Compiled::new(model, &driven)?, trials: trials(ranges), is_moving };
        if is_of_place { trial.in_plane(model, &replaced) } else { Ok(trial) }
    }

    /// Varies x and y, for which the symbols [`IN_PLANE`] stand, over the range that they have in the trials.
    fn in_plane(mut self, model: &Model, expressions: &[Expr]) -> Result<Trial> {
        let mut ranges = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
        for q in &self.trials {
            let values = self.values.at(0.0, q, &[]);
            for (range, x) in ranges.iter_mut().zip(&values[1..]).filter(|(_, x)| x.is_finite()) {
                *range = [range[0].min(*x), range[1].max(*x)];
            }
        }
        // The first coordinate and its velocity stand in for x and y.
        let n = model.system.coordinates.len();
        let stand_in = [model.system.coordinates[0].q, model.system.coordinates[0].v];
        let values = Compiled::new(model, &substitute(expressions, &IN_PLANE.map(Expr::symbol), &stand_in))?;
        let spread = |[x, y]: [f64; 2]| [x].into_iter().chain(vec![0.0; n - 1]).chain([y]).collect();
        let pairs = trials(&ranges).into_iter().map(|pair| spread([pair[0], pair[1]]));
        Ok(Trial { values, trials: pairs.collect(), ..self })
    }

    /// The line or the circle at time t.
    pub fn curve(&mut self, t: f64) -> Option<Curve> {
        let samples = self.trials.iter().map(|trial| {
            let all = self.values.at(t, trial, &[]);
            [all[1], all[2], all[0]]
        });
        curve(&samples.collect::<Vec<_>>())
    }
}

/// The drawn places and the gaps at trial configurations.
struct Rows<'a> {
    model: &'a Model,
    places: &'a [Place],
    ranges: &'a [[f64; 2]],
    t: f64,
    /// The coordinates that move each place.
    moves: Vec<Vec<usize>>,
    /// φ of every wall, then x and y of every place, for each trial.
    rows: Vec<Vec<f64>>,
}

impl Walls {
    /// Finds what touches, among the drawn places that move. `ranges` has the range of each coordinate in the run.
    pub fn new(model: &Model, places: &[Place], ranges: &[[f64; 2]], t: f64) -> Result<Walls> {
        let moves = places.iter().map(|place| coordinates(model, place)).collect();
        let gaps = model.system.walls.iter().map(|wall| wall.phi);
        let all: Vec<Expr> = gaps.chain(places.as_flattened().iter().copied()).collect();
        let mut values = Compiled::new(model, &model.system.drive(&all))?;
        let rows = trials(ranges).iter().map(|q| values.at(t, q, &[]).to_vec()).collect();
        let rows = Rows { model, places, ranges, t, moves, rows };
        let of_contacts: HashSet<usize> = model.contacts.iter().flat_map(|c| &c.walls).map(|(wall, _)| *wall).collect();
        let mut walls = Walls { touches: Vec::new(), drawn: Vec::new(), planes: Vec::new() };
        for wall in 0..model.system.walls.len() {
            let mut touch = contact(model, places, wall);
            if let Some(view) = model.view.as_ref().filter(|_| !of_contacts.contains(&wall)) {
                let plane = plane_of(model, view, model.system.walls[wall].phi);
                let place = |point: usize| places.iter().position(|place| *place == model.points[point].at);
                if let Some((place, plane)) = plane.and_then(|(point, plane)| Some((place(point)?, plane))) {
                    touch = Touch::At(place);
                    walls.planes.extend((!model.undrawn.contains(&wall)).then_some(plane));
                }
            } else if !of_contacts.contains(&wall) {
                if let Some((place, trial)) = rows.outermost(wall)? {
                    touch = Touch::At(place);
                    walls.drawn.extend((!model.undrawn.contains(&wall)).then_some(trial));
                } else if let Some([a, b]) = rows.pair(wall) {
                    touch = Touch::Between(a, b);
                }
            }
            walls.touches.push(touch);
        }
        Ok(walls)
    }
}

/// The contact that a wall comes from, if its point is drawn. A point that is not drawn may be in another frame of reference.
fn contact(model: &Model, places: &[Place], wall: usize) -> Touch {
    for (number, contact) in model.contacts.iter().enumerate() {
        let point = contact.walls.iter().find(|(other, _)| *other == wall).map(|(_, point)| point);
        if let Some(place) = point.and_then(|point| places.iter().position(|place| place == point)) {
            return Touch::Contact(number, place);
        }
    }
    Touch::Unknown
}

impl Rows<'_> {
    fn coordinates_of(&self, wall: usize) -> Vec<usize> {
        coordinates(self.model, &[self.model.system.walls[wall].phi])
    }

    fn place(&self, row: &[f64], place: usize) -> [f64; 2] {
        let at = self.model.system.walls.len() + 2 * place;
        [row[at], row[at + 1]]
    }

    /// The place for which φ is a line or a circle. Of several that move along with each other the first that gets to the wall:
    /// the one whose line is farthest back.
    fn outermost(&self, wall: usize) -> Result<Option<(usize, Trial)>> {
        let (phi, needs) = (self.model.system.walls[wall].phi, self.coordinates_of(wall));
        let mut best: Option<(usize, Trial, Curve)> = None;
        for k in (0..self.places.len()).filter(|&k| needs.iter().all(|i| self.moves[k].contains(i))) {
            let sample = |row: &Vec<f64>| {
                let [x, y] = self.place(row, k);
                [x, y, row[wall]]
            };
            let samples: Vec<[f64; 3]> = self.rows.iter().map(sample).collect();
            if curve(&samples).is_none() && !is_undecided(&samples) {
                continue;
            }
            let mut trial = Trial::new(self.model, phi, self.places[k], self.ranges)?;
            let Some(found) = trial.curve(self.t) else { continue };
            let is_better = match (&best, found) {
                (None, _) => true,
                (Some((_, _, Curve::Line { foot, normal })), Curve::Line { foot: other, .. }) => {
                    (other[0] - foot[0]) * normal[0] + (other[1] - foot[1]) * normal[1] < 0.0
                }
                _ => false,
            };
            if is_better {
                best = Some((k, trial, found));
            }
        }
        Ok(best.map(|(k, trial, _)| (k, trial)))
    }

    /// Two places whose difference φ is a function of; of several pairs the one that is nearest.
    fn pair(&self, wall: usize) -> Option<[usize; 2]> {
        let needs = self.coordinates_of(wall);
        let concerned = (0..self.places.len()).filter(|&k| self.moves[k].iter().any(|i| needs.contains(i)));
        let concerned: Vec<usize> = concerned.take(MOST_PAIRED).collect();
        let mut best: Option<([usize; 2], f64)> = None;
        for (n, &a) in concerned.iter().enumerate() {
            for &b in &concerned[n + 1..] {
                if !needs.iter().all(|i| self.moves[a].contains(i) || self.moves[b].contains(i)) {
                    continue;
                }
                let sample = |row: &Vec<f64>| {
                    let ([x, y], [u, v]) = (self.place(row, a), self.place(row, b));
                    [u - x, v - y, row[wall]]
                };
                let samples: Vec<[f64; 3]> = self.rows.iter().map(sample).collect();
                let Some(found) = curve(&samples) else { continue };
                let distance = match found {
                    Curve::Line { foot, normal } => {
                        let beside = samples.iter().map(|s| (s[0] * normal[1] - s[1] * normal[0]).abs());
                        (foot[0] * normal[0] + foot[1] * normal[1]).abs() + beside.fold(0.0, f64::max)
                    }
                    Curve::Circle { radius, .. } => radius,
                };
                if best.is_none_or(|(_, least)| distance < least) {
                    best = Some(([a, b], distance));
                }
            }
        }
        best.map(|(pair, _)| pair)
    }
}

/// The place of an outline that is nearest to a place, from the numbers of [`numbers`].
pub fn nearest(outline: &Outline, numbers: &[f64], [x, y]: [f64; 2]) -> [f64; 2] {
    match (outline, numbers) {
        (Outline::Line { .. }, &[x0, y0, x1, y1]) => {
            let (dx, dy) = (x1 - x0, y1 - y0);
            let along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy);
            [x0 + along * dx, y0 + along * dy]
        }
        (Outline::Box { .. }, &[x0, y0, x1, y1]) => {
            let sides = [[x0, y], [x1, y], [x, y0], [x, y1]];
            let distance = |side: &[f64; 2]| (side[0] - x).hypot(side[1] - y);
            sides.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or([x, y])
        }
        (Outline::Circle { .. }, &[x0, y0, radius, _]) => {
            let distance = (x - x0).hypot(y - y0);
            if distance > 0.0 { [x0 + radius * (x - x0) / distance, y0 + radius * (y - y0) / distance] } else { [x, y] }
        }
        _ => [x, y],
    }
}

/// The four numbers of an outline.
pub fn numbers(outline: &Outline) -> [Expr; 4] {
    match *outline {
        Outline::Line { from, to, .. } => [from[0], from[1], to[0], to[1]],
        Outline::Box { low, high } => [low[0], low[1], high[0], high[1]],
        Outline::Circle { center, radius, .. } => [center[0], center[1], radius, radius],
        Outline::Plane { normal: [u, v, w], .. } => [u, v, w, w],
    }
}

/// Decides at an impact where the impulse acts, for walls that say nothing else.
///
/// The impulse λ∇φ, on the coordinates that move a place, is a force at that place if ∇φ is a combination of ∇x and ∇y there.
pub struct Forces {
    values: Compiled,
    /// The coordinates that move each place, among the free ones.
    moves: Vec<Vec<usize>>,
    free: usize,
}

impl Forces {
    /// Compiles the gradients of a wall and of the places. None if there are too many.
    pub fn new(model: &Model, phi: Expr, places: &[Place]) -> Result<Option<Forces>> {
        let (system, free) = (&model.system, model.system.free());
        if free.len() * places.len() > MOST_GRADIENTS {
            return Ok(None);
        }
        let q: Vec<Expr> = free.iter().map(|&i| system.coordinates[i].q).collect();
        let all: Vec<Expr> = [phi].into_iter().chain(places.as_flattened().iter().copied()).collect();
        let gradients: Vec<Expr> = system.drive(&all).into_iter().flat_map(|e| grad(e, &q)).collect();
        let position = |i: usize| free.iter().position(|&k| k == i);
        let moves = places.iter().map(|place| coordinates(model, place).into_iter().filter_map(position).collect());
        Ok(Some(Forces { values: Compiled::new(model, &gradients)?, moves: moves.collect(), free: free.len() }))
    }

    /// The places at which the impulse may act: those at which it is a force although the place has more freedom than that, or,
    /// if there are none, all that it moves.
    pub fn candidates(&mut self, t: f64, q: &[f64]) -> Vec<usize> {
        let n = self.free;
        let all = self.values.at(t, q, &[]);
        let (mut certain, mut possible) = (Vec::new(), Vec::new());
        for (place, moves) in self.moves.iter().enumerate() {
            let part = |row: usize| moves.iter().map(|k| all[row * n + k]).collect::<Vec<f64>>();
            let (phi, x, y) = (part(0), part(1 + 2 * place), part(2 + 2 * place));
            if phi.iter().all(|g| *g == 0.0) {
                continue;
            }
            let fits = [&[&x[..], &y[..]][..], &[&x[..]], &[&y[..]]].into_iter().any(|span| fit(span, &phi).is_some());
            if fits && moves.len() > 2 { certain.push(place) } else { possible.push(place) }
        }
        if certain.is_empty() { possible } else { certain }
    }
}
