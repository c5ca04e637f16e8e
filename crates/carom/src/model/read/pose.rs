//! The start of ball and free joints: `B = {rotation = […]}`, `{quaternion = […]}`, `{rate = […]}`, `{position = […]}`.

use std::ops::Range;

use super::super::document::{Item, array};
use super::super::names::Use;
use super::Reader;
use crate::error::Result;
use crate::expr::{Expr, eval};
use crate::mechanism::{
    BodyFrame, JointKind, QuaternionOfExpr, Vector, difference, norm_squared, of_rotation_vector, rate_of,
};

/// The words, and what each is an entry of.
const WORDS: [(&str, &str); 5] =
    [("rotation", "q"), ("quaternion", "q"), ("position", "q"), ("rate", "v"), ("velocity", "v")];

impl<'a> Reader<'a> {
    /// What `B.rotation` and the like say of the coordinates of a ball or free joint; none for other names. Velocities need the
    /// coordinates `q` of the start.
    pub(super) fn pose(
        &self,
        name: &str,
        span: &Range<usize>,
        item: &Item,
        key: &str,
        q: Option<&[Expr]>,
    ) -> Result<Option<Vec<(usize, Expr)>>> {
        let Some((body, word)) = name.rsplit_once('.') else { return Ok(None) };
        let Some(&(_, place)) = WORDS.iter().find(|(known, _)| *known == word) else { return Ok(None) };
        let Some((dimension, body)) = self.loose_body(body) else { return Ok(None) };
        let is_turning = matches!(word, "rotation" | "quaternion" | "rate");
        if key.trim_end_matches('1') != place {
            let label = format!("it belongs in `[initial.{place}]`");
            return Err(self.error(span, format!("`{word}` is not an entry of `{key}`"), label));
        }
        if !is_turning && body.kind == JointKind::Ball {
            let label = "its origin cannot move";
            return Err(self.error(span, format!("a ball joint has no `{word}`"), label));
        }
        let (Some(first), Some(ball)) = (body.quaternion(dimension), body.link) else {
            return self.planar_pose(&body, word, item).map(Some);
        };
        if !is_turning {
            return self.slides(&body, ball - 3, word, item).map(Some);
        }
        let four: QuaternionOfExpr = match word {
            "rotation" => of_rotation_vector(self.vector(item, Use::Parameters)?),
            "quaternion" => self.unit_quaternion(item)?,
            _ => {
                let omega = self.vector(item, Use::Parameters)?;
                let Some(q) = q else { return Ok(Some(Vec::new())) };
                rate_of([0, 1, 2, 3].map(|k| q[first + k]), omega)
            }
        };
        Ok(Some(four.into_iter().enumerate().map(|(k, x)| (first + k, x)).collect()))
    }

    /// A body with a ball or a free joint, and the dimension of the mechanism.
    fn loose_body(&self, name: &str) -> Option<(usize, BodyFrame)> {
        let mechanism = &self.tree.as_ref()?.mechanism;
        let body = mechanism.bodies.iter().find(|body| body.name == name)?;
        matches!(body.kind, JointKind::Ball | JointKind::Free).then(|| (mechanism.dimension, body.clone()))
    }

    /// `position` or `velocity` of the origin of a free body, in the frame of its parent, as coordinates of its slides.
    fn slides(&self, body: &BodyFrame, first: usize, word: &str, item: &Item) -> Result<Vec<(usize, Expr)>> {
        let vector = self.vector(item, Use::Parameters)?;
        let along = self.along_slides(first, self.counted_from_joint(first, word, vector));
        let count = if self.is_in_space() { 3 } else { 2 };
        Ok((0..count).map(|k| (body.coordinates.start + k, along[k])).collect())
    }

    /// A position counts from the origin of the joint.
    fn counted_from_joint(&self, link: usize, word: &str, vector: Vector) -> Vector {
        let at = self.tree.as_ref().map(|tree| tree.mechanism.links[link].at);
        at.filter(|_| word == "position").map_or(vector, |at| difference(vector, at))
    }

    /// In the plane: x, y and an angle.
    fn planar_pose(&self, body: &BodyFrame, word: &str, item: &Item) -> Result<Vec<(usize, Expr)>> {
        let angle = body.coordinates.start + 2;
        match word {
            "rotation" | "rate" => Ok(vec![(angle, self.expr(item, Use::Parameters)?)]),
            "quaternion" => Err(self.error(&item.span, "in the plane a body has an angle", "write `rotation = 0.5`")),
            // The slides and the turn of a free body are three links.
            _ => self.slides(body, body.link.map_or(0, |link| link - 2), word, item),
        }
    }

    fn unit_quaternion(&self, item: &Item) -> Result<QuaternionOfExpr> {
        let entries = array(self.source, item)?;
        let [w, x, y, z] = entries else {
            let message = format!("expected four entries, [w, x, y, z], found {}", entries.len());
            return Err(self.error(&item.span, message, ""));
        };
        let entry = |item| self.expr(item, Use::Parameters);
        let q = [entry(w)?, entry(x)?, entry(y)?, entry(z)?];
        let n = norm_squared(q);
        match self.value(n) {
            Some(value) if value > 0.0 && value.is_finite() => {}
            value => {
                let label = format!("|q|² is {}", value.unwrap_or(f64::NAN));
                return Err(self.error(&item.span, "this quaternion is not a rotation", label));
            }
        }
        // A quaternion that is a unit already keeps its digits.
        Ok(if self.value(n) == Some(1.0) && n.as_const().is_some() { q } else { q.map(|x| x / n.sqrt()) })
    }

    /// A ball joint of which nothing is said starts unturned.
    pub(super) fn upright<T>(&self, values: &mut [Option<T>], given: impl Fn(Expr) -> T) {
        for (_, first) in self.balls() {
            let values = &mut values[first..first + 4];
            if values.iter().all(Option::is_none) {
                let unturned = [1.0, 0.0, 0.0, 0.0].map(Expr::constant);
                values.iter_mut().zip(unturned).for_each(|(value, x)| *value = Some(given(x)));
            }
        }
    }

    /// Of the two quaternions of an attitude, a run starts with the one that has w ≥ 0.
    pub(super) fn start_with_positive_w(&self, q: &mut [Expr], motion: &mut [Expr]) {
        let values: Vec<(Expr, f64)> = self.names.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        for (_, first) in self.balls() {
            if eval(&[q[first]], &values)[0] < 0.0 {
                q[first..first + 4].iter_mut().chain(&mut motion[first..first + 4]).for_each(|x| *x = -*x);
            }
        }
    }
}
