//! The points of a step, and recent steps, whose polynomials give initial guesses.

use super::past::{is_near, is_same_time};
use crate::discrete::quadrature::{lagrange, lagrange_slope};
use crate::phase::{MOMENTS, Moments, Phase, Polynomial};

/// The points of the steps of a discrete Lagrangian: Q_k = q0 + h·U_k. Where they are as close to the motion as the ends of a step,
/// so is the polynomial q0 + h P(c), P(c) = Σ_k ℓ_k(c) U_k.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// The number of coordinates.
    n: usize,
    /// The times of the points as fractions of the step: q0, the inner points, q1.
    pub(crate) times: Vec<f64>,
    /// ℓ_k′ of the points k = 1, 2, … at each inner point.
    slopes: Vec<Vec<f64>>,
}

impl Points {
    /// Points of n coordinates, with these times of the inner ones.
    pub(crate) fn new(n: usize, inner_times: Vec<f64>) -> Points {
        let times = [vec![0.0], inner_times, vec![1.0]].concat();
        let last = times.len() - 1;
        let slopes = |&c: &f64| (1..=last).map(|k| lagrange_slope(&times, k, c)).collect();
        Points { n, slopes: times[1..last].iter().map(slopes).collect(), times }
    }

    /// The index of the last point.
    pub(crate) fn last(&self) -> usize {
        self.times.len() - 1
    }

    /// The number of moments that [`LastSteps::write_moments`] writes.
    pub(super) fn moments(&self) -> usize {
        self.slopes.len().min(MOMENTS)
    }
}

/// A completed step.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) begin: Phase,
    end: Phase,
    pub(super) h: f64,
    /// U of the points 1, 2, …, then the multipliers.
    pub(super) unknowns: Vec<f64>,
}

/// Where an initial guess comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// From a step that began in the same state.
    Shortened,
    /// From steps before.
    Extrapolated,
    /// From the acceleration at the beginning.
    Accelerated,
    /// From the velocity at the beginning.
    Straight,
}

/// The last two steps, for example both halves of a halved step.
#[derive(Clone)]
pub(super) struct LastSteps {
    steps: [Made; 2],
    newest: usize,
}

impl LastSteps {
    /// An empty history, for n coordinates and this number of unknowns.
    pub(super) fn new(n: usize, unknowns: usize) -> LastSteps {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; 2 * n] };
        let none = Made { begin: nowhere.clone(), end: nowhere, h: 0.0, unknowns: vec![0.0; unknowns] };
        LastSteps { steps: [none.clone(), none], newest: 0 }
    }

    pub(super) fn forget(&mut self) {
        self.steps.iter_mut().for_each(|step| (step.begin.t, step.end.t) = (f64::NAN, f64::NAN));
    }

    pub(super) fn newest(&self) -> &Made {
        &self.steps[self.newest]
    }

    /// Stores a step. It replaces a step from the same state if there is one, otherwise the older of the two.
    pub(super) fn remember(&mut self, begin: &Phase, h: f64, end: &Phase, unknowns: &[f64]) {
        if !self.newest().begins_in(begin) {
            self.newest = 1 - self.newest;
        }
        let made = &mut self.steps[self.newest];
        made.begin.copy_from(begin);
        made.end.copy_from(end);
        made.h = h;
        made.unknowns.copy_from_slice(unknowns);
    }

    /// The end of the last step, if that was the step from z0 with length h.
    pub(super) fn repeated(&self, z0: &Phase, h: f64) -> Option<&Phase> {
        let last = self.newest();
        (last.h == h && !last.end.t.is_nan() && last.begin == *z0).then_some(&last.end)
    }

    /// Writes a guess for the step from z0 with length h: the polynomial of a step from the same state, or the extrapolation of
    /// a step that ended there. Returns none if there is no such step.
    pub(super) fn guess(&self, points: &Points, z0: &Phase, h: f64, unknowns: &mut [f64]) -> Option<Guess> {
        let near = |step: &&Made| h * step.h > 0.0 && h.abs() <= 2.0 * step.h.abs();
        let find = |is_there: &dyn Fn(&Made) -> bool| self.steps.iter().filter(near).find(|step| is_there(step));
        if let Some(step) = find(&|step| step.begins_in(z0)) {
            step.follow(points, 0.0, h / step.h, unknowns);
            Some(if h.abs() <= step.h.abs() { Guess::Shortened } else { Guess::Extrapolated })
        } else if let Some(step) = find(&|step| is_same_time(step.end.t, z0.t) && is_near(&step.end.z, &z0.z)) {
            step.follow(points, 1.0, h / step.h, unknowns);
            Some(Guess::Extrapolated)
        } else {
            None
        }
    }

    /// Writes the inner points of the last step as moments, with the velocities of its polynomial. Returns false if that was not the
    /// step from z0 with length h.
    pub(super) fn write_moments(&self, points: &Points, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
        let last = self.newest();
        if last.h != h || last.begin != *z0 {
            return false;
        }
        moments.count = points.moments();
        let n = points.n;
        for (k, slopes) in points.slopes.iter().enumerate().take(moments.count) {
            let tau = points.times[k + 1] * h;
            (moments.tau[k], moments.lanes[k]) = (tau, z0.t + tau);
            for i in 0..n {
                let v = slopes.iter().zip(last.unknowns[i..].iter().step_by(n)).map(|(slope, u)| slope * u).sum();
                moments.lanes[(1 + i) * MOMENTS + k] = z0.q()[i] + h * last.unknowns[k * n + i];
                moments.lanes[(1 + n + i) * MOMENTS + k] = v;
            }
        }
        true
    }
}

impl LastSteps {
    /// Writes the unknowns of the last step. Returns false if that was not the step from z0 with length h.
    pub(super) fn write_polynomial(&self, z0: &Phase, h: f64, polynomial: &mut Polynomial) -> bool {
        let last = self.newest();
        if last.h != h || last.begin != *z0 {
            return false;
        }
        polynomial.h = h;
        polynomial.rates.clone_from(&last.unknowns);
        true
    }

    /// Takes a step from z0 that [`LastSteps::write_polynomial`] has written as the last one. Returns false if it is of another flow.
    pub(super) fn take(&mut self, z0: &Phase, Polynomial { h, rates }: &Polynomial) -> bool {
        let last = self.newest();
        if rates.len() != last.unknowns.len() {
            return false;
        }
        if last.h != *h || last.begin != *z0 || last.unknowns != *rates {
            self.newest = 1 - self.newest;
            let made = &mut self.steps[self.newest];
            made.begin.copy_from(z0);
            (made.end.t, made.h) = (f64::NAN, *h);
            made.unknowns.copy_from_slice(rates);
        }
        true
    }

    /// Writes q and v = q̇ at time τ of the last step, on its polynomial.
    pub(super) fn look(&self, points: &Points, tau: f64, q: &mut [f64], v: &mut [f64]) {
        let Made { begin, h, unknowns, .. } = self.newest();
        let c = tau / h;
        q.copy_from_slice(begin.q());
        v.fill(0.0);
        for (k, u) in unknowns.chunks(points.n).enumerate().take(points.last()) {
            let (value, slope) = (h * lagrange(&points.times, k + 1, c), lagrange_slope(&points.times, k + 1, c));
            q.iter_mut().zip(u).for_each(|(q, u)| *q += value * u);
            v.iter_mut().zip(u).for_each(|(v, u)| *v += slope * u);
        }
    }
}

impl Made {
    fn begins_in(&self, z: &Phase) -> bool {
        is_same_time(self.begin.t, z.t) && self.begin.z == z.z
    }

    /// The unknowns of a step that begins at fraction `from` of this step and is `ratio` times as long.
    fn follow(&self, points: &Points, from: f64, ratio: f64, unknowns: &mut [f64]) {
        let Points { n, times, .. } = points;
        let (to, multipliers) = unknowns.split_at_mut(n * points.last());
        let (known, impulses) = self.unknowns.split_at(to.len());
        to.fill(0.0);
        for (k, known) in known.chunks(*n).enumerate() {
            let value = |x: f64| lagrange(times, k + 1, x);
            let begin = value(from);
            for (u, c) in to.chunks_mut(*n).zip(&times[1..]) {
                let weight = (value(from + c * ratio) - begin) / ratio;
                u.iter_mut().zip(known).for_each(|(u, known)| *u += weight * known);
            }
        }
        multipliers.iter_mut().zip(impulses).for_each(|(x, known)| *x = ratio * known);
    }
}
