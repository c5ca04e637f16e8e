//! The way of a start onto constraints that are far away, and which of them it does not reach.

use super::Check;
use super::angle::by_place;
use crate::error::Error;
use crate::expr::Expr;
use crate::limits::ON_CONSTRAINT;
use crate::solve::Lu;
use crate::system::{Constraint, Form};

/// The largest number of corrections, of which some are taken back.
const CORRECTIONS: usize = 1000;
/// Other starts are tried where this one leads to no solution: at a stretched arm, say, nothing tells which way the elbow bends.
const OTHER_STARTS: usize = 8;
/// How far angles and quaternions of other starts are off, in radians.
const OFF: f64 = 0.5;
/// A start is near the constraints if this is left of its first distance from them: Newton's method then takes over.
const NEAR: f64 = 1e-9;
/// No motion reduces Σr² where no more than this of it is along its gradient.
const LEAST: f64 = 1e-10;
/// The damping μ with which the search begins; it is none below the second.
const DAMPING: [f64; 2] = [1e-3, 1e-9];

/// Where a search for a start on the constraints has ended.
pub(super) struct Nearest {
    pub(super) q: Vec<f64>,
    /// The distance from each constraint, |g|/|∇g| in the mass metric.
    parts: Vec<f64>,
    /// Σr².
    sum: f64,
    pub(super) is_near: bool,
    /// No small motion comes nearer.
    is_least: bool,
}

impl Check<'_> {
    /// Moves q towards the constraints by the method of Levenberg and Marquardt. Each correction
    ///
    /// ```text
    /// δ = −D Gᵀ(G D Gᵀ + μS)⁻¹ g,   D = diag(M)⁻¹,   S = diag(G D Gᵀ)
    /// ```
    ///
    /// is kept if it reduces Σr², rᵢ = gᵢ/√Sᵢᵢ, about as it should. No unit matters: D and S have those of q and g. S is the largest so
    /// far, so that r does not grow where a gradient vanishes.
    pub(super) fn nearest(&self, q: &[f64]) -> Nearest {
        let mut best = self.nearest_from(q.to_vec());
        for attempt in 0..OTHER_STARTS {
            if best.is_near {
                break;
            }
            let other = self.nearest_from(self.other_start(q, attempt));
            if other.is_near || other.sum < best.sum {
                best = other;
            }
        }
        best
    }

    fn nearest_from(&self, mut q: Vec<f64>) -> Nearest {
        let m = self.acting().len();
        let (mut sizes, mut lu, mut y) = (vec![0.0; m], Lu::new(m), vec![0.0; m]);
        let sum = |g: &[f64], sizes: &[f64]| g.iter().zip(sizes).map(|(g, s)| ratio(g * g, *s)).sum::<f64>();
        let (mut damping, mut first, mut is_least) = (DAMPING[0], f64::NAN, false);
        let mut g = self.gaps(&q);
        let mut slopes = None;
        for _ in 0..CORRECTIONS {
            let (units, rows, products) = slopes.get_or_insert_with(|| {
                let units = self.units(&q);
                let rows: Vec<Vec<f64>> = self.acting().iter().map(|c| self.normal(c.g, &q, &units)).collect();
                let products: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(move |b| dot(a, b))).collect();
                (units, rows, products)
            });
            (0..m).for_each(|k| sizes[k] = f64::max(sizes[k], products[k * m + k]));
            let before = sum(&g, &sizes);
            first = f64::max(first, before);
            // |Jᵀr|² of the rows J = G√D/√S.
            let r: Vec<f64> = g.iter().zip(&sizes).map(|(g, s)| ratio(*g, s.sqrt())).collect();
            let scaled = |a: usize, b: usize| ratio(products[a * m + b], (sizes[a] * sizes[b]).sqrt());
            let steep: f64 = (0..m).map(|a| (0..m).map(|b| r[a] * scaled(a, b) * r[b]).sum::<f64>()).sum();
            is_least = steep <= LEAST * before;
            if !before.is_finite() || is_least || before <= NEAR * NEAR * first {
                break;
            }
            let damped =
                |k: usize| products[k] + if k.is_multiple_of(m + 1) { damping * sizes[k / (m + 1)] } else { 0.0 };
            let is_solved = lu.factor(&(0..m * m).map(damped).collect::<Vec<f64>>());
            if is_solved {
                lu.solve(&g, &mut y);
                let step = |j: usize| -units[j] * rows.iter().zip(&y).map(|(row, y)| row[j] * y).sum::<f64>();
                let next = self.moved(&q, &(0..units.len()).map(step).collect::<Vec<f64>>());
                let (left, expected) = (self.gaps(&next), y.iter().zip(&sizes).map(|(y, s)| damping * s * y));
                let expected = before - sum(&expected.collect::<Vec<f64>>(), &sizes);
                let gained = (before - sum(&left, &sizes)) / expected;
                if gained > 0.75 {
                    damping = if damping > DAMPING[1] { damping / 8.0 } else { 0.0 };
                }
                if gained > 0.1 {
                    (q, g) = (next, left);
                    slopes = None;
                    continue;
                }
            }
            damping = f64::max(8.0 * damping, DAMPING[1]);
        }
        let parts: Vec<f64> = g.iter().zip(&sizes).map(|(g, s)| ratio(g.abs(), s.sqrt())).collect();
        let sum = sum(&g, &sizes);
        // A row whose gradient is zero all the way has no part in the sum.
        let is_seen = g.iter().zip(&sizes).all(|(g, s)| *g == 0.0 || *s > 0.0);
        let is_there = || !self.acting().iter().zip(&g).any(|(c, g)| self.exceeds(*g, ON_CONSTRAINT, c.g, &q, &q));
        let is_near = (is_seen && sum <= NEAR * NEAR * first) || is_there();
        Nearest { parts, sum: if is_seen { sum } else { f64::INFINITY }, is_near, is_least, q }
    }

    /// g of each constraint.
    fn gaps(&self, q: &[f64]) -> Vec<f64> {
        self.at(&self.acting().iter().map(|c| c.g).collect::<Vec<Expr>>(), q, q)
    }

    /// q, moved by a step of its freedoms.
    fn moved(&self, q: &[f64], step: &[f64]) -> Vec<f64> {
        if let Some(recursive) = &self.recursive {
            return recursive.moved(q, step);
        }
        let mut next = q.to_vec();
        self.model.system.free().iter().zip(step).for_each(|(&i, step)| next[i] += step);
        next
    }

    /// A start with other angles and quaternions; the same in every run.
    fn other_start(&self, q: &[f64], attempt: usize) -> Vec<f64> {
        let system = &self.model.system;
        let (inside, outside) = by_place(&system.constraints.iter().map(|c| c.g).collect::<Vec<Expr>>());
        let mechanism = system.mechanism.as_deref();
        let turns = |i: usize| {
            let symbol = &system.coordinates[i].q;
            let mut bodies =
                mechanism.into_iter().flat_map(|m| m.bodies.iter().map(|body| body.quaternion(m.dimension)));
            bodies.any(|first| first.is_some_and(|first| (first..first + 4).contains(&i)))
                || (inside.contains(symbol) && !outside.contains(symbol))
        };
        let mut other = q.to_vec();
        for i in system.free().into_iter().filter(|&i| turns(i)) {
            // Multiples of an irrational number fill an interval evenly. (Weyl)
            let number = ((attempt + 1) * q.len() + i) as f64 * 0.618_033_988_749_894_9;
            other[i] += OFF * (2.0 * number.fract() - 1.0);
        }
        let none = vec![0.0; self.units(q).len()];
        self.moved(&other, &none)
    }

    /// What to say of a start that does not reach the constraints.
    pub(super) fn cannot_close(&self, nearest: &Nearest) -> Error {
        let (constraints, q) = (self.acting(), &nearest.q);
        let farthest = (0..constraints.len()).max_by(|&i, &j| nearest.parts[i].total_cmp(&nearest.parts[j]));
        let Some(worst) = farthest else {
            return self.model.error(&self.model.places.q, "the start cannot be moved onto the constraints", "");
        };
        let Constraint { name, form, .. } = &constraints[worst];
        let g = self.gaps(q);
        let (what, found) = match form {
            Form::Join { ends, .. } => {
                let is_of_join = |c: &Constraint| matches!(c.form, Form::Join { ends: others, .. } if others == *ends);
                let rows = constraints.iter().zip(&g).filter(|(c, _)| is_of_join(c));
                let distance = rows.map(|(_, g)| g * g).sum::<f64>().sqrt();
                let loop_name = name.rsplit_once(' ').map_or(name.as_str(), |(name, _)| name);
                (
                    format!("the loop `{loop_name}`"),
                    format!("the smallest distance found of its points is {}", digits(distance)),
                )
            }
            Form::Distance { length, .. } => {
                let length = self.at(&[*length], q, q)[0];
                let distance = (2.0 * g[worst] + length * length).max(0.0).sqrt();
                (
                    format!("the distance `{name}`"),
                    format!("the nearest to its length {length} that was found is {}", digits(distance)),
                )
            }
            Form::Function | Form::Unit(_) => {
                (format!("the constraint `{name}`"), format!("the smallest |g| found is {}", digits(g[worst].abs())))
            }
        };
        let verb = if matches!(form, Form::Join { .. }) { ["close", "closed"] } else { ["be met", "met"] };
        let (message, label) = if nearest.is_least {
            (format!("{what} cannot {} from this start", verb[0]), found)
        } else {
            (
                format!("{what} was not {} from this start", verb[1]),
                format!("{found}, where the search ended; start nearer"),
            )
        };
        self.model.error(&self.model.places.constraints[worst], message, label)
    }
}

/// x with six digits.
fn digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// x/y; 0 where y is.
fn ratio(x: f64, y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { x / y }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
