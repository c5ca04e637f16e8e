//! `[outputs]`, `[[section]]`, `[points]`.

use super::super::document::{Entry, Fields, Item, Value, array, text};
use super::super::names::{Use, base};
use super::super::{Direction, Output, Place, Point, Section, suggestion};
use super::Reader;
use crate::error::Result;
use crate::expr::parse::Complaint;
use crate::system::Constraint;

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

    pub(super) fn points(&mut self, top: &Fields<'a>) -> Result<()> {
        let Some(item) = top.get("points") else { return Ok(()) };
        let fields = self.fields(item, "points", &[])?;
        self.each_entry(&fields, |reader, entry| {
            let read = reader.each_free_name(entry, |reader, name| {
                if reader.points.iter().any(|point| point.name == name) {
                    return Err(reader.error(&entry.span, format!("two points are called `{name}`"), ""));
                }
                let at = reader.place(&entry.item)?;
                reader.points.push(Point { name: name.into(), at });
                Ok(())
            });
            read.inspect_err(|_| reader.broken_points.push(base(&entry.key).into()))
        });
        Ok(())
    }

    /// A place in the plane: `[x, y]`, or the name of a point.
    pub(super) fn place(&self, item: &Item) -> Result<Place> {
        match &item.value {
            Value::Text(_) => Ok(self.points[self.point(item)?].at),
            _ => self.pair(item, Use::Position),
        }
    }

    /// Two places in the plane.
    pub(super) fn two_places(&self, item: &Item, otherwise: &str) -> Result<[Place; 2]> {
        match array(self.source, item)? {
            [from, to] => Ok([self.place(from)?, self.place(to)?]),
            _ => Err(self.error(&item.span, otherwise, "")),
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
