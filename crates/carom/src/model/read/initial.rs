//! `[initial]`: by place, `q = [1, 0]`, or by name, `q = {theta = 1}`.

use super::super::document::{Entry, Fields, Item, Value, Which, wrong_kind};
use super::super::names::Use;
use super::super::{Initial, Motion};
use super::Reader;
use crate::error::Result;
use crate::expr::Expr;
use crate::expr::parse::Complaint;

impl<'a> Reader<'a> {
    pub(super) fn initial(&mut self, top: &Fields<'a>) -> Result<Option<Initial>> {
        let Some(item) = top.get("initial") else { return Ok(None) };
        let fields = self.fields(item, "initial", &["q", "v", "p", "q1", "project"])?;
        let q_item = fields.required("q")?;
        let q = self.attempt(|reader| reader.components(q_item, "q", None));
        // A mechanism starts from rest unless something else is said.
        let rest = Item { value: Value::Table(Vec::new()), span: q_item.span.clone() };
        let given: Vec<(&str, &Item)> =
            ["v", "p", "q1"].into_iter().filter_map(|key| Some((key, fields.get(key)?))).collect();
        let (key, motion_item) = match given.as_slice() {
            [one] => *one,
            [] if self.tree.is_some() => ("v", &rest),
            [] => {
                let label = "give `v` or `p` too; `v = {}` is rest";
                return Err(self.error(&q_item.span, "the start has no motion", label));
            }
            [(first, _), (second, item), ..] => {
                let message = format!("both `{first}` and `{second}` are given");
                return Err(self.error(&item.span, message, "give one of them"));
            }
        };
        let motion = self.attempt(|reader| reader.components(motion_item, key, q.as_ref().map(|(q, _)| q.as_slice())));
        let project = fields.flag("project")?.unwrap_or(false);
        let (Some((q, missing_q)), Some((motion, missing_motion))) = (q, motion) else { return Ok(None) };
        let (mut q, mut motion) = (q, motion);
        self.start_with_positive_w(&mut q, &mut motion);
        let motion = match key {
            "v" => Motion::Velocity(motion),
            "p" => Motion::Momentum(motion),
            _ => Motion::Next(motion),
        };
        self.places.q = q_item.span.clone();
        self.places.motion = motion_item.span.clone();
        Ok(Some(Initial { q, motion, project, missing: [missing_q, missing_motion] }))
    }

    /// One expression of the parameters for each coordinate, and the numbers of those that are missing. `q` is known where
    /// velocities are read.
    fn components(&mut self, item: &Item, key: &str, q: Option<&[Expr]>) -> Result<(Vec<Expr>, Vec<usize>)> {
        let mut values = match &item.value {
            Value::Array(items) => self.by_place(item, items, key)?,
            Value::Table(entries) => self.by_name(entries, key, q)?,
            _ => return Err(wrong_kind(self.source, item, "a list, or a section with names")),
        };
        for setting in self.overrides.iter().filter(|setting| setting.section == key) {
            let i = match &setting.entry {
                Which::Name(name) => self.coordinate(name, &setting.span)?,
                Which::Place(i) if *i < values.len() => *i,
                Which::Place(i) => {
                    let label = format!("there are {}, counted from 0", values.len());
                    return Err(self.error(&setting.span, format!("there is no entry {i}"), label));
                }
            };
            values[i] = Some(self.expr(&setting.item, Use::Parameters)?);
        }
        if matches!(key, "q" | "q1") {
            self.upright(&mut values);
        }
        let missing = (0..values.len()).filter(|&i| values[i].is_none()).collect();
        Ok((values.into_iter().map(|value| value.unwrap_or(Expr::constant(0.0))).collect(), missing))
    }

    fn by_place(&self, item: &Item, items: &[Item], key: &str) -> Result<Vec<Option<Expr>>> {
        let n = self.names.coordinates.len();
        if self.broken_coordinates {
            return Err(self.source.error(item.span.clone(), Complaint::consequence()));
        }
        if items.len() != n {
            let names: Vec<&str> = self.names.coordinates.iter().map(|c| c.name.as_str()).collect();
            let entries = if items.len() == 1 { "entry" } else { "entries" };
            let message = format!("`{key}` has {} {entries}, not {n}", items.len());
            return Err(self.error(&item.span, message, format!("one for each of {}", names.join(", "))));
        }
        items.iter().map(|item| self.expr(item, Use::Parameters).map(Some)).collect()
    }

    fn by_name(&mut self, entries: &[Entry], key: &str, q: Option<&[Expr]>) -> Result<Vec<Option<Expr>>> {
        let mut values = vec![None; self.names.coordinates.len()];
        for entry in entries {
            self.each_component(entry, |reader, name, span, item| {
                let given = match reader.pose(name, span, item, key, q)? {
                    Some(given) => given,
                    None => vec![(reader.coordinate(name, span)?, reader.expr(item, Use::Parameters)?)],
                };
                for (i, value) in given {
                    if values[i].replace(value).is_some() {
                        let name = &reader.names.coordinates[i].name;
                        return Err(reader.error(span, format!("`{name}` is given twice"), ""));
                    }
                }
                Ok(())
            })?;
        }
        Ok(values)
    }
}
