//! `[[draw]]`.

use super::super::document::{Fields, Item, Value, array, text};
use super::super::names::Use;
use super::super::{COLORS, Drawing, Place, Shape, suggestion};
use super::Reader;
use super::body::ground;
use super::inertia::principal;
use crate::error::Result;
use crate::expr::Expr;
use crate::mechanism::{Inertia, LinkPose, Mechanism, Vector, add, identity, zero};

/// The shapes; each entry of `[[draw]]` has one.
const SHAPES: [&str; 11] =
    ["link", "disk", "circle", "segment", "spring", "polygon", "label", "ground", "sphere", "capsule", "box"];
/// The other keys.
const OTHERS: [&str; 5] = ["for", "radius", "at", "name", "color"];

impl<'a> Reader<'a> {
    pub(super) fn drawings(&mut self, top: &Fields<'a>) -> Result<Vec<Drawing>> {
        let mut drawings = Vec::new();
        for item in top.list("draw")? {
            self.attempt(|reader| reader.drawing(item, &mut drawings));
        }
        if drawings.is_empty() {
            drawings = self.skeleton();
        }
        if self.tree.is_some() || !drawings.is_empty() {
            self.draw_ties(&mut drawings);
        }
        Ok(drawings)
    }

    /// Strings and springs that no other shape connects.
    fn draw_ties(&self, drawings: &mut Vec<Drawing>) {
        let connects = |drawing: &Drawing, [a, b]: [Place; 2]| {
            let is_pair = |pair: &[Place]| pair == [a, b] || pair == [b, a];
            match &drawing.shape {
                Shape::Link(places) => places.windows(2).any(is_pair),
                Shape::Segment(pair) | Shape::Spring(pair) | Shape::Capsule(pair, _) | Shape::Cord(pair) => {
                    is_pair(pair)
                }
                _ => false,
            }
        };
        for (ends, is_spring) in &self.ties {
            let ends = ends.map(|end| self.seen(end));
            if !drawings.iter().any(|drawing| connects(drawing, ends)) {
                drawings.push(plain(if *is_spring { Shape::Spring(ends) } else { Shape::Cord(ends) }));
            }
        }
    }

    /// A mechanism that says nothing of its drawing: a line from the origin of each body to its points and to the joints that it
    /// carries, and a ball at its centre of mass. A body in space without these is the box or the ball with its inertia.
    fn skeleton(&self) -> Vec<Drawing> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let Mechanism { links, points, .. } = &tree.mechanism;
        let mut drawings = Vec::new();
        for (number, link) in links.iter().enumerate().filter(|(_, link)| !link.inertia.is_none()) {
            let pose = &tree.poses[number];
            let carried = links.iter().filter(|other| other.parent == Some(number)).map(|other| other.at);
            let attached = points.iter().filter(|point| point.link == Some(number)).map(|point| point.at);
            let ends: Vec<Vector> = carried.chain(attached).filter(|at| *at != zero()).collect();
            if let Some(solid) = self.solid_of_inertia(&link.inertia, pose).filter(|_| ends.is_empty()) {
                drawings.push(plain(solid));
                continue;
            }
            for end in ends {
                drawings.push(plain(Shape::Link(vec![self.seen(pose.p), self.seen(pose.place(end))])));
            }
            drawings.push(plain(Shape::Disk(self.seen(pose.place(link.inertia.com)), Expr::constant(0.0))));
        }
        drawings
    }

    /// The homogeneous box, or ball, with these mass and moments; none in the plane and for a rod.
    ///
    /// ```text
    /// box of edges a, b, c along its principal axes:   a² = 6 (I_b + I_c − I_a)/m;      ball:   r² = 5I/(2m)
    /// ```
    fn solid_of_inertia(&self, inertia: &Inertia, pose: &LinkPose) -> Option<Shape> {
        let mass = self.value(inertia.mass).filter(|mass| *mass > 0.0 && self.is_in_space())?;
        let entries = inertia.about_com.map(|row| row.map(|entry| self.value(entry).unwrap_or(f64::NAN)));
        let (moments, axes) = principal(entries);
        let largest = moments.iter().copied().fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        if moments.iter().all(|moment| (moment - largest).abs() <= 1e-9 * largest) {
            let radius = Expr::constant((2.5 * largest / mass).sqrt());
            return Some(Shape::Sphere(self.seen(pose.place(inertia.com)), radius));
        }
        let sum: f64 = moments.iter().sum();
        let halves = moments.map(|moment| 0.5 * (6.0 * (sum - 2.0 * moment).max(0.0) / mass).sqrt());
        let half_axes = [0, 1, 2].map(|i| [0, 1, 2].map(|k| Expr::constant(halves[i] * axes[k][i])));
        Some(Shape::Box(self.corners_of_box(|at| pose.place(at), inertia.com, half_axes)))
    }

    /// The corners of a box with this centre, in a frame that `place` takes to the world.
    fn corners_of_box(&self, place: impl Fn(Vector) -> Vector, center: Vector, half_axes: [Vector; 3]) -> [Place; 8] {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|k: usize| {
            let side = |i: usize| if k >> i & 1 == 1 { half_axes[i] } else { half_axes[i].map(|x| -x) };
            self.seen(place((0..3).fold(center, |at, i| add(at, side(i)))))
        })
    }

    fn drawing(&mut self, item: &'a Item, drawings: &mut Vec<Drawing>) -> Result<()> {
        let fields = self.fields(item, "draw", &[&SHAPES[..], &OTHERS[..]].concat())?;
        let given: Vec<(&str, &Item)> = SHAPES.iter().filter_map(|key| Some((*key, fields.get(key)?))).collect();
        let [(key, shape)] = given[..] else {
            let known: Vec<String> = SHAPES.iter().map(|key| format!("`{key}`")).collect();
            return Err(self.error(&item.span, format!("draw one of {}", known.join(", ")), ""));
        };
        if let Some(at) = fields.get("at").filter(|_| key != "label") {
            return Err(self.error(&at.span, "`at` is the place of a `label`", format!("this is a `{key}`")));
        }
        let (name, color) = (fields.text("name")?, self.color(&fields)?);
        self.each_round(&fields, |reader, round| {
            let shape = reader.drawn(key, shape, &fields)?;
            drawings.push(Drawing { shape, name: name.map(|name| format!("{name}{round}")), color: color.clone() });
            Ok(())
        })
    }

    fn drawn(&mut self, key: &str, item: &Item, fields: &Fields) -> Result<Shape> {
        Ok(match key {
            "link" => {
                let points = self.points_listed(array(self.source, item)?)?;
                Shape::Link(points.into_iter().map(|(number, _)| self.points[number].at).collect())
            }
            "disk" => Shape::Disk(self.place(item)?, self.drawn_radius(fields)?),
            "circle" => Shape::Circle(self.place(item)?, self.drawn_radius(fields)?),
            "segment" => Shape::Segment(self.two_places(item, "a segment has two ends, [[x, y], [x, y]]")?),
            "spring" => Shape::Spring(self.two_places(item, "a spring has two ends, [[x, y], [x, y]]")?),
            "ground" => Shape::Ground(self.two_places(item, "the ground has two ends, [[x, y], [x, y]]")?),
            "polygon" => Shape::Polygon(self.corners(item)?),
            "capsule" => {
                let axis = self.two_places(item, "a capsule goes from one place to another, [\"a\", \"b\"]")?;
                Shape::Capsule(axis, self.drawn_radius(fields)?)
            }
            "sphere" if !self.is_in_space() => {
                return Err(self.error(&item.span, "a sphere is drawn in space", "in the plane write `disk`"));
            }
            "sphere" => Shape::Sphere(self.place(item)?, self.drawn_radius(fields)?),
            "box" => self.drawn_box(item)?,
            _ => Shape::Label(text(self.source, item)?.into(), self.place(fields.required("at")?)?),
        })
    }

    /// `{on = "hand", at = [x, y, z], size = [a, b, c], turn = [...]}`; in the plane a rectangle.
    fn drawn_box(&self, item: &Item) -> Result<Shape> {
        let fields = self.fields(item, "box", &["on", "at", "size", "turn"])?;
        let body = match fields.get("on") {
            Some(on) => self.body_called(&self.indexed_name(on)?, on, None)?,
            None => ground(),
        };
        let center = fields.get("at").map_or(Ok(zero()), |item| self.vector(item, Use::Parameters))?;
        let turn = fields.get("turn").map_or(Ok(identity()), |item| self.turn(item))?;
        let size = self.vector(fields.required("size")?, Use::Parameters)?;
        let half_axes = [0, 1, 2].map(|i| [0, 1, 2].map(|k| turn[k][i] * size[i] / 2.0));
        let place = |at: Vector| match &self.tree {
            Some(tree) => tree.place(&body, at),
            None => at,
        };
        let corners = self.corners_of_box(place, center, half_axes);
        Ok(match self.is_in_space() {
            true => Shape::Box(corners),
            false => Shape::Polygon([0, 1, 3, 2].map(|k| corners[k]).to_vec()),
        })
    }

    fn drawn_radius(&self, fields: &Fields) -> Result<Expr> {
        self.expr(fields.required("radius")?, Use::Parameters)
    }

    /// The corners of a polygon: places, or names of points, ranges included.
    fn corners(&mut self, item: &Item) -> Result<Vec<Place>> {
        let mut corners = Vec::new();
        for corner in array(self.source, item)? {
            if matches!(corner.value, Value::Text(_)) {
                let points = self.points_listed(std::slice::from_ref(corner))?;
                corners.extend(points.into_iter().map(|(number, _)| self.points[number].at));
            } else {
                corners.push(self.place(corner)?);
            }
        }
        if corners.len() < 3 {
            let message = format!("a polygon has at least three corners, not {}", corners.len());
            return Err(self.error(&item.span, message, ""));
        }
        Ok(corners)
    }

    fn color(&self, fields: &Fields) -> Result<Option<String>> {
        let Some(item) = fields.get("color") else { return Ok(None) };
        let color = text(self.source, item)?;
        let digits = color.strip_prefix('#').unwrap_or("");
        let is_hex = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if is_hex || COLORS.contains(&color) {
            return Ok(Some(color.into()));
        }
        let label = match suggestion(color, COLORS.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {}, or \"#rrggbb\"", COLORS.join(", ")),
        };
        Err(self.error(&item.span, format!("unknown colour `{color}`"), label))
    }
}

/// A shape without a name or a colour of its own.
fn plain(shape: Shape) -> Drawing {
    Drawing { shape, name: None, color: None }
}
