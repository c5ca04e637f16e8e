//! The shapes of `[[contact]]` in space: a plane or a sphere.

use super::super::Outline;
use super::super::document::{Fields, Item};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;
use crate::expr::Expr;
use crate::expr::parse::Complaint;
use crate::mechanism::{Vector, difference, dot, length};

/// What a point in space is kept on the free side of.
#[derive(Clone, Copy)]
pub(super) enum Solid {
    /// Free on the side to which the unit normal points.
    Plane { through: Vector, normal: Vector, offset: Expr },
    /// Free inside or outside.
    Sphere { center: Vector, radius: Expr, inside: bool },
}

impl Solid {
    /// The gap φ of a point at x.
    ///
    /// ```text
    /// plane    φ = n·(x − through)
    /// sphere   φ = ±(R² − r²)/(2R)
    /// ```
    pub fn gap(&self, x: Vector) -> Expr {
        match *self {
            Solid::Plane { through, normal, offset } => dot(normal, difference(x, through)) - offset,
            Solid::Sphere { center, radius, inside } => {
                let d = difference(x, center);
                let (square, distance) = (radius.squared(), dot(d, d));
                (if inside { square - distance } else { distance - square }) / (2.0 * radius)
            }
        }
    }

    /// The shape that keeps the centres of balls of radius r: a plane moved by r, a sphere of radius R ∓ r.
    pub fn for_balls(self, r: Expr) -> Solid {
        match self {
            Solid::Plane { through, normal, offset } => Solid::Plane { through, normal, offset: offset + r },
            Solid::Sphere { center, radius, inside } => {
                Solid::Sphere { center, radius: if inside { radius - r } else { radius + r }, inside }
            }
        }
    }

    /// The place that it is made with.
    pub fn place(&self) -> Vector {
        match *self {
            Solid::Plane { through, .. } => through,
            Solid::Sphere { center, .. } => center,
        }
    }

    /// The radius that must stay positive.
    pub fn room(&self) -> Option<Expr> {
        match *self {
            Solid::Plane { .. } => None,
            Solid::Sphere { radius, .. } => Some(radius),
        }
    }
}

impl<'a> Reader<'a> {
    /// A shape in space as pictures show it.
    pub(super) fn outline_in_picture(&self, solid: Solid) -> Outline {
        match (solid, self.view) {
            (Solid::Plane { through, normal, .. }, Some(view)) => {
                Outline::Plane { through: view.turned(through), normal: view.turned(normal) }
            }
            (Solid::Plane { through, normal, .. }, None) => Outline::Plane { through, normal },
            (Solid::Sphere { center, radius, inside }, _) => {
                Outline::Circle { center: self.seen(center), radius, inside }
            }
        }
    }

    /// The shape of a contact in space, and the item that it was made from.
    pub(super) fn solid<'i>(&self, fields: &Fields<'i>) -> Result<(&'i Item, Solid)> {
        let inside = fields.choice("side", &["inside", "outside"])? != Some("outside");
        if let Some(item) = ["line", "box", "circle"].into_iter().find_map(|key| fields.get(key)) {
            return Err(self.error(&item.span, "this is a shape in the plane", "in space give `plane` or `sphere`"));
        }
        match (fields.get("plane"), fields.get("sphere")) {
            (Some(_), Some(item)) => {
                Err(self.error(&item.span, "`contact` has several shapes", "give one of `plane`, `sphere`"))
            }
            (None, None) => {
                Err(fields.error(Complaint::new("`contact` has no shape", "give one of `plane`, `sphere`")))
            }
            (Some(item), None) => match fields.get("side") {
                Some(side) => {
                    Err(self.error(&side.span, "a plane has no `side`", "reverse its normal to free the other side"))
                }
                None => Ok((item, self.plane(item)?)),
            },
            (None, Some(item)) => Ok((item, self.sphere(item, inside)?)),
        }
    }

    fn plane(&self, item: &Item) -> Result<Solid> {
        let fields = self.fields(item, "plane", &["through", "normal"])?;
        let through = self.spot(fields.required("through")?)?;
        let normal_item = fields.required("normal")?;
        let normal = self.vector(normal_item, Use::Position)?;
        let size = length(normal);
        match self.value(size) {
            Some(value) if !(value > 0.0 && value.is_finite()) => {
                Err(self.error(&normal_item.span, "the normal has no direction", format!("its length is {value}")))
            }
            _ => Ok(Solid::Plane { through, normal: normal.map(|x| x / size), offset: Expr::constant(0.0) }),
        }
    }

    fn sphere(&self, item: &Item, inside: bool) -> Result<Solid> {
        let fields = self.fields(item, "sphere", &["center", "radius"])?;
        let (center, radius) = self.center_and_radius(&fields)?;
        Ok(Solid::Sphere { center, radius, inside })
    }

    /// `{center = […], radius = R}`.
    pub(super) fn center_and_radius(&self, fields: &Fields) -> Result<(Vector, Expr)> {
        let center = self.spot(fields.required("center")?)?;
        let item = fields.required("radius")?;
        let radius = self.expr(item, Use::Position)?;
        match self.value(radius) {
            Some(value) if !(value > 0.0 && value.is_finite()) => {
                Err(self.error(&item.span, "the radius must be positive", format!("this is {value}")))
            }
            _ => Ok((center, radius)),
        }
    }
}
