//! All impacts of one instant: a corner, a row of balls that touch.
//!
//! One after the other (`simultaneous = "sequential"`): the walls are gone through in the order of the model, again and
//! again, and each that touches and closes bounces, until none closes. The order is thus the user's and does not hang on
//! roundoff in the times of the impacts. Each bounce keeps or loses energy by its own law, so that the sequence makes
//! none. Walls that are orthogonal in the mass metric do not see each other's bounces: every order gives the same. In a
//! corner of angle α at most ⌈π/α⌉ bounces are needed for e = 1. With e < 1 there may be no end, as in a stack of balls
//! that falls: the bounces get slower and slower. Their number is bounded; what is left then ends without a rebound.
//!
//! All at once (`"moreau"`): see [`moreau`](crate::impact::moreau). Walls that touch and already open wait; if the impulses
//! close them, they have their turn in another round. Where no impulses make all walls rebound, as in a row of balls that
//! fills a box, none does.

use super::algorithm::Machine;
use super::event::TOUCHING;
use crate::flow::Phase;
use crate::impact::{Hit, NEARLY_DEPENDENT, Tools, left_of_dependent, resolve, share};
use crate::model::settings::Simultaneous;
use crate::solve::NoSolution;

/// More bounces than this at one instant are not resolved.
pub(super) const MAX_AT_ONE_INSTANT: usize = 1000;

/// An approach slower than this part of the fastest impact so far, or of the velocities whose difference it is, is roundoff.
pub(super) const SLOW: f64 = 1e-13;

/// A wall that opens no faster than this part of the fastest approach takes part in an impact of all at once.
const AT_REST: f64 = 1e-12;

impl Machine {
    /// A rate that is as good as none.
    pub(super) fn slow(&mut self, wall: usize, z: &Phase) -> Result<f64, NoSolution> {
        Ok(SLOW * self.fastest.max(self.walls.size_of_rate(wall, z, &mut self.field)?))
    }

    /// R_reset for every wall that touches and closes in the state z, where the wall `met` is met. `see` is told of each.
    pub(super) fn reset_all(
        &mut self,
        met: usize,
        z: &mut Phase,
        see: &mut impl FnMut(&Hit, f64, &Phase),
    ) -> Result<(), NoSolution> {
        let mut last = None;
        for _ in 0..MAX_AT_ONE_INSTANT {
            let Some(wall) = self.closing_wall(met, last, z)? else { return Ok(()) };
            self.hit.minus.copy_from(z);
            self.face(wall)?;
            self.fastest = self.fastest.max(-self.hit.rate_minus);
            if self.simultaneous == Simultaneous::Moreau && self.collect_closing_walls(met, z)? > 1 {
                let rates: Vec<f64> = self.touching.iter().map(|(_, rate)| rate.min(0.0)).collect();
                let restitution: Vec<f64> = self.touching.iter().map(|(wall, _)| self.restitution[*wall]).collect();
                match self.reset_at_once(&rates, &restitution, z, see) {
                    // A row without play cannot rebound.
                    Err(NoSolution::Squeezed) => return self.end_without_rebound(met, z, see),
                    done => done?,
                }
                last = None;
            } else {
                let lambda = self.reset(z)?;
                see(&self.hit, lambda, z);
                // The piece before the next bounce has no length.
                self.hit.begin.copy_from(z);
                self.hit.energy_before = None;
                last = Some(wall);
            }
        }
        self.end_without_rebound(met, z, see)
    }

    /// Ends bounces that do not come to an end: e = 0 for all walls that touch, all at once, which is the nearest motion
    /// in the mass metric that enters none of them. Without loss, e = 1, the bounces would have had to end by themselves.
    fn end_without_rebound(
        &mut self,
        met: usize,
        z: &mut Phase,
        see: &mut impl FnMut(&Hit, f64, &Phase),
    ) -> Result<(), NoSolution> {
        self.collect_touching_walls(met, z)?;
        if self.touching.iter().all(|(wall, _)| self.restitution[*wall] == 1.0) {
            return Err(NoSolution::Accumulated);
        }
        self.hit.minus.copy_from(z);
        let rates: Vec<f64> = self.touching.iter().map(|(_, rate)| *rate).collect();
        self.reset_at_once(&rates, &vec![0.0; rates.len()], z, see)
    }

    /// The next wall that touches and closes after the one that has just been left.
    fn closing_wall(&mut self, met: usize, last: Option<usize>, z: &Phase) -> Result<Option<usize>, NoSolution> {
        let (first, count) = (last.map_or(0, |last| last + 1), self.walls.count());
        for wall in (first..first + count).map(|wall| wall % count).filter(|&wall| last != Some(wall)) {
            let (gap, rate) = self.walls.gap_and_rate(wall, z, &mut self.field)?;
            let closes = (wall == met || gap <= TOUCHING) && rate < 0.0 && rate < -self.slow(wall, z)?;
            if closes && !self.yields(wall, (gap, rate), z)? {
                return Ok(Some(wall));
            }
        }
        Ok(None)
    }

    /// True if a wall that touches closes by no more than what its gradient differs by from a combination of those of other walls
    /// that touch. A ball that slips between two others without play meets neither of them.
    pub(super) fn yields(&mut self, wall: usize, (gap, rate): (f64, f64), z: &Phase) -> Result<bool, NoSolution> {
        if gap.abs() > TOUCHING {
            return Ok(false);
        }
        self.in_mode(0, |machine| {
            let size = machine.size_of_motion(z)?;
            machine.hit.minus.copy_from(z);
            machine.touching.clear();
            machine.touching.push((wall, rate));
            let own = machine.responses()?[0];
            if rate * rate > NEARLY_DEPENDENT * own * size * size {
                return Ok(false);
            }
            machine.collect_touching_walls(wall, z)?;
            let w = machine.responses()?;
            let number = machine.touching.iter().position(|(touching, _)| *touching == wall);
            let left = number.and_then(|number| left_of_dependent(&w, machine.touching.len(), number));
            Ok(left.is_some_and(|left| rate * rate <= left * size * size))
        })
    }

    /// √(v·M v), or what it is where L is not quadratic in v.
    fn size_of_motion(&mut self, z: &Phase) -> Result<f64, NoSolution> {
        let v = self.field.velocity(z.t, &z.z)?;
        Ok(z.p().iter().zip(v).map(|(p, v)| p * v).sum::<f64>().abs().sqrt())
    }

    /// Lists the walls that touch and do not open, with their rates; how many there are.
    fn collect_closing_walls(&mut self, met: usize, z: &Phase) -> Result<usize, NoSolution> {
        self.collect_touching_walls(met, z)?;
        let fastest = self.touching.iter().map(|(_, rate)| -rate).fold(0.0, f64::max);
        let mut closing = std::mem::take(&mut self.touching);
        let mut slow = 0.0;
        for (wall, _) in &closing {
            slow = f64::max(slow, self.slow(*wall, z)?);
        }
        closing.retain(|(_, rate)| *rate <= slow.max(AT_REST * fastest));
        self.touching = closing;
        Ok(self.touching.len())
    }

    /// Lists the walls that touch, with their rates.
    fn collect_touching_walls(&mut self, met: usize, z: &Phase) -> Result<(), NoSolution> {
        self.touching.clear();
        for wall in 0..self.walls.count() {
            let (gap, rate) = self.walls.gap_and_rate(wall, z, &mut self.field)?;
            if wall == met || gap <= TOUCHING {
                self.touching.push((wall, rate));
            }
        }
        Ok(())
    }

    /// The impulses of the walls in `touching`, all at once, from the state `hit.minus`, where their rates are u⁻.
    fn reset_at_once(
        &mut self,
        u_minus: &[f64],
        restitution: &[f64],
        z: &mut Phase,
        see: &mut impl FnMut(&Hit, f64, &Phase),
    ) -> Result<(), NoSolution> {
        let w = self.responses()?;
        let demand: Vec<f64> = u_minus.iter().zip(restitution).map(|(u, e)| -(1.0 + e) * u).collect();
        let z0 = self.hit.minus.clone();
        let size = self.size_of_motion(&z0)?;
        let mut sizes = Vec::new();
        for k in 0..self.touching.len() {
            // A wall that is already entered does not yield.
            let gap = self.walls.gap_and_rate(self.touching[k].0, &z0, &mut self.field)?.0;
            sizes.push(if gap.abs() <= TOUCHING { size } else { 0.0 });
        }
        let impulses = share(&w, &demand, |k| sizes[k]).ok_or(NoSolution::Squeezed)?;
        for (k, lambda) in impulses.into_iter().enumerate().filter(|(_, lambda)| *lambda > 0.0) {
            self.face(self.touching[k].0)?;
            // What is told of each is its own impulse; the rate is that before all of them.
            (self.hit.rate_minus, self.hit.restitution) = (u_minus[k], restitution[k]);
            self.hit.push(lambda, z, &mut self.field)?;
            see(&self.hit, lambda, z);
            self.hit.minus.copy_from(z);
        }
        Ok(())
    }

    /// W by rows: how the rate of each wall in `touching` answers to an impulse of each.
    pub(super) fn responses(&mut self) -> Result<Vec<f64>, NoSolution> {
        let m = self.touching.len();
        let mut w = vec![0.0; m * m];
        for j in 0..m {
            self.face(self.touching[j].0)?;
            let size = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
            let lambda = size(self.hit.minus.p()).max(1e-3) / size(&self.hit.grad_phi);
            self.hit.push(lambda, &mut self.next, &mut self.field)?;
            for i in 0..m {
                let (wall, before) = self.touching[i];
                w[i * m + j] = (self.walls.gap_and_rate(wall, &self.next, &mut self.field)?.1 - before) / lambda;
            }
        }
        Ok(w)
    }

    /// Describes the impact of `hit.minus` on a wall.
    pub(super) fn face(&mut self, wall: usize) -> Result<(), NoSolution> {
        let hit = &mut self.hit;
        hit.wall = wall;
        hit.restitution = self.restitution[wall];
        hit.phi_t = self.walls.normal(wall, &hit.minus, &mut hit.grad_phi);
        hit.rate_minus = self.walls.gap_and_rate(wall, &hit.minus, &mut self.field)?.1;
        Ok(())
    }

    /// R_reset: z becomes (q_i, p⁻ + λ∇φ).
    fn reset(&mut self, z: &mut Phase) -> Result<f64, NoSolution> {
        let partial = self.partial.as_mut().map(|partial| &mut **partial as &mut dyn crate::flow::Flow);
        let mut tools = Tools { field: &mut self.field, full: &mut *self.full, partial, next: &mut self.next };
        resolve(&mut *self.rule, &self.hit, z, &mut tools)
    }
}
