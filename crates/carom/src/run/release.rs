//! The forces of walls that hold, and when they let go: N would pull.

use super::algorithm::Machine;
use super::event::Contact;
use super::rest::{NO_FORCE, Rest};
use crate::flow::Phase;
use crate::solve::{Solved, root};

/// The forces of walls are looked at at no more places inside a step than this.
const MOST_LOOKS: usize = 3;
/// A force below this part of all forces, with the other sign, pulls.
const PULLS: f64 = 1e-6;

impl Machine {
    /// The first wall that lets go on the way from z0 to z1 = Φ_τ(z0), and when: its force changes its sign.
    pub(super) fn first_release(&mut self, z0: &Phase, z1: &Phase, tau: f64) -> Solved<Option<Contact>> {
        if self.mode() == 0 {
            return Ok(None);
        }
        let mut before = (0.0, self.forces(z0)?);
        // A force may change its sign twice in a step.
        let inside = self.full.moments().min(MOST_LOOKS);
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

    /// The same between two times of the step, with the forces at them.
    fn release_between(
        &mut self,
        z0: &Phase,
        (begin, before): &(f64, Vec<f64>),
        (end, after): (f64, &[f64]),
    ) -> Solved<Option<Contact>> {
        let total: f64 = before.iter().chain(after).map(|force| force.abs()).sum();
        let mut first: Option<Contact> = None;
        for k in 0..after.len() {
            if after[k] >= -NO_FORCE * total {
                continue;
            }
            let wall = self.rest.as_ref().map_or(0, |rest| rest.walls()[k]);
            let dtau = match before[k] > 0.0 {
                true => self.root_of_force(k, z0, (*begin, before[k]), (end, after[k]))?,
                false => *begin,
            };
            if first.is_none_or(|contact| dtau < contact.dtau) {
                first = Some(Contact { wall, dtau, lets_go: true });
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
        let mut probe = self.probe.clone();
        self.full.step(z0, tau, &mut probe)?;
        self.forces(&probe)
    }

    /// A wall that holds the motion in `probe` and would have to pull, by far more than roundoff.
    pub(super) fn pulling_wall(&mut self) -> Solved<Option<usize>> {
        if self.mode() == 0 {
            return Ok(None);
        }
        let forces = self.forces(&self.probe.clone())?;
        let total: f64 = forces.iter().map(|force| force.abs()).sum();
        let pulls = forces.iter().position(|&force| force < -PULLS * total);
        Ok(pulls.and_then(|k| self.rest.as_ref().map(|rest| rest.walls()[k])))
    }

    /// The power of the walls that hold, −N φ_t, and of the constraints, λ·g_t, which they have where they move.
    pub(super) fn power_of_hold(&mut self, z: &Phase) -> Solved<f64> {
        self.forces(z)?;
        Ok(self.rest.as_mut().and_then(Rest::hold).map_or(0.0, |hold| hold.reaction.power()))
    }

    /// The forces N of the walls that hold.
    fn forces(&mut self, z: &Phase) -> Solved<Vec<f64>> {
        let v = self.field.velocity(z.t, &z.z)?.to_vec();
        let Some(hold) = self.rest.as_mut().and_then(Rest::hold) else { return Ok(Vec::new()) };
        hold.reaction.at(z.t, z.q(), &v)?;
        Ok(hold.reaction.multipliers()[hold.constraints..].iter().map(|lambda| -lambda).collect())
    }
}
