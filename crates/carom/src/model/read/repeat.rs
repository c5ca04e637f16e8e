//! Repetition: `for = "i in 1..n"` in sections of a list, `"x[i in 1..n]"` as a key, `x[1..n]` in lists of names.

use std::ops::Range;

use super::super::document::{Entry, Fields, Item, Value, text};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;
use crate::expr::parse::{Complaint, MAX_NAMES, NameRange, Scope, parse_loops, parse_names};

impl<'a> Reader<'a> {
    /// Reads a section once for each round of its `for`, or once. The rounds have the suffixes `[1]`, `[2]`, …
    pub(super) fn each_round(
        &mut self,
        fields: &Fields,
        mut read: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        let Some(item) = fields.get("for") else { return read(self, "") };
        let range = text(self.source, item)?;
        let rounds = parse_loops(range, &self.names.scope(Use::Parameters), &self.loops);
        let rounds = rounds.map_err(|e| self.source.error(self.within(&item.span, range, e.span), e.complaint))?;
        let bytes = fields.span().len();
        for round in rounds {
            let values: Vec<String> = round.iter().map(|(_, value)| value.to_string()).collect();
            self.count_name(&item.span, bytes)?;
            self.loops = round;
            let done = read(self, &format!("[{}]", values.join(",")));
            self.loops.clear();
            done?;
        }
        Ok(())
    }

    /// Reads the value of a key for each name that the key stands for: `x`, `x[3]`, or all of `x[i in 1..n]`.
    pub(super) fn each_name(
        &mut self,
        key: &str,
        span: &Range<usize>,
        item: &Item,
        mut read: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        let names = self.names_in(key, span)?;
        let Some(indices) = names.indices.clone() else { return read(self, key) };
        for index in indices {
            self.count_name(span, item.span.len())?;
            self.loops.extend(names.variable.iter().map(|variable| (variable.clone(), index)));
            let done = read(self, &names.name(index));
            self.loops.clear();
            done?;
        }
        Ok(())
    }

    /// Reads an entry as [`Reader::each_name`] does; where it is a section, `B = {x = 1}`, each of its entries as `B.x`. The bounds
    /// of a coordinate, `x = {min = 0}`, are one entry.
    pub(super) fn each_component(
        &mut self,
        entry: &Entry,
        mut read: impl FnMut(&mut Self, &str, &Range<usize>, &Item) -> Result<()>,
    ) -> Result<()> {
        self.each_name(&entry.key, &entry.span, &entry.item, |reader, name| match &entry.item.value {
            Value::Table(members) if !reader.is_free(name, members) => members
                .iter()
                .try_for_each(|member| read(reader, &format!("{name}.{}", member.key), &member.span, &member.item)),
            _ => read(reader, name, &entry.span, &entry.item),
        })
    }

    /// True if `name = {…}` is a coordinate with bounds or a guess.
    fn is_free(&self, name: &str, members: &[Entry]) -> bool {
        let are_bounds = members.iter().all(|member| matches!(member.key.as_str(), "min" | "max" | "guess"));
        are_bounds && self.names.coordinates.iter().any(|c| c.name == name)
    }

    /// The names of a list such as `["x", "y[1..3]"]`, each with its place; one string is a list of one.
    pub(super) fn listed_names<'i>(&mut self, items: &'i [Item]) -> Result<Vec<(String, &'i Item)>> {
        let mut names = Vec::new();
        for item in items {
            let name = text(self.source, item)?;
            let range = self.names_in(name, &item.span)?;
            match range.indices.clone() {
                None => names.push((name.to_string(), item)),
                Some(indices) => {
                    let is_range = indices.start() < indices.end();
                    for index in indices {
                        if is_range {
                            self.count_name(&item.span, 0)?;
                        }
                        names.push((range.name(index), item));
                    }
                }
            }
        }
        Ok(names)
    }

    /// What a key or an entry of a list names. Without an index any text is a name here.
    pub(super) fn names_in(&self, text: &str, span: &Range<usize>) -> Result<NameRange> {
        if !text.contains('[') {
            return Ok(NameRange { base: text.into(), variable: None, indices: None, member: String::new() });
        }
        let names = parse_names(text, &self.names.scope(Use::Parameters), &self.loops);
        names.map_err(|e| self.source.error(self.within(span, text, e.span), e.complaint.in_round(&self.loops)))
    }

    /// The name that a string is, its index a number.
    pub(super) fn indexed_name(&self, item: &Item) -> Result<String> {
        let name = text(self.source, item)?;
        let names = self.names_in(name, &item.span)?;
        match &names.indices {
            None => Ok(name.to_string()),
            Some(indices) if indices.start() == indices.end() => Ok(names.name(*indices.start())),
            _ => Err(self.error(&item.span, "a range of names cannot be used here", "give one name")),
        }
    }

    /// Counts a name that repetition makes, and the bytes that are read for it.
    pub(super) fn count_name(&mut self, span: &Range<usize>, bytes: usize) -> Result<()> {
        self.named += 1;
        if self.named > MAX_NAMES {
            let complaint = Complaint::new(format!("repetition makes more than {MAX_NAMES} names"), "");
            let complaint = if self.named == MAX_NAMES + 1 { complaint } else { Complaint::consequence() };
            return Err(self.source.error(span.clone(), complaint));
        }
        let counted = self.names.scope(Use::Parameters).repeat(bytes);
        counted.map_err(|complaint| self.source.error(span.clone(), complaint))
    }

    /// True if `key` stands for several names.
    pub(super) fn is_range(key: &str) -> bool {
        key.contains('[') && key.contains("..")
    }

    /// The entries of a section, read one by one: a mistake in one does not hide those in others.
    pub(super) fn each_entry(&mut self, fields: &Fields<'a>, mut read: impl FnMut(&mut Self, &'a Entry) -> Result<()>) {
        for entry in fields.entries() {
            self.attempt(|reader| read(reader, entry));
        }
    }

    /// The items of one string, or of a list.
    pub(super) fn one_or_many(item: &Item) -> Option<&[Item]> {
        match &item.value {
            Value::Text(_) => Some(std::slice::from_ref(item)),
            Value::Array(items) => Some(items),
            _ => None,
        }
    }
}
