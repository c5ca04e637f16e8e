//! From the tree of a document to a model, section by section.

mod body;
mod contact;
mod control;
mod drawing;
mod ends;
mod inertia;
mod initial;
mod joint;
mod mechanics;
mod names;
mod phase;
mod picture;
mod pose;
mod repeat;
mod settings;
mod solid;
mod tie;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::control::Span;
use super::document::{Document, Fields, Item, MOST_MISTAKES, Override, Value, wrong_kind};
use super::names::{Names, Use};
use super::scope::Allowed;
use super::source::Source;
use super::{ContactGeometry, Model, Place, Places, Point, Viewpoint};
use crate::error::{Diagnostic, Error, Result};
use crate::expr::parse::{Complaint, Loop, ParseError, parse_in};
use crate::expr::{Expr, Lease, eval};
use crate::mechanism::Vector;
use crate::system::System;
use body::Tree;
use control::Known;

const SECTIONS: [&str; 29] = [
    "title",
    "coordinates",
    "parameters",
    "definitions",
    "lagrangian",
    "mechanism",
    "body",
    "spring",
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
    "view",
    "controls",
    "objective",
    "final",
    "periodic",
    "bound",
    "phase",
    "feedback",
];

/// The source, and what is known of the model so far.
struct Reader<'a> {
    source: &'a Source,
    overrides: &'a [Override],
    names: Names,
    /// The bodies, if there are any.
    tree: Option<Tree>,
    points: Vec<Point>,
    /// Where each point stands in the text, until they are in order.
    point_starts: Vec<usize>,
    /// From where pictures of space are taken.
    view: Option<Viewpoint>,
    /// How far towards the viewer each place of the pictures is.
    depths: RefCell<Vec<(Place, Expr)>>,
    /// The forces of the dampers in `[[spring]]`, one for each coordinate.
    dampers: Vec<Expr>,
    /// The ends of strings, and of springs, which are true.
    ties: Vec<([Vector; 2], bool)>,
    contacts: Vec<ContactGeometry>,
    /// The walls with `draw = false`.
    undrawn: Vec<usize>,
    /// Not all coordinates could be read, so that their number is not known.
    broken_coordinates: bool,
    /// Points that could not be read: using them is no further mistake.
    broken_points: Vec<String>,
    places: Places,
    /// The free entries of the start.
    free_start: [Vec<Option<Span>>; 2],
    /// The loop variables of the section or the key that is being read.
    loops: Vec<Loop>,
    /// How many names repetition has made.
    named: usize,
    mistakes: RefCell<Vec<Diagnostic>>,
    /// Where parts of expressions stand first.
    written: RefCell<FxHashMap<Expr, Range<usize>>>,
}

/// Reads all sections, in an order in which each can use the names of the earlier ones. The error is the first mistake, which
/// carries the others.
pub fn model(source: Source, document: &Document) -> Result<Model> {
    let mut reader = Reader {
        source: &source,
        overrides: &document.overrides,
        names: Names::default(),
        tree: None,
        points: Vec::new(),
        point_starts: Vec::new(),
        view: None,
        depths: RefCell::default(),
        dampers: Vec::new(),
        ties: Vec::new(),
        contacts: Vec::new(),
        undrawn: Vec::new(),
        broken_coordinates: false,
        broken_points: Vec::new(),
        places: Places::default(),
        free_start: Default::default(),
        loops: Vec::new(),
        named: 0,
        mistakes: RefCell::default(),
        written: RefCell::default(),
    };
    let top = reader.fields(&document.root, "", &SECTIONS)?;
    let title = reader.attempt(|_| Ok(top.text("title")?.unwrap_or("untitled").to_string()));
    let read = reader.attempt(|reader| {
        reader.declare(&top);
        reader.parameters(&top)?;
        reader.coordinates(&top)?;
        reader.mechanism(&top)
    });
    if read.is_none() {
        return Err(reader.into_error());
    }
    reader.attempt(|reader| reader.prescribed(&top));
    reader.ends_have_mass();
    reader.attempt(|reader| reader.view(&top));
    let other_points = reader.attempt(|reader| reader.points_for_definitions(&top)).unwrap_or_default();
    let controls = reader.attempt(|reader| reader.controls(&top));
    reader.attempt(|reader| reader.definitions(&top));
    reader.attempt(|reader| reader.points(&top, &other_points));
    let lagrangian = reader.attempt(|reader| reader.lagrangian(&top));
    let mut walls = Vec::new();
    reader.attempt(|reader| reader.walls(&top, &mut walls));
    reader.attempt(|reader| reader.contacts(&top, &mut walls));
    reader.attempt(|reader| reader.limit_walls(&mut walls));
    let constraints = reader.attempt(|reader| reader.constraints(&top));
    let forces = reader.attempt(|reader| reader.forces(&top));
    let initial = reader.attempt(|reader| reader.initial(&top));
    let run = reader.attempt(|reader| reader.run(&top));
    reader.names.walls = walls.iter().map(|wall| wall.name.clone()).collect();
    let rods = constraints.as_deref().unwrap_or_default();
    let outputs = reader.attempt(|reader| reader.outputs(&top, rods));
    let sections = reader.attempt(|reader| reader.sections(&top));
    let projection = reader.attempt(|reader| reader.projection(&top));
    let drawings = reader.attempt(|reader| reader.drawings(&top));
    let known = Known { forces: forces.as_deref().unwrap_or_default(), walls: &walls, constraints: rods };
    let problem = reader.problem(&top, controls.unwrap_or_default(), &known);
    let warnings = reader.unused(&top);
    let (Some(title), Some(lagrangian), Some(mut constraints), Some(mut forces), Some(problem), true) =
        (title, lagrangian, constraints, forces, problem, reader.mistakes.borrow().is_empty())
    else {
        return Err(reader.into_error());
    };
    let (initial, projection) = (initial.flatten(), projection.flatten());
    let mut run = run.unwrap_or_default();
    run.until = run.until.or(problem.until());
    let Reader { names, tree, mut places, points, view, depths, contacts, undrawn, written, .. } = reader;
    places.written = Arc::new(written.into_inner());
    let structural = names.structural.take().into_iter().collect();
    let Names { coordinates, mut parameters, definitions, .. } = names;
    problem.prepare_run(&mut parameters, &mut constraints, &mut places.constraints, &mut forces);
    places.bodies = tree.as_ref().map_or_else(Vec::new, |tree| tree.places.clone());
    let mechanism = tree.map(|tree| Arc::new(tree.mechanism));
    let system = System { coordinates, parameters, lagrangian, walls, constraints, forces, function: None, mechanism };
    Ok(Model {
        title,
        system,
        definitions,
        structural,
        initial,
        run,
        outputs: outputs.unwrap_or_default(),
        sections: sections.unwrap_or_default(),
        projection,
        problem,
        points,
        view,
        depths: depths.into_inner(),
        drawings: drawings.unwrap_or_default(),
        contacts,
        undrawn,
        warnings,
        source,
        places,
        _lease: Lease::default(),
    })
}

impl<'a> Reader<'a> {
    fn error(&self, span: &Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Error {
        self.source.error(span.clone(), Complaint::new(message, label).in_round(&self.loops))
    }

    /// Reads something; a mistake is noted, and reading goes on.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        if self.mistakes.borrow().len() >= MOST_MISTAKES {
            return None;
        }
        read(self).map_err(|error| self.note(error)).ok()
    }

    fn note(&self, error: Error) {
        if let Error::Model(mistake) = error
            && !mistake.is_consequence()
        {
            self.mistakes.borrow_mut().push(*mistake);
        }
    }

    fn into_error(self) -> Error {
        let first = Diagnostic::first_of(self.mistakes.into_inner());
        first.unwrap_or_else(|| Diagnostic::new("the model cannot be read")).into()
    }

    /// The section `item`, called `what`, with the keys `known`; an empty list admits any key.
    fn fields<'i>(&self, item: &'i Item, what: &'i str, known: &[&str]) -> Result<Fields<'i>>
    where
        'a: 'i,
    {
        let mut fields = Fields::new(self.source, item, what)?;
        if !known.is_empty() {
            let unknown: Vec<Error> = fields.unknown(known).take(MOST_MISTAKES).collect();
            fields.misspelt = !unknown.is_empty();
            unknown.into_iter().for_each(|error| self.note(error));
        }
        Ok(fields)
    }

    /// The expression that `item` is: a number, or a string.
    fn expr(&self, item: &Item, allowed: Use) -> Result<Expr> {
        match &item.value {
            Value::Number(value) if value.is_finite() => Ok(Expr::constant(*value)),
            Value::Number(_) => Err(self.error(&item.span, "not a finite number", "")),
            Value::Text(text) => self.parsed(item, text, self.names.scope(allowed)),
            _ => Err(wrong_kind(self.source, item, "a number or an expression")),
        }
    }

    /// The expression in the text of `item`.
    fn parsed(&self, item: &Item, text: &str, scope: Allowed) -> Result<Expr> {
        let wrong =
            |e: ParseError| self.source.error(self.within(&item.span, text, e.span), e.complaint.in_round(&self.loops));
        let parsed = parse_in(text, &scope, &self.loops).map_err(|mistakes| {
            let first = wrong(mistakes.first);
            if mistakes.others.is_empty() {
                return first;
            }
            self.note(first);
            mistakes.others.into_iter().for_each(|other| self.note(wrong(other)));
            self.source.error(item.span.clone(), Complaint::consequence())
        })?;
        let mut written = self.written.borrow_mut();
        let is_plain = self.source.text()[item.span.clone()].contains(text);
        let start = self.within(&item.span, text, 0..0).start;
        for (part, span) in scope.notes.into_inner() {
            let place = if is_plain { start + span.start..start + span.end } else { item.span.clone() };
            written.entry(part).or_insert(place);
        }
        Ok(parsed)
    }

    /// The bytes of the source that a span of a string stands at, where the string stands at `whole`.
    fn within(&self, whole: &Range<usize>, text: &str, span: Range<usize>) -> Range<usize> {
        let raw = &self.source.text()[whole.clone()];
        match raw.find(text) {
            Some(quotes) if !text.is_empty() => {
                let start = whole.start + quotes;
                start + span.start..start + span.end.max(span.start + 1)
            }
            _ => whole.clone(),
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
        self.names.coordinate(name).ok_or_else(|| {
            if self.names.is_broken(name) {
                return self.source.error(span.clone(), Complaint::consequence());
            }
            if let Some(complaint) = self.names.wrong_member(name, true) {
                return self.source.error(span.clone(), complaint);
            }
            let near = || super::suggestion(name, self.names.coordinates.iter().map(|c| c.name.as_str()));
            let label = self.names.out_of_range(name).or_else(|| near().map(|near| format!("did you mean `{near}`?")));
            let label = label.unwrap_or_else(|| self.names.which_coordinates(self.tree.is_some()));
            self.error(span, format!("unknown coordinate `{name}`"), label)
        })
    }
}
