//! All impacts of one instant: a corner, a row of balls that touch.
//!
//! `simultaneous = "sequential"`: the walls are visited cyclically in the order of the model, and each wall that touches and
//! closes bounces, until none closes. The order is given by the model and does not depend on roundoff in the impact times. Each
//! bounce conserves or dissipates energy by its own law, so the sequence creates none. Bounces on walls that are orthogonal in
//! the mass metric commute. In a corner of angle α at most ⌈π/α⌉ bounces are needed for e = 1. With e < 1 there may be
//! infinitely many (a falling stack of balls); their number is bounded, and the remaining contacts then become inelastic.
//!
//! `simultaneous = "moreau"`: see [`moreau`](crate::impact::moreau). All touching walls take part, including those that open.
//! If a touching wall closes afterwards, the instant is resolved again from there. If no impulses make all walls rebound, as
//! in a row of balls that fills a box, the contacts become inelastic where e < 1.

use super::log::StepLog;
use super::maps::Maps;
use super::touching::{Pace, Touching, size_of_motion};
use crate::impact::{Hit, ImpactRule, Tools, resolve, share};
use crate::limits::{FAST, LEAVES, MAX_AT_ONE_INSTANT, NEARLY_REDUNDANT, SLOW_BOUNCE};
use crate::model::settings::Simultaneous;
use crate::phase::{Phase, copy};
use crate::plant::{Evaluator, Facts};
use crate::solve::{NoSolution, Solved};

/// R_reset: the change of the momenta by impacts.
pub(super) struct Resolver {
    pub(super) rule: Box<dyn ImpactRule>,
    pub(super) restitution: Vec<f64>,
    simultaneous: Simultaneous,
    /// The lowest bounce, relative to the way of the fastest motion in a step.
    pub(super) lowest: f64,
    /// The current impact.
    pub(super) hit: Hit,
    pub(super) touching: Touching,
    /// Room for a state.
    next: Phase,
}

impl Resolver {
    pub(super) fn new(rule: Box<dyn ImpactRule>, simultaneous: Simultaneous, lowest: f64, facts: &Facts) -> Resolver {
        Resolver {
            rule,
            restitution: vec![1.0; facts.walls],
            simultaneous,
            lowest,
            hit: Hit::new(&facts.nowhere()),
            touching: Touching::new(facts),
            next: facts.nowhere(),
        }
    }

    /// Applies R_reset to every wall that touches and closes in the state z, where the wall `met` is hit. Records each impact and
    /// the fastest approach so far in the log.
    pub(super) fn reset_all(
        &mut self,
        met: usize,
        z: &mut Phase,
        maps: &mut Maps,
        evaluator: &mut dyn Evaluator,
        log: &mut StepLog,
    ) -> Solved<()> {
        let mut last = None;
        let mut pace = Pace::of(&log.end, self.hit.h, self.lowest);
        let mut slow = Some(self.touching.begin(met, z, pace, evaluator)?);
        for _ in 0..MAX_AT_ONE_INSTANT {
            let closing = self.closing_wall((met, slow.take()), last, z, pace, evaluator)?;
            let Some(wall) = closing else { return Ok(()) };
            self.hit.minus.copy_from(z);
            self.face(wall, evaluator)?;
            let root_w = self.touching.root_of_response(wall, z, evaluator)?;
            if root_w > 0.0 {
                pace.fastest = pace.fastest.max(-self.hit.rate_minus / root_w);
            }
            log.end.fastest = pace.fastest;
            if self.simultaneous == Simultaneous::Moreau && self.collect_touching(met, z, evaluator)? > 1 {
                let touching = &self.touching.walls;
                let rates: Vec<f64> = touching.iter().map(|(_, rate)| *rate).collect();
                let restitution: Vec<f64> = touching.iter().map(|(wall, _)| self.restitution[*wall]).collect();
                match self.reset_at_once(&rates, &restitution, z, evaluator, log) {
                    // A row of bodies without gaps cannot rebound, but with e < 1 it can stop.
                    Err(NoSolution::Squeezed) if restitution.iter().any(|&e| e < 1.0) => {
                        return self.end_without_rebound(met, z, evaluator, log);
                    }
                    done => done?,
                }
                last = None;
            } else {
                let (full, partial) = maps.free_and_partial();
                let mut tools = Tools { evaluator: &mut *evaluator, full, partial, next: &mut self.next };
                let lambda = resolve(&mut *self.rule, &self.hit, log.end.memory.window(), z, &mut tools)?;
                log.push_impact(&self.hit, lambda, z, None);
                // The next bounce follows at the same instant.
                self.hit.begin.copy_from(z);
                self.hit.begins_at_node = false;
                self.hit.energy_before = None;
                last = Some(wall);
            }
        }
        self.end_without_rebound(met, z, evaluator, log)
    }

    /// Applies R_reset to one wall, while all others are far. Returns false, and changes nothing, where it may not be the only impact
    /// of the instant or the wall may hold the motion afterwards: the approach or the rebound is slow.
    pub(super) fn reset_alone(
        &mut self,
        wall: usize,
        z: &mut Phase,
        maps: &mut Maps,
        evaluator: &mut dyn Evaluator,
        log: &mut StepLog,
    ) -> Solved<bool> {
        self.touching.move_with(z, self.hit.h, evaluator)?;
        let (gap, rate) = evaluator.gap_and_rate(wall, z)?;
        if rate >= 0.0 || !self.rule.is_reflection() {
            return Ok(false);
        }
        let roundoff = self.touching.roundoff(wall, rate, z, evaluator)?;
        let of_rate = evaluator.size_of_rate(wall, z)?;
        let motion = size_of_motion(z, evaluator)?;
        self.hit.minus.copy_from(z);
        self.face(wall, evaluator)?;
        let (full, partial) = maps.free_and_partial();
        let mut tools = Tools { evaluator: &mut *evaluator, full, partial, next: &mut self.next };
        let Ok(lambda) = resolve(&mut *self.rule, &self.hit, log.end.memory.window(), z, &mut tools) else {
            z.copy_from(&self.hit.minus);
            return Ok(false);
        };
        // λ = (1 + e)|φ̇|/W.
        let (e, root_w) = (self.hit.restitution, ((1.0 + self.hit.restitution) * -rate / lambda).sqrt());
        let (speed, h) = (-rate / root_w, self.hit.h.abs());
        let fastest = log.end.fastest.max(speed);
        let is_fast = speed * speed > 2.0 * NEARLY_REDUNDANT * motion * motion
            && -rate > FAST * of_rate
            && gap.abs() <= FAST * h * -rate;
        let rebounds = match e < 1.0 {
            true => e * speed > 2.0 * SLOW_BOUNCE * fastest,
            false => -rate * h > 2.0 * LEAVES * roundoff,
        };
        if !(is_fast && rebounds) {
            z.copy_from(&self.hit.minus);
            return Ok(false);
        }
        log.end.fastest = fastest;
        log.push_impact(&self.hit, lambda, z, None);
        Ok(true)
    }

    /// Ends an unbounded sequence of bounces: sets e = 0 for all touching walls at once, which gives the nearest velocity in the
    /// mass metric that enters none of them. With e = 1 on all walls this would dissipate energy, so it is an error.
    fn end_without_rebound(
        &mut self,
        met: usize,
        z: &mut Phase,
        evaluator: &mut dyn Evaluator,
        log: &mut StepLog,
    ) -> Solved<()> {
        self.touching.collect(met, z, evaluator)?;
        if self.touching.walls.iter().all(|(wall, _)| self.restitution[*wall] == 1.0) {
            return Err(NoSolution::Accumulated);
        }
        self.hit.minus.copy_from(z);
        let rates: Vec<f64> = self.touching.walls.iter().map(|(_, rate)| *rate).collect();
        self.reset_at_once(&rates, &vec![0.0; rates.len()], z, evaluator, log)
    }

    /// The next wall that touches and closes, in the order of the model after `last`. The wall that is met may come with the rate that
    /// is slow there.
    fn closing_wall(
        &mut self,
        (met, slow): (usize, Option<f64>),
        last: Option<usize>,
        z: &Phase,
        pace: Pace,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<Option<usize>> {
        let (first, count) = (last.map_or(0, |last| last + 1), self.restitution.len());
        for wall in (first..first + count).map(|wall| wall % count).filter(|&wall| last != Some(wall)) {
            let (gap, rate) = evaluator.gap_and_rate(wall, z)?;
            if rate >= 0.0 || !(wall == met || self.touching.is_closed(wall, (gap, rate), z, evaluator)?) {
                continue;
            }
            let slow = match slow.filter(|_| wall == met) {
                Some(slow) => slow,
                None => self.touching.slow(wall, rate, z, pace, evaluator)?,
            };
            if rate < -slow && !self.touching.gives_way(wall, (gap, rate), z, pace, evaluator)? {
                return Ok(Some(wall));
            }
        }
        Ok(None)
    }

    /// Lists the walls that touch, with their rates; how many there are.
    fn collect_touching(&mut self, met: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<usize> {
        self.touching.collect(met, z, evaluator)?;
        Ok(self.touching.walls.len())
    }

    /// Applies the impulses of all walls in `touching` at once, from the state `hit.minus`, where their rates are u⁻.
    fn reset_at_once(
        &mut self,
        u_minus: &[f64],
        restitution: &[f64],
        z: &mut Phase,
        evaluator: &mut dyn Evaluator,
        log: &mut StepLog,
    ) -> Solved<()> {
        let w = self.touching.responses(&self.hit.minus, evaluator)?;
        let demand: Vec<f64> = u_minus.iter().zip(restitution).map(|(u, e)| -(1.0 + e) * u).collect();
        let size = size_of_motion(&self.hit.minus, evaluator)?;
        let mut sizes = Vec::new();
        let (pace, walls) = (Pace::of(&log.end, self.hit.h, self.lowest), self.touching.walls.clone());
        for (wall, rate) in walls {
            // A wall that the motion has already entered does not give way.
            let gap = evaluator.gap_and_rate(wall, &self.hit.minus)?.0;
            let lowest = self.touching.scale(wall, rate, &self.hit.minus, pace, evaluator)?.lowest;
            sizes.push(if gap.abs() <= lowest { size } else { 0.0 });
        }
        let impulses = share(&w, &demand, |k| sizes[k]).ok_or(NoSolution::Squeezed)?;
        let pushing = impulses.into_iter().enumerate().filter(|(_, lambda)| *lambda > 0.0);
        for (number, (k, lambda)) in pushing.enumerate() {
            self.face(self.touching.walls[k].0, evaluator)?;
            // Each record has its own impulse, and the rate before all of them.
            (self.hit.rate_minus, self.hit.restitution) = (u_minus[k], restitution[k]);
            self.hit.push(lambda, z, evaluator)?;
            log.push_impact(&self.hit, lambda, z, Some(number));
            self.hit.minus.copy_from(z);
        }
        Ok(())
    }

    /// Describes the impact of `hit.minus` on a wall.
    fn face(&mut self, wall: usize, evaluator: &mut dyn Evaluator) -> Solved<()> {
        let hit = &mut self.hit;
        hit.wall = wall;
        hit.restitution = self.restitution[wall];
        hit.phi_t = evaluator.normal(wall, &hit.minus, &mut hit.grad_phi);
        copy(&mut hit.v_minus, evaluator.velocity(&hit.minus)?);
        hit.rate_minus = evaluator.gap_and_rate(wall, &hit.minus)?.1;
        Ok(())
    }
}
