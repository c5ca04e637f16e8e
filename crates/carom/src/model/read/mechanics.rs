//! `[lagrangian]`, `[[wall]]`, `[[constraint]]`, `[forces]`, `[[push]]`.

use std::ops::Range;

use super::super::document::{Fields, Item, Value};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;
use crate::expr::parse::Complaint;
use crate::expr::{Expr, grad};
use crate::system::{Constraint, Enforce, Lagrangian, Wall};

impl<'a> Reader<'a> {
    /// L of `[lagrangian]`, of the bodies and of `[[spring]]`, added up.
    pub(super) fn lagrangian(&mut self, top: &Fields<'a>) -> Result<Lagrangian> {
        let stated = match (top.get("lagrangian"), &self.tree) {
            (None, Some(_)) => {
                let zero = Expr::constant(0.0);
                Lagrangian { l: zero, parts: Some((zero, zero)) }
            }
            _ => self.stated_lagrangian(top)?,
        };
        let [kinetic, mut potential] = self.tree.as_ref().map_or([Expr::constant(0.0); 2], |tree| tree.energies);
        potential = potential + self.springs(top)?;
        if self.places.lagrangian.is_empty() {
            let place = top.get("mechanism").or(top.list("body")?.first()).map_or(0..0, |item| item.span.clone());
            (self.places.lagrangian, self.places.kinetic, self.places.potential) =
                (place.clone(), place.clone(), place);
        }
        let lagrangian = Lagrangian {
            l: stated.l + kinetic - potential,
            parts: stated.parts.map(|(t, v)| (t + kinetic, v + potential)),
        };
        self.momenta_of_balls(lagrangian.l);
        Ok(lagrangian)
    }

    fn stated_lagrangian(&mut self, top: &Fields<'a>) -> Result<Lagrangian> {
        let Some(item) = top.get("lagrangian") else {
            let label = "add `[lagrangian]` with `T` and `V`, or with one `L`";
            return Err(self.error(&(0..0), "the model has no Lagrangian", label));
        };
        let fields = self.fields(item, "lagrangian", &["T", "V", "L"])?;
        let span = |key| fields.get(key).map_or(0..0, |item| item.span.clone());
        (self.places.kinetic, self.places.potential) = (span("T"), span("V"));
        self.places.lagrangian = fields.entries().first().map_or(item.span.clone(), |entry| entry.item.span.clone());
        let has_bodies = self.tree.is_some();
        let mut energy = |key: &str| {
            let read = fields.get(key).and_then(|item| self.attempt(|reader| reader.expr(item, Use::Motion)));
            read.unwrap_or(Expr::constant(0.0))
        };
        match [fields.get("T"), fields.get("V"), fields.get("L")].map(|item| item.is_some()) {
            [true, _, false] => {
                let (t, v) = (energy("T"), energy("V"));
                Ok(Lagrangian { l: t - v, parts: Some((t, v)) })
            }
            [false, false, true] => Ok(Lagrangian { l: energy("L"), parts: None }),
            [false, true, false] if has_bodies => {
                let (t, v) = (Expr::constant(0.0), energy("V"));
                Ok(Lagrangian { l: t - v, parts: Some((t, v)) })
            }
            [false, true, false] => {
                energy("V");
                fields.required("T").map(|_| unreachable!("T is not there"))
            }
            [false, false, false] => {
                Err(self.error(&item.span, "the Lagrangian is missing", "give `T` and `V`, or one `L`"))
            }
            _ => {
                let label = "leave `L` out: it is T - V where `T` and `V` are given";
                Err(self.error(&span("L"), "both `L` and `T`, `V` are given", label))
            }
        }
    }

    pub(super) fn walls(&mut self, top: &Fields<'a>, walls: &mut Vec<Wall>) -> Result<()> {
        for (number, item) in top.list("wall")?.iter().enumerate() {
            self.attempt(|reader| reader.wall(item, number + 1, walls));
        }
        Ok(())
    }

    fn wall(&mut self, item: &'a Item, number: usize, walls: &mut Vec<Wall>) -> Result<()> {
        let fields = self.fields(item, "wall", &["name", "for", "phi", "restitution", "draw"])?;
        let name = fields.text("name")?.map_or_else(|| format!("wall {number}"), str::to_string);
        let span = fields.get("name").map_or(&item.span, |item| &item.span);
        let phi_item = fields.required("phi")?;
        let is_drawn = fields.flag("draw")?.unwrap_or(true);
        self.each_round(&fields, |reader, round| {
            let name = format!("{name}{round}");
            reader.check_new_wall(walls, &name, span, "give each its own name")?;
            let phi = reader.moving(phi_item, "the wall cannot be hit")?;
            let restitution = reader.restitution(fields.get("restitution"))?;
            reader.places.walls.push(phi_item.span.clone());
            reader.places.restitutions.push(fields.get("restitution").unwrap_or(phi_item).span.clone());
            reader.undrawn.extend((!is_drawn).then_some(walls.len()));
            walls.push(Wall { name, phi, restitution });
            Ok(())
        })
    }

    /// The walls that the limits of joints are, after all others.
    pub(super) fn limit_walls(&mut self, walls: &mut Vec<Wall>) -> Result<()> {
        let limits = self.tree.as_mut().map_or_else(Vec::new, |tree| std::mem::take(&mut tree.limits));
        for limit in limits {
            self.check_new_wall(walls, &limit.name, &limit.span, "a limit of a joint has this name")?;
            self.places.walls.push(limit.span);
            self.places.restitutions.push(limit.restitution_span);
            // A limit of a joint is no thing in the world.
            self.undrawn.push(walls.len());
            walls.push(Wall { name: limit.name, phi: limit.phi, restitution: limit.restitution });
        }
        Ok(())
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
    pub(super) fn moving(&self, item: &Item, otherwise: &str) -> Result<Expr> {
        let e = self.expr(item, Use::Position)?;
        self.moves(e, item, otherwise)
    }

    /// An expression of `item`, if it depends on some coordinate that is not driven.
    pub(super) fn moves(&self, e: Expr, item: &Item, otherwise: &str) -> Result<Expr> {
        if e.depends_on(&self.free_coordinates()) {
            return Ok(e);
        }
        if self.free_coordinates().is_empty() {
            return Err(self.source.error(item.span.clone(), Complaint::consequence()));
        }
        let all: Vec<Expr> = self.names.coordinates.iter().map(|c| c.q).collect();
        let free = if e.depends_on(&all) { "coordinate that is not driven" } else { "coordinate" };
        Err(self.error(&item.span, format!("this contains no {free}"), otherwise))
    }

    /// The restitution; 1 where none is given.
    pub(super) fn restitution(&self, item: Option<&Item>) -> Result<Expr> {
        let Some(item) = item else { return Ok(Expr::constant(1.0)) };
        let value = self.number(item)?;
        if (0.0..=1.0).contains(&value) {
            return self.expr(item, Use::Parameters);
        }
        Err(self.error(&item.span, "the restitution must be from 0 to 1", format!("this is {value}")))
    }

    pub(super) fn constraints(&mut self, top: &Fields<'a>) -> Result<Vec<Constraint>> {
        let mut constraints: Vec<Constraint> = Vec::new();
        for (number, item) in top.list("constraint")?.iter().enumerate() {
            self.attempt(|reader| reader.constraint(item, number + 1, &mut constraints));
        }
        self.unit_quaternions(&mut constraints);
        Ok(constraints)
    }

    fn constraint(&mut self, item: &'a Item, number: usize, constraints: &mut Vec<Constraint>) -> Result<()> {
        let keys = ["name", "for", "g", "join", "distance", "length", "enforce", "lambda1", "draw"];
        let fields = self.fields(item, "constraint", &keys)?;
        let name = fields.text("name")?.map_or_else(|| format!("constraint {number}"), str::to_string);
        let what = self.constrained(&fields)?;
        let two_point = fields.choice("enforce", &["one-point", "two-point"])? == Some("two-point");
        let lambda1 = fields.get("lambda1");
        let is_drawn = fields.flag("draw")?.unwrap_or(true);
        if let (false, Some(item)) = (two_point, lambda1) {
            let label = "write `enforce = \"two-point\"` too";
            return Err(self.error(&item.span, "`lambda1` belongs to two-point constraints", label));
        }
        self.each_round(&fields, |reader, round| {
            let lambda1 = lambda1.map(|item| reader.number(item)).transpose()?.unwrap_or(0.0);
            let enforce = if two_point { Enforce::TwoPoint { lambda1 } } else { Enforce::OnePoint };
            for (row, g, form) in reader.rows(what, is_drawn)? {
                let name = format!("{name}{round}{row}");
                if constraints.iter().any(|constraint| constraint.name == name) {
                    let span = fields.get("name").map_or(&item.span, |item| &item.span);
                    let message = format!("two constraints are called `{name}`");
                    return Err(reader.error(span, message, "give each its own name"));
                }
                reader.places.constraints.push(what.item().span.clone());
                constraints.push(Constraint { name, g, enforce, form });
            }
            Ok(())
        })
    }

    /// The generalized forces: those of `[forces]` and, by virtual work, those of every `[[push]]`.
    pub(super) fn forces(&mut self, top: &Fields<'a>) -> Result<Vec<Expr>> {
        let mut forces = vec![Expr::constant(0.0); self.names.coordinates.len()];
        if let Some(tree) = &self.tree {
            for link in &tree.mechanism.links {
                let v = self.names.coordinates[link.coordinate].v;
                forces[link.coordinate] = forces[link.coordinate] - link.damping * v;
            }
        }
        forces.iter_mut().zip(&self.dampers).for_each(|(force, damper)| *force = *force + *damper);
        if let Some(item) = top.get("forces") {
            let fields = self.fields(item, "forces", &[])?;
            self.each_entry(&fields, |reader, entry| {
                reader.places.forces.push(entry.item.span.clone());
                reader.each_component(entry, |reader, name, span, item| {
                    if let Value::Array(entries) = &item.value {
                        return reader.torque(name, span, item, entries, &mut forces);
                    }
                    let index = reader.coordinate(name, span)?;
                    forces[index] = forces[index] + reader.expr(item, Use::Control)?;
                    Ok(())
                })
            });
        }
        for item in top.list("push")? {
            self.attempt(|reader| reader.push(item, &mut forces));
        }
        Ok(forces)
    }

    fn push(&mut self, item: &'a Item, forces: &mut [Expr]) -> Result<()> {
        let fields = self.fields(item, "push", &["for", "at", "force"])?;
        let (at_item, force_item) = (fields.required("at")?, fields.required("force")?);
        let q: Vec<Expr> = self.names.coordinates.iter().map(|c| c.q).collect();
        self.places.forces.push(force_item.span.clone());
        self.each_round(&fields, |reader, _| {
            let at = reader.spot(at_item)?;
            let force = reader.vector(force_item, Use::Control)?;
            for (point, component) in at.into_iter().zip(force) {
                for (sum, arm) in forces.iter_mut().zip(grad(point, &q)) {
                    *sum = *sum + component * arm;
                }
            }
            Ok(())
        })
    }
}
