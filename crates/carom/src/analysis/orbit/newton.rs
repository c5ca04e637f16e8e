//! Newton's method for periodic orbits.

use super::shoot::{Shooter, Shot};
use crate::phase::Phase;
use crate::solve::{Solved, eigenvalues, least_squares};
use crate::tangent::{add, dot};

/// The unknowns of an orbit: its start, its period, and the parameter that varies.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) z: Phase,
    pub(super) period: f64,
    pub(super) value: f64,
}

/// An orbit that was found.
#[derive(Clone)]
pub(super) struct Closed {
    pub(super) point: Point,
    pub(super) shot: Shot,
    /// The largest |P(z) − z|, relative to the sizes of the components.
    pub(super) residual: f64,
    pub(super) iterations: usize,
}

/// The period as a function of the parameters, and its derivative by the one that varies.
pub(super) type PeriodOf<'a> = dyn Fn(&[f64]) -> [f64; 2] + 'a;

/// What the equations of an orbit are.
pub(super) struct Equations<'a> {
    pub(super) shooter: &'a mut Shooter,
    /// The period; none if it is an unknown.
    pub(super) period: Option<&'a PeriodOf<'a>>,
    pub(super) parameters: Vec<f64>,
    /// The parameter that varies, if one does.
    pub(super) varies: Option<usize>,
    /// The number of impacts that the orbit has.
    pub(super) impacts: Option<usize>,
    /// The size of each unknown: z, the period, the parameter.
    pub(super) scales: Vec<f64>,
}

/// A linear condition on the unknowns: direction·(y − point) = 0, in units of the scales.
pub(super) struct Condition<'a> {
    pub(super) direction: &'a [f64],
    pub(super) point: &'a [f64],
}

const MOST_ITERATIONS: usize = 60;
/// An orbit closes if no component is off by more than this, relative to its size.
const CLOSED: f64 = 1e-12;
/// An orbit that comes no nearer closes within this.
const NEARLY: f64 = 1e-9;
/// A step of Newton's method is halved at most this often.
const HALVINGS: usize = 30;
/// Singular values below this, relative to the largest, are those of conserved quantities.
const CONSERVED: f64 = 1e-7;

impl Equations<'_> {
    /// The unknowns in units of their scales.
    pub(super) fn vector(&self, point: &Point) -> Vec<f64> {
        let all = point.z.z.iter().copied().chain([point.period, point.value]);
        all.zip(&self.scales).map(|(x, scale)| x / scale).collect()
    }

    /// The point with these unknowns.
    pub(super) fn point(&self, y: &[f64], like: &Point) -> Point {
        let mut point = like.clone();
        let n = point.z.z.len();
        (0..n).for_each(|i| point.z.z[i] = y[i] * self.scales[i]);
        point.period = y[n] * self.scales[n];
        point.value = y[n + 1] * self.scales[n + 1];
        if let Some(period) = self.period {
            point.period = period(&self.parameters_at(point.value))[0];
        }
        point
    }

    pub(super) fn parameters_at(&self, value: f64) -> Vec<f64> {
        let mut parameters = self.parameters.clone();
        if let Some(k) = self.varies {
            parameters[k] = value;
        }
        parameters
    }

    pub(super) fn shoot(&mut self, point: &Point) -> Solved<Shot> {
        let parameters = self.parameters_at(point.value);
        self.shooter.shoot(&parameters, &point.z, point.period)
    }

    /// P(z) − z in units of the scales.
    fn residual(&self, point: &Point, shot: &Shot) -> Vec<f64> {
        let pairs = shot.end.z.iter().zip(&point.z.z).zip(&self.scales);
        pairs.map(|((end, start), scale)| (end - start) / scale).collect()
    }

    /// The derivatives of the residual by the unknowns, by rows. A period that is given follows the parameter.
    pub(super) fn slopes(&self, point: &Point, shot: &Shot) -> Vec<Vec<f64>> {
        let n = point.z.z.len();
        let by_value = self.period.map_or(0.0, |period| period(&self.parameters_at(point.value))[1]);
        let row = |i: usize| {
            let slopes = shot.slopes.row(i);
            let mut row = vec![0.0; n + 2];
            for j in 0..n {
                row[j] = (slopes[j] - f64::from(i == j)) * self.scales[j] / self.scales[i];
            }
            if self.period.is_none() {
                row[n] = slopes[n] * self.scales[n] / self.scales[i];
            }
            if self.varies.is_some() {
                row[n + 1] = (slopes[n + 1] + slopes[n] * by_value) * self.scales[n + 1] / self.scales[i];
            }
            row
        };
        (0..n).map(row).collect()
    }

    /// Newton's method from a point; the parameter is fixed unless there is a condition. None if it finds no orbit with the
    /// given number of impacts.
    pub(super) fn solve(&mut self, from: &Point, condition: Option<&Condition>) -> Option<Closed> {
        let n = from.z.z.len();
        let mut point = from.clone();
        let mut shot = self.shoot(&point).ok().filter(|shot| self.fits(shot))?;
        let mut residual = self.residual(&point, &shot);
        for iterations in 0..MOST_ITERATIONS {
            let error = size(&residual);
            let y = self.vector(&point);
            let off = condition.map_or(0.0, |condition| {
                condition
                    .direction
                    .iter()
                    .zip(y.iter().zip(condition.point))
                    .map(|(d, (a, b))| d * (a - b))
                    .sum::<f64>()
            });
            if error <= CLOSED && off.abs() <= CLOSED {
                return Some(Closed { point, shot, residual: error, iterations });
            }
            let mut rows = self.slopes(&point, &shot);
            let mut right = residual.clone();
            if self.period.is_none() {
                // The start may move along the orbit: it moves across it.
                let rate = (0..n).map(|i| shot.rate[i] / self.scales[i]);
                rows.push(rate.chain([0.0, 0.0]).collect());
                right.push(0.0);
            }
            match condition {
                Some(condition) => {
                    rows.push(condition.direction.to_vec());
                    right.push(off);
                }
                None => rows.iter_mut().for_each(|row| row[n + 1] = 0.0),
            }
            let delta =
                least_squares(&rows.concat(), n + 2, &right, if self.period.is_none() { CONSERVED } else { 1e-14 });
            let mut part = 1.0;
            let mut accepted = None;
            for _ in 0..HALVINGS {
                let mut next = y.clone();
                add(&mut next, -part, &delta);
                let trial = self.point(&next, &point);
                if trial.period > 0.0
                    && let Ok(shot) = self.shoot(&trial)
                    && self.fits(&shot)
                {
                    let residual = self.residual(&trial, &shot);
                    if size(&residual) < error * (1.0 - 0.1 * part) || size(&residual) <= CLOSED {
                        accepted = Some((trial, shot, residual));
                        break;
                    }
                }
                part *= 0.5;
            }
            let Some(accepted) = accepted else {
                let is_near = error <= NEARLY && off.abs() <= NEARLY;
                return is_near.then_some(Closed { point, shot, residual: error, iterations });
            };
            (point, shot, residual) = accepted;
        }
        None
    }

    fn fits(&self, shot: &Shot) -> bool {
        self.impacts.is_none_or(|count| shot.impacts.len() == count) && shot.end.z.iter().all(|x| x.is_finite())
    }

    /// The direction of the branch through an orbit, of length 1 in units of the scales.
    pub(super) fn direction(&self, closed: &Closed) -> Option<Vec<f64>> {
        let n = closed.point.z.z.len();
        let mut rows = self.slopes(&closed.point, &closed.shot);
        if self.period.is_none() {
            let rate = (0..n).map(|i| closed.shot.rate[i] / self.scales[i]);
            rows.push(rate.chain([0.0, 0.0]).collect());
        } else {
            rows.push((0..n + 2).map(|j| f64::from(j == n)).collect());
        }
        // The unit vector that is left when all rows are taken out of it, from the one of which most is left.
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for row in rows {
            let mut rest = row.clone();
            (0..2).for_each(|_| {
                basis.iter().for_each(|b| {
                    let part = dot(b, &rest);
                    add(&mut rest, -part, b);
                })
            });
            let length = dot(&rest, &rest).sqrt();
            if length > 1e-10 * dot(&row, &row).sqrt() {
                basis.push(rest.iter().map(|x| x / length).collect());
            }
        }
        let mut best: Option<Vec<f64>> = None;
        let mut longest = 1e-8;
        for j in 0..n + 2 {
            let mut rest: Vec<f64> = (0..n + 2).map(|k| f64::from(j == k)).collect();
            (0..2).for_each(|_| {
                basis.iter().for_each(|b| {
                    let part = dot(b, &rest);
                    add(&mut rest, -part, b);
                })
            });
            let length = dot(&rest, &rest).sqrt();
            if length > longest {
                longest = length;
                best = Some(rest.iter().map(|x| x / length).collect());
            }
        }
        best
    }
}

/// The multipliers of an orbit: the eigenvalues of ∂P/∂z, the largest first.
pub(super) fn multipliers(shot: &Shot) -> Vec<(f64, f64)> {
    let monodromy = shot.monodromy();
    let mut all = eigenvalues(&monodromy.data, monodromy.columns).unwrap_or_default();
    all.sort_by(|a, b| b.0.hypot(b.1).total_cmp(&a.0.hypot(a.1)).then(b.1.total_cmp(&a.1)));
    all
}

pub(super) fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |size: f64, x| if x.is_nan() { f64::INFINITY } else { size.max(x.abs()) })
}
