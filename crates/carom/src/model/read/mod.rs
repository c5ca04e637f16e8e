//! From the tree of a document to a model, section by section.

mod contact;
mod mechanics;
mod names;
mod picture;
mod settings;

use std::ops::Range;

use super::document::{Fields, Item, Value, wrong_kind};
use super::names::{Names, Use};
use super::source::Source;
use super::{Model, Places};
use crate::error::{Error, Result};
use crate::expr::parse::{Complaint, parse};
use crate::expr::{Expr, eval};
use crate::system::System;

const SECTIONS: [&str; 18] = [
    "title",
    "coordinates",
    "parameters",
    "definitions",
    "lagrangian",
    "wall",
    "contact",
    "constraint",
    "forces",
    "push",
    "prescribed",
    "initial",
    "run",
    "outputs",
    "section",
    "projection",
    "points",
    "draw",
];

/// The source, and the names as far as they are known.
struct Reader<'a> {
    source: &'a Source,
    names: Names,
    places: Places,
}

/// Reads all sections, in an order in which each can use the names of the earlier ones.
pub fn model(source: Source, document: &Item) -> Result<Model> {
    let top = Fields::new(&source, document, "", &SECTIONS)?;
    let mut reader = Reader { source: &source, names: Names::default(), places: Places::default() };
    let title = top.text("title")?.unwrap_or("untitled").to_string();
    reader.coordinates(&top)?;
    reader.parameters(&top)?;
    reader.prescribed(&top)?;
    reader.definitions(&top)?;
    let lagrangian = reader.lagrangian(&top)?;
    let points = reader.points(&top)?;
    let mut walls = reader.walls(&top)?;
    reader.contacts(&top, &points, &mut walls)?;
    let constraints = reader.constraints(&top)?;
    let forces = reader.forces(&top)?;
    let initial = reader.initial(&top)?;
    let run = reader.run(&top)?;
    let outputs = reader.outputs(&top)?;
    let sections = reader.sections(&top)?;
    let projection = reader.projection(&top)?;
    let drawings = reader.drawings(&top, &points)?;
    let Reader { names, places, .. } = reader;
    let Names { coordinates, parameters, definitions, .. } = names;
    let system = System { coordinates, parameters, lagrangian, walls, constraints, forces };
    Ok(Model {
        title,
        system,
        definitions,
        initial,
        run,
        outputs,
        sections,
        projection,
        points,
        drawings,
        source,
        places,
    })
}

impl Reader<'_> {
    fn error(&self, span: &Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Error {
        self.source.error(span.clone(), Complaint::new(message, label))
    }

    /// The expression that `item` is: a number, or a string.
    fn expr(&self, item: &Item, allowed: Use) -> Result<Expr> {
        match &item.value {
            Value::Number(value) if value.is_finite() => Ok(Expr::constant(*value)),
            Value::Number(_) => Err(self.error(&item.span, "not a finite number", "")),
            Value::Text(text) => {
                let parsed = parse(text, &self.names.scope(allowed));
                parsed.map_err(|e| self.source.error(self.within(item, text, e.span), e.complaint))
            }
            _ => Err(wrong_kind(self.source, item, "a number or an expression")),
        }
    }

    /// The bytes of the source that a span of a string stands at.
    fn within(&self, item: &Item, text: &str, span: Range<usize>) -> Range<usize> {
        let raw = &self.source.text()[item.span.clone()];
        match raw.find(text) {
            Some(quotes) if !text.is_empty() => {
                let start = item.span.start + quotes;
                start + span.start..start + span.end.max(span.start + 1)
            }
            _ => item.span.clone(),
        }
    }

    /// The number that `item` is: a number, or an expression of the parameters.
    fn number(&self, item: &Item) -> Result<f64> {
        let e = self.expr(item, Use::Parameters)?;
        let values: Vec<(Expr, f64)> = self.names.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let value = eval(&[e], &values)[0];
        if value.is_finite() { Ok(value) } else { Err(self.error(&item.span, format!("this is {value}"), "")) }
    }

    /// A number that must be positive, called `what`.
    fn positive(&self, item: &Item, what: &str) -> Result<f64> {
        let value = self.number(item)?;
        if value > 0.0 {
            return Ok(value);
        }
        Err(self.error(&item.span, format!("the {what} must be positive"), format!("this is {value}")))
    }

    /// The number of a coordinate, by name.
    fn coordinate(&self, name: &str, span: &Range<usize>) -> Result<usize> {
        let known = self.names.coordinates.iter();
        known.clone().position(|c| c.name == name).ok_or_else(|| {
            let label = match super::suggestion(name, known.map(|c| c.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "list it in `coordinates`".into(),
            };
            self.error(span, format!("unknown coordinate `{name}`"), label)
        })
    }
}
