//! `[outputs]`, `[[section]]`, `[points]`.

use std::ops::Range;

use super::super::document::{Entry, Fields, Item, Value, array, text};
use super::super::names::{Holder, Use, base};
use super::super::scope::words;
use super::super::{Direction, Output, Place, Point, Section, Viewpoint, suggestion};
use super::Reader;
use crate::error::Result;
use crate::expr::parse::{Complaint, is_name};
use crate::mechanism::{BodyFrame, Vector, zero};
use crate::system::Constraint;

/// From where pictures of space are taken unless `[view]` says it.
const VIEW: [f64; 3] = [2.0, -3.0, 1.0];

impl<'a> Reader<'a> {
    pub(super) fn outputs(&mut self, top: &Fields<'a>, constraints: &[Constraint]) -> Result<Vec<Output>> {
        let mut outputs: Vec<Output> = Vec::new();
        let Some(item) = top.get("outputs") else { return Ok(outputs) };
        let fields = self.fields(item, "outputs", &[])?;
        self.each_entry(&fields, |reader, entry| {
            reader.each_free_name(entry, |reader, name| {
                reader.check_new_output(name, entry, &outputs, constraints)?;
                let value = reader.expr(&entry.item, Use::Output)?;
                outputs.push(Output { name: name.into(), value });
                Ok(())
            })
        });
        Ok(outputs)
    }

    /// Refuses an output with the name of something else, or of another column: t, q_x, v_x, p_x, lambda_rod.
    fn check_new_output(
        &self,
        name: &str,
        entry: &Entry,
        outputs: &[Output],
        constraints: &[Constraint],
    ) -> Result<()> {
        let impulse = name.strip_prefix("lambda_");
        let is_impulse = impulse.is_some_and(|rod| constraints.iter().any(|constraint| constraint.name == rod));
        let state = ["q_", "v_", "p_"].iter().find_map(|letter| name.strip_prefix(letter));
        let is_state = state.is_some_and(|coordinate| self.names.coordinate(coordinate).is_some());
        let taken = match self.names.kind(name) {
            Some(kind) => format!("it is already a {kind}"),
            None if name == "t" => "it is the time".into(),
            None if is_state || is_impulse => "every run has that column already".into(),
            None if outputs.iter().any(|output| output.name == name) => "it is already an output".into(),
            None => return Ok(()),
        };
        Err(self.error(&entry.span, format!("an output cannot be called `{name}`"), taken))
    }

    /// Reads an entry whose key may be any text, or a range of names.
    fn each_free_name(&mut self, entry: &Entry, mut read: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        if Self::is_range(&entry.key) {
            self.each_name(&entry.key, &entry.span, &entry.item, read)
        } else {
            read(self, &entry.key)
        }
    }

    pub(super) fn sections(&mut self, top: &Fields<'a>) -> Result<Vec<Section>> {
        let mut sections = Vec::new();
        for (number, item) in top.list("section")?.iter().enumerate() {
            self.attempt(|reader| reader.section(item, number + 1, &mut sections));
        }
        Ok(sections)
    }

    fn section(&mut self, item: &'a Item, number: usize, sections: &mut Vec<Section>) -> Result<()> {
        let fields = self.fields(item, "section", &["name", "for", "g", "direction", "stop"])?;
        let name = fields.text("name")?.map_or_else(|| format!("section {number}"), str::to_string);
        let direction = match fields.choice("direction", &["rising", "falling", "both"])? {
            Some("rising") => Direction::Rising,
            Some("falling") => Direction::Falling,
            _ => Direction::Both,
        };
        let (g_item, stop) = (fields.required("g")?, fields.flag("stop")?.unwrap_or(false));
        self.each_round(&fields, |reader, round| {
            let g = reader.expr(g_item, Use::Motion)?;
            sections.push(Section { name: format!("{name}{round}"), g, direction, stop });
            Ok(())
        })
    }

    /// The points `{on = …, at = …}`, and those of expressions without definitions: definitions may use them. Tells where the others
    /// stand.
    pub(super) fn points_for_definitions(&mut self, top: &Fields<'a>) -> Result<Vec<usize>> {
        let Some(item) = top.get("points") else { return Ok(Vec::new()) };
        let fields = self.fields(item, "points", &[])?;
        let has_bodies = self.tree.is_some();
        let is_on_body = |entry: &Entry| has_bodies && matches!(entry.item.value, Value::Table(_));
        for entry in fields.entries().iter().filter(|entry| is_on_body(entry)) {
            self.attempt(|reader| reader.point_on_body(entry));
        }
        let keys = ["definitions", "controls"].into_iter().flat_map(|section| self.entries_of(top, section));
        let mut unknown: Vec<&str> = keys.map(|entry| base(&entry.key)).collect();
        let mut others = Vec::new();
        for entry in fields.entries().iter().filter(|entry| !is_on_body(entry)) {
            let uses_unknown = |item: &Item| match &item.value {
                Value::Text(text) => words(text).any(|word| unknown.contains(&word)),
                _ => false,
            };
            if matches!(&entry.item.value, Value::Array(items) if !items.iter().any(uses_unknown)) {
                self.attempt(|reader| reader.listed_point(entry));
            } else {
                unknown.push(base(&entry.key));
                others.push(entry.span.start);
            }
        }
        Ok(others)
    }

    fn point_on_body(&mut self, entry: &'a Entry) -> Result<()> {
        self.each_point(entry, |reader, name| {
            let (on, at) = reader.attached(&entry.item)?;
            reader.tree().attach(name, &on, at);
            let place = reader.tree().place(&on, at);
            reader.add_point(name, &entry.span, place)
        })
    }

    fn listed_point(&mut self, entry: &'a Entry) -> Result<()> {
        self.each_point(entry, |reader, name| {
            let at = reader.spot(&entry.item)?;
            reader.add_point(name, &entry.span, at)
        })
    }

    /// The points that stand at `starts`, which definitions cannot use. Then all are put in order.
    pub(super) fn points(&mut self, top: &Fields<'a>, starts: &[usize]) -> Result<()> {
        let Some(item) = top.get("points") else { return Ok(()) };
        let fields = self.fields(item, "points", &[])?;
        for entry in fields.entries().iter().filter(|entry| starts.contains(&entry.span.start)) {
            self.attempt(|reader| reader.listed_point(entry));
        }
        // In the order of the file: that of the contacts of `points = "all"`.
        let mut order: Vec<(usize, Point)> = self.point_starts.drain(..).zip(self.points.drain(..)).collect();
        order.sort_by_key(|(start, _)| *start);
        self.points = order.into_iter().map(|(_, point)| point).collect();
        Ok(())
    }

    fn each_point(&mut self, entry: &Entry, read: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        let ranged = self.implied_range(entry);
        let entry = ranged.as_ref().unwrap_or(entry);
        let read = self.each_free_name(entry, read);
        read.inspect_err(|_| {
            self.broken_points.push(base(&entry.key).into());
            if self.tree.is_some() {
                self.names.mark_broken(&entry.key);
            }
        })
    }

    /// `"tip[i]" = {on = "link[i]"}` stands for all indices of the body.
    fn implied_range(&self, entry: &Entry) -> Option<Entry> {
        let variable = entry.key.split_once('[')?.1.strip_suffix(']')?.trim();
        if !is_name(variable) || self.names.declared.contains(variable) {
            return None;
        }
        let Value::Table(fields) = &entry.item.value else { return None };
        let Value::Text(on) = &fields.iter().find(|field| field.key == "on")?.item.value else { return None };
        let (low, high) = self.tree.as_ref()?.indices(base(on))?;
        Some(Entry { key: format!("{}[{variable} in {low}..{high}]", base(&entry.key)), ..entry.clone() })
    }

    fn add_point(&mut self, name: &str, span: &Range<usize>, space: Vector) -> Result<()> {
        if self.points.iter().any(|point| point.name == name) {
            return Err(self.error(span, format!("two points are called `{name}`"), ""));
        }
        if self.tree.is_some() {
            self.check_new_name(name, span)?;
        }
        if is_name(base(name)) {
            let axes = if self.is_in_space() { 3 } else { 2 };
            for (axis, &x) in ["x", "y", "z"].into_iter().zip(&space).take(axes) {
                self.names.add_member(&format!("{name}.{axis}"), x);
            }
            self.names.holders.insert(name.into(), Holder::Point);
        }
        self.point_starts.push(span.start);
        self.points.push(Point { name: name.into(), at: self.seen(space), space });
        Ok(())
    }

    /// The body of `{on = "hand", at = [0.4, 0]}` and the place in its frame.
    fn attached(&self, item: &Item) -> Result<(BodyFrame, Vector)> {
        let fields = self.fields(item, "point", &["on", "at"])?;
        let on = fields.required("on")?;
        let body = self.body_called(&self.indexed_name(on)?, on, None)?;
        let at = fields.get("at").map_or(Ok(zero()), |item| self.vector(item, Use::Parameters))?;
        Ok((body, at))
    }

    /// `[view]`: from where pictures of space are taken.
    pub(super) fn view(&mut self, top: &Fields<'a>) -> Result<()> {
        self.view = Viewpoint::new(VIEW).filter(|_| self.is_in_space());
        let Some(item) = top.get("view") else { return Ok(()) };
        let fields = self.fields(item, "view", &["from"])?;
        if !self.is_in_space() {
            return Err(self.error(&item.span, "the model is in a plane and has no view", "remove `[view]`"));
        }
        let Some(item) = fields.get("from") else { return Ok(()) };
        let from = self.vector(item, Use::Parameters)?.map(|x| self.value(x).unwrap_or(f64::NAN));
        self.view = Viewpoint::new(from);
        match self.view {
            Some(_) => Ok(()),
            None => {
                Err(self.error(&item.span, "the view has no direction", "write where one looks from, as [2, -3, 1]"))
            }
        }
    }

    /// Where a place is in pictures.
    pub(super) fn seen(&self, at: Vector) -> Place {
        let Some(view) = self.view else { return [at[0], at[1]] };
        let place = view.see(at);
        let mut depths = self.depths.borrow_mut();
        if depths.iter().all(|(known, _)| *known != place) {
            depths.push((place, view.depth(at)));
        }
        place
    }

    /// A place in pictures: a list, or the name of a point.
    pub(super) fn place(&self, item: &Item) -> Result<Place> {
        self.spot(item).map(|at| self.seen(at))
    }

    /// A place: `[x, y]`, in space `[x, y, z]`, or the name of a point.
    pub(super) fn spot(&self, item: &Item) -> Result<Vector> {
        match &item.value {
            Value::Text(_) => Ok(self.points[self.point(item)?].space),
            _ => self.vector(item, Use::Position),
        }
    }

    /// Two places in the plane.
    pub(super) fn two_places(&self, item: &Item, otherwise: &str) -> Result<[Place; 2]> {
        match array(self.source, item)? {
            [from, to] => Ok([self.place(from)?, self.place(to)?]),
            _ => Err(self.error(&item.span, otherwise, "")),
        }
    }

    /// The name of the point that `item` is, if it is one.
    pub(super) fn point_name(&self, item: &Item) -> Result<Option<&str>> {
        match item.value {
            Value::Text(_) => Ok(Some(&self.points[self.point(item)?].name)),
            _ => Ok(None),
        }
    }

    /// The number of a point, by name.
    pub(super) fn point(&self, item: &Item) -> Result<usize> {
        let written = text(self.source, item)?;
        match self.points.iter().position(|point| point.name == written) {
            Some(number) => Ok(number),
            None => self.point_called(&self.indexed_name(item)?, item),
        }
    }

    /// The number of the point of that name, which is asked for at `item`.
    pub(super) fn point_called(&self, name: &str, item: &Item) -> Result<usize> {
        self.points.iter().position(|point| point.name == name).ok_or_else(|| {
            if self.broken_points.iter().any(|broken| broken == base(name)) {
                return self.source.error(item.span.clone(), Complaint::consequence());
            }
            let label = match suggestion(name, self.points.iter().map(|point| point.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "list it in `[points]`".into(),
            };
            self.error(&item.span, format!("unknown point `{name}`"), label)
        })
    }

    /// The numbers of the points that a list names, ranges included.
    pub(super) fn points_listed<'i>(&mut self, items: &'i [Item]) -> Result<Vec<(usize, &'i Item)>> {
        let mut found = Vec::new();
        for item in items {
            let written = text(self.source, item)?;
            if let Some(number) = self.points.iter().position(|point| point.name == written) {
                found.push((number, item));
                continue;
            }
            for (name, item) in self.listed_names(std::slice::from_ref(item))? {
                found.push((self.point_called(&name, item)?, item));
            }
        }
        Ok(found)
    }
}
