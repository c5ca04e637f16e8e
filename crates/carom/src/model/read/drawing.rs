//! `[[draw]]`.

use super::super::document::{Fields, Item, Value, array, text};
use super::super::names::Use;
use super::super::{COLORS, Drawing, Place, Shape, suggestion};
use super::Reader;
use crate::error::Result;
use crate::expr::Expr;
use crate::mechanism::{Mechanism, zero};

/// The shapes; each entry of `[[draw]]` has one.
const SHAPES: [&str; 8] = ["link", "disk", "circle", "segment", "spring", "polygon", "label", "ground"];
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
        Ok(drawings)
    }

    /// A mechanism that says nothing of its drawing: a line from the origin of each body to its points and to the joints that it
    /// carries, and a ball at its centre of mass.
    fn skeleton(&self) -> Vec<Drawing> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let Mechanism { links, points, .. } = &tree.mechanism;
        let plain = |shape| Drawing { shape, name: None, color: None };
        let mut drawings = Vec::new();
        for (number, link) in links.iter().enumerate().filter(|(_, link)| !link.inertia.is_none()) {
            let pose = &tree.poses[number];
            let carried = links.iter().filter(|other| other.parent == Some(number)).map(|other| other.at);
            let attached = points.iter().filter(|point| point.link == Some(number)).map(|point| point.at);
            for end in carried.chain(attached).filter(|at| *at != zero()) {
                drawings.push(plain(Shape::Link(vec![self.seen(pose.p), self.seen(pose.place(end))])));
            }
            drawings.push(plain(Shape::Disk(self.seen(pose.place(link.inertia.com)), Expr::constant(0.0))));
        }
        drawings
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
            _ => Shape::Label(text(self.source, item)?.into(), self.place(fields.required("at")?)?),
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
