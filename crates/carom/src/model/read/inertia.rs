//! The mass of a body, which some body must be able to have.

use super::super::document::{Fields, Item, Value};
use super::super::names::Use;
use super::Reader;
use super::joint::count;
use crate::error::Result;
use crate::expr::Expr;
use crate::mechanism::{Inertia, dot, zero};

/// An inertia may exceed the triangle inequality by this part of it: laminae and rods are on the limit.
const TRIANGLE_SLACK: f64 = 1e-9;

impl Reader<'_> {
    /// `mass`, `com` and `inertia`, small enough to compute with.
    pub(super) fn inertia(&self, fields: &Fields) -> Result<Inertia> {
        let inertia = self.mass_and_inertia(fields)?;
        let Inertia { mass, com, about_com } = &inertia;
        let moment = *mass * dot(*com, *com) + (about_com[0][0] + about_com[1][1] + about_com[2][2]);
        match (self.value(moment), ["com", "inertia", "mass"].into_iter().find_map(|key| fields.get(key))) {
            (Some(value), Some(item)) if !value.is_finite() => {
                let message = "the moment of inertia about the joint is too large for a number";
                Err(self.error(&item.span, message, "choose other units"))
            }
            _ => Ok(inertia),
        }
    }

    fn mass_and_inertia(&self, fields: &Fields) -> Result<Inertia> {
        let mass = fields.get("mass").map_or(Ok(Expr::constant(0.0)), |item| self.at_least_zero(item, "mass"))?;
        let com = fields.get("com").map_or(Ok(zero()), |item| self.vector(item, Use::Parameters))?;
        let mut about_com = [zero(); 3];
        let Some(item) = fields.get("inertia") else { return Ok(Inertia { mass, com, about_com }) };
        if !self.is_in_space() {
            if matches!(item.value, Value::Array(_)) {
                return Err(self.error(&item.span, "in the plane `inertia` is one number", "about the centre of mass"));
            }
            about_com[2][2] = self.at_least_zero(item, "inertia")?;
            return Ok(Inertia { mass, com, about_com });
        }
        let form = "in space `inertia` is [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]";
        let Value::Array(entries) = &item.value else { return Err(self.error(&item.span, form, "")) };
        if ![3, 6].contains(&entries.len()) {
            return Err(self.error(&item.span, form, format!("it has {}", count(entries.len(), "entry"))));
        }
        const PLACES: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];
        for ([i, j], entry) in PLACES.into_iter().zip(entries) {
            let entry = self.expr(entry, Use::Parameters)?;
            (about_com[i][j], about_com[j][i]) = (entry, entry);
        }
        let entries = about_com.map(|row| row.map(|entry| self.value(entry).unwrap_or(f64::NAN)));
        match possible(principal(entries).0) {
            Ok(()) => Ok(Inertia { mass, com, about_com }),
            Err(label) => Err(self.error(&item.span, "no rigid body has this inertia", label)),
        }
    }

    fn at_least_zero(&self, item: &Item, what: &str) -> Result<Expr> {
        let value = self.number(item)?;
        if value >= 0.0 {
            return self.expr(item, Use::Parameters);
        }
        Err(self.error(&item.span, format!("the {what} must not be negative"), format!("this is {value}")))
    }
}

/// Why no body has these principal moments, if that is so.
fn possible(moments: [f64; 3]) -> std::result::Result<(), String> {
    let mut sorted = moments;
    sorted.sort_by(f64::total_cmp);
    let [smallest, middle, largest] = sorted;
    let others = smallest + middle;
    if !moments.iter().all(|moment| moment.is_finite()) {
        return Err("an entry is not a finite number".into());
    }
    if smallest < -TRIANGLE_SLACK * largest.abs() {
        return Err(format!("a principal moment is {smallest}, and must not be negative"));
    }
    if largest > others * (1.0 + TRIANGLE_SLACK) + f64::MIN_POSITIVE {
        return Err(format!("the largest principal moment is {largest}, and the others add up to {others}"));
    }
    Ok(())
}

/// The eigenvalues of a symmetric matrix, by Jacobi's rotations, and its eigenvectors as columns.
pub(super) fn principal(mut a: [[f64; 3]; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..50 {
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if a[i][j] == 0.0 || !a[i][j].is_finite() {
                continue;
            }
            // The angle that makes a_ij vanish: tan 2α = 2 a_ij/(a_ii − a_jj).
            let (s, c) = (0.5 * (2.0 * a[i][j]).atan2(a[i][i] - a[j][j])).sin_cos();
            for row in a.iter_mut().chain(&mut axes) {
                (row[i], row[j]) = (c * row[i] + s * row[j], c * row[j] - s * row[i]);
            }
            let (upper, lower) = (a[i], a[j]);
            for k in 0..3 {
                (a[i][k], a[j][k]) = (c * upper[k] + s * lower[k], c * lower[k] - s * upper[k]);
            }
            (a[i][j], a[j][i]) = (0.0, 0.0);
        }
    }
    ([a[0][0], a[1][1], a[2][2]], axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_moments_of_a_turned_body() {
        // diag(1, 2, 4), turned by 0.7 about z and by 0.4 about x.
        let (c, s) = (0.7f64.cos(), 0.7f64.sin());
        let turned = [[c * c + 2.0 * s * s, -c * s, 0.0], [-c * s, s * s + 2.0 * c * c, 0.0], [0.0, 0.0, 4.0]];
        let (c, s) = (0.4f64.cos(), 0.4f64.sin());
        let r = [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]];
        let mut a = [[0.0; 3]; 3];
        for (i, j, k, l) in (0..81).map(|n| (n / 27, n / 9 % 3, n / 3 % 3, n % 3)) {
            a[i][j] += r[i][k] * turned[k][l] * r[j][l];
        }
        let (mut moments, axes) = principal(a);
        // A v = I v for each axis v.
        for (k, moment) in moments.iter().enumerate() {
            for row in 0..3 {
                let image: f64 = (0..3).map(|j| a[row][j] * axes[j][k]).sum();
                assert!((image - moment * axes[row][k]).abs() < 1e-14);
            }
        }
        moments.sort_by(f64::total_cmp);
        assert!(moments.iter().zip([1.0, 2.0, 4.0]).all(|(x, y)| (x - y).abs() < 1e-14), "{moments:?}");
    }

    #[test]
    fn rods_and_laminae_are_bodies() {
        assert!(possible([0.0, 1.0, 1.0]).is_ok());
        assert!(possible([1.0, 2.0, 3.0]).is_ok());
        assert!(possible([0.0, 0.0, 0.0]).is_ok());
        assert!(possible([1.0, 2.0, 3.1]).is_err());
        assert!(possible([1.0, 2.0, -0.1]).is_err());
        assert!(possible([1.0, f64::NAN, 2.0]).is_err());
    }
}
