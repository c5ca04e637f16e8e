//! How the start moves with the variables by which is differentiated.

use super::names::{By, Component};
use crate::model::Model;
use crate::phase::Phase;
use crate::run::piece;
use crate::solve::Solved;
use crate::tangent::{Matrix, Tangent, add, dot};

/// The derivatives of the start z0 and of the parameters θ, one column for each variable.
#[derive(Clone, Debug)]
pub(super) struct Seeds {
    pub(super) z: Matrix,
    /// One row for each slot.
    pub(super) theta: Matrix,
    pub(super) slots: Slots,
    /// The columns of variables along which the constraints do not let the start move.
    pub(super) stuck: Vec<usize>,
}

/// Where the derivatives by θ of a step belong: a parameter has one slot, a control has one for each of its intervals.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// When the intervals begin.
    from: Vec<f64>,
    /// The slot of each θ, on the first interval if it is a control.
    first: Vec<usize>,
    is_control: Vec<bool>,
    count: usize,
    /// The slot of each θ on the present interval.
    now: Vec<usize>,
}

impl Slots {
    /// The slots of the parameters θ, of which those from number `plain` on are controls.
    pub(super) fn new(theta: &[usize], plain: usize, from: Vec<f64>) -> Slots {
        let mut slots = Slots { from, ..Slots::default() };
        for &k in theta {
            let is_control = k >= plain;
            slots.first.push(slots.count);
            slots.is_control.push(is_control);
            slots.count += if is_control { slots.from.len() } else { 1 };
        }
        slots.now.clone_from(&slots.first);
        slots
    }

    /// The number of intervals.
    pub(super) fn intervals(&self) -> usize {
        self.from.len()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Selects the interval of a step that begins at t.
    pub(super) fn enter(&mut self, t: f64) {
        let interval = piece(&self.from, t);
        for (k, now) in self.now.iter_mut().enumerate().filter(|(k, _)| self.is_control[*k]) {
            *now = self.first[k] + interval;
        }
    }

    /// The slot of each θ on the present interval.
    pub(super) fn now(&self) -> &[usize] {
        &self.now
    }

    /// Adds derivatives by θ of the present step to those by the slots.
    pub(super) fn spread(&self, by_theta: &[f64], into: &mut [f64]) {
        self.now.iter().zip(by_theta).for_each(|(&slot, x)| into[slot] += x);
    }
}

/// What stays fixed while a parameter varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// The start (q, v).
    Velocity,
    /// The start (q, p).
    Momentum,
}

/// What a seed needs to know.
pub(super) struct Start<'a> {
    pub(super) model: &'a Model,
    pub(super) parameters: &'a [f64],
    /// The indices of the parameters θ.
    pub(super) theta: &'a [usize],
    /// What stays fixed; none if `[initial]` is evaluated anew.
    pub(super) fixed: Option<Fixed>,
    /// True if the start is regarded as (q, p), false if as (q, v).
    pub(super) by_momenta: bool,
    pub(super) slots: Slots,
}

impl Start<'_> {
    /// The seeds of these variables at the first state z, on which the walls `holding` hold.
    pub(super) fn seeds(&self, by: &[By], z: &Phase, holding: &[usize], tangent: &mut Tangent) -> Solved<Seeds> {
        let (n, m, free) = (z.q().len(), self.theta.len(), self.model.system.free());
        let slopes = tangent.momentum_slopes(z)?;
        let projection = tangent.projection(z, holding)?;
        let is_projected = !self.model.system.constraints.is_empty() || !holding.is_empty();
        let mut seeds = Seeds {
            z: Matrix::zeros(2 * n, by.len()),
            theta: Matrix::zeros(self.slots.count(), by.len()),
            slots: self.slots.clone(),
            stuck: Vec::new(),
        };
        for (column, by) in by.iter().enumerate() {
            // dq0, then dv0 or, if the momenta are given, dp0.
            let (mut dq, mut dv, mut dp) = (vec![0.0; n], vec![0.0; n], None);
            let mut theta = vec![0.0; m];
            let place = |i: usize| free.iter().position(|&k| k == i).unwrap_or(0);
            match *by {
                By::Initial(Component::Q, i) => {
                    dq[place(i)] = 1.0;
                    dp = self.by_momenta.then(|| vec![0.0; n]);
                }
                By::Initial(Component::V, i) => dv[place(i)] = 1.0,
                By::Initial(Component::P, i) => dp = Some((0..n).map(|k| f64::from(k == place(i))).collect()),
                // Neither L nor `[initial]` contains controls.
                By::Control(c, k) => {
                    let index = self.model.plain_parameters().len() + c;
                    if let Some(number) = self.theta.iter().position(|&known| known == index) {
                        seeds.theta.row_mut(self.slots.first[number] + k)[column] = 1.0;
                    }
                    continue;
                }
                By::Parameter(k) => {
                    if let Some(number) = self.theta.iter().position(|&known| known == k) {
                        theta[number] = 1.0;
                        seeds.theta.row_mut(self.slots.first[number])[column] = 1.0;
                    }
                    match self.fixed {
                        Some(Fixed::Velocity) => {}
                        Some(Fixed::Momentum) => dp = Some(vec![0.0; n]),
                        None => {
                            if let Some(given) = self.model.slopes_of_start(self.parameters, k) {
                                dq = given.q;
                                dv = given.v.unwrap_or(dv);
                                dp = given.p;
                            }
                        }
                    }
                }
            }
            if is_projected {
                let moved: Vec<f64> = (0..n)
                    .map(|i| {
                        let row = projection.row(i);
                        dot(&row[..n], &dq) + dot(&row[2 * n..], &theta)
                    })
                    .collect();
                dq = moved;
            }
            let dp = dp.unwrap_or_else(|| {
                let row = |i: usize| {
                    let slope = slopes.row(i);
                    let by_state = dot(&slope[..n], &dq) + dot(&slope[n..2 * n], &dv);
                    by_state + dot(&slope[2 * n + 1..], &theta)
                };
                (0..n).map(row).collect()
            });
            let mut dz = [dq, dp].concat();
            if is_projected {
                let before = dz.clone();
                for i in 0..2 * n {
                    let row = projection.row(i);
                    let by_z = dot(&row[..2 * n], &before);
                    dz[i] = by_z + dot(&row[2 * n..], &theta);
                }
                let size = |x: &[f64]| x.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
                if matches!(by, By::Initial(..)) && size(&dz) <= 1e-12 * size(&before).max(1.0) {
                    seeds.stuck.push(column);
                }
            }
            (0..2 * n).for_each(|i| seeds.z.row_mut(i)[column] = dz[i]);
        }
        Ok(seeds)
    }
}

impl Seeds {
    /// The derivatives of the end of a step by the variables, where its beginning has the derivatives `d`; the nodes are fixed.
    pub(super) fn advance(&self, end: &Matrix, d: &Matrix, next: &mut Matrix) {
        next.columns = d.columns;
        next.data.clear();
        next.data.resize(d.data.len(), 0.0);
        let size = d.rows();
        for i in 0..size {
            let (slopes, to) = (end.row(i), next.row_mut(i));
            (0..size).for_each(|j| add(to, slopes[j], d.row(j)));
            slopes[size + 2..].iter().zip(self.slots.now()).for_each(|(x, &slot)| add(to, *x, self.theta.row(slot)));
        }
    }

    /// A derivative by (z, t, h, θ) of a step as one by the variables, where z has the derivatives `d`; the nodes are fixed.
    pub(super) fn chain(&self, slopes: &[f64], d: &Matrix) -> Vec<f64> {
        let mut sum = vec![0.0; d.columns];
        self.chain_into(slopes, d, &mut sum);
        sum
    }

    /// Writes what [`chain`](Seeds::chain) returns.
    pub(super) fn chain_into(&self, slopes: &[f64], d: &Matrix, sum: &mut [f64]) {
        sum.fill(0.0);
        let (by_z, by_theta) = (&slopes[..d.rows()], &slopes[d.rows() + 2..]);
        by_z.iter().enumerate().for_each(|(j, x)| add(sum, *x, d.row(j)));
        by_theta.iter().zip(self.slots.now()).for_each(|(x, &slot)| add(sum, *x, self.theta.row(slot)));
    }
}
