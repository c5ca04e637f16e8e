//! Steps whose length follows from their error.

use super::algorithm::{EventDriven, Events};
use super::log::StepLog;
use super::state::Memory;
use crate::limits::{LOOK_AHEAD, SHORTEST_STEP};
use crate::solve::{NoSolution, Solved};

impl EventDriven {
    /// One step of Algorithm 1 that ends at `until` or earlier: each smooth arc is as long as the control allows, and the step
    /// ends with the first arc that meets no wall.
    pub(super) fn advance_controlled(&mut self, until: f64, log: &mut StepLog) -> Solved<()> {
        let (mut left, mut interval, mut events) = (None, 0.0, Events::default());
        loop {
            let rest = until - self.z.t;
            if rest <= 0.0 {
                // The last event is at the end time.
                self.z1.copy_from(&self.z);
                return Ok(());
            }
            // In a sequence of bounces the next event follows after about the same interval.
            let near = if interval > 0.0 { LOOK_AHEAD * interval } else { f64::INFINITY };
            let h = self.solve_controlled(rest.min(near), log)?;
            let Some(encounter) = self.first_encounter(h, left, log.end.fastest)? else {
                if h == rest {
                    self.z1.t = until;
                }
                return Ok(());
            };
            events.count(&encounter, self.z.t)?;
            let pace = self.resolver.hit.h;
            let stop = self.resolve(&encounter, h, &events, pace, log)?;
            if let Some(wait) = stop {
                return self.maps.partial().step(&self.z, wait.min(until - self.z.t), &mut self.z1);
            }
            (left, interval) = (Some(encounter.wall), events.interval(&encounter));
        }
    }

    /// Makes a step from z to z1 that is no longer than `limit` and whose local error is within the tolerance, and returns its
    /// length.
    fn solve_controlled(&mut self, limit: f64, log: &mut StepLog) -> Solved<f64> {
        let Memory::Control(control) = &mut log.end.memory else { return Err(NoSolution::Diverged) };
        let EventDriven { maps, spectrum, z, z1, resolver, .. } = self;
        let flow = maps.full();
        let order = flow.order();
        let wanted = control.h.min(control.longest);
        let (mut h, mut is_first) = (wanted.min(limit), true);
        loop {
            if h < limit && h <= SHORTEST_STEP * z.t.abs().max(limit) {
                return Err(NoSolution::TooShort);
            }
            let error = match flow.step(z, h, z1) {
                Ok(()) if flow.write_moments(z, h, &mut spectrum.moments) => spectrum.error(h, order, control),
                Ok(()) => return Err(NoSolution::Diverged),
                Err(_) => f64::NAN,
            };
            if error <= control.tolerance {
                let next = h * control.factor(error, order);
                // A step that was cut at the limit does not make the next one shorter, and bounces are low relative to the
                // way of a step that is not cut.
                let is_cut = is_first && h < wanted;
                control.h = if is_cut { next.max(wanted) } else { next };
                resolver.hit.h = if is_cut { wanted } else { h };
                log.h = h;
                return Ok(h);
            }
            h *= control.shrink(error, order);
            is_first = false;
        }
    }
}
