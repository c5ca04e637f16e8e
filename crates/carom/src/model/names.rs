//! The meaning of the names of a model.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::scope::Allowed;
use crate::expr::Expr;
use crate::expr::parse::{Complaint, is_name, is_reserved};
use crate::system::{Coordinate, Parameter, time, time_derivative};

/// The names that have been declared so far.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The degrees of freedom.
    pub coordinates: Vec<Coordinate>,
    /// The numbers.
    pub parameters: Vec<Parameter>,
    /// The abbreviations.
    pub definitions: Vec<Definition>,
    /// The controls.
    pub controls: Vec<Parameter>,
    /// The text of definitions that have not been read yet; indexed ones have keys such as `y[`.
    pub later: FxHashMap<String, String>,
    /// All names that the model declares, read or not, without their indices.
    pub declared: FxHashSet<String>,
    /// What the names of bodies and points with dots mean: `tip.x`, `racket.omega1`.
    pub members: Vec<Definition>,
    /// The bodies and the points whose names may be followed by a dot, and which of the two each is.
    pub holders: FxHashMap<String, Holder>,
    /// The names of the walls, for `force("floor")`.
    pub walls: Vec<String>,
    /// Names with a wrong declaration; their uses are not reported as further mistakes.
    broken: RefCell<FxHashSet<String>>,
    pub(super) index: FxHashMap<String, (NameKind, usize)>,
    /// The coordinate to which each position or velocity symbol belongs.
    owners: FxHashMap<Expr, (Use, usize)>,
    pub(super) used: RefCell<FxHashSet<(NameKind, usize)>>,
    /// The parameters that occur in bounds and indices.
    pub(super) structural: RefCell<BTreeSet<String>>,
    pub(super) repeated: Cell<usize>,
}

/// What a name can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// A degree of freedom.
    Coordinate,
    /// A number.
    Parameter,
    /// An abbreviation.
    Definition,
    /// A component of a point or a body.
    Member,
    /// A number for each step.
    Control,
}

/// What may stand before a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A body of a mechanism.
    Body,
    /// A point.
    Point,
}

impl Holder {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Holder::Body => "body",
            Holder::Point => "point",
        }
    }
}

/// An abbreviation for an expression.
#[derive(Clone, Debug)]
pub struct Definition {
    /// As written in the model.
    pub name: String,
    /// The expanded expression.
    pub value: Expr,
    rate: OnceLock<Expr>,
}

/// The symbols that an expression may contain, in addition to parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// No others: the expression is constant.
    Parameters,
    /// The time.
    Time,
    /// The time and the coordinates.
    Position,
    /// The time, the coordinates and the velocities.
    Motion,
    /// Everything that `Motion` allows, and controls.
    Control,
    /// Everything that `Control` allows, and discontinuous functions.
    Output,
}

/// `x` of `x[3]`, `B` of `B.qw`.
pub fn base(name: &str) -> &str {
    name.split(['[', '.']).next().unwrap_or(name)
}

/// `tip[2]` of `tip[2].x`.
pub fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

impl Names {
    /// What kind of item the name denotes, for messages.
    pub fn kind(&self, name: &str) -> Option<&'static str> {
        self.index.get(name).map(|(kind, _)| match kind {
            NameKind::Coordinate => "coordinate",
            NameKind::Parameter => "parameter",
            NameKind::Definition => "definition",
            NameKind::Member => "member",
            NameKind::Control => "control",
        })
    }

    /// The reason why `name` cannot be declared, if there is one.
    pub fn complaint_about(&self, name: &str) -> Option<Complaint> {
        let base = base(name);
        let index = name[base.len()..].strip_prefix('[').map(|index| index.strip_suffix(']').unwrap_or_default());
        if !is_name(base) || name.contains('.') || index.is_some_and(|index| index.parse::<i64>().is_err()) {
            let label = "a name is a letter, then letters, digits and `_`";
            return Some(Complaint::new(format!("`{}` is not a name", name.escape_debug()), label));
        }
        if is_reserved(base) {
            let meaning = match base {
                "t" => "it is the time",
                "pi" => "it is the number π",
                _ => "it is a function",
            };
            return Some(Complaint::new(format!("the name `{base}` is reserved"), meaning));
        }
        let kind = self.holders.get(name).map(|holder| holder.name()).or_else(|| self.kind(name))?;
        Some(Complaint::new(format!("the name `{name}` is used twice"), format!("it is already a {kind}")))
    }

    /// Adds a degree of freedom.
    pub fn add_coordinate(&mut self, name: &str) -> Coordinate {
        let i = self.coordinates.len();
        self.index.insert(name.into(), (NameKind::Coordinate, i));
        let coordinate = Coordinate::new(name);
        self.owners.extend([(coordinate.q, (Use::Position, i)), (coordinate.v, (Use::Motion, i))]);
        self.coordinates.push(coordinate.clone());
        coordinate
    }

    /// Adds a parameter.
    pub fn add_parameter(&mut self, name: &str, value: f64) -> Expr {
        self.index.insert(name.into(), (NameKind::Parameter, self.parameters.len()));
        let symbol = Expr::symbol(name);
        self.parameters.push(Parameter { name: name.into(), symbol, value });
        symbol
    }

    /// Adds a control.
    pub fn add_control(&mut self, name: &str) -> Expr {
        self.index.insert(name.into(), (NameKind::Control, self.controls.len()));
        let symbol = Expr::symbol(name);
        self.controls.push(Parameter { name: name.into(), symbol, value: 0.0 });
        symbol
    }

    /// True if a control has this name.
    pub fn is_control(&self, name: &str) -> bool {
        matches!(self.index.get(name), Some((NameKind::Control, _)))
    }

    /// Adds a definition.
    pub fn define(&mut self, name: &str, value: Expr) {
        self.index.insert(name.into(), (NameKind::Definition, self.definitions.len()));
        self.definitions.push(Definition { name: name.into(), value, rate: OnceLock::new() });
    }

    /// Gives a name with a dot its meaning.
    pub fn add_member(&mut self, name: &str, value: Expr) {
        self.index.insert(name.into(), (NameKind::Member, self.members.len()));
        self.members.push(Definition { name: name.into(), value, rate: OnceLock::new() });
    }

    /// Records that the declaration of `name`, or of one of its indices, is wrong.
    pub fn mark_broken(&self, name: &str) {
        self.broken.borrow_mut().insert(base(name).into());
    }

    /// True if a mistake in the declaration of `name` has already been reported.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken.borrow().contains(base(name))
    }

    /// The index of a coordinate.
    pub fn coordinate(&self, name: &str) -> Option<usize> {
        self.index.get(name).filter(|(kind, _)| *kind == NameKind::Coordinate).map(|&(_, i)| i)
    }

    /// The smallest `Use` that permits `e`.
    pub fn need(&self, e: Expr) -> Use {
        let of_symbol = |symbol: &Expr| match self.owners.get(symbol) {
            Some(&(kind, _)) => kind,
            None if *symbol == time() => Use::Time,
            None => Use::Parameters,
        };
        e.symbols().iter().map(of_symbol).max().unwrap_or(Use::Parameters)
    }

    /// The names for an expression that may contain what `allowed` permits.
    pub fn scope(&self, allowed: Use) -> Allowed<'_> {
        Allowed { names: self, allowed, within: None, notes: RefCell::default() }
    }

    /// The names, for the definition called `within`.
    pub fn scope_within<'a>(&'a self, within: &'a str) -> Allowed<'a> {
        Allowed { names: self, allowed: Use::Motion, within: Some(within), notes: RefCell::default() }
    }

    /// Resolves a name.
    pub(super) fn meaning(&self, name: &str, primes: usize) -> Result<Expr, Complaint> {
        if name == "t" {
            return Ok(time());
        }
        if self.is_broken(name) {
            return Err(Complaint::consequence());
        }
        let Some(&(kind, i)) = self.index.get(name) else { return Err(self.unknown(name)) };
        self.used.borrow_mut().insert((kind, i));
        match (kind, primes) {
            (NameKind::Coordinate, 0) => Ok(self.coordinates[i].q),
            (NameKind::Parameter, 0) => Ok(self.parameters[i].symbol),
            (NameKind::Definition, 0) => Ok(self.definitions[i].value),
            (NameKind::Member, 0) => Ok(self.members[i].value),
            (NameKind::Control, 0) => Ok(self.controls[i].symbol),
            (NameKind::Parameter | NameKind::Control, _) => {
                let kind = self.kind(name).unwrap_or("parameter");
                let message = format!("`{name}` is a {kind} and has no time derivative");
                Err(Complaint::new(message, "remove the `'`"))
            }
            (_, 2..) => Err(Complaint::new(format!("`{name}` has more than one `'`"), "accelerations cannot be used")),
            (NameKind::Coordinate, _) => Ok(self.coordinates[i].v),
            (NameKind::Definition, _) => self.rate(&self.definitions[i]),
            (NameKind::Member, _) => self.rate(&self.members[i]),
        }
    }

    /// The total time derivative of a definition.
    fn rate(&self, definition: &Definition) -> Result<Expr, Complaint> {
        let rate = *definition.rate.get_or_init(|| {
            let owners = definition.value.symbols().into_iter().filter_map(|symbol| self.owners.get(&symbol));
            let coordinates: FxHashSet<usize> = owners.map(|&(_, i)| i).collect();
            let coordinates: Vec<Coordinate> = coordinates.into_iter().map(|i| self.coordinates[i].clone()).collect();
            time_derivative(&coordinates, definition.value)
        });
        let is_acceleration = |symbol: &Expr| symbol.symbol_name().is_some_and(|name| name.ends_with("''"));
        if self.need(definition.value) < Use::Motion || !rate.symbols().iter().any(is_acceleration) {
            return Ok(rate);
        }
        let name = &definition.name;
        let label = format!("`{name}` contains velocities, so its `'` would contain accelerations");
        Err(Complaint::new(format!("`{name}'` cannot be used"), label))
    }

    /// The names of unused parameters and definitions. An indexed name counts as used if one of its indices is.
    pub fn unused(&self) -> FxHashSet<String> {
        let parameters = self.parameters.iter().enumerate().map(|(i, p)| ((NameKind::Parameter, i), &p.name));
        let definitions = self.definitions.iter().enumerate().map(|(i, d)| ((NameKind::Definition, i), &d.name));
        let used = self.used.borrow();
        let all: Vec<((NameKind, usize), &str)> =
            parameters.chain(definitions).map(|(key, name)| (key, base(name))).collect();
        let in_use: FxHashSet<&str> = all.iter().filter(|(key, _)| used.contains(key)).map(|(_, name)| *name).collect();
        all.iter().filter(|(_, name)| !in_use.contains(name)).map(|(_, name)| name.to_string()).collect()
    }
}
