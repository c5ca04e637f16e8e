//! `[[contact]]`: points against a line, a box or a circle, expanded into walls.

use std::ops::Range;

use super::super::document::{Fields, Item, Value, array, text, wrong_kind};
use super::super::names::Use;
use super::super::{Point, suggestion};
use super::Reader;
use crate::error::Result;
use crate::expr::parse::Complaint;
use crate::expr::{Expr, eval};
use crate::system::Wall;

const KEYS: [&str; 8] = ["name", "points", "radius", "line", "box", "circle", "side", "restitution"];

/// A place in the plane.
type Place = [Expr; 2];

/// What a point is kept on the free side of. Each gap is a distance, at least at the wall, so that λ is an impulse.
enum Shape {
    /// The whole line through two places; free on the left, looking from the first to the second.
    Line { from: Place, unit: Place },
    /// The inside of a rectangle, from its lower left to its upper right corner.
    Box { low: Place, high: Place },
    /// The inside or the outside of a circle.
    Circle { center: Place, radius: Expr, inside: bool },
}

impl Shape {
    /// The gaps φ of a point at (x, y), each with the side of the shape that it belongs to.
    ///
    /// ```text
    /// line    φ = u_x (y − y0) − u_y (x − x0),   u the unit vector along the line
    /// box     φ = x − x_min,  x_max − x,  y − y_min,  y_max − y
    /// circle  φ = ±(R² − r²)/(2R)
    /// ```
    ///
    /// The last is R − r at the wall up to (R − r)²/(2R), and, unlike that, smooth at the centre.
    fn gaps(&self, [x, y]: Place) -> Vec<(&'static str, Expr)> {
        match *self {
            Shape::Line { from: [x0, y0], unit: [ux, uy] } => vec![("", ux * (y - y0) - uy * (x - x0))],
            Shape::Box { low, high } => {
                vec![(" left", x - low[0]), (" right", high[0] - x), (" bottom", y - low[1]), (" top", high[1] - y)]
            }
            Shape::Circle { center: [x0, y0], radius, inside } => {
                let (square, distance) = (radius.squared(), (x - x0).squared() + (y - y0).squared());
                let difference = if inside { square - distance } else { distance - square };
                vec![("", difference / (2.0 * radius))]
            }
        }
    }
}

/// Each point as the centre of a ball of radius r: the shape that the centre is kept in.
impl Shape {
    /// ```text
    /// line     r to the left          box   each side moved in by r
    /// circle   R − r for the inside, R + r for the outside
    /// ```
    fn for_balls(self, r: Expr) -> Shape {
        match self {
            Shape::Line { from: [x, y], unit } => Shape::Line { from: [x - r * unit[1], y + r * unit[0]], unit },
            Shape::Box { low, high } => Shape::Box { low: low.map(|x| x + r), high: high.map(|x| x - r) },
            Shape::Circle { center, radius, inside } => {
                Shape::Circle { center, radius: if inside { radius - r } else { radius + r }, inside }
            }
        }
    }
}

impl Reader<'_> {
    /// The walls that `[[contact]]` stands for, after those of `[[wall]]`.
    pub(super) fn contacts(&mut self, top: &Fields, points: &[Point], walls: &mut Vec<Wall>) -> Result<()> {
        for (number, item) in top.list("contact")?.iter().enumerate() {
            let fields = Fields::new(self.source, item, "contact", &KEYS)?;
            let name = fields.text("name")?.map_or_else(|| format!("contact {}", number + 1), str::to_string);
            let (place, shape) = self.shape(&fields, item)?;
            let shape = match fields.get("radius") {
                Some(item) => self.for_balls(shape, item)?,
                None => shape,
            };
            let restitution = match fields.get("restitution") {
                Some(item) => self.restitution(item)?,
                None => Expr::constant(1.0),
            };
            for (point, span) in self.touching(&fields, points, &shape)? {
                for (side, phi) in self.hittable(&shape, point) {
                    let name = format!("{name}{side}: {}", point.name);
                    self.check_new_wall(walls, &name, &span, "give one of the contacts another `name`")?;
                    self.places.walls.push(place.clone());
                    self.places.restitutions.push(fields.get("restitution").map_or(place.clone(), |r| r.span.clone()));
                    walls.push(Wall { name, phi, restitution });
                }
            }
        }
        Ok(())
    }

    /// The shape for balls of this radius, if they fit in.
    fn for_balls(&self, shape: Shape, item: &Item) -> Result<Shape> {
        let value = self.number(item)?;
        if !(value >= 0.0 && value.is_finite()) {
            return Err(self.error(&item.span, "the radius must not be negative", format!("this is {value}")));
        }
        let shape = shape.for_balls(self.expr(item, Use::Parameters)?);
        let room = match &shape {
            Shape::Line { .. } => Vec::new(),
            Shape::Box { low, high } => vec![("wide", high[0] - low[0]), ("high", high[1] - low[1])],
            Shape::Circle { radius, .. } => vec![("wide", *radius)],
        };
        for (side, room) in room {
            if self.value(room).is_some_and(|room| room <= 0.0) {
                let message = format!("a ball of radius {value} does not fit in");
                return Err(self.error(&item.span, message, format!("it is not {side} enough")));
            }
        }
        Ok(shape)
    }

    /// The gaps of a point that its motion can change.
    fn hittable(&self, shape: &Shape, point: &Point) -> Vec<(&'static str, Expr)> {
        let free = self.free_coordinates();
        shape.gaps(point.at).into_iter().filter(|(_, phi)| phi.depends_on(&free)).collect()
    }

    /// The points that touch, each with where it is asked for. Of `all` points, those that nothing moves are left out.
    fn touching<'p>(
        &self,
        fields: &Fields,
        points: &'p [Point],
        shape: &Shape,
    ) -> Result<Vec<(&'p Point, Range<usize>)>> {
        let Some(item) = fields.get("points") else {
            let label = "write `points = [\"tip\"]` with names from `[points]`, or `points = \"all\"`";
            return Err(fields.error(Complaint::new("`contact` has no `points`", label)));
        };
        let moves = |point: &Point| !self.hittable(shape, point).is_empty();
        if matches!(&item.value, Value::Text(word) if word == "all") {
            let moving: Vec<_> = points.iter().filter(|point| moves(point)).collect();
            let (message, label) = match (points, moving.as_slice()) {
                ([], _) => ("there are no points", "list them in `[points]`, as in `tip = [\"x\", \"y\"]`"),
                (_, []) => ("no point can touch it", "no free coordinate moves any of them"),
                _ => return Ok(moving.into_iter().map(|point| (point, item.span.clone())).collect()),
            };
            return Err(self.error(&item.span, message, label));
        }
        self.named(item, points, moves)
    }

    /// The points that are listed, each of which must move.
    fn named<'p>(
        &self,
        item: &Item,
        points: &'p [Point],
        moves: impl Fn(&Point) -> bool,
    ) -> Result<Vec<(&'p Point, Range<usize>)>> {
        let names = if matches!(item.value, Value::Text(_)) { std::slice::from_ref(item) } else { self.list(item)? };
        let mut found: Vec<(&Point, Range<usize>)> = Vec::new();
        for name in names {
            let point = &points[self.point(name, points)?];
            if found.iter().any(|(other, _)| other.name == point.name) {
                return Err(self.error(&name.span, format!("the point `{}` is listed twice", point.name), ""));
            }
            if !moves(point) {
                let message = format!("the point `{}` cannot touch it", point.name);
                return Err(self.error(&name.span, message, "no free coordinate moves it"));
            }
            found.push((point, name.span.clone()));
        }
        Ok(found)
    }

    /// A list of points that is not empty.
    fn list<'i>(&self, item: &'i Item) -> Result<&'i [Item]> {
        match &item.value {
            Value::Array(items) if !items.is_empty() => Ok(items),
            Value::Array(_) => Err(self.error(&item.span, "no point is listed", "`\"all\"` stands for all of them")),
            _ => Err(wrong_kind(self.source, item, "a list of points or \"all\"")),
        }
    }

    /// The shape of a contact, and where it stands.
    fn shape(&self, fields: &Fields, whole: &Item) -> Result<(Range<usize>, Shape)> {
        let outside = fields.choice("side", &["inside", "outside"])? == Some("outside");
        let side = fields.get("side").map_or(0..0, |item| item.span.clone());
        match (fields.get("line"), fields.get("box"), fields.get("circle")) {
            (Some(item), None, None) => {
                if fields.get("side").is_some() {
                    let label = "swap its ends to free the other side";
                    return Err(self.error(&side, "a line is free on its left and has no `side`", label));
                }
                Ok((item.span.clone(), self.line(item)?))
            }
            (None, Some(item), None) => {
                if outside {
                    let message = "a point cannot be kept outside a box: its corners are not smooth";
                    let label = "write a `line` for each side that can be hit, or a `circle` around it";
                    return Err(self.error(&side, message, label));
                }
                Ok((item.span.clone(), self.rectangle(item)?))
            }
            (None, None, Some(item)) => Ok((item.span.clone(), self.circle(item, !outside)?)),
            (None, None, None) => {
                let label = "give one of `line`, `box`, `circle`";
                Err(fields.error(Complaint::new("`contact` has no shape", label)))
            }
            _ => Err(self.error(&whole.span, "`contact` has several shapes", "give one of `line`, `box`, `circle`")),
        }
    }

    fn line(&self, item: &Item) -> Result<Shape> {
        let [from, to] = self.two_places(item, "a line goes through two places, [[x, y], [x, y]]")?;
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length = match [dx, dy].map(Expr::as_const) {
            [Some(dx), Some(dy)] => Expr::constant(dx.hypot(dy)),
            _ => (dx.squared() + dy.squared()).sqrt(),
        };
        match self.value(length) {
            Some(length) if !length.is_finite() || length == 0.0 => {
                let message = "the line has no direction";
                Err(self.error(&item.span, message, format!("its two places are {length} apart")))
            }
            _ => Ok(Shape::Line { from, unit: [dx / length, dy / length] }),
        }
    }

    fn rectangle(&self, item: &Item) -> Result<Shape> {
        let [low, high] = self.two_places(item, "a box has two corners, [[xmin, ymin], [xmax, ymax]]")?;
        for (letter, low, high) in [("x", low[0], high[0]), ("y", low[1], high[1])] {
            if let (Some(low), Some(high)) = (self.value(low), self.value(high))
                && (low >= high || low.is_nan() || high.is_nan())
            {
                let label = format!("{letter} goes from {low} to {high}; write [[xmin, ymin], [xmax, ymax]]");
                return Err(self.error(&item.span, "the box has no inside", label));
            }
        }
        Ok(Shape::Box { low, high })
    }

    fn circle(&self, item: &Item, inside: bool) -> Result<Shape> {
        if !matches!(item.value, Value::Table(_)) {
            return Err(self.error(&item.span, "a circle is {center = [x, y], radius = R}", ""));
        }
        let fields = Fields::new(self.source, item, "circle", &["center", "radius"])?;
        let center = self.pair(fields.required("center")?, Use::Position)?;
        let radius_item = fields.required("radius")?;
        let radius = self.expr(radius_item, Use::Position)?;
        match self.value(radius) {
            Some(value) if !(value > 0.0 && value.is_finite()) => {
                Err(self.error(&radius_item.span, "the radius must be positive", format!("this is {value}")))
            }
            _ => Ok(Shape::Circle { center, radius, inside }),
        }
    }

    /// Two places in the plane.
    pub(super) fn two_places(&self, item: &Item, otherwise: &str) -> Result<[Place; 2]> {
        match array(self.source, item)? {
            [from, to] => Ok([self.pair(from, Use::Position)?, self.pair(to, Use::Position)?]),
            _ => Err(self.error(&item.span, otherwise, "")),
        }
    }

    /// The value of an expression, if it contains nothing but parameters.
    fn value(&self, e: Expr) -> Option<f64> {
        let values: Vec<(Expr, f64)> = self.names.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let known = e.symbols().iter().all(|symbol| values.iter().any(|(known, _)| known == symbol));
        known.then(|| eval(&[e], &values)[0])
    }

    /// The number of a point, by name.
    pub(super) fn point(&self, item: &Item, points: &[Point]) -> Result<usize> {
        let name = text(self.source, item)?;
        points.iter().position(|point| point.name == name).ok_or_else(|| {
            let label = match suggestion(name, points.iter().map(|point| point.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "list it in `[points]`".into(),
            };
            self.error(&item.span, format!("unknown point `{name}`"), label)
        })
    }
}
