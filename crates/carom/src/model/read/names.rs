//! `coordinates`, `[parameters]`, `[prescribed]`, `[definitions]`.

use std::ops::Range;

use super::super::document::{Fields, Value, array, text};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;
use crate::expr::parse::parse;

impl Reader<'_> {
    fn check_new_name(&self, name: &str, span: &Range<usize>) -> Result<()> {
        match self.names.complaint_about(name) {
            Some(complaint) => Err(self.source.error(span.clone(), complaint)),
            None => Ok(()),
        }
    }

    pub(super) fn coordinates(&mut self, top: &Fields) -> Result<()> {
        let item = top.required("coordinates")?;
        let list = array(self.source, item)?;
        if list.is_empty() {
            return Err(self.error(&item.span, "a model needs at least one coordinate", ""));
        }
        for item in list {
            let name = text(self.source, item)?;
            self.check_new_name(name, &item.span)?;
            self.names.add_coordinate(name);
        }
        Ok(())
    }

    pub(super) fn parameters(&mut self, top: &Fields) -> Result<()> {
        let Some(item) = top.get("parameters") else { return Ok(()) };
        for entry in Fields::new(self.source, item, "parameters", &[])?.entries() {
            self.check_new_name(&entry.key, &entry.span)?;
            let value = self.number(&entry.item)?;
            self.names.add_parameter(&entry.key, value);
        }
        Ok(())
    }

    pub(super) fn prescribed(&mut self, top: &Fields) -> Result<()> {
        let Some(item) = top.get("prescribed") else { return Ok(()) };
        for entry in Fields::new(self.source, item, "prescribed", &[])?.entries() {
            let index = self.coordinate(&entry.key, &entry.span)?;
            let motion = self.expr(&entry.item, Use::Time)?;
            self.names.coordinates[index].prescribed = Some(motion);
        }
        if self.names.coordinates.iter().all(|c| c.prescribed.is_some()) {
            return Err(self.error(&item.span, "every coordinate is prescribed", "nothing is left to simulate"));
        }
        Ok(())
    }

    pub(super) fn definitions(&mut self, top: &Fields) -> Result<()> {
        let Some(item) = top.get("definitions") else { return Ok(()) };
        let entries = Fields::new(self.source, item, "definitions", &[])?.entries();
        self.names.later = entries
            .iter()
            .map(|entry| match &entry.item.value {
                Value::Text(text) => (entry.key.clone(), text.clone()),
                _ => (entry.key.clone(), String::new()),
            })
            .collect();
        for entry in entries {
            self.check_new_name(&entry.key, &entry.span)?;
            self.names.later.remove(&entry.key);
            let value = match &entry.item.value {
                Value::Text(text) => parse(text, &self.names.scope_within(&entry.key))
                    .map_err(|e| self.source.error(self.within(&entry.item, text, e.span), e.complaint))?,
                _ => self.expr(&entry.item, Use::Motion)?,
            };
            self.names.define(&entry.key, value);
        }
        Ok(())
    }
}
