//! The forces of walls that hold, and when they let go: N would pull.

use super::algorithm::Machine;
use super::event::Contact;
use super::rest::{NO_FORCE, Rest};
use crate::flow::Phase;
use crate::solve::{Solved, root};

/// A force below this part of all forces, with the other sign, pulls.
const PULLS: f64 = 1e-6;

/// A force below this part of all forces is roundoff.
const ROUNDOFF: f64 = 1e-14;

/// The forces of the walls that hold at a moment of a step.
#[derive(Default)]
pub(super) struct Look {
    tau: f64,
    forces: Vec<f64>,
    /// On the flow itself, not on a polynomial near it.
    is_exact: bool,
}

// The looks at two moments in turn, and on the way between them.
const BEFORE: usize = 0;
const AFTER: usize = 1;
const BETWEEN: usize = 2;

impl Look {
    /// Σ|N|.
    fn total(&self) -> f64 {
        self.forces.iter().map(|force| force.abs()).sum()
    }
}

impl Rest {
    /// Looks at the forces at (t, q, v), τ into the step.
    fn look(&mut self, which: usize, (tau, is_exact): (f64, bool), t: f64, q: &[f64], v: &[f64]) -> Solved<()> {
        let Some(hold) = &mut self.modes[self.mode].hold else { return Ok(()) };
        hold.active.react(t, q, v)?;
        let look = &mut self.looks[which];
        (look.tau, look.is_exact) = (tau, is_exact);
        look.forces.clear();
        look.forces.extend(hold.active.forces());
        Ok(())
    }

    /// A force as small as this is none, at the two moments.
    fn nothing(&self) -> f64 {
        NO_FORCE * (self.looks[BEFORE].total() + self.looks[AFTER].total())
    }
}

impl Machine {
    /// The first wall that lets go on the way from z0 to z1 = Φ_τ(z0), and when: its force changes its sign.
    pub(super) fn first_release(&mut self, z0: &Phase, z1: &Phase, tau: f64) -> Solved<Option<Contact>> {
        if self.mode() == 0 {
            return Ok(None);
        }
        self.look_at_forces(AFTER, 0.0, z0)?;
        // A force may change its sign twice in a step. The moments inside it are near the motion, not on it.
        self.look_inside(z0, tau)?;
        let count = self.walls.moments.count;
        for k in 0..=count {
            let Machine { rest: Some(rest), walls, .. } = self else { return Ok(None) };
            rest.looks.swap(BEFORE, AFTER);
            if k < count {
                let tau = walls.moments.tau[k];
                let (t, q, v) = walls.moment(k);
                rest.look(AFTER, (tau, false), t, q, v)?;
            } else {
                self.look_at_forces(AFTER, tau, z1)?;
            }
            if self.pulls() {
                self.look_exactly(BEFORE, z0)?;
                self.look_exactly(AFTER, z0)?;
                let release = self.release_between(z0)?;
                if release.is_some() {
                    return Ok(release);
                }
            }
        }
        Ok(None)
    }

    /// True if a force would pull at the second of two moments.
    fn pulls(&self) -> bool {
        let pulls = |rest: &Rest| rest.looks[AFTER].forces.iter().any(|force| *force < -rest.nothing());
        self.rest.as_ref().is_some_and(pulls)
    }

    /// The first wall that lets go between two moments.
    fn release_between(&mut self, z0: &Phase) -> Solved<Option<Contact>> {
        let mut first: Option<Contact> = None;
        let count = self.rest.as_ref().map_or(0, |rest| rest.walls().len());
        for k in 0..count {
            let Some(rest) = &self.rest else { break };
            let (wall, nothing) = (rest.walls()[k], rest.nothing());
            let [before, after] = [BEFORE, AFTER].map(|which| (rest.looks[which].tau, rest.looks[which].forces[k]));
            if after.1 >= -nothing {
                continue;
            }
            let dtau = if before.1 > 0.0 { self.root_of_force(k, z0, before, after)? } else { before.0 };
            if first.is_none_or(|contact| dtau < contact.dtau) {
                first = Some(Contact { wall, dtau, lets_go: true });
            }
        }
        Ok(first)
    }

    /// When a force changes its sign, to the roundoff of all forces.
    fn root_of_force(&mut self, k: usize, z0: &Phase, a: (f64, f64), b: (f64, f64)) -> Solved<f64> {
        let mut last = if a.1.abs() < b.1.abs() { a } else { b };
        let value = |dtau: f64| {
            self.look_at_forces_after(BETWEEN, dtau, z0)?;
            let (force, total) = self
                .rest
                .as_ref()
                .map_or((0.0, 0.0), |rest| (rest.looks[BETWEEN].forces[k], rest.looks[BETWEEN].total()));
            let slope = (force - last.1) / (dtau - last.0);
            last = (dtau, force);
            Ok((if force.abs() <= ROUNDOFF * total { 0.0 } else { force }, slope))
        };
        root::bracketed(value, a, b, a.0 - a.1 * (b.0 - a.0) / (b.1 - a.1))
    }

    /// A wall that holds the motion in `probe` and would have to pull, by far more than roundoff.
    pub(super) fn pulling_wall(&mut self) -> Solved<Option<usize>> {
        if self.mode() == 0 {
            return Ok(None);
        }
        self.look_at_forces_in_probe(BETWEEN, 0.0)?;
        let Some(rest) = &self.rest else { return Ok(None) };
        let look = &rest.looks[BETWEEN];
        let pulls = look.forces.iter().position(|&force| force < -PULLS * look.total());
        Ok(pulls.map(|k| rest.walls()[k]))
    }

    /// The power of the walls that hold, −N φ_t, and of the constraints, λ·g_t, which they have where they move.
    pub(super) fn power_of_hold(&mut self, z: &Phase) -> Solved<f64> {
        self.look_at_forces(BETWEEN, 0.0, z)?;
        Ok(self.rest.as_mut().and_then(Rest::hold).map_or(0.0, |hold| hold.active.power()))
    }

    /// Looks at the forces in a state.
    fn look_at_forces(&mut self, which: usize, tau: f64, z: &Phase) -> Solved<()> {
        self.probe.copy_from(z);
        self.look_at_forces_in_probe(which, tau)
    }

    /// Looks at the forces at Φ_τ(z0).
    fn look_at_forces_after(&mut self, which: usize, tau: f64, z0: &Phase) -> Solved<()> {
        self.full.step(z0, tau, &mut self.probe)?;
        self.look_at_forces_in_probe(which, tau)
    }

    fn look_at_forces_in_probe(&mut self, which: usize, tau: f64) -> Solved<()> {
        let Machine { rest: Some(rest), field, probe, .. } = self else { return Ok(()) };
        let v = field.velocity(probe.t, &probe.z)?;
        rest.look(which, (tau, true), probe.t, probe.q(), v)
    }

    /// Looks again, on the flow itself.
    fn look_exactly(&mut self, which: usize, z0: &Phase) -> Solved<()> {
        match self.rest.as_ref().map(|rest| &rest.looks[which]) {
            Some(Look { is_exact: false, tau, .. }) => self.look_at_forces_after(which, *tau, z0),
            _ => Ok(()),
        }
    }
}
