//! `[[phase]]`.

use super::super::control::{PhaseEvent, Problem, Span, Stage};
use super::super::document::{Fields, Item, Value, array, text};
use super::super::names::Use;
use super::super::scope::contact;
use super::super::suggestion;
use super::Reader;
use super::control::Known;
use crate::error::Result;
use crate::expr::Expr;

/// The most steps of a phase.
const MOST_STEPS: f64 = 100_000.0;

/// Two times are the same within this part of them.
const SAME_TIME: f64 = 1e-9;

impl<'a> Reader<'a> {
    pub(super) fn phases(&mut self, top: &Fields<'a>, known: &Known) -> Result<Vec<Stage>> {
        let mut phases: Vec<Stage> = Vec::new();
        for (number, item) in top.list("phase")?.iter().enumerate() {
            let read = self.attempt(|reader| reader.phase(item, number, known));
            if let Some(phase) = &read
                && phases.iter().any(|other| other.name == phase.name)
            {
                let message = format!("two phases are called `{}`", phase.name);
                let error = self.error(&phase.place, message, "give each its own name");
                self.note(error);
            }
            phases.extend(read);
        }
        for pair in phases.windows(2) {
            self.attempt(|reader| reader.check_hold(&pair[0], &pair[1], known));
        }
        Ok(phases)
    }

    fn phase(&mut self, item: &'a Item, number: usize, known: &Known) -> Result<Stage> {
        let keys = ["name", "steps", "duration", "hold", "impact", "catch", "lambda", "guess"];
        let fields = self.fields(item, "phase", &keys)?;
        let name = fields.text("name")?.map_or_else(|| format!("phase {}", number + 1), str::to_string);
        let steps = self.steps(fields.required("steps")?)?;
        let duration = match fields.get("duration") {
            None => Span { min: 0.0, ..Span::free(item.span.clone()) },
            Some(item) => self.duration(item)?,
        };
        let (mut held_walls, mut held) = (Vec::new(), Vec::new());
        if let Some(item) = fields.get("hold") {
            (held_walls, held) = self.surfaces(item, known)?;
        }
        let event = self.event(&fields, known)?;
        if let (PhaseEvent::Impact { wall, .. }, Some(item)) = (&event, fields.get("impact"))
            && held_walls.contains(wall)
        {
            let message = format!("the phase holds the wall `{}` and cannot hit it", known.walls[*wall].name);
            return Err(self.error(&item.span, message, "remove it from `hold` or from `impact`"));
        }
        let guess = match fields.get("guess") {
            None => Vec::new(),
            Some(item) => {
                let read = self.per_coordinate(item, "guess", |reader, item| reader.expr(item, Use::Time))?;
                read.into_iter().map(|guess| guess.unwrap_or(Expr::constant(0.0))).collect()
            }
        };
        Ok(Stage {
            name,
            steps,
            duration,
            held_walls,
            held,
            event,
            guess,
            place: fields.get("name").unwrap_or(item).span.clone(),
        })
    }

    fn steps(&self, item: &Item) -> Result<usize> {
        let value = self.number(item)?;
        if value.fract() == 0.0 && (1.0..=MOST_STEPS).contains(&value) {
            return Ok(value as usize);
        }
        let message = format!("`steps` must be a whole number from 1 to {MOST_STEPS}");
        Err(self.error(&item.span, message, format!("this is {value}")))
    }

    fn duration(&self, item: &Item) -> Result<Span> {
        if !matches!(item.value, Value::Table(_)) {
            return Ok(Span::fixed(self.positive(item, "duration")?, item.span.clone()));
        }
        let span = self.span(item, "duration")?;
        if span.max <= 0.0 || span.guess.is_some_and(|guess| guess <= 0.0) {
            return Err(self.error(&span.place, "the duration must be positive", "give larger bounds"));
        }
        Ok(Span { min: span.min.max(0.0), ..span })
    }

    fn event(&mut self, fields: &Fields<'a>, known: &Known) -> Result<PhaseEvent> {
        match (fields.get("impact"), fields.get("catch"), fields.get("lambda")) {
            (Some(_), Some(item), _) => {
                Err(self.error(&item.span, "both `impact` and `catch` are given", "a phase ends with one of them"))
            }
            (Some(item), None, lambda) => {
                let (walls, constraints) = self.surfaces(item, known)?;
                let lambda = match lambda {
                    None => Span { min: 0.0, ..Span::free(item.span.clone()) },
                    Some(item) => self.span(item, "lambda")?,
                };
                if lambda.max < 0.0 {
                    return Err(self.error(&lambda.place, "the impulse of a wall is not negative", ""));
                }
                match (walls.as_slice(), constraints.as_slice()) {
                    ([wall], []) => {
                        Ok(PhaseEvent::Impact { wall: *wall, lambda: Span { min: lambda.min.max(0.0), ..lambda } })
                    }
                    _ => Err(self.error(
                        &item.span,
                        "`impact` needs one wall",
                        "constraints and several walls are caught: `catch = […]`",
                    )),
                }
            }
            (None, _, Some(item)) => {
                Err(self.error(&item.span, "`lambda` belongs to an `impact`", "say which wall is hit"))
            }
            (None, Some(item), None) => {
                let (walls, constraints) = self.surfaces(item, known)?;
                Ok(PhaseEvent::Catch { walls, constraints })
            }
            (None, None, None) => Ok(PhaseEvent::None),
        }
    }

    /// The walls and constraints that a string or a list names. A contact stands for all its walls.
    fn surfaces(&self, item: &Item, known: &Known) -> Result<(Vec<usize>, Vec<usize>)> {
        let items = Self::one_or_many(item).map_or_else(|| array(self.source, item), Ok)?;
        let (mut walls, mut constraints) = (Vec::new(), Vec::new());
        for item in items {
            let name = text(self.source, item)?;
            let exact: Vec<usize> = (0..known.walls.len()).filter(|&k| known.walls[k].name == name).collect();
            let found = if exact.is_empty() {
                (0..known.walls.len()).filter(|&k| contact(&known.walls[k].name).any(|part| part == name)).collect()
            } else {
                exact
            };
            let constraint = known.constraints.iter().position(|constraint| constraint.name == name);
            match (found.is_empty(), constraint) {
                (false, None) => walls.extend(found),
                (true, Some(k)) => constraints.push(k),
                (false, Some(_)) => {
                    let message = format!("`{name}` is both a wall and a constraint");
                    return Err(self.error(&item.span, message, "give one of them another name"));
                }
                (true, None) => {
                    let all = known.walls.iter().map(|wall| wall.name.as_str());
                    let all: Vec<&str> = all.chain(known.constraints.iter().map(|c| c.name.as_str())).collect();
                    let label = match suggestion(name, all.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None if all.is_empty() => "the model has neither walls nor constraints".into(),
                        None => format!("there are {}", all.join(", ")),
                    };
                    return Err(self.error(&item.span, format!("there is no wall or constraint `{name}`"), label));
                }
            }
        }
        walls.sort_unstable();
        walls.dedup();
        constraints.sort_unstable();
        constraints.dedup();
        Ok((walls, constraints))
    }

    /// What a phase holds must hold at the end of the phase before it.
    fn check_hold(&self, before: &Stage, phase: &Stage, known: &Known) -> Result<()> {
        let (walls, caught): (&[usize], &[usize]) = match &before.event {
            PhaseEvent::Catch { walls, constraints } => (walls, constraints),
            PhaseEvent::Impact { wall, .. } => (std::slice::from_ref(wall), &[]),
            PhaseEvent::None => (&[], &[]),
        };
        let new_wall = phase.held_walls.iter().find(|k| !before.held_walls.contains(k) && !walls.contains(k));
        let new = phase.held.iter().find(|k| !before.held.contains(k) && !caught.contains(k));
        let name = new_wall.map(|&k| &known.walls[k].name).or(new.map(|&k| &known.constraints[k].name));
        let Some(name) = name else { return Ok(()) };
        let message = format!("`{}` holds `{name}`, which does not begin to hold before it", phase.name);
        Err(self.error(&phase.place, message, format!("write `catch = [\"{name}\"]` in `{}`", before.name)))
    }

    /// Durations that are all given must make the end time.
    pub(super) fn check_durations(&self, problem: &Problem, top: &Fields) -> Result<()> {
        let known: Option<Vec<f64>> = problem.phases.iter().map(|phase| phase.duration.number()).collect();
        let (Some(durations), Some(t)) = (known.filter(|all| !all.is_empty()), &problem.end.t) else { return Ok(()) };
        let sum: f64 = durations.iter().sum();
        if t.min - SAME_TIME * sum <= sum && sum <= t.max + SAME_TIME * sum {
            return Ok(());
        }
        let place = top.get("final").map_or(0..0, |_| t.place.clone());
        Err(self.error(
            &place,
            format!("the durations of the phases sum to {sum}"),
            "leave one of them out, or this end time",
        ))
    }
}
