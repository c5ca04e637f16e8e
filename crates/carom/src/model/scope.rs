//! Which names may be used where, and messages for those that may not.

use std::cell::RefCell;
use std::ops::Range;

use super::names::{Names, Use, base, stem};
use super::suggest::suggestion;
use crate::expr::parse::{Complaint, MAX_REPEATED, Scope, is_name, too_long};
use crate::expr::{Expr, ExprNode, eval};
use crate::system::normal_force;

/// The largest number of coordinates that a message lists.
const MOST_LISTED: usize = 8;

/// The names that one expression may use.
pub struct Allowed<'a> {
    pub(super) names: &'a Names,
    pub(super) allowed: Use,
    /// The definition that is being read.
    pub(super) within: Option<&'a str>,
    /// Where the parts of the expression stand in its text.
    pub(super) notes: RefCell<Vec<(Expr, Range<usize>)>>,
}

impl Scope for Allowed<'_> {
    fn resolve(&self, name: &str, primes: usize) -> Result<Expr, Complaint> {
        if let Some(complaint) = self.within.and_then(|within| self.names.forward_use(within, name)) {
            return Err(complaint);
        }
        let meaning = self.names.meaning(name, primes)?;
        if self.allowed < Use::Control && self.names.is_control(name) {
            let label = "a control may occur in forces, pushes, the objective, bounds and outputs";
            return Err(Complaint::new(format!("the control `{name}` cannot be used here"), label));
        }
        // Definitions may depend on thousands of others, so examine their contents only if necessary.
        if self.allowed >= Use::Motion || self.names.need(meaning) <= self.allowed {
            return Ok(meaning);
        }
        let label = match self.names.need(meaning) {
            Use::Parameters | Use::Time => "it contains the time",
            Use::Position => "it contains coordinates",
            Use::Motion | Use::Control | Use::Output => "it contains velocities",
        };
        Err(Complaint::new(format!("`{name}{}` cannot be used here", "'".repeat(primes)), label))
    }

    fn declares(&self, name: &str) -> bool {
        self.names.declared.contains(name) || self.names.index.contains_key(name)
    }

    fn has_members(&self, name: &str) -> bool {
        self.names.holders.contains_key(name) || self.names.is_broken(name)
    }

    fn allows_jumps(&self) -> bool {
        self.allowed == Use::Output
    }

    fn force(&self, name: &str) -> Result<Expr, Complaint> {
        if self.allowed != Use::Output {
            let label = "the force follows from the equations of motion, which therefore cannot contain it";
            return Err(Complaint::new("`force` can be used in `[outputs]` only", label));
        }
        let walls = &self.names.walls;
        // A wall of exactly this name wins over a contact.
        let exact = walls.iter().any(|wall| wall == name);
        let of_it = |wall: &str| if exact { wall == name } else { contact(wall).any(|contact| contact == name) };
        let forces: Vec<Expr> = (0..walls.len()).filter(|&k| of_it(&walls[k])).map(normal_force).collect();
        if !forces.is_empty() {
            return Ok(forces.into_iter().sum());
        }
        let known = walls.iter().flat_map(|wall| contact(wall));
        let label = match suggestion(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if walls.is_empty() => "the model has no walls".into(),
            None => format!("the first wall is called `{}`", walls[0]),
        };
        Err(Complaint::new(format!("there is no wall or contact `{name}`"), label))
    }

    fn value(&self, e: Expr) -> f64 {
        if self.names.need(e) > Use::Parameters {
            return f64::NAN;
        }
        self.names.structural.borrow_mut().extend(e.symbols().into_iter().filter_map(Expr::symbol_name));
        let values: Vec<(Expr, f64)> = self.names.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let value = eval(&[e], &values)[0];
        if value.fract() != 0.0 {
            // Report this mistake once, not for each range.
            e.symbols().into_iter().filter_map(Expr::symbol_name).for_each(|name| self.names.mark_broken(&name));
        }
        value
    }

    fn note(&self, part: Expr, span: Range<usize>) {
        if !matches!(part.node(), ExprNode::Const(_) | ExprNode::Symbol(_)) {
            self.notes.borrow_mut().push((part, span));
        }
    }

    fn repeat(&self, bytes: usize) -> Result<(), Complaint> {
        let before = self.names.repeated.get();
        self.names.repeated.set(before + bytes);
        match (before > MAX_REPEATED, before + bytes > MAX_REPEATED) {
            (true, _) => Err(Complaint::consequence()),
            (false, true) => Err(too_long()),
            (false, false) => Ok(()),
        }
    }
}

impl Names {
    pub(super) fn unknown(&self, name: &str) -> Complaint {
        if let Some(complaint) = self.wrong_member(name, false) {
            return complaint;
        }
        let coordinates = self.coordinates.iter().map(|c| c.name.as_str());
        let parameters = self.parameters.iter().map(|p| p.name.as_str());
        let definitions = self.definitions.iter().map(|d| d.name.as_str());
        let controls = self.controls.iter().map(|c| c.name.as_str());
        let label = self.meant(name).unwrap_or_else(|| {
            match suggestion(name, parameters.chain(definitions).chain(coordinates).chain(controls)) {
                Some(near) => format!("did you mean the {} `{near}`?", self.kind(near).unwrap_or("name")),
                None => "neither a coordinate nor a parameter nor a definition".into(),
            }
        });
        Complaint::new(format!("unknown name `{name}`"), label)
    }

    /// What is wrong with a name that begins with a body or a point; of a coordinate, if that is asked for.
    pub(super) fn wrong_member(&self, name: &str, asks_for_coordinate: bool) -> Option<Complaint> {
        let holder = self.holders.get(stem(name))?.name();
        if let Some((body, member)) = name.split_once('.') {
            let has_rates = self.index.contains_key(&format!("{body}.omega1"));
            if has_rates && ["mu1", "mu2", "mu3"].contains(&member) && !asks_for_coordinate {
                let label = "it follows from L: use it in `[forces]`, `[outputs]` or a `[[section]]`";
                return Some(Complaint::new(format!("`{name}` is not known here"), label));
            }
        }
        let inside = |known: &String| known.strip_prefix(stem(name)).is_some_and(|rest| rest.starts_with('.'));
        let is_asked_for =
            |known: &&String| inside(known) && (!asks_for_coordinate || self.coordinate(known).is_some());
        let mut known: Vec<&str> = self.index.keys().filter(is_asked_for).map(String::as_str).collect();
        known.sort_unstable();
        let (message, label) = match (name.split_once('.'), known.as_slice()) {
            (_, []) => {
                let label = "only free and ball joints give a body names with a dot: use a point on it";
                (format!("the {holder} `{}` has no coordinates of that name", stem(name)), label.to_string())
            }
            (None, known) => (format!("`{name}` is a {holder}"), format!("write one of {}", known.join(", "))),
            (Some((stem, member)), known) => {
                (format!("the {holder} `{stem}` has no `{member}`"), format!("it has {}", known.join(", ")))
            }
        };
        Some(Complaint::new(message, label))
    }

    /// What to say of a name that is no coordinate: where those come from.
    pub(super) fn which_coordinates(&self, has_bodies: bool) -> String {
        let names: Vec<&str> = self.coordinates.iter().take(MOST_LISTED).map(|c| c.name.as_str()).collect();
        let more = if self.coordinates.len() > MOST_LISTED { ", …" } else { "" };
        match has_bodies {
            true => format!("the coordinates are {}{more}", names.join(", ")),
            false => "list it in `coordinates`".into(),
        }
    }

    /// A hint about the intended name, if it can be guessed: an index, a velocity, π.
    fn meant(&self, name: &str) -> Option<String> {
        let stem = base(name);
        if let Some(label) = self.out_of_range(name) {
            return Some(label);
        }
        if self.declared.contains(stem) && self.kind(stem).is_none() {
            return Some("only parameters that are defined before it can be used here".into());
        }
        if stem != name && self.kind(stem).is_some() {
            return Some(format!("`{stem}` has no index"));
        }
        if ["Pi", "PI", "π"].contains(&name) {
            return Some("write `pi`".into());
        }
        if let Some(stem) = name.strip_suffix(['²', '³']).filter(|stem| self.kind(stem).is_some()) {
            return Some(format!("write `{stem}^{}`", if name.ends_with('²') { 2 } else { 3 }));
        }
        let stems = [name.strip_suffix("_dot"), name.strip_suffix("dot"), name.strip_prefix('d')];
        let moving = |stem: &&str| matches!(self.kind(stem), Some("coordinate" | "definition"));
        stems.into_iter().flatten().find(moving).map(|stem| format!("write `{stem}'` for the time derivative"))
    }

    /// A hint for an index that is out of range.
    pub(super) fn out_of_range(&self, name: &str) -> Option<String> {
        let stem = base(name);
        let (low, high) = self.indices(stem)?;
        let verb = if stem == name { "give it an index" } else { "its index is out of range" };
        Some(format!("{verb}: there are `{stem}[{low}]` to `{stem}[{high}]`"))
    }

    /// The smallest and the largest index of an indexed name.
    fn indices(&self, stem: &str) -> Option<(i64, i64)> {
        let index = |name: &String| name.strip_prefix(stem)?.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
        let indices: Vec<i64> = self.index.keys().filter_map(index).collect();
        Some((*indices.iter().min()?, *indices.iter().max()?))
    }

    /// The reason why the definition `within` cannot use `name`, if that is a definition that comes later.
    fn forward_use(&self, within: &str, name: &str) -> Option<Complaint> {
        if name == within {
            return Some(Complaint::new(format!("the definition `{name}` uses itself"), ""));
        }
        if let Some(bracket) = name.find('[') {
            let is_missing = self.later.contains_key(&name[..=bracket]) && !self.index.contains_key(name);
            let message = format!("the definition `{within}` uses `{name}`, which is not defined before it");
            return is_missing.then(|| Complaint::new(message, ""));
        }
        self.later.get(name)?;
        if let Some(cycle) = self.cycle(within, name) {
            let label = format!("{} is a cycle", cycle.join(" → "));
            return Some(Complaint::new(format!("the definition `{within}` uses itself through `{name}`"), label));
        }
        let label = format!("define `{name}` before `{within}`");
        Some(Complaint::new(format!("the definition `{within}` uses `{name}`, which is defined later"), label))
    }

    /// The cycle from `within` via `next` back to `within`, if later definitions form one.
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

/// The names of a wall: its own, and those of the contact or the repetition that made it. `box[2] left: tip` is also
/// `box[2] left`, `box[2]` and `box`.
pub(super) fn contact(wall: &str) -> impl Iterator<Item = &str> {
    let whole = wall.rsplit_once(": ").map_or(wall, |(contact, _)| contact);
    let sides = [" left", " right", " bottom", " top"];
    let round = sides.iter().find_map(|side| whole.strip_suffix(side)).unwrap_or(whole);
    [wall, whole, round, base(round)].into_iter()
}

/// The identifiers in a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| is_name(word))
}
