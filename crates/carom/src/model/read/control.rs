//! `[controls]`, `[objective]`, `[[bound]]`, and the control problem as a whole.

use std::ops::Range;

use super::super::control::{Bound, ControlInput, Objective, Problem, Signal, Span, Weights};
use super::super::document::{Fields, Item, Value, array};
use super::super::names::Use;
use super::super::suggestion;
use super::Reader;
use crate::error::Result;
use crate::expr::{Expr, substitute};
use crate::system::{Constraint, Parameter, Wall};

/// What the reader already knows of the mechanics.
pub(super) struct Known<'k> {
    pub(super) forces: &'k [Expr],
    pub(super) walls: &'k [Wall],
    pub(super) constraints: &'k [Constraint],
}

impl<'a> Reader<'a> {
    /// Declares the controls.
    pub(super) fn controls(&mut self, top: &Fields<'a>) -> Result<Vec<ControlInput>> {
        let mut controls = Vec::new();
        let Some(item) = top.get("controls") else { return Ok(controls) };
        let fields = self.fields(item, "controls", &[])?;
        self.each_entry(&fields, |reader, entry| {
            let read = reader.each_name(&entry.key, &entry.span, &entry.item, |reader, name| {
                reader.check_new_name(name, &entry.span)?;
                let symbol = reader.names.add_control(name);
                if !matches!(entry.item.value, Value::Table(_)) {
                    let label = format!("write `{name} = {{value = …}}`, or `{name} = {{}}`");
                    let message = format!("a control is a section, not {}", entry.item.value.kind());
                    return Err(reader.error(&entry.item.span, message, label));
                }
                let fields = reader.fields(&entry.item, "controls", &["min", "max", "value"])?;
                let span = reader.interval(&fields)?;
                let value = fields.get("value").map(|item| reader.signal(item)).transpose()?;
                let value = value.unwrap_or(Signal::Constant(0.0));
                controls.push(ControlInput { name: name.into(), symbol, span, value, place: entry.span.clone() });
                Ok(())
            });
            read.inspect_err(|_| reader.names.mark_broken(&entry.key))
        });
        Ok(controls)
    }

    fn signal(&self, item: &Item) -> Result<Signal> {
        match &item.value {
            Value::Array(items) if items.is_empty() => {
                Err(self.error(&item.span, "the list is empty", "give one number for each step"))
            }
            Value::Array(items) => items.iter().map(|item| self.number(item)).collect::<Result<_>>().map(Signal::List),
            Value::Number(_) => self.number(item).map(Signal::Constant),
            _ => {
                let e = self.expr(item, Use::Time)?;
                if self.names.need(e) < Use::Time {
                    return self.number(item).map(Signal::Constant);
                }
                Ok(Signal::Function(e))
            }
        }
    }

    /// `{min, max, guess}`, called `what`.
    pub(super) fn span(&self, item: &Item, what: &str) -> Result<Span> {
        let fields = self.fields(item, what, &["min", "max", "guess"])?;
        let mut span = self.interval(&fields)?;
        if let Some(item) = fields.get("guess") {
            let guess = self.number(item)?;
            if !span.contains(guess) {
                let message = "the guess is outside its bounds";
                return Err(self.error(&item.span, message, format!("from {} to {}", span.min, span.max)));
            }
            span.guess = Some(guess);
        }
        Ok(span)
    }

    /// `min` and `max` of a section.
    fn interval(&self, fields: &Fields) -> Result<Span> {
        let end = |key: &str, none: f64| fields.get(key).map_or(Ok(none), |item| self.number(item));
        let (min, max) = (end("min", f64::NEG_INFINITY)?, end("max", f64::INFINITY)?);
        if let Some(item) = fields.get("min").filter(|_| min > max) {
            let label = format!("`min` is {min}, `max` is {max}");
            return Err(self.error(&item.span, "the bounds cross: `min` is above `max`", label));
        }
        Ok(Span {
            min,
            max,
            guess: None,
            place: fields.get("min").or(fields.get("max")).map_or(fields.span(), |item| item.span.clone()),
        })
    }

    fn objective(&self, top: &Fields<'a>) -> Result<Objective> {
        let Some(item) = top.get("objective") else { return Ok(Objective::default()) };
        let fields = self.fields(item, "objective", &["running", "final"])?;
        let running = fields.get("running").map(|item| self.expr(item, Use::Control)).transpose()?;
        let end = fields.get("final").map(|item| self.expr(item, Use::Motion)).transpose()?;
        if running.is_none() && end.is_none() && !fields.misspelt {
            return Err(self.error(&item.span, "the objective is empty", "give `running`, `final` or both"));
        }
        Ok(Objective { running, end })
    }

    /// `[feedback]`, for a model with this number of coordinates and of controls.
    fn weights(&self, top: &Fields<'a>, coordinates: usize, controls: usize) -> Result<Weights> {
        let Some(item) = top.get("feedback") else { return Ok(Weights::default()) };
        let fields = self.fields(item, "feedback", &["state", "control", "final"])?;
        let list = |key: &str, count: usize, what: &str| -> Result<Option<Vec<f64>>> {
            let Some(item) = fields.get(key) else { return Ok(None) };
            let items = array(self.source, item)?;
            if items.len() != count {
                let message = format!("`{key}` has {} weights, not {count}", items.len());
                return Err(self.error(&item.span, message, format!("one for each {what}")));
            }
            let weight = |item: &Item| {
                let weight = self.number(item)?;
                let (is_good, label) = match key {
                    "control" => (weight > 0.0, "weights of controls are positive"),
                    _ => (weight >= 0.0, "weights are not negative"),
                };
                if is_good { Ok(weight) } else { Err(self.error(&item.span, format!("the weight is {weight}"), label)) }
            };
            items.iter().map(weight).collect::<Result<_>>().map(Some)
        };
        let state = "coordinate, then one for each momentum";
        Ok(Weights {
            state: list("state", 2 * coordinates, state)?,
            control: list("control", controls, "control")?,
            end: list("final", 2 * coordinates, state)?,
        })
    }

    fn bounds(&mut self, top: &Fields<'a>, phases: &[String]) -> Result<Vec<Bound>> {
        let mut bounds = Vec::new();
        for (number, item) in top.list("bound")?.iter().enumerate() {
            let read = self.attempt(|reader| {
                let fields = reader.fields(item, "bound", &["name", "of", "min", "max", "phase"])?;
                let name = fields.text("name")?.map_or_else(|| format!("bound {}", number + 1), str::to_string);
                let of = reader.expr(fields.required("of")?, Use::Control)?;
                let span = reader.interval(&fields)?;
                if span.min == f64::NEG_INFINITY && span.max == f64::INFINITY && !fields.misspelt {
                    return Err(reader.error(
                        &item.span,
                        format!("the bound `{name}` bounds nothing"),
                        "give `min`, `max` or both",
                    ));
                }
                let phases = fields.get("phase").map(|item| reader.phases_named(item, phases)).transpose()?;
                Ok(Bound { name, of, span, phases })
            });
            bounds.extend(read);
        }
        Ok(bounds)
    }

    fn phases_named(&self, item: &Item, phases: &[String]) -> Result<Vec<usize>> {
        let items = Self::one_or_many(item).map_or_else(|| array(self.source, item), Ok)?;
        let number = |item: &Item| {
            let name = super::super::document::text(self.source, item)?;
            phases.iter().position(|phase| phase == name).ok_or_else(|| {
                let near =
                    suggestion(name, phases.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
                let label = near.unwrap_or_else(|| format!("the phases are {}", phases.join(", ")));
                self.error(&item.span, format!("there is no phase `{name}`"), label)
            })
        };
        items.iter().map(number).collect()
    }

    /// The control problem; None if there is a mistake in it.
    pub(super) fn problem(&mut self, top: &Fields<'a>, controls: Vec<ControlInput>, known: &Known) -> Option<Problem> {
        let before = self.mistakes.borrow().len();
        let phases = self.attempt(|reader| reader.phases(top, known))?;
        let names: Vec<String> = phases.iter().map(|phase| phase.name.clone()).collect();
        let objective = self.attempt(|reader| reader.objective(top));
        let end = self.attempt(|reader| reader.end(top));
        let periodic = self.attempt(|reader| reader.periodic(top));
        let bounds = self.attempt(|reader| reader.bounds(top, &names));
        let weights = self.attempt(|reader| reader.weights(top, reader.names.coordinates.len(), controls.len()));
        let problem = Problem {
            weights: weights?,
            controls,
            objective: objective?,
            end: end?,
            periodic: periodic?,
            bounds: bounds?,
            phases,
            free_start: std::mem::take(&mut self.free_start),
            constraints: known.constraints.to_vec(),
        };
        if self.mistakes.borrow().len() == before {
            self.attempt(|reader| reader.check_durations(&problem, top))?;
            self.attempt(|reader| reader.check_controls(&problem, known));
        }
        Some(problem)
    }

    /// Every control must do something, and have a value on each step.
    fn check_controls(&mut self, problem: &Problem, known: &Known) -> Result<()> {
        let of_bounds = problem.bounds.iter().map(|bound| bound.of);
        let users: Vec<Expr> = known.forces.iter().copied().chain(problem.objective.running).chain(of_bounds).collect();
        let steps: usize = problem.phases.iter().map(|phase| phase.steps).sum();
        for control in &problem.controls {
            if !users.iter().any(|user| user.depends_on(&[control.symbol])) {
                let label = "use it in `[forces]` or a `[[push]]`, or remove it";
                let message =
                    format!("the control `{}` does nothing: no force, objective or bound uses it", control.name);
                let error = self.error(&control.place, message, label);
                self.note(error);
            }
            if let Signal::List(values) = &control.value
                && steps > 0
                && values.len() != steps
            {
                let message = format!("`value` of `{}` has {} numbers, not {steps}", control.name, values.len());
                let error = self.error(&control.place, message, "one for each step of the phases");
                self.note(error);
            }
        }
        Ok(())
    }
}

impl Problem {
    /// Prepares the system for a run. Controls are parameters after those of the model. Of the constraints that phases switch,
    /// those of the first phase hold. Without phases, a control that is a function of time is replaced by it.
    pub(super) fn prepare_run(
        &self,
        parameters: &mut Vec<Parameter>,
        constraints: &mut Vec<Constraint>,
        places: &mut Vec<Range<usize>>,
        forces: &mut Vec<Expr>,
    ) {
        let value = |control: &ControlInput| if let Signal::Constant(value) = control.value { value } else { 0.0 };
        parameters.extend(self.controls.iter().map(|control| Parameter {
            name: control.name.clone(),
            symbol: control.symbol,
            value: value(control),
        }));
        let holds = self.holds_in(0);
        *constraints = holds.iter().map(|&k| constraints[k].clone()).collect();
        *places = holds.iter().map(|&k| places[k].clone()).collect();
        if self.phases.is_empty() {
            let functions = self.controls.iter().filter_map(|control| match control.value {
                Signal::Function(f) => Some((control.symbol, f)),
                _ => None,
            });
            let (from, to): (Vec<Expr>, Vec<Expr>) = functions.unzip();
            *forces = substitute(forces, &from, &to);
        }
    }
}
