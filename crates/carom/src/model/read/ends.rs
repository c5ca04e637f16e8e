//! `[final]`, `[periodic]`.

use super::super::control::{Condition, FinalState, Periodic, Span};
use super::super::document::{Fields, Item, Value, array, text};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;

impl<'a> Reader<'a> {
    pub(super) fn end(&mut self, top: &Fields<'a>) -> Result<FinalState> {
        let n = self.names.coordinates.len();
        let nothing = || vec![None; n];
        let Some(item) = top.get("final") else {
            return Ok(FinalState { q: nothing(), motion: nothing(), ..FinalState::default() });
        };
        let fields = self.fields(item, "final", &["t", "q", "v", "p", "zero", "nonnegative"])?;
        if let (Some(_), Some(item)) = (fields.get("v"), fields.get("p")) {
            return Err(self.error(&item.span, "both `v` and `p` are given", "give one of them"));
        }
        let t = fields.get("t").map(|item| self.end_time(item)).transpose()?;
        let mut entries = |key: &str| match fields.get(key) {
            Some(item) => self.per_coordinate(item, key, Self::given),
            None => Ok(nothing()),
        };
        let q = entries("q")?;
        let (is_momentum, key) = if fields.get("p").is_some() { (true, "p") } else { (false, "v") };
        let motion = entries(key)?;
        let conditions = |key: &str| match fields.get(key) {
            Some(item) => self.conditions(item),
            None => Ok(Vec::new()),
        };
        let (zero, nonnegative) = (conditions("zero")?, conditions("nonnegative")?);
        Ok(FinalState { t, q, motion, is_momentum, zero, nonnegative, place: item.span.clone() })
    }

    fn end_time(&self, item: &Item) -> Result<Span> {
        match item.value {
            Value::Table(_) => self.span(item, "t"),
            _ => Ok(Span::fixed(self.positive(item, "end time")?, item.span.clone())),
        }
    }

    fn conditions(&self, item: &Item) -> Result<Vec<Condition>> {
        let items = Self::one_or_many(item).map_or_else(|| array(self.source, item), Ok)?;
        let condition = |item: &Item| {
            Ok(Condition { value: self.expr(item, Use::Motion)?, text: text(self.source, item)?.to_string() })
        };
        items.iter().map(condition).collect()
    }

    pub(super) fn periodic(&mut self, top: &Fields<'a>) -> Result<Vec<Periodic>> {
        let mut periodic: Vec<Periodic> = Vec::new();
        let Some(item) = top.get("periodic") else { return Ok(periodic) };
        let fields = self.fields(item, "periodic", &[])?;
        self.each_entry(&fields, |reader, entry| {
            reader.each_component(entry, |reader, name, span, item| {
                let coordinate = reader.coordinate(name, span)?;
                if reader.names.coordinates[coordinate].prescribed.is_some() {
                    let message = format!("the driven coordinate `{name}` cannot be periodic");
                    return Err(reader.error(span, message, "it follows its prescription"));
                }
                let from = reader.expr(item, Use::Position)?;
                if from.depends_on(&[crate::system::time()]) {
                    let label = "an expression of the coordinates at the end";
                    return Err(reader.error(&item.span, "the time cannot be used here", label));
                }
                periodic.push(Periodic { coordinate, from, place: item.span.clone() });
                Ok(())
            })
        });
        Ok(periodic)
    }
}
