//! The time at which a gap closes, between a moment when it is open and one when it is not.

use super::event::Search;
use super::moment::{Moment, cubic_root};
use crate::limits::{GAP_ROUNDOFF, NEWTON_TRIALS};
use crate::phase::Phase;
use crate::solve::{NoSolution, root};

impl Search<'_> {
    /// The root of φ between a moment when the gap is open and one when it is not: Newton's method on the length of a partial
    /// step, from the root of the cubic through both moments. Mostly the second trial is the wall.
    pub(super) fn closing(
        &mut self,
        wall: usize,
        z0: &Phase,
        open: Moment,
        shut: Moment,
    ) -> Result<Option<f64>, NoSolution> {
        let length = shut.tau - open.tau;
        let enough = f64::EPSILON * (z0.t.abs() + shut.tau);
        let mut tau = open.tau + length * cubic_root(open, shut);
        let mut last: Option<Moment> = None;
        for _ in 0..NEWTON_TRIALS {
            let moment = self.moment_after(wall, z0, tau)?;
            // φ̇ is not quite the slope: the end of a discrete step of length τ moves with τ at another velocity than v.
            let secant = last.map_or(moment.rate, |last| (moment.gap - last.gap) / (moment.tau - last.tau));
            let correction = -moment.gap / if secant < 0.0 { secant } else { moment.rate };
            if correction.abs() <= enough {
                // Late in a run this is more than the roundoff of τ and of the gap.
                let is_there = tau + correction <= 0.0 || self.is_roundoff(wall, moment.gap)?;
                return Ok(Some(if is_there { tau } else { tau + correction }));
            }
            // A slow motion is in the roundoff of the gap for longer: trials then come no nearer.
            if last.is_some() && moment.rate < 0.0 && self.is_roundoff(wall, moment.gap)? {
                return Ok(Some((tau - moment.gap / moment.rate).max(0.5 * tau)));
            }
            // Not beyond the moments, which are themselves known but to the accuracy of a polynomial.
            tau += correction;
            let outside = (open.tau - tau).max(tau - shut.tau);
            if !(moment.rate < 0.0 && outside <= 0.01 * length && tau > 0.0) {
                break;
            }
            last = Some(moment);
        }
        self.falling_to(0.0, wall, z0, open, shut)
    }

    /// True if a gap in the state of `probe` is the roundoff of its evaluation there.
    pub(super) fn is_roundoff(&mut self, wall: usize, gap: f64) -> Result<bool, NoSolution> {
        Ok(gap.abs() <= GAP_ROUNDOFF * self.evaluator.size_of_gap(wall, self.probe, self.probe.q())?)
    }

    /// When the gap falls to a level, by a bracket that shrinks: where Newton's method fails, or the level is not zero.
    pub(super) fn falling_to(
        &mut self,
        level: f64,
        wall: usize,
        z0: &Phase,
        open: Moment,
        shut: Moment,
    ) -> Result<Option<f64>, NoSolution> {
        let shut = self.exact(wall, z0, shut)?;
        if shut.gap > level {
            return Ok(None);
        }
        let first = open.tau + (shut.tau - open.tau) * (open.gap - level) / (open.gap - shut.gap);
        let value = |tau: f64| self.moment_after(wall, z0, tau).map(|moment| (moment.gap - level, moment.rate));
        root::bracketed(value, (open.tau, open.gap - level), (shut.tau, shut.gap - level), first).map(Some)
    }
}
