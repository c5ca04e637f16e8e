//! What connects points: `join` and `distance` in `[[constraint]]`, `[[spring]]`, and the unit quaternions of ball joints.

use std::ops::Range;

use super::super::document::{Fields, Item, array};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;
use crate::expr::{Expr, grad};
use crate::mechanism::{JointKind, Vector, apply_transposed, difference, dot, length, norm_squared, torque_on};
use crate::system::{Constraint, End, Enforce, Form, time_derivative};

/// What a `[[constraint]]` says.
#[derive(Clone, Copy)]
pub(super) enum Constrained<'i> {
    /// g = 0.
    Function(&'i Item),
    /// Two points are one.
    Join(&'i Item),
    /// Two points are so far apart.
    Distance(&'i Item, &'i Item),
}

impl<'i> Constrained<'i> {
    /// Where it stands.
    pub fn item(self) -> &'i Item {
        match self {
            Constrained::Function(item) | Constrained::Join(item) | Constrained::Distance(item, _) => item,
        }
    }
}

/// A row of a constraint: what follows its name, g, and how it was made.
type Row = (&'static str, Expr, Form);

impl<'a> Reader<'a> {
    pub(super) fn constrained<'i>(&self, fields: &Fields<'i>) -> Result<Constrained<'i>> {
        if let (None, Some(item)) = (fields.get("distance"), fields.get("length")) {
            return Err(self.error(&item.span, "`length` belongs to `distance`", ""));
        }
        match [fields.get("g"), fields.get("join"), fields.get("distance")] {
            [_, None, None] => Ok(Constrained::Function(fields.required("g")?)),
            [None, Some(item), None] => Ok(Constrained::Join(item)),
            [None, None, Some(item)] => Ok(Constrained::Distance(item, fields.required("length")?)),
            given => {
                let place =
                    given.into_iter().flatten().next_back().map_or_else(|| fields.span(), |item| item.span.clone());
                Err(self.error(
                    &place,
                    "a constraint is one of `g`, `join`, `distance`",
                    "write one `[[constraint]]` for each",
                ))
            }
        }
    }

    /// The rows of a constraint.
    ///
    /// ```text
    /// join       g = A − B, one row for each axis
    /// distance   g = (|A − B|² − length²)/2
    /// ```
    pub(super) fn rows(&mut self, what: Constrained, is_drawn: bool) -> Result<Vec<Row>> {
        let cannot = "the constraint cannot be enforced";
        match what {
            Constrained::Function(item) => Ok(vec![("", self.moving(item, cannot)?, Form::Function)]),
            Constrained::Join(item) => {
                let (ends, [a, b]) = self.ends(item)?;
                let axes = if self.is_in_space() { 3 } else { 2 };
                let row = |(axis, name): (usize, &'static str)| {
                    let g = a[axis] - b[axis];
                    if g.is_zero() {
                        let message = format!("the equation{name} of the join always holds");
                        return Err(self.error(&item.span, message, "write one `g` for each direction that is free"));
                    }
                    Ok((name, self.moves(g, item, cannot)?, Form::Join { ends, axis }))
                };
                [" x", " y", " z"].into_iter().enumerate().take(axes).map(row).collect()
            }
            Constrained::Distance(item, length_item) => {
                let (ends, [a, b]) = self.ends(item)?;
                let length = self.length(length_item)?;
                let d = difference(a, b);
                let g = self.moves((dot(d, d) - length.squared()) / 2.0, item, cannot)?;
                self.ties.extend(is_drawn.then_some(([a, b], false)));
                Ok(vec![("", g, Form::Distance { ends, length })])
            }
        }
    }

    /// A length: of parameters, the time and driven coordinates.
    fn length(&self, item: &Item) -> Result<Expr> {
        let length = self.expr(item, Use::Position)?;
        if length.depends_on(&self.free_coordinates()) {
            return Err(self.error(
                &item.span,
                "the length contains a coordinate that is not driven",
                "write a `g` instead",
            ));
        }
        match self.value(length) {
            Some(value) if !(value > 0.0 && value.is_finite()) => {
                Err(self.error(&item.span, "the length must be positive", format!("this is {value}")))
            }
            _ => Ok(length),
        }
    }

    /// Two points, and where they are.
    fn ends(&self, item: &Item) -> Result<([End; 2], [Vector; 2])> {
        let [a, b] = array(self.source, item)? else {
            return Err(self.error(&item.span, "expected two points, [\"A\", \"B\"]", ""));
        };
        let (a, b) = (self.tied_end(a)?, self.tied_end(b)?);
        Ok(([a.0, b.0], [a.1, b.1]))
    }

    fn tied_end(&self, item: &Item) -> Result<(End, Vector)> {
        let place = self.spot(item)?;
        let attached = match (&self.tree, self.point_name(item)?) {
            (Some(tree), Some(name)) => tree.mechanism.points.iter().position(|point| point.name == name),
            _ => None,
        };
        Ok((attached.map_or(End::At(place), End::Attached), place))
    }

    /// V of every `[[spring]]`, k(|A − B| − length)²/2; the forces of their dampers, −c d|A − B|/dt along the line, are kept.
    pub(super) fn springs(&mut self, top: &Fields<'a>) -> Result<Expr> {
        let mut potential = Expr::constant(0.0);
        self.dampers = vec![Expr::constant(0.0); self.names.coordinates.len()];
        for item in top.list("spring")? {
            self.attempt(|reader| reader.spring(item, &mut potential));
        }
        Ok(potential)
    }

    fn spring(&mut self, item: &'a Item, potential: &mut Expr) -> Result<()> {
        let fields = self.fields(item, "spring", &["for", "between", "stiffness", "length", "damping", "draw"])?;
        let is_drawn = fields.flag("draw")?.unwrap_or(true);
        let (between, q) =
            (fields.required("between")?, self.names.coordinates.iter().map(|c| c.q).collect::<Vec<_>>());
        if fields.get("stiffness").or(fields.get("damping")).is_none() {
            return Err(self.error(&item.span, "the spring has no `stiffness`", "give `stiffness` or `damping`"));
        }
        if let Some(item) = fields.get("damping") {
            self.places.forces.push(item.span.clone());
        }
        self.each_round(&fields, |reader, _| {
            let (_, [a, b]) = reader.ends(between)?;
            let number = |key: &str| match fields.get(key) {
                None => Ok(Expr::constant(0.0)),
                Some(item) => reader.expr(item, Use::Time),
            };
            let [stiffness, rest, damping] = [number("stiffness")?, number("length")?, number("damping")?];
            if let (Some(item), Some(value)) = (fields.get("length"), reader.value(rest))
                && (value < 0.0 || !value.is_finite())
            {
                return Err(reader.error(&item.span, "the length must not be negative", format!("this is {value}")));
            }
            let d = difference(a, b);
            reader.moves(dot(d, d), between, "the spring cannot move anything")?;
            reader.ties.extend(is_drawn.then_some(([a, b], true)));
            // Without a length the spring needs no square root, and is smooth where its ends meet.
            let stretch = if rest.is_zero() { dot(d, d) } else { (length(d) - rest).squared() };
            *potential = *potential + stiffness * stretch / 2.0;
            if !damping.is_zero() {
                let rate = time_derivative(&reader.names.coordinates, length(d));
                for (force, slope) in reader.dampers.iter_mut().zip(grad(length(d), &q)) {
                    *force = *force - damping * rate * slope;
                }
            }
            Ok(())
        })
    }

    /// |q|² = 1 of every ball joint, after all other constraints.
    pub(super) fn unit_quaternions(&mut self, constraints: &mut Vec<Constraint>) {
        let Some(tree) = &self.tree else { return };
        for (body, span) in tree.mechanism.bodies.iter().zip(&tree.places) {
            let (Some(first), Some(link)) = (body.quaternion(tree.mechanism.dimension), body.link) else { continue };
            let q = [0, 1, 2, 3].map(|k| self.names.coordinates[first + k].q);
            self.places.constraints.push(span.clone());
            constraints.push(Constraint {
                name: format!("unit quaternion of {}", body.name),
                g: norm_squared(q) - 1.0,
                enforce: Enforce::OnePoint,
                form: Form::Unit(link),
            });
        }
    }

    /// `[forces] B = [..]`: a torque in body axes; for a free joint the force comes first.
    pub(super) fn torque(
        &self,
        name: &str,
        span: &Range<usize>,
        item: &Item,
        entries: &[Item],
        forces: &mut [Expr],
    ) -> Result<()> {
        let tree = self.tree.as_ref();
        let body = tree.and_then(|tree| tree.mechanism.bodies.iter().find(|body| body.name == name));
        let Some(body) = body.filter(|body| matches!(body.kind, JointKind::Ball | JointKind::Free)) else {
            if body.is_none() && !self.names.is_broken(name) {
                self.coordinate(name, span)?;
            }
            let message = "a list is the torque on a ball or free joint";
            return Err(self.error(&item.span, message, format!("the force on `{name}` is one expression")));
        };
        let quaternion = body.quaternion(tree.map_or(3, |tree| tree.mechanism.dimension));
        let straight = quaternion.map_or(body.coordinates.len(), |first| first - body.coordinates.start);
        let expected = if quaternion.is_some() { straight + 3 } else { straight };
        if entries.len() != expected {
            let message = format!("expected {expected} entries, found {}", entries.len());
            let label = match (straight, quaternion) {
                (0, _) => "a torque in body axes",
                (_, Some(_)) => "the force along x, y, z, then a torque in body axes",
                _ => "the force along x and y, then the torque",
            };
            return Err(self.error(&item.span, message, label));
        }
        let values: Vec<Expr> = entries.iter().map(|entry| self.expr(entry, Use::Motion)).collect::<Result<_>>()?;
        let mut add = |i: usize, force: Expr| forces[i] = forces[i] + force;
        (0..straight).for_each(|k| add(body.coordinates.start + k, values[k]));
        if let (Some(first), [x, y, z]) = (quaternion, &values[straight..]) {
            let q = [0, 1, 2, 3].map(|k| self.names.coordinates[first + k].q);
            torque_on(q, [*x, *y, *z]).into_iter().enumerate().for_each(|(k, force)| add(first + k, force));
        }
        Ok(())
    }

    /// Coordinates of ball and free joints cannot be driven.
    pub(super) fn can_be_driven(&self, index: usize, span: &Range<usize>) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let is_loose = |kind| matches!(kind, JointKind::Ball | JointKind::Free);
        match tree.mechanism.bodies.iter().find(|body| body.coordinates.contains(&index) && is_loose(body.kind)) {
            None => Ok(()),
            Some(body) => {
                let message = format!("the ball or free joint of `{}` cannot be driven", body.name);
                Err(self.error(span, message, "use a list of joints, such as [\"tx\", \"ty\", \"tz\"]"))
            }
        }
    }

    /// A vector of the parent of a free body, in the axes of its slides.
    pub(super) fn along_slides(&self, link: usize, vector: Vector) -> Vector {
        let turn = self.tree.as_ref().map(|tree| tree.mechanism.links[link].turn);
        turn.map_or(vector, |turn| apply_transposed(turn, vector))
    }
}
