//! `coordinates`, `[parameters]`, `[prescribed]`, `[definitions]`.

use std::ops::Range;

use super::super::document::{Entry, Fields, Override, Value, Which, array};
use super::super::names::{Use, base};
use super::super::set::unknown_parameter;
use super::Reader;
use crate::error::{Diagnostic, Result};
use crate::expr::parse::Complaint;

impl<'a> Reader<'a> {
    /// Notes which names the model declares anywhere: those are no functions.
    pub(super) fn declare(&mut self, top: &Fields) {
        let keys = ["parameters", "definitions", "controls"].map(|section| self.entries_of(top, section));
        let keys = keys.into_iter().map(|entries| entries.iter().map(|entry| entry.key.as_str()));
        let listed = top.get("coordinates").and_then(|item| Self::one_or_many(item)).into_iter().flatten();
        let listed = listed.filter_map(|item| match &item.value {
            Value::Text(name) => Some(name.as_str()),
            _ => None,
        });
        let points = self.entries_of(top, "points").iter().map(|entry| entry.key.as_str());
        let bodies = top
            .list("body")
            .unwrap_or_default()
            .iter()
            .filter_map(|item| Fields::new(self.source, item, "body").ok()?.text("name").ok().flatten());
        // Points have been allowed to share their names with functions.
        let points = points.filter(|_| top.get("body").is_some());
        let names: Vec<String> =
            keys.flatten().chain(listed).chain(points).chain(bodies).map(|name| base(name).to_string()).collect();
        self.names.declared.extend(names);
    }

    /// The entries of a section; none if it is missing or no section.
    pub(super) fn entries_of<'t>(&self, top: &Fields<'t>, section: &str) -> &'t [Entry] {
        match top.get(section).map(|item| &item.value) {
            Some(Value::Table(entries)) => entries,
            _ => &[],
        }
    }

    pub(super) fn check_new_name(&self, name: &str, span: &Range<usize>) -> Result<()> {
        match self.names.complaint_about(name) {
            Some(complaint) => Err(self.source.error(span.clone(), complaint)),
            None => Ok(()),
        }
    }

    pub(super) fn coordinates(&mut self, top: &Fields<'a>) -> Result<()> {
        let has_bodies = ["mechanism", "body"].into_iter().any(|key| top.get(key).is_some());
        if has_bodies && top.get("coordinates").is_none() {
            return Ok(());
        }
        let item = top.required("coordinates")?;
        let list = array(self.source, item)?;
        if list.is_empty() && !has_bodies {
            return Err(self.error(&item.span, "a model needs at least one coordinate", ""));
        }
        for item in list {
            let read = self.attempt(|reader| {
                for (name, _) in reader.listed_names(std::slice::from_ref(item))? {
                    reader.check_new_name(&name, &item.span)?;
                    reader.names.add_coordinate(&name);
                }
                Ok(())
            });
            if read.is_none() {
                self.broken_coordinates = true;
            }
            if let (None, Value::Text(name)) = (read, &item.value)
                && self.names.coordinate(name).is_none()
            {
                self.names.mark_broken(name);
            }
        }
        if self.names.coordinates.is_empty() && !has_bodies && self.mistakes.borrow().is_empty() {
            return Err(self.error(&item.span, "a model needs at least one coordinate", "these ranges are empty"));
        }
        Ok(())
    }

    pub(super) fn parameters(&mut self, top: &Fields<'a>) -> Result<()> {
        let mut open: Vec<&Override> = self.overrides.iter().filter(|o| o.section == "parameters").collect();
        let entries = match top.get("parameters") {
            None => &[],
            Some(item) => {
                let fields = self.fields(item, "parameters", &[])?;
                self.each_entry(&fields, |reader, entry| {
                    let read = reader.each_name(&entry.key, &entry.span, &entry.item, |reader, name| {
                        reader.check_new_name(name, &entry.span)?;
                        let is_this = |o: &&Override| o.entry == Which::Name(name.into());
                        let item = open.iter().rfind(|o| is_this(o)).map_or(&entry.item, |o| &o.item);
                        open.retain(|o| !is_this(o));
                        let value = reader.number(item)?;
                        reader.names.add_parameter(name, value);
                        Ok(())
                    });
                    read.inspect_err(|_| reader.names.mark_broken(&entry.key))
                });
                fields.entries()
            }
        };
        match open.first() {
            Some(Override { entry: Which::Name(name), span, .. }) => {
                Err(self.source.error(span.clone(), unknown_parameter(name, entries)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn prescribed(&mut self, top: &Fields<'a>) -> Result<()> {
        let Some(item) = top.get("prescribed") else { return Ok(()) };
        let fields = self.fields(item, "prescribed", &[])?;
        self.each_entry(&fields, |reader, entry| {
            reader.each_component(entry, |reader, name, span, item| {
                let index = reader.coordinate(name, span)?;
                reader.can_be_driven(index, span)?;
                let motion = reader.expr(item, Use::Time)?;
                reader.names.coordinates[index].prescribed = Some(motion);
                Ok(())
            })
        });
        if self.names.coordinates.iter().all(|c| c.prescribed.is_some()) {
            return Err(self.error(&item.span, "every coordinate is prescribed", "nothing is left to simulate"));
        }
        Ok(())
    }

    pub(super) fn definitions(&mut self, top: &Fields<'a>) -> Result<()> {
        let Some(item) = top.get("definitions") else { return Ok(()) };
        let fields = self.fields(item, "definitions", &[])?;
        let later = fields.entries().iter().map(|entry| match (entry.key.split_once('['), &entry.item.value) {
            (Some((base, _)), _) => (format!("{base}["), String::new()),
            (None, Value::Text(text)) => (entry.key.clone(), text.clone()),
            (None, _) => (entry.key.clone(), String::new()),
        });
        self.names.later = later.collect();
        self.each_entry(&fields, |reader, entry| {
            let read =
                reader.each_name(&entry.key, &entry.span, &entry.item, |reader, name| reader.define(name, entry));
            read.inspect_err(|_| reader.names.mark_broken(&entry.key))
        });
        Ok(())
    }

    fn define(&mut self, name: &str, entry: &Entry) -> Result<()> {
        self.check_new_name(name, &entry.span)?;
        self.names.later.remove(name);
        let value = match &entry.item.value {
            Value::Text(text) => self.parsed(&entry.item, text, self.names.scope_within(name))?,
            _ => self.expr(&entry.item, Use::Motion)?,
        };
        self.names.define(name, value);
        Ok(())
    }

    /// A warning for each parameter and definition that nothing uses.
    pub(super) fn unused(&self, top: &Fields) -> Vec<Diagnostic> {
        let unused = self.names.unused();
        let mut warnings = Vec::new();
        for (section, what) in [("parameters", "parameter"), ("definitions", "definition")] {
            let Some(Value::Table(entries)) = top.get(section).map(|item| &item.value) else { continue };
            for entry in entries.iter().filter(|entry| unused.contains(base(&entry.key))) {
                let complaint = Complaint::new(format!("the {what} `{}` is not used", entry.key), "");
                warnings.push(self.source.diagnostic(entry.span.clone(), complaint));
            }
        }
        warnings
    }
}
