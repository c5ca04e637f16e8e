//! What the names of a model mean, and where each may be used.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

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
    pub later: FxHashMap<String, String>,
    index: FxHashMap<String, (Kind, usize)>,
}

/// What a name can be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Coordinate,
    Parameter,
    Definition,
}

/// An abbreviation for an expression.
#[derive(Clone, Debug)]
pub struct Definition {
    /// As written in the model.
    pub name: String,
    /// What it stands for, in coordinates and parameters.
    pub value: Expr,
    rate: OnceLock<Expr>,
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
        self.index.get(name).map(|(kind, _)| match kind {
            Kind::Coordinate => "coordinate",
            Kind::Parameter => "parameter",
            Kind::Definition => "definition",
        })
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

    /// Adds a degree of freedom.
    pub fn add_coordinate(&mut self, name: &str) -> Coordinate {
        self.index.insert(name.into(), (Kind::Coordinate, self.coordinates.len()));
        let coordinate = Coordinate::new(name);
        self.coordinates.push(coordinate.clone());
        coordinate
    }

    /// Adds a parameter.
    pub fn add_parameter(&mut self, name: &str, value: f64) -> Expr {
        self.index.insert(name.into(), (Kind::Parameter, self.parameters.len()));
        let symbol = Expr::symbol(name);
        self.parameters.push(Parameter { name: name.into(), symbol, value });
        symbol
    }

    /// Adds a definition.
    pub fn define(&mut self, name: &str, value: Expr) {
        self.index.insert(name.into(), (Kind::Definition, self.definitions.len()));
        self.definitions.push(Definition { name: name.into(), value, rate: OnceLock::new() });
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
        let Some(&(kind, i)) = self.index.get(name) else { return Err(self.unknown(name)) };
        match (kind, primes) {
            (Kind::Coordinate, 0) => Ok(self.coordinates[i].q),
            (Kind::Coordinate, _) => derivative(self.coordinates[i].v),
            (Kind::Parameter, 0) => Ok(self.parameters[i].symbol),
            (Kind::Parameter, _) => {
                let message = format!("`{name}` is a parameter and has no time derivative");
                Err(Complaint::new(message, "remove the `'`"))
            }
            (Kind::Definition, 0) => Ok(self.definitions[i].value),
            (Kind::Definition, _) => derivative(self.rate(&self.definitions[i])?),
        }
    }

    /// The total time derivative of a definition.
    fn rate(&self, definition: &Definition) -> Result<Expr, Complaint> {
        let rate = *definition.rate.get_or_init(|| time_derivative(&self.coordinates, definition.value));
        let accelerations: Vec<Expr> = self.coordinates.iter().map(Coordinate::acceleration).collect();
        if !rate.depends_on(&accelerations) {
            return Ok(rate);
        }
        let name = &definition.name;
        let label = format!("`{name}` contains velocities, so its `'` would contain accelerations");
        Err(Complaint::new(format!("`{name}'` cannot be used"), label))
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
        self.later.get(name)?;
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
            let text = self.later.get(*end).map_or("", String::as_str);
            for word in words(text) {
                let onward = || way.iter().copied().chain([word]).collect::<Vec<_>>();
                if word == within {
                    return Some(onward());
                }
                if self.later.contains_key(word) && !seen.contains(&word) {
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
        if self.allowed == Use::Motion {
            return Ok(meaning);
        }
        let written = format!("{name}{}", "'".repeat(primes));
        let refuse = |label: &str| Err(Complaint::new(format!("`{written}` cannot be used here"), label));
        let velocities: Vec<Expr> = self.names.coordinates.iter().map(|c| c.v).collect();
        let positions: Vec<Expr> = self.names.coordinates.iter().map(|c| c.q).collect();
        if meaning.depends_on(&velocities) {
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
