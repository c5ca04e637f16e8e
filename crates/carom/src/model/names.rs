//! What the names of a model mean, and where each may be used.

use super::suggest::suggestion;
use crate::expr::Expr;
use crate::expr::parse::{Complaint, Scope, is_name, is_reserved};
use crate::system::{Coordinate, Parameter, time, time_derivative};

/// The names that a model has given so far.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The degrees of freedom.
    pub coordinates: Vec<Coordinate>,
    /// The numbers.
    pub parameters: Vec<Parameter>,
    /// The abbreviations.
    pub definitions: Vec<Definition>,
    /// Definitions that have not been read yet, with their text.
    pub later: Vec<(String, String)>,
}

/// An abbreviation for an expression.
#[derive(Clone, Debug)]
pub struct Definition {
    /// As written in the model.
    pub name: String,
    /// What it stands for, in coordinates and parameters.
    pub value: Expr,
    /// Its total time derivative.
    pub rate: Expr,
}

/// What an expression may contain, beside parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Use {
    /// Nothing else: a constant.
    Parameters,
    /// The time.
    Time,
    /// The time and the coordinates.
    Position,
    /// The time, the coordinates and the velocities.
    Motion,
}

impl Names {
    /// What kind of thing has that name.
    pub fn kind(&self, name: &str) -> Option<&'static str> {
        if self.coordinates.iter().any(|c| c.name == name) {
            Some("coordinate")
        } else if self.parameters.iter().any(|p| p.name == name) {
            Some("parameter")
        } else if self.definitions.iter().any(|d| d.name == name) {
            Some("definition")
        } else {
            None
        }
    }

    /// Why `name` cannot be given to something new.
    pub fn complaint_about(&self, name: &str) -> Option<Complaint> {
        if !is_name(name) {
            let label = "a name is a letter, then letters, digits and `_`";
            return Some(Complaint::new(format!("`{}` is not a name", name.escape_debug()), label));
        }
        if is_reserved(name) {
            let meaning = match name {
                "t" => "it is the time",
                "pi" => "it is the number π",
                _ => "it is a function",
            };
            return Some(Complaint::new(format!("the name `{name}` is reserved"), meaning));
        }
        let kind = self.kind(name)?;
        Some(Complaint::new(format!("the name `{name}` is used twice"), format!("it is already a {kind}")))
    }

    /// Adds a definition.
    pub fn define(&mut self, name: &str, value: Expr) {
        let rate = time_derivative(&self.coordinates, value);
        self.definitions.push(Definition { name: name.into(), value, rate });
    }

    /// The names, for an expression that may contain what `allowed` says.
    pub fn scope(&self, allowed: Use) -> impl Scope + '_ {
        Allowed { names: self, allowed, within: None }
    }

    /// The names, for the definition called `within`.
    pub fn scope_within<'a>(&'a self, within: &'a str) -> impl Scope + 'a {
        Allowed { names: self, allowed: Use::Motion, within: Some(within) }
    }

    fn meaning(&self, name: &str, primes: usize) -> Result<Expr, Complaint> {
        let derivative = |rate: Expr| match primes {
            1 => Ok(rate),
            _ => Err(Complaint::new(format!("`{name}` has more than one `'`"), "accelerations cannot be used")),
        };
        if name == "t" {
            return Ok(time());
        }
        if let Some(c) = self.coordinates.iter().find(|c| c.name == name) {
            return if primes == 0 { Ok(c.q) } else { derivative(c.v) };
        }
        if let Some(p) = self.parameters.iter().find(|p| p.name == name) {
            let message = format!("`{name}` is a parameter and has no time derivative");
            return if primes == 0 { Ok(p.symbol) } else { Err(Complaint::new(message, "remove the `'`")) };
        }
        if let Some(d) = self.definitions.iter().find(|d| d.name == name) {
            if primes == 0 {
                return Ok(d.value);
            }
            let accelerations: Vec<Expr> = self.coordinates.iter().map(Coordinate::acceleration).collect();
            if d.rate.depends_on(&accelerations) {
                let label = format!("`{name}` contains velocities, so its `'` would contain accelerations");
                return Err(Complaint::new(format!("`{name}'` cannot be used"), label));
            }
            return derivative(d.rate);
        }
        Err(self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Complaint {
        let coordinates = self.coordinates.iter().map(|c| c.name.as_str());
        let parameters = self.parameters.iter().map(|p| p.name.as_str());
        let definitions = self.definitions.iter().map(|d| d.name.as_str());
        let label = match suggestion(name, parameters.chain(definitions).chain(coordinates)) {
            Some(near) => format!("did you mean the {} `{near}`?", self.kind(near).unwrap_or("name")),
            None => "neither a coordinate nor a parameter nor a definition".into(),
        };
        Complaint::new(format!("unknown name `{name}`"), label)
    }

    /// Why the definition `within` cannot use `name`, if that is a definition which does not exist yet.
    fn forward_use(&self, within: &str, name: &str) -> Option<Complaint> {
        if name == within {
            return Some(Complaint::new(format!("the definition `{name}` uses itself"), ""));
        }
        self.later.iter().find(|(later, _)| later == name)?;
        if let Some(cycle) = self.cycle(within, name) {
            let label = format!("{} is a circle", cycle.join(" → "));
            return Some(Complaint::new(format!("the definition `{within}` uses itself through `{name}`"), label));
        }
        let label = format!("define `{name}` before `{within}`");
        Some(Complaint::new(format!("the definition `{within}` uses `{name}`, which is defined later"), label))
    }

    /// The way from `within` over `next` back to `within`, if later definitions make one.
    fn cycle<'a>(&'a self, within: &'a str, next: &'a str) -> Option<Vec<&'a str>> {
        let mut ways: Vec<Vec<&str>> = vec![vec![within, next]];
        let mut seen = vec![next];
        while let Some(way) = ways.pop() {
            let end = way.last()?;
            let text = self.later.iter().find(|(name, _)| name == end).map_or("", |(_, text)| text);
            for word in words(text) {
                let onward = || way.iter().copied().chain([word]).collect::<Vec<_>>();
                if word == within {
                    return Some(onward());
                }
                if self.later.iter().any(|(name, _)| name == word) && !seen.contains(&word) {
                    seen.push(word);
                    ways.push(onward());
                }
            }
        }
        None
    }
}

/// The names that occur in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| is_name(word))
}

struct Allowed<'a> {
    names: &'a Names,
    allowed: Use,
    within: Option<&'a str>,
}

impl Scope for Allowed<'_> {
    fn resolve(&self, name: &str, primes: usize) -> Result<Expr, Complaint> {
        if let Some(complaint) = self.within.and_then(|within| self.names.forward_use(within, name)) {
            return Err(complaint);
        }
        let meaning = self.names.meaning(name, primes)?;
        let written = format!("{name}{}", "'".repeat(primes));
        let refuse = |label: &str| Err(Complaint::new(format!("`{written}` cannot be used here"), label));
        let velocities: Vec<Expr> = self.names.coordinates.iter().map(|c| c.v).collect();
        let positions: Vec<Expr> = self.names.coordinates.iter().map(|c| c.q).collect();
        if self.allowed != Use::Motion && meaning.depends_on(&velocities) {
            return refuse("it contains velocities");
        }
        if matches!(self.allowed, Use::Parameters | Use::Time) && meaning.depends_on(&positions) {
            return refuse("it contains coordinates");
        }
        if self.allowed == Use::Parameters && meaning.depends_on(&[time()]) {
            return refuse("it contains the time");
        }
        Ok(meaning)
    }
}
