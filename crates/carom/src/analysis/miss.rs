//! The nearest miss: the smallest minimum of a gap that was no impact.

use crate::error::Result;
use crate::limits::GAP_ROUNDOFF;
use crate::phase::{MOMENTS, Moments, Phase};
use crate::plant::Evaluator;
use crate::solve::Solved;
use crate::step::{Looker, Scheme, StepLog, Variant};

/// A minimum of a gap that was no impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miss {
    /// The number of the wall.
    pub wall: usize,
    /// When.
    pub t: f64,
    /// φ there.
    pub phi: f64,
}

/// Looks for misses along a run, between nodes too.
pub(super) struct Misses {
    evaluator: Box<dyn Evaluator>,
    looker: Looker,
    /// The number of intervals in which an arc is looked at.
    intervals: usize,
    pub(super) nearest: Option<Miss>,
    /// The largest φ of each wall.
    pub(super) largest: Vec<f64>,
    /// φ and φ̇ of each wall at the last moment.
    last: Vec<(f64, f64)>,
    z: Phase,
    parameters: Vec<f64>,
}

/// A gap counts as touched if it is at most this many times its roundoff.
const TOUCHES: f64 = 4.0;
/// The number of trials that locate a minimum.
const TRIALS: usize = 100;

impl Misses {
    pub(super) fn new(scheme: &Scheme, parameters: &[f64]) -> Result<Misses> {
        let facts = scheme.plant.facts();
        let mut looker = scheme.looker(Variant::Whole)?;
        looker.begin(parameters);
        let mut evaluator = scheme.plant.evaluator();
        evaluator.set_parameters(parameters);
        Ok(Misses {
            evaluator,
            looker,
            intervals: (scheme.order() / 2).max(1),
            nearest: None,
            largest: vec![0.0; facts.walls],
            last: vec![(f64::NAN, f64::NAN); facts.walls],
            z: facts.nowhere(),
            parameters: parameters.to_vec(),
        })
    }

    /// The roundoff of a gap.
    pub(super) fn roundoff(&mut self, wall: usize, z: &Phase) -> Solved<f64> {
        Ok(GAP_ROUNDOFF * self.evaluator.size_of_gap(wall, z, &vec![0.0; z.q().len()])?)
    }

    /// Looks at a step. Returns the time at which the motion touches a wall within roundoff without an impact, if it does.
    pub(super) fn see(&mut self, log: &StepLog) -> Solved<Option<f64>> {
        if self.largest.is_empty() {
            return Ok(None);
        }
        if self.parameters != *log.end.parameters {
            self.parameters.copy_from_slice(&log.end.parameters);
            self.looker.begin(&self.parameters);
            self.evaluator.set_parameters(&self.parameters);
        }
        let mut touch = None;
        for arc in 0..log.arcs().len() {
            let (begin, end) = (log.arcs()[arc].start.t, log.end_of(arc));
            // Steps are looked at in any order; within one, an impact may turn the motion away from another wall.
            for wall in 0..self.largest.len() {
                if arc == 0 || log.holding(arc).contains(&wall) {
                    self.last[wall] = (f64::NAN, f64::NAN);
                }
            }
            let mut before = begin;
            self.z.copy_from(&log.arcs()[arc].start);
            self.compare(log, arc, (begin, begin), &mut touch)?;
            if self.looker.moments(log, arc, self.evaluator.moments())? {
                self.see_moments(log, arc, &mut touch)?;
                continue;
            }
            for k in 1..=self.intervals {
                let t =
                    if k == self.intervals { end } else { begin + (end - begin) * k as f64 / self.intervals as f64 };
                let is_node = k == self.intervals && arc + 1 == log.arcs().len();
                if is_node {
                    self.z.copy_from(&log.end.z);
                } else {
                    self.looker.on_arc(log, arc, t, &mut self.z)?;
                }
                self.compare(log, arc, (before, t), &mut touch)?;
                before = t;
            }
        }
        Ok(touch)
    }

    /// Looks at an arc at moments on its polynomial, which is near enough to the motion to see a sign.
    fn see_moments(&mut self, log: &StepLog, arc: usize, touch: &mut Option<f64>) -> Solved<()> {
        let (begin, end) = (log.arcs()[arc].start.t, log.end_of(arc));
        let Moments { count, tau, .. } = *self.evaluator.moments();
        let mut before = begin;
        for wall in (0..self.largest.len()).filter(|wall| !log.holding(arc).contains(wall)) {
            before = begin;
            let inside = self.evaluator.inside(wall)?;
            for k in 0..count {
                let t = begin + tau[k];
                self.note(log, arc, wall, (inside[k], inside[MOMENTS + k]), (before, t), touch)?;
                before = t;
            }
        }
        if arc + 1 == log.arcs().len() {
            self.z.copy_from(&log.end.z);
        } else {
            self.looker.near(log, arc, end, &mut self.z)?;
        }
        self.compare(log, arc, (before, end), touch)
    }

    /// Compares each gap at the state z with that at the moment before. Between two equal times there is an impact of some wall.
    fn compare(&mut self, log: &StepLog, arc: usize, (a, b): (f64, f64), touch: &mut Option<f64>) -> Solved<()> {
        for wall in (0..self.largest.len()).filter(|wall| !log.holding(arc).contains(wall)) {
            let now = self.evaluator.gap_and_rate(wall, &self.z)?;
            self.note(log, arc, wall, now, (a, b), touch)?;
        }
        Ok(())
    }

    /// Notes φ and φ̇ of a wall at the time b, and the minimum since the time a if there was one.
    fn note(
        &mut self,
        log: &StepLog,
        arc: usize,
        wall: usize,
        now: (f64, f64),
        (a, b): (f64, f64),
        touch: &mut Option<f64>,
    ) -> Solved<()> {
        let (before, rate) = std::mem::replace(&mut self.last[wall], now);
        self.largest[wall] = self.largest[wall].max(now.0);
        if rate >= 0.0 || now.1 <= 0.0 || rate.is_nan() {
            return Ok(());
        }
        let is_impact = a == b && log.impacts().iter().any(|i| i.wall == wall && i.minus.t == a);
        let parabola = before.min(now.0).min(before + 0.5 * rate * (b - a) * rate / (rate - now.1));
        let is_near = self.nearest.is_none_or(|miss| parabola - 0.5 * (before - parabola).abs() < miss.phi);
        if is_impact || !is_near {
            return Ok(());
        }
        let miss = match a == b {
            true => Miss { wall, t: a, phi: now.0 },
            false => self.locate(log, arc, wall, (a, rate), (b, now.1))?,
        };
        if self.nearest.is_none_or(|nearest| miss.phi < nearest.phi) {
            self.nearest = Some(miss);
            let z = self.z.clone();
            if miss.phi.abs() <= TOUCHES * self.roundoff(wall, &z)? {
                touch.get_or_insert(miss.t);
            }
        }
        Ok(())
    }

    /// The minimum of a gap between two times, by the zero of its rate (Illinois method).
    fn locate(&mut self, log: &StepLog, arc: usize, wall: usize, mut a: (f64, f64), mut b: (f64, f64)) -> Solved<Miss> {
        let end = self.z.clone();
        let mut best = Miss { wall, t: a.0, phi: f64::INFINITY };
        for _ in 0..TRIALS {
            let t = (a.0 - a.1 * (b.0 - a.0) / (b.1 - a.1)).clamp(a.0, b.0);
            self.looker.on_arc(log, arc, t, &mut self.z)?;
            let (phi, rate) = self.evaluator.gap_and_rate(wall, &self.z)?;
            if phi < best.phi {
                best = Miss { wall, t, phi };
            }
            if rate == 0.0 || b.0 - a.0 <= 4.0 * f64::EPSILON * b.0.abs() {
                break;
            }
            if rate < 0.0 {
                if (t - a.0).abs() <= f64::EPSILON * t.abs() {
                    break;
                }
                (a, b) = ((t, rate), (b.0, 0.5 * b.1));
            } else {
                if (b.0 - t).abs() <= f64::EPSILON * t.abs() {
                    break;
                }
                (a, b) = ((a.0, 0.5 * a.1), (t, rate));
            }
        }
        self.z.copy_from(&end);
        Ok(best)
    }
}
