//! The forces of walls that hold, and when they let go: N would pull.

use super::event::{Encounter, Search};
use crate::limits::{MOST_LOOKS, NO_FORCE, PULLS};
use crate::phase::Phase;
use crate::solve::{Solved, root};

impl Search<'_> {
    /// The first wall that lets go on the way from z0 to z1 = Φ_τ(z0), and when: its force changes its sign.
    pub(super) fn first_release(&mut self, z0: &Phase, z1: &Phase, tau: f64) -> Solved<Option<Encounter>> {
        if self.maps.holding().is_empty() {
            return Ok(None);
        }
        let mut before = (0.0, self.forces(z0)?);
        // A force may change its sign twice in a step.
        let inside = self.maps.full().moments().min(MOST_LOOKS);
        for look in 1..=inside + 1 {
            let is_last = look > inside;
            let end = if is_last { tau } else { tau * look as f64 / (inside + 1) as f64 };
            let after = if is_last { self.forces(z1)? } else { self.forces_after(z0, end)? };
            let release = self.release_between(z0, &before, (end, &after))?;
            if release.is_some() {
                return Ok(release);
            }
            before = (end, after);
        }
        Ok(None)
    }

    /// The first wall that lets go between two times of the step, given the forces at them.
    fn release_between(
        &mut self,
        z0: &Phase,
        (begin, before): &(f64, Vec<f64>),
        (end, after): (f64, &[f64]),
    ) -> Solved<Option<Encounter>> {
        let total: f64 = before.iter().chain(after).map(|force| force.abs()).sum();
        let mut first: Option<Encounter> = None;
        for k in 0..after.len() {
            if after[k] >= -NO_FORCE * total {
                continue;
            }
            let wall = self.maps.holding()[k];
            let dtau = match before[k] > 0.0 {
                true => self.root_of_force(k, z0, (*begin, before[k]), (end, after[k]))?,
                false => *begin,
            };
            if first.is_none_or(|contact| dtau < contact.dtau) {
                first = Some(Encounter { wall, dtau, lets_go: true });
            }
        }
        Ok(first)
    }

    fn root_of_force(&mut self, k: usize, z0: &Phase, a: (f64, f64), b: (f64, f64)) -> Solved<f64> {
        let slope = (b.1 - a.1) / (b.0 - a.0);
        let value = |dtau: f64| Ok((self.forces_after(z0, dtau)?[k], slope));
        root::bracketed(value, a, b, a.0 - a.1 / slope)
    }

    /// The forces at Φ_τ(z0).
    fn forces_after(&mut self, z0: &Phase, tau: f64) -> Solved<Vec<f64>> {
        self.maps.full().step(z0, tau, self.probe)?;
        self.maps.forces(self.probe)
    }

    /// The forces at z.
    fn forces(&mut self, z: &Phase) -> Solved<Vec<f64>> {
        self.maps.forces(z)
    }
}

/// Of walls with these forces one that would have to pull, by far more than roundoff.
pub(crate) fn pulling(forces: &[f64]) -> Option<usize> {
    let total: f64 = forces.iter().map(|force| force.abs()).sum();
    forces.iter().position(|&force| force < -PULLS * total)
}
