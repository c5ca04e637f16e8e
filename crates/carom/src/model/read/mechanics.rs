//! `[lagrangian]`, `[[wall]]`, `[[constraint]]`, `[forces]`, `[[push]]`.

use std::ops::Range;

use super::super::document::{Fields, Item, array};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;
use crate::expr::{Expr, grad};
use crate::system::{Constraint, Enforce, Lagrangian, Wall};

impl Reader<'_> {
    pub(super) fn lagrangian(&mut self, top: &Fields) -> Result<Lagrangian> {
        let Some(item) = top.get("lagrangian") else {
            let label = "add `[lagrangian]` with `T` and `V`, or with one `L`";
            return Err(self.error(&(0..0), "the model has no Lagrangian", label));
        };
        let fields = Fields::new(self.source, item, "lagrangian", &["T", "V", "L"])?;
        let get = |key| fields.get(key).map(|item| self.expr(item, Use::Motion)).transpose();
        let (t, v, l) = (get("T")?, get("V")?, get("L")?);
        let span = |key| fields.get(key).map_or(0..0, |item| item.span.clone());
        (self.places.kinetic, self.places.potential) = (span("T"), span("V"));
        self.places.lagrangian = fields.entries().first().map_or(item.span.clone(), |entry| entry.item.span.clone());
        match (t, v, l) {
            (Some(t), v, None) => {
                let v = v.unwrap_or(Expr::constant(0.0));
                Ok(Lagrangian { l: t - v, parts: Some((t, v)) })
            }
            (None, None, Some(l)) => Ok(Lagrangian { l, parts: None }),
            (None, Some(_), None) => fields.required("T").map(|_| unreachable!("T is not there")),
            (None, None, None) => {
                Err(self.error(&item.span, "the Lagrangian is missing", "give `T` and `V`, or one `L`"))
            }
            (_, _, Some(_)) => Err(self.error(&item.span, "both `L` and `T`, `V` are given", "give one or the other")),
        }
    }

    pub(super) fn walls(&mut self, top: &Fields) -> Result<Vec<Wall>> {
        let mut walls: Vec<Wall> = Vec::new();
        for (number, item) in top.list("wall")?.iter().enumerate() {
            let fields = Fields::new(self.source, item, "wall", &["name", "phi", "restitution"])?;
            let name = fields.text("name")?.map_or_else(|| format!("wall {}", number + 1), str::to_string);
            let span = fields.get("name").map_or(&item.span, |item| &item.span);
            self.check_new_wall(&walls, &name, span, "give each its own name")?;
            let phi_item = fields.required("phi")?;
            let phi = self.moving(phi_item, "the wall cannot be hit")?;
            let restitution = match fields.get("restitution") {
                Some(item) => self.restitution(item)?,
                None => Expr::constant(1.0),
            };
            self.places.walls.push(phi_item.span.clone());
            self.places.restitutions.push(fields.get("restitution").unwrap_or(phi_item).span.clone());
            walls.push(Wall { name, phi, restitution });
        }
        Ok(walls)
    }

    /// Refuses a name that another wall has.
    pub(super) fn check_new_wall(&self, walls: &[Wall], name: &str, span: &Range<usize>, label: &str) -> Result<()> {
        if walls.iter().all(|wall| wall.name != name) {
            return Ok(());
        }
        Err(self.error(span, format!("two walls are called `{name}`"), label))
    }

    /// The coordinates that are not driven.
    pub(super) fn free_coordinates(&self) -> Vec<Expr> {
        self.names.coordinates.iter().filter(|c| c.prescribed.is_none()).map(|c| c.q).collect()
    }

    /// A function of position and time that depends on some coordinate that is not driven.
    fn moving(&self, item: &Item, otherwise: &str) -> Result<Expr> {
        let e = self.expr(item, Use::Position)?;
        if e.depends_on(&self.free_coordinates()) {
            return Ok(e);
        }
        let all: Vec<Expr> = self.names.coordinates.iter().map(|c| c.q).collect();
        let free = if e.depends_on(&all) { "coordinate that is not driven" } else { "coordinate" };
        Err(self.error(&item.span, format!("this contains no {free}"), otherwise))
    }

    pub(super) fn restitution(&self, item: &Item) -> Result<Expr> {
        let value = self.number(item)?;
        if (0.0..=1.0).contains(&value) {
            return self.expr(item, Use::Parameters);
        }
        Err(self.error(&item.span, "the restitution must be from 0 to 1", format!("this is {value}")))
    }

    pub(super) fn constraints(&mut self, top: &Fields) -> Result<Vec<Constraint>> {
        let mut constraints: Vec<Constraint> = Vec::new();
        for (number, item) in top.list("constraint")?.iter().enumerate() {
            let fields = Fields::new(self.source, item, "constraint", &["name", "g", "enforce", "lambda1"])?;
            let name = fields.text("name")?.map_or_else(|| format!("constraint {}", number + 1), str::to_string);
            if constraints.iter().any(|constraint| constraint.name == name) {
                let span = fields.get("name").map_or(&item.span, |item| &item.span);
                let message = format!("two constraints are called `{name}`");
                return Err(self.error(span, message, "give each its own name"));
            }
            let g_item = fields.required("g")?;
            let g = self.moving(g_item, "the constraint cannot be enforced")?;
            let two_point = fields.choice("enforce", &["one-point", "two-point"])? == Some("two-point");
            let lambda1 = fields.get("lambda1").map(|item| self.number(item)).transpose()?;
            let enforce = match (two_point, lambda1) {
                (true, lambda1) => Enforce::TwoPoint { lambda1: lambda1.unwrap_or(0.0) },
                (false, None) => Enforce::OnePoint,
                (false, Some(_)) => {
                    let span = &fields.required("lambda1")?.span;
                    let label = "write `enforce = \"two-point\"` too";
                    return Err(self.error(span, "`lambda1` belongs to two-point constraints", label));
                }
            };
            self.places.constraints.push(g_item.span.clone());
            constraints.push(Constraint { name, g, enforce });
        }
        Ok(constraints)
    }

    /// The generalized forces: those of `[forces]` and, by virtual work, those of every `[[push]]`.
    pub(super) fn forces(&mut self, top: &Fields) -> Result<Vec<Expr>> {
        let mut forces = vec![Expr::constant(0.0); self.names.coordinates.len()];
        if let Some(item) = top.get("forces") {
            for entry in Fields::new(self.source, item, "forces", &[])?.entries() {
                let index = self.coordinate(&entry.key, &entry.span)?;
                forces[index] = forces[index] + self.expr(&entry.item, Use::Motion)?;
                self.places.forces.push(entry.item.span.clone());
            }
        }
        let q: Vec<Expr> = self.names.coordinates.iter().map(|c| c.q).collect();
        for item in top.list("push")? {
            let fields = Fields::new(self.source, item, "push", &["at", "force"])?;
            let at = self.pair(fields.required("at")?, Use::Position)?;
            let force = self.pair(fields.required("force")?, Use::Motion)?;
            for (point, component) in at.into_iter().zip(force) {
                for (sum, arm) in forces.iter_mut().zip(grad(point, &q)) {
                    *sum = *sum + component * arm;
                }
            }
            self.places.forces.push(fields.required("force")?.span.clone());
        }
        Ok(forces)
    }

    /// Two expressions: a place or a force in the plane.
    pub(super) fn pair(&self, item: &Item, allowed: Use) -> Result<[Expr; 2]> {
        match array(self.source, item)? {
            [x, y] => Ok([self.expr(x, allowed)?, self.expr(y, allowed)?]),
            other => {
                let message = format!("expected two entries, [x, y], found {}", other.len());
                Err(self.error(&item.span, message, ""))
            }
        }
    }
}
