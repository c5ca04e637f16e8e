//! The joint of a body: its coordinates, axes, springs and limits.

use std::ops::Range;

use super::super::document::{Fields, Item, Value, array, text, wrong_kind};
use super::super::names::Use;
use super::super::suggestion;
use super::Reader;
use super::body::Limit;
use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::mechanism::{JointKind, LinkJoint, Matrix3, Vector, identity, length, rotation, scaled, zero};

const ELEMENTARY: [&str; 6] = ["tx", "ty", "tz", "rx", "ry", "rz"];
const WORDS: [&str; 5] = ["revolute", "prismatic", "fixed", "ball", "free"];
/// What balls and free joints do not have.
const REFUSED: [&str; 6] = ["coordinate", "coordinates", "stiffness", "rest", "damping", "limits"];

/// The joint of a body: elementary joints in order, with their coordinates.
pub(super) struct Jointed {
    pub kind: JointKind,
    pub joints: Vec<LinkJoint>,
    pub coordinates: Vec<String>,
    /// Where the names of the coordinates come from.
    pub span: Range<usize>,
}

impl Jointed {
    /// The number of coordinates.
    fn count(&self) -> usize {
        self.joints.iter().map(|joint| joint.coordinates()).sum()
    }
}

impl<'a> Reader<'a> {
    pub(super) fn joint(&mut self, fields: &Fields<'a>, name: &str) -> Result<Jointed> {
        let item = fields.get("joint");
        let span = item.map_or_else(|| fields.span(), |item| item.span.clone());
        let word = match item.map(|item| &item.value) {
            None => "revolute",
            Some(Value::Text(word)) => word,
            Some(Value::Array(list)) => {
                let joints: Result<Vec<LinkJoint>> =
                    list.iter().map(|item| self.elementary(text(self.source, item)?, item, &[])).collect();
                if list.is_empty() {
                    return Err(self.error(&span, "no joint is listed", "write `joint = \"fixed\"` for none"));
                }
                return self.with_coordinates(fields, name, joints?);
            }
            Some(_) => {
                return Err(wrong_kind(
                    self.source,
                    item.unwrap_or_else(|| unreachable!("it has a value")),
                    "a joint or a list of joints",
                ));
            }
        };
        let is_planar = !self.is_in_space();
        let axes = identity();
        let jointed = |kind, joints: Vec<LinkJoint>, members: &[&str]| {
            let coordinates = members.iter().map(|member| format!("{name}.{member}")).collect();
            Ok(Jointed { kind, joints, coordinates, span: span.clone() })
        };
        if !matches!(word, "revolute" | "prismatic")
            && let Some(item) = fields.get("axis")
        {
            let label = format!("this joint is `{word}`");
            return Err(self.error(&item.span, "an axis belongs to a revolute or prismatic joint", label));
        }
        if ["fixed", "ball", "free"].contains(&word)
            && let Some((key, item)) = REFUSED.iter().find_map(|key| Some((key, fields.get(key)?)))
        {
            let label = format!(
                "leave it out, or use a list of joints such as `joint = [{}]`",
                if is_planar { "\"tx\", \"ty\", \"rz\"" } else { "\"rz\", \"ry\", \"rx\"" }
            );
            return Err(self.error(&item.span, format!("a {word} joint has no `{key}`"), label));
        }
        match word {
            "revolute" => {
                let axis = match fields.get("axis") {
                    None => axes[2],
                    Some(item) if is_planar => {
                        return Err(self.error(&item.span, "in the plane joints turn about z", "leave out `axis`"));
                    }
                    Some(item) => self.axis(item)?,
                };
                self.with_coordinates(fields, name, vec![LinkJoint::Revolute(axis)])
            }
            "prismatic" => {
                let axis = fields.get("axis").map_or(Ok(axes[0]), |item| self.axis(item))?;
                self.with_coordinates(fields, name, vec![LinkJoint::Prismatic(axis)])
            }
            "fixed" => jointed(JointKind::Fixed, Vec::new(), &[]),
            "ball" if is_planar => {
                Err(self.error(&span, "a ball joint turns in space", "in the plane write \"revolute\""))
            }
            "ball" => jointed(JointKind::Ball, vec![LinkJoint::Ball], &["qw", "qx", "qy", "qz"]),
            "free" if is_planar => {
                let joints =
                    vec![LinkJoint::Prismatic(axes[0]), LinkJoint::Prismatic(axes[1]), LinkJoint::Revolute(axes[2])];
                jointed(JointKind::Free, joints, &["x", "y", "angle"])
            }
            "free" => {
                let joints = axes.map(LinkJoint::Prismatic).into_iter().chain([LinkJoint::Ball]).collect();
                jointed(JointKind::Free, joints, &["x", "y", "z", "qw", "qx", "qy", "qz"])
            }
            other => {
                let item = item.unwrap_or_else(|| unreachable!("a word was written"));
                let joint = self.elementary(other, item, &WORDS)?;
                self.with_coordinates(fields, name, vec![joint])
            }
        }
    }

    /// `tx` to `rz`, where these other words may stand too.
    fn elementary(&self, word: &str, item: &Item, others: &[&'static str]) -> Result<LinkJoint> {
        let Some(number) = ELEMENTARY.iter().position(|known| *known == word) else {
            let known = ELEMENTARY.into_iter().chain(others.iter().copied());
            let label = match suggestion(word, known.clone()) {
                _ if WORDS.contains(&word) => "a list has elementary joints: tx, ty, tz, rx, ry, rz".into(),
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", known.collect::<Vec<_>>().join(", ")),
            };
            return Err(self.error(&item.span, format!("unknown joint `{word}`"), label));
        };
        let axis = identity()[number % 3];
        let joint = if number < 3 { LinkJoint::Prismatic(axis) } else { LinkJoint::Revolute(axis) };
        if !self.is_in_space() && !["tx", "ty", "rz"].contains(&word) {
            return Err(self.error(
                &item.span,
                format!("`{word}` leaves the plane"),
                "in the plane there are tx, ty, rz",
            ));
        }
        Ok(joint)
    }

    /// Elementary joints with the names of their coordinates.
    fn with_coordinates(&mut self, fields: &Fields<'a>, name: &str, joints: Vec<LinkJoint>) -> Result<Jointed> {
        let (one, many) = (fields.get("coordinate"), fields.get("coordinates"));
        let (coordinates, span) = match (one, many) {
            (Some(_), Some(item)) => {
                return Err(self.error(
                    &item.span,
                    "both `coordinate` and `coordinates` are given",
                    "give one of them",
                ));
            }
            (Some(item), None) => (vec![self.indexed_name(item)?], item.span.clone()),
            (None, Some(item)) => {
                let mut names = Vec::new();
                for entry in array(self.source, item)? {
                    names.push(self.indexed_name(entry)?);
                }
                (names, item.span.clone())
            }
            (None, None) if joints.len() == 1 => (vec![name.to_string()], fields.span()),
            (None, None) => {
                let item = fields.get("joint").unwrap_or_else(|| unreachable!("a list was written"));
                let message = format!("the {} joints of `{name}` need names", joints.len());
                return Err(self.error(&item.span, message, "add `coordinates = [\"…\", …]`, one name for each"));
            }
        };
        if coordinates.len() != joints.len() {
            let message =
                format!("`{name}` has {} for {}", count(coordinates.len(), "coordinate"), count(joints.len(), "joint"));
            return Err(self.error(&span, message, "give one name for each joint"));
        }
        if let Some(twice) = coordinates.iter().enumerate().find(|(i, name)| coordinates[..*i].contains(name)) {
            return Err(self.error(&span, format!("two coordinates are called `{}`", twice.1), ""));
        }
        Ok(Jointed { kind: JointKind::Joints, joints, coordinates, span })
    }

    /// A unit vector.
    fn axis(&self, item: &Item) -> Result<Vector> {
        let axis = self.vector(item, Use::Parameters)?;
        let size = length(axis);
        match self.value(size) {
            Some(value) if value > 0.0 && value.is_finite() => Ok(axis.map(|x| x / size)),
            value => {
                let label = format!("its length is {}", value.unwrap_or(f64::NAN));
                Err(self.error(&item.span, "the axis has no direction", label))
            }
        }
    }

    /// The orientation of a joint frame: an angle in the plane, a rotation vector in space.
    pub(super) fn turn(&self, item: &Item) -> Result<Matrix3> {
        if self.is_in_space() {
            if !matches!(item.value, Value::Array(_)) {
                return Err(self.error(&item.span, "in space `turn` is a rotation vector, [x, y, z]", ""));
            }
            return Ok(rotation(self.vector(item, Use::Parameters)?));
        }
        if matches!(item.value, Value::Array(_)) {
            return Err(self.error(&item.span, "in the plane `turn` is one angle", ""));
        }
        let angle = self.expr(item, Use::Parameters)?;
        Ok(rotation(scaled(angle, identity()[2])))
    }

    /// A place or a direction: two entries in the plane, three in space.
    pub(super) fn vector(&self, item: &Item, allowed: Use) -> Result<Vector> {
        let entries = array(self.source, item)?;
        let (dimension, form) = if self.is_in_space() { (3, "[x, y, z]") } else { (2, "[x, y]") };
        if entries.len() != dimension {
            let number = if dimension == 3 { "three" } else { "two" };
            let message = format!("expected {number} entries, {form}, found {}", entries.len());
            return Err(self.error(&item.span, message, ""));
        }
        let mut vector = zero();
        for (x, entry) in vector.iter_mut().zip(entries) {
            *x = self.expr(entry, allowed)?;
        }
        Ok(vector)
    }

    /// `stiffness`, `rest` and `damping` of each elementary joint.
    pub(super) fn springs_of_joint(&self, fields: &Fields, joint: &Jointed) -> Result<Vec<[Expr; 3]>> {
        let mut springs = vec![[Expr::constant(0.0); 3]; joint.joints.len()];
        for (which, key) in ["stiffness", "rest", "damping"].into_iter().enumerate() {
            let Some(item) = fields.get(key) else { continue };
            let given = match &item.value {
                Value::Array(entries) if entries.len() != joint.count() => {
                    let message = format!(
                        "`{key}` has {} for {}",
                        count(entries.len(), "entry"),
                        count(joint.count(), "coordinate")
                    );
                    return Err(self.error(&item.span, message, "give one number for all, or one for each"));
                }
                Value::Array(entries) => entries.iter().collect(),
                _ => vec![item; joint.count()],
            };
            for (spring, item) in springs.iter_mut().zip(given) {
                self.number(item)?;
                spring[which] = self.expr(item, Use::Parameters)?;
            }
        }
        Ok(springs)
    }

    /// `limits`: two walls for each coordinate; an infinite limit is none.
    pub(super) fn limits(&self, fields: &Fields, joint: &Jointed) -> Result<Vec<Limit>> {
        let restitution = self.restitution(fields.get("restitution"))?;
        let Some(item) = fields.get("limits") else {
            return match fields.get("restitution") {
                None => Ok(Vec::new()),
                Some(item) => Err(self.error(
                    &item.span,
                    "`restitution` applies to `limits`, and there are none",
                    "give `limits` too",
                )),
            };
        };
        let pairs = self.pairs_of_limits(item, joint.count())?;
        let restitution_span = fields.get("restitution").unwrap_or(item).span.clone();
        let mut limits = Vec::new();
        for (name, pair) in joint.coordinates.iter().zip(pairs) {
            let q = Expr::symbol(name);
            let (low, high) = (self.limit(&pair[0], f64::NEG_INFINITY)?, self.limit(&pair[1], f64::INFINITY)?);
            if let (Some((_, low)), Some((_, high))) = (low, high)
                && low >= high
            {
                let label = format!("they go from {low} to {high}; write [low, high]");
                return Err(self.error(&item.span, "the limits leave no room", label));
            }
            let sides = [("low", low.map(|(low, _)| q - low)), ("high", high.map(|(high, _)| high - q))];
            for (side, phi) in sides {
                limits.extend(phi.map(|phi| Limit {
                    name: format!("{name} {side}"),
                    phi,
                    restitution,
                    span: item.span.clone(),
                    restitution_span: restitution_span.clone(),
                }));
            }
        }
        Ok(limits)
    }

    /// A pair of limits for each coordinate.
    fn pairs_of_limits<'i>(&self, item: &'i Item, coordinates: usize) -> Result<Vec<&'i [Item]>> {
        let wrong =
            |item: &Item| -> Error { self.error(&item.span, "limits are [low, high], or a list of such pairs", "") };
        let entries = array(self.source, item)?;
        let is_pair = entries.iter().all(|entry| !matches!(entry.value, Value::Array(_)));
        let pairs: Vec<&[Item]> = match is_pair {
            true => vec![entries; coordinates],
            false => entries.iter().map(|entry| array(self.source, entry)).collect::<Result<_>>()?,
        };
        if pairs.len() != coordinates {
            let message =
                format!("`limits` has {} for {}", count(pairs.len(), "pair"), count(coordinates, "coordinate"));
            return Err(self.error(&item.span, message, "give one pair for all, or one for each"));
        }
        if pairs.iter().any(|pair| pair.len() != 2) {
            return Err(wrong(item));
        }
        Ok(pairs)
    }

    /// A limit and its value; none if it is the number `none`.
    fn limit(&self, item: &Item, none: f64) -> Result<Option<(Expr, f64)>> {
        if matches!(item.value, Value::Number(number) if number == none) {
            return Ok(None);
        }
        Ok(Some((self.expr(item, Use::Parameters)?, self.number(item)?)))
    }
}

/// `1 entry`, `3 entries`.
pub(super) fn count(n: usize, what: &str) -> String {
    match (n, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        _ => format!("{n} {what}s"),
    }
}
