//! Kinks of the equations: a step is made on one side of each, ends where its argument is zero, and goes on from there on the other
//! side. So every arc is smooth, and the order of the method is kept.
//!
//! The argument u(q, t) of most kinks is located as the gap of a wall is. The rate of an argument u(q, v, t) contains the acceleration,
//! which depends on the side and on the walls that hold. It is not evaluated: u itself is looked at in the moments of a step.

use super::event::{Encounter, Kind, Search};
use super::maps::Maps;
use super::moment::{Moment, dip, is_out_of_reach};
use crate::limits::{GAP_ROUNDOFF, HALVINGS, LOW_ARGUMENT, TRIAL};
use crate::phase::{MOMENTS, Phase};
use crate::plant::{Evaluator, Facts};
use crate::solve::{NoSolution, Solved, root};

impl Search<'_> {
    /// The first kink that the motion from z0 to z1 = Φ_τ(z0) comes to before `until`. `left` is the event that it has just left.
    /// The ends of the step have been looked at.
    pub(super) fn first_kink(
        &mut self,
        z0: &Phase,
        tau: f64,
        left: Option<usize>,
        until: f64,
    ) -> Solved<Option<Encounter>> {
        let mut first: Option<Encounter> = None;
        self.sinks = 0.0;
        for kink in self.walls..self.walls + self.sides.len() {
            let until = first.map_or(until, |kink| kink.dtau);
            let side = self.side_of(kink);
            let dtau = if side == 0.0 {
                None
            } else if kink < self.walls + self.sides.len() - self.of_velocities {
                self.passing(kink, z0, tau, left == Some(kink), until)?
            } else {
                self.reversal(kink, z0, tau, until)?
            };
            if let Some(dtau) = dtau.filter(|&dtau| dtau < until) {
                first = Some(Encounter::new(kink, dtau, Kind::Passes));
            }
        }
        Ok(first)
    }

    /// When the motion passes a kink whose argument contains no velocities.
    fn passing(&mut self, kink: usize, z0: &Phase, tau: f64, left: bool, until: f64) -> Solved<Option<f64>> {
        let side = self.side_of(kink);
        let [begin, end] = self.evaluator.ends(kink).map(|(gap, rate)| (side * gap, side * rate));
        let begin = Moment { tau: 0.0, gap: begin.0, rate: begin.1, is_exact: true };
        let end = Moment { tau, gap: end.0, rate: end.1, is_exact: !self.maps.has_partial() };
        if is_out_of_reach(begin, end) {
            Ok(None)
        } else if begin.gap <= 0.0 && begin.rate < 0.0 && !left {
            Ok(Some(0.0))
        } else {
            self.look_inside(z0, tau)?;
            self.contact_with(kink, z0, begin, end, until, left || begin.gap <= 0.0)
        }
    }

    /// When the motion passes a kink whose argument contains velocities.
    fn reversal(&mut self, kink: usize, z0: &Phase, tau: f64, until: f64) -> Solved<Option<f64>> {
        let side = self.side_of(kink);
        self.look_inside(z0, tau)?;
        let inside = self.evaluator.inside(kink)?;
        let [begin, end] = self.evaluator.ends(kink).map(|(u, _)| side * u);
        let moments = self.evaluator.moments();
        let count = moments.count;
        let mut seen = [(0.0, 0.0); MOMENTS + 2];
        seen[0] = (0.0, begin);
        (0..count).for_each(|k| seen[k + 1] = (moments.tau[k], side * inside[k]));
        seen[count + 1] = (tau, end);
        let seen = &seen[..count + 2];
        for k in 1..seen.len() {
            if seen[k - 1].0 >= until {
                break;
            }
            let low = if seen[k].1 < 0.0 {
                Some(seen[k].0)
            } else {
                seen[k - 1..].first_chunk().and_then(|three| dip(*three, LOW_ARGUMENT))
            };
            let Some(low) = low else { continue };
            let low = (low, self.moment_after(kink, z0, low)?.gap);
            if low.1 < 0.0 {
                return self.sign_change(kink, z0, seen[k - 1], low).map(Some);
            }
        }
        Ok(None)
    }

    /// When an argument becomes negative between two moments, where it is so at the second.
    fn sign_change(&mut self, kink: usize, z0: &Phase, a: (f64, f64), b: (f64, f64)) -> Solved<f64> {
        let (mut high, mut low) = (a, b);
        if a.0 > 0.0 {
            high.1 = self.moment_after(kink, z0, a.0)?.gap;
        }
        // The motion has just left the kink, or the moments are not quite on the flow.
        for _ in 0..HALVINGS {
            if high.1 > 0.0 {
                break;
            }
            let middle = 0.5 * (a.0 + low.0);
            let moment = (middle, self.moment_after(kink, z0, middle)?.gap);
            *(if moment.1 > 0.0 { &mut high } else { &mut low }) = moment;
        }
        if high.1 <= 0.0 {
            return Ok(a.0);
        }
        let mut last = if high.1 < -low.1 { high } else { low };
        let value = |tau: f64| {
            let u = self.moment_after(kink, z0, tau)?.gap;
            let slope = (u - last.1) / (tau - last.0);
            last = (tau, u);
            Ok((u, slope))
        };
        root::bracketed(value, high, low, high.0 - high.1 * (low.0 - high.0) / (low.1 - high.1))
    }
}

/// The sides of the kinks on which the motion is.
pub(super) struct Sides<'a> {
    pub(super) sides: &'a mut [f64],
    pub(super) facts: &'a Facts,
    pub(super) maps: &'a mut Maps,
    pub(super) evaluator: &'a mut dyn Evaluator,
    /// Room for a state.
    pub(super) probe: &'a mut Phase,
}

impl Sides<'_> {
    /// Finds the side of each kink on which the motion is just after a state; 0 where it stays on the kink. h is the step to come.
    pub(super) fn find(&mut self, z: &Phase, h: f64) -> Solved<()> {
        let first = self.facts.walls;
        for k in 0..self.sides.len() {
            let (gap, rate) = self.evaluator.gap_and_rate(first + k, z)?;
            let roundoff = GAP_ROUNDOFF * self.evaluator.size_of_gap(first + k, z, z.q())?;
            let rate = if self.is_of_velocities(k) { 0.0 } else { rate };
            let side = if gap.abs() > roundoff { gap } else { rate };
            self.sides[k] = if side == 0.0 { 0.0 } else { side.signum() };
        }
        for k in 0..self.sides.len() {
            if self.sides[k] != 0.0 {
                continue;
            }
            // The motion is on the kink and has no speed off it. It stays there if it does so between both sides, or goes to a side on
            // which it does not come back at once.
            let between = self.goes(k, 0.0, z, h)?;
            if between != 0.0 && self.goes(k, between, z, h)? != between && self.goes(k, -between, z, h)? != -between {
                return Err(self.trouble(k));
            }
        }
        self.maps.set_sides(self.sides);
        Ok(())
    }

    /// Goes on beyond a kink. A force that jumps with a velocity may bring the motion back at once from either side: then it holds it
    /// there.
    pub(super) fn pass(&mut self, k: usize, z: &Phase, h: f64) -> Solved<()> {
        let side = -self.sides[k];
        self.sides[k] = side;
        if self.is_of_velocities(k) && self.goes(k, side, z, h)? == -side {
            return Err(self.trouble(k));
        }
        self.maps.set_sides(self.sides);
        Ok(())
    }

    fn is_of_velocities(&self, k: usize) -> bool {
        k >= self.sides.len() - self.facts.kinks_of_velocities
    }

    fn trouble(&self, k: usize) -> NoSolution {
        if self.is_of_velocities(k) { NoSolution::Sticks } else { NoSolution::Kink }
    }

    /// On which side of kink k the motion from z is after a step of length h, where its equations are those of `side`. What changes
    /// velocities does so at once, so that there a small part of the step tells.
    fn goes(&mut self, k: usize, side: f64, z: &Phase, h: f64) -> Solved<f64> {
        self.sides[k] = side;
        self.maps.set_sides(self.sides);
        let part = if self.is_of_velocities(k) { TRIAL } else { 1.0 };
        self.maps.partial().step(z, part * h, self.probe)?;
        let kink = self.facts.walls + k;
        let before = if self.is_of_velocities(k) { self.evaluator.gap_and_rate(kink, z)?.0 } else { 0.0 };
        let gap = self.evaluator.gap_and_rate(kink, self.probe)?.0 - before;
        let roundoff = GAP_ROUNDOFF * self.evaluator.size_of_gap(kink, self.probe, self.probe.q())?;
        Ok(if gap.abs() > roundoff { gap.signum() } else { 0.0 })
    }
}
