//! `[[contact]]`: points against a line, a box or a circle, in space against a plane or a sphere, expanded into walls.

use std::ops::Range;

use super::super::document::{Fields, Item, Value, wrong_kind};
use super::super::names::Use;
use super::super::{ContactGeometry, Outline, Place, Point};
use super::Reader;
use super::solid::Solid;
use crate::error::Result;
use crate::expr::parse::Complaint;
use crate::expr::{Expr, eval};
use crate::system::Wall;

const KEYS: [&str; 12] =
    ["name", "for", "points", "radius", "line", "box", "circle", "plane", "sphere", "side", "restitution", "draw"];

/// A shape in the plane or in space.
#[derive(Clone, Copy)]
enum Barrier {
    Flat(Outline),
    Solid(Solid),
}

impl Barrier {
    /// The gaps of a point, each with the side of the shape that it belongs to.
    fn gaps(&self, point: &Point) -> Vec<(&'static str, Expr)> {
        match self {
            Barrier::Flat(outline) => outline.gaps(point.at),
            Barrier::Solid(solid) => vec![("", solid.gap(point.space))],
        }
    }

    /// True if the shape is made with this point.
    fn is_made_of(&self, point: &Point) -> bool {
        match self {
            Barrier::Flat(outline) => outline.places().contains(&point.at),
            Barrier::Solid(solid) => solid.place() == point.space,
        }
    }

    /// Each point as the centre of a ball of radius r.
    fn for_balls(self, r: Expr) -> Barrier {
        match self {
            Barrier::Flat(outline) => Barrier::Flat(outline.for_balls(r)),
            Barrier::Solid(solid) => Barrier::Solid(solid.for_balls(r)),
        }
    }
}

impl Outline {
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
            Outline::Line { from: [x0, y0], unit: [ux, uy], .. } => vec![("", ux * (y - y0) - uy * (x - x0))],
            Outline::Box { low, high } => {
                vec![(" left", x - low[0]), (" right", high[0] - x), (" bottom", y - low[1]), (" top", high[1] - y)]
            }
            Outline::Circle { center: [x0, y0], radius, inside } => {
                let (square, distance) = (radius.squared(), (x - x0).squared() + (y - y0).squared());
                let difference = if inside { square - distance } else { distance - square };
                vec![("", difference / (2.0 * radius))]
            }
            // The gaps of planes are those of a `Solid`.
            Outline::Plane { .. } => Vec::new(),
        }
    }
}

impl Outline {
    /// The places that the shape is drawn through.
    fn places(&self) -> Vec<Place> {
        match *self {
            Outline::Line { from, to, .. } => vec![from, to],
            Outline::Box { low, high } => vec![low, high],
            Outline::Circle { center, .. } => vec![center],
            Outline::Plane { through: [x, y, _], .. } => vec![[x, y]],
        }
    }

    /// Each point as the centre of a ball of radius r: the shape that the centre is kept in.
    ///
    /// ```text
    /// line     r to the left          box   each side moved in by r
    /// circle   R − r for the inside, R + r for the outside
    /// ```
    fn for_balls(self, r: Expr) -> Outline {
        match self {
            Outline::Line { from, to, unit } => {
                let beside = |[x, y]: Place| [x - r * unit[1], y + r * unit[0]];
                Outline::Line { from: beside(from), to: beside(to), unit }
            }
            Outline::Box { low, high } => Outline::Box { low: low.map(|x| x + r), high: high.map(|x| x - r) },
            Outline::Circle { center, radius, inside } => {
                Outline::Circle { center, radius: if inside { radius - r } else { radius + r }, inside }
            }
            Outline::Plane { .. } => self,
        }
    }
}

impl<'a> Reader<'a> {
    /// The walls that `[[contact]]` stands for, after those of `[[wall]]`.
    pub(super) fn contacts(&mut self, top: &Fields<'a>, walls: &mut Vec<Wall>) -> Result<()> {
        for (number, item) in top.list("contact")?.iter().enumerate() {
            self.attempt(|reader| reader.contact(item, number + 1, walls));
        }
        Ok(())
    }

    fn contact(&mut self, item: &'a Item, number: usize, walls: &mut Vec<Wall>) -> Result<()> {
        let fields = self.fields(item, "contact", &KEYS)?;
        let name = fields.text("name")?.map_or_else(|| format!("contact {number}"), str::to_string);
        let is_drawn = fields.flag("draw")?.unwrap_or(true);
        self.each_round(&fields, |reader, round| {
            let (place, outline) = if reader.is_in_space() {
                let (item, solid) = reader.solid(&fields)?;
                (item.span.clone(), Barrier::Solid(solid))
            } else {
                let (place, outline) = reader.shape(&fields, item)?;
                (place, Barrier::Flat(outline))
            };
            let (shape, radius) = match fields.get("radius") {
                Some(item) => (reader.for_balls(outline, item)?, reader.expr(item, Use::Parameters)?),
                None => (outline, Expr::constant(0.0)),
            };
            let restitution = reader.restitution(fields.get("restitution"))?;
            let end = fields.get("restitution").map_or(&place, |item| &item.span);
            let mut touching = Vec::new();
            for (number, span) in reader.touching(&fields, &shape, &outline)? {
                let point = reader.points[number].clone();
                for (side, phi) in reader.hittable(&shape, &point) {
                    let name = format!("{name}{round}{side}: {}", point.name);
                    reader.check_new_wall(walls, &name, &span, "give one of the contacts another `name`")?;
                    reader.places.walls.push(place.clone());
                    reader.places.restitutions.push(end.clone());
                    reader.undrawn.extend((!is_drawn).then_some(walls.len()));
                    touching.push((walls.len(), point.at));
                    walls.push(Wall { name, phi, restitution });
                }
            }
            let outline = match outline {
                Barrier::Flat(outline) => outline,
                Barrier::Solid(solid) => reader.outline_in_picture(solid),
            };
            reader.contacts.push(ContactGeometry { outline, radius, walls: touching });
            Ok(())
        })
    }

    /// The shape for balls of this radius, if they fit in.
    fn for_balls(&self, shape: Barrier, item: &Item) -> Result<Barrier> {
        let value = self.number(item)?;
        if !(value >= 0.0 && value.is_finite()) {
            return Err(self.error(&item.span, "the radius must not be negative", format!("this is {value}")));
        }
        let shape = shape.for_balls(self.expr(item, Use::Parameters)?);
        let room = match &shape {
            Barrier::Flat(Outline::Line { .. } | Outline::Plane { .. }) => Vec::new(),
            Barrier::Flat(Outline::Box { low, high }) => {
                vec![("wide", high[0] - low[0]), ("high", high[1] - low[1])]
            }
            Barrier::Flat(Outline::Circle { radius, .. }) => vec![("wide", *radius)],
            Barrier::Solid(solid) => solid.room().map(|room| ("wide", room)).into_iter().collect(),
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
    fn hittable(&self, shape: &Barrier, point: &Point) -> Vec<(&'static str, Expr)> {
        let free = self.free_coordinates();
        shape.gaps(point).into_iter().filter(|(_, phi)| phi.depends_on(&free)).collect()
    }

    /// The points that touch, each with where it is asked for. Of `all` points, those that nothing moves are left out, and
    /// those that the shape is made of.
    fn touching(&mut self, fields: &Fields, shape: &Barrier, made: &Barrier) -> Result<Vec<(usize, Range<usize>)>> {
        let Some(item) = fields.get("points") else {
            let label = "write `points = [\"tip\"]` with names from `[points]`, or `points = \"all\"`";
            return Err(fields.error(Complaint::new("`contact` has no `points`", label)));
        };
        if !matches!(&item.value, Value::Text(word) if word == "all") {
            return self.named(item, shape, made);
        }
        let is_free = |point: &Point| !made.is_made_of(point) && !self.hittable(shape, point).is_empty();
        let moving: Vec<usize> = (0..self.points.len()).filter(|&i| is_free(&self.points[i])).collect();
        if moving.is_empty() && !self.broken_points.is_empty() {
            return Err(self.source.error(item.span.clone(), Complaint::consequence()));
        }
        let (message, label) = match (self.points.as_slice(), moving.as_slice()) {
            ([], _) => ("there are no points", "list them in `[points]`, as in `tip = [\"x\", \"y\"]`"),
            (_, []) => ("no point can touch this shape", "no free coordinate moves any of them"),
            _ => return Ok(moving.into_iter().map(|point| (point, item.span.clone())).collect()),
        };
        Err(self.error(&item.span, message, label))
    }

    /// The points that are listed, each of which must move.
    fn named(&mut self, item: &Item, shape: &Barrier, made: &Barrier) -> Result<Vec<(usize, Range<usize>)>> {
        let Some(items) = Self::one_or_many(item) else {
            return Err(wrong_kind(self.source, item, "a list of points or \"all\""));
        };
        let mut found: Vec<(usize, Range<usize>)> = Vec::new();
        for (number, item) in self.points_listed(items)? {
            let point = &self.points[number];
            let cannot = format!("the point `{}` cannot touch this shape", point.name);
            if found.iter().any(|(other, _)| *other == number) {
                return Err(self.error(&item.span, format!("the point `{}` is listed twice", point.name), ""));
            }
            if made.is_made_of(point) {
                return Err(self.error(&item.span, cannot, "this point defines the shape"));
            }
            if self.hittable(shape, point).is_empty() {
                return Err(self.error(&item.span, cannot, "no free coordinate moves it"));
            }
            found.push((number, item.span.clone()));
        }
        if found.is_empty() {
            return Err(self.error(&item.span, "no point is listed", "`\"all\"` stands for all of them"));
        }
        Ok(found)
    }

    /// The shape of a contact, and where it stands.
    fn shape(&self, fields: &Fields, whole: &Item) -> Result<(Range<usize>, Outline)> {
        if let Some(item) = fields.get("plane").or(fields.get("sphere")) {
            return Err(self.error(
                &item.span,
                "this is a shape in space",
                "in the plane give `line`, `box` or `circle`",
            ));
        }
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

    fn line(&self, item: &Item) -> Result<Outline> {
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
            _ => Ok(Outline::Line { from, to, unit: [dx / length, dy / length] }),
        }
    }

    fn rectangle(&self, item: &Item) -> Result<Outline> {
        let [low, high] = self.two_places(item, "a box has two corners, [[xmin, ymin], [xmax, ymax]]")?;
        for (letter, low, high) in [("x", low[0], high[0]), ("y", low[1], high[1])] {
            if let (Some(low), Some(high)) = (self.value(low), self.value(high))
                && (low >= high || low.is_nan() || high.is_nan())
            {
                let label = format!("{letter} goes from {low} to {high}; write [[xmin, ymin], [xmax, ymax]]");
                return Err(self.error(&item.span, "the box has no inside", label));
            }
        }
        Ok(Outline::Box { low, high })
    }

    fn circle(&self, item: &Item, inside: bool) -> Result<Outline> {
        if !matches!(item.value, Value::Table(_)) {
            return Err(self.error(&item.span, "a circle is {center = [x, y], radius = R}", ""));
        }
        let fields = self.fields(item, "circle", &["center", "radius"])?;
        let ([x, y, _], radius) = self.center_and_radius(&fields)?;
        Ok(Outline::Circle { center: [x, y], radius, inside })
    }

    /// The value of an expression, if it contains nothing but parameters.
    pub(super) fn value(&self, e: Expr) -> Option<f64> {
        let values: Vec<(Expr, f64)> = self.names.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let known = e.symbols().iter().all(|symbol| values.iter().any(|(known, _)| known == symbol));
        known.then(|| eval(&[e], &values)[0])
    }
}
