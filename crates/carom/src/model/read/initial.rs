//! `[initial]`: by place, `q = [1, 0]`, or by name, `q = {theta = 1}`.

use std::ops::Range;

use super::super::control::{Given, Span};
use super::super::document::{Entry, Fields, Item, Value, Which, wrong_kind};
use super::super::names::Use;
use super::super::{Initial, InitialMotion};
use super::Reader;
use crate::error::Result;
use crate::expr::Expr;
use crate::expr::parse::Complaint;

/// A coordinate that an entry names, by index, its value, and where it stands.
type Named<T> = (usize, T, Range<usize>);

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
                return Err(self.error(&q_item.span, "the start has no velocities", label));
            }
            [(first, _), (second, item), ..] => {
                let message = format!("both `{first}` and `{second}` are given");
                return Err(self.error(&item.span, message, "give one of them"));
            }
        };
        let motion = self.attempt(|reader| reader.components(motion_item, key, q.as_ref().map(|(q, ..)| q.as_slice())));
        let project = fields.flag("project")?.unwrap_or(false);
        let (Some((mut q, missing_q, free_q)), Some((mut motion, missing_motion, free_motion))) = (q, motion) else {
            return Ok(None);
        };
        if let Some(span) = free_motion.iter().flatten().next().filter(|_| key == "q1") {
            return Err(self.error(&span.place, "an entry of `q1` cannot be free", "give `v` or `p` instead"));
        }
        self.start_with_positive_w(&mut q, &mut motion);
        self.free_start = [free_q, free_motion];
        let motion = match key {
            "v" => InitialMotion::Velocity(motion),
            "p" => InitialMotion::Momentum(motion),
            _ => InitialMotion::Next(motion),
        };
        self.places.q = q_item.span.clone();
        self.places.motion = motion_item.span.clone();
        Ok(Some(Initial { q, motion, project, missing: [missing_q, missing_motion] }))
    }

    /// One expression of the parameters for each coordinate, the numbers of those that are missing, and the free ones. A free
    /// entry has its guess, or 0. `q` is known where velocities are read.
    #[allow(clippy::type_complexity)]
    fn components(
        &mut self,
        item: &Item,
        key: &str,
        q: Option<&[Expr]>,
    ) -> Result<(Vec<Expr>, Vec<usize>, Vec<Option<Span>>)> {
        let posed = |reader: &mut Self, name: &str, span: &Range<usize>, item: &Item| {
            let pose = reader.pose(name, span, item, key, q)?;
            Ok(pose.map(|pose| pose.into_iter().map(|(i, value)| (i, Given::Fixed(value))).collect()))
        };
        let mut values = match &item.value {
            Value::Table(entries) => {
                let named = self.by_name(entries, Self::given, posed)?;
                self.each_once(named)?
            }
            _ => self.per_coordinate(item, key, Self::given)?,
        };
        for setting in self.overrides.iter().filter(|setting| setting.section == key) {
            match &setting.entry {
                Which::Name(name) => {
                    let entry = Entry { key: name.clone(), span: setting.span.clone(), item: setting.item.clone() };
                    for (i, value, _) in self.by_name(&[entry], Self::given, posed)? {
                        values[i] = Some(value);
                    }
                }
                Which::Place(i) if *i < values.len() => values[*i] = Some(self.given(&setting.item)?),
                Which::Place(i) => {
                    let label = format!("there are {}, counted from 0", values.len());
                    return Err(self.error(&setting.span, format!("there is no entry {i}"), label));
                }
            }
        }
        if matches!(key, "q" | "q1") {
            self.upright(&mut values, Given::Fixed);
        }
        let missing = (0..values.len()).filter(|&i| values[i].is_none()).collect();
        let guess = |value: &Option<Given>| match value {
            Some(Given::Fixed(value)) => *value,
            Some(Given::Free(span)) => Expr::constant(span.guess_or(0.0)),
            None => Expr::constant(0.0),
        };
        let guesses = values.iter().map(guess).collect();
        let free = values.into_iter().map(|value| match value {
            Some(Given::Free(span)) => Some(span),
            _ => None,
        });
        Ok((guesses, missing, free.collect()))
    }

    /// An expression of the parameters, or `{min, max, guess}`.
    pub(super) fn given(&mut self, item: &Item) -> Result<Given> {
        match item.value {
            Value::Table(_) => self.span(item, "entry").map(Given::Free),
            _ => self.expr(item, Use::Parameters).map(Given::Fixed),
        }
    }

    /// One value for each coordinate, by place or by name; None where nothing is said.
    pub(super) fn per_coordinate<T: Clone>(
        &mut self,
        item: &Item,
        key: &str,
        read: impl FnMut(&mut Self, &Item) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        match &item.value {
            Value::Array(items) => self.by_place(item, items, key, read),
            Value::Table(entries) => {
                let named = self.by_name(entries, read, |_, _, _, _| Ok(None))?;
                self.each_once(named)
            }
            _ => Err(wrong_kind(self.source, item, "a list, or a section with names")),
        }
    }

    fn by_place<T>(
        &mut self,
        item: &Item,
        items: &[Item],
        key: &str,
        mut read: impl FnMut(&mut Self, &Item) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
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
        items.iter().map(|item| read(self, item).map(Some)).collect()
    }

    /// The coordinates that entries name, with their values and where each stands. `pose` reads the names that stand for several.
    fn by_name<T: Clone>(
        &mut self,
        entries: &[Entry],
        mut read: impl FnMut(&mut Self, &Item) -> Result<T>,
        mut pose: impl FnMut(&mut Self, &str, &Range<usize>, &Item) -> Result<Option<Vec<(usize, T)>>>,
    ) -> Result<Vec<Named<T>>> {
        let mut all = Vec::new();
        for entry in entries {
            self.each_component(entry, |reader, name, span, item| {
                let given = match pose(reader, name, span, item)? {
                    Some(given) => given,
                    None => vec![(reader.coordinate(name, span)?, read(reader, item)?)],
                };
                all.extend(given.into_iter().map(|(i, value)| (i, value, span.clone())));
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// One value for each coordinate, of which none is named twice.
    fn each_once<T: Clone>(&self, named: Vec<Named<T>>) -> Result<Vec<Option<T>>> {
        let mut values = vec![None; self.names.coordinates.len()];
        for (i, value, span) in named {
            if values[i].replace(value).is_some() {
                let name = &self.names.coordinates[i].name;
                return Err(self.error(&span, format!("`{name}` is given twice"), ""));
            }
        }
        Ok(values)
    }
}
