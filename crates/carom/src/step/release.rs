//! The forces of the walls that hold the motion, the times at which they let go because N would become negative, and how the motion
//! leaves them.

use super::event::{Encounter, Kind, Search};
use super::moment::{Moment, dip};
use super::touching::{Scale, root_of_response};
use crate::limits::{FORCE_ROUNDOFF, LOW_FORCE, NO_FORCE, PULLS, SINKS};
use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::solve::{Solved, root};

/// The forces of the walls that hold at moments of a step.
#[derive(Default)]
pub(super) struct Looks {
    before: Look,
    after: Look,
    /// Forces between the two moments.
    between: Vec<f64>,
    /// The times of all moments of a step, and the forces there.
    times: Vec<f64>,
    seen: Vec<f64>,
    /// √W of the walls at the start of the step, where a force was negative: N√W is in the same unit for all walls.
    roots: Vec<f64>,
}

/// The forces at one moment.
#[derive(Default)]
struct Look {
    tau: f64,
    forces: Vec<f64>,
    /// True if computed on the flow itself, false if on the interpolating polynomial.
    is_exact: bool,
}

impl Looks {
    /// N√W below this value counts as zero.
    fn nothing(&self) -> f64 {
        NO_FORCE * (total(&self.before.forces, &self.roots) + total(&self.after.forces, &self.roots))
    }

    /// Notes the forces at the second moment.
    fn note(&mut self) {
        self.times.push(self.after.tau);
        self.seen.extend_from_slice(&self.after.forces);
    }

    /// The time at which force k may be negative around moment i: its least value on a parabola, if that is far below the force there.
    fn dip(&self, k: usize, i: usize) -> Option<f64> {
        let count = self.after.forces.len();
        dip([i - 1, i, i + 1].map(|i| (self.times[i], self.seen[i * count + k])), LOW_FORCE)
    }

    /// True if a force is negative at the second moment.
    fn pull(&self) -> bool {
        let nothing = self.nothing();
        self.after.forces.iter().zip(&self.roots).any(|(force, root)| force * root < -nothing)
    }
}

impl Search<'_> {
    /// The first wall whose force changes sign between z0 and z1 = Φ_τ(z0), and the time at which it does.
    pub(super) fn first_release(&mut self, z0: &Phase, z1: &Phase, tau: f64) -> Solved<Option<Encounter>> {
        if self.maps.holding().is_empty() {
            return Ok(None);
        }
        self.looks.after.tau = 0.0;
        self.look_at_forces(z0)?;
        self.looks.times.clear();
        self.looks.seen.clear();
        self.looks.roots.clear();
        self.looks.note();
        // A force may change its sign twice in a step. The moments inside the step lie on the polynomial, not on the flow.
        self.look_inside(z0, tau)?;
        let count = self.evaluator.moments().count;
        for k in 0..=count {
            std::mem::swap(&mut self.looks.before, &mut self.looks.after);
            if k < count {
                self.look_at_moment(k)?;
            } else {
                self.looks.after.tau = tau;
                self.look_at_forces(z1)?;
            }
            if self.pull(z0)? {
                self.look_exactly(z0)?;
                let release = self.release_between(z0)?;
                if release.is_some() {
                    return Ok(release);
                }
            }
            self.looks.note();
        }
        self.release_in_dip(z0)
    }

    /// True if a force is negative at the second moment, by more than roundoff of all forces.
    fn pull(&mut self, z0: &Phase) -> Solved<bool> {
        if self.looks.after.forces.iter().all(|force| *force >= 0.0) {
            return Ok(false);
        }
        if self.looks.roots.is_empty() {
            for &wall in self.maps.holding() {
                self.looks.roots.push(self.touching.root_of_response(wall, z0, self.evaluator)?);
            }
        }
        Ok(self.looks.pull())
    }

    /// The first wall whose force is negative between two moments only.
    fn release_in_dip(&mut self, z0: &Phase) -> Solved<Option<Encounter>> {
        let count = self.maps.holding().len();
        for i in 1..self.looks.times.len() - 1 {
            for k in 0..count {
                let Some(tau) = self.looks.dip(k, i) else { continue };
                self.maps.full().step(z0, tau, self.probe)?;
                self.looks.after.tau = tau;
                self.look_at_probe()?;
                let Looks { before, times, seen, .. } = &mut *self.looks;
                (before.tau, before.is_exact) = (times[i - 1], false);
                before.forces.clear();
                before.forces.extend_from_slice(&seen[(i - 1) * count..i * count]);
                if self.pull(z0)? {
                    self.look_exactly(z0)?;
                    let release = self.release_between(z0)?;
                    if release.is_some() {
                        return Ok(release);
                    }
                }
            }
        }
        Ok(None)
    }

    /// The first wall that lets go between two moments.
    fn release_between(&mut self, z0: &Phase) -> Solved<Option<Encounter>> {
        let (nothing, mut first) = (self.looks.nothing(), None::<Encounter>);
        for k in 0..self.maps.holding().len() {
            let [before, after] = [&self.looks.before, &self.looks.after].map(|look| (look.tau, look.forces[k]));
            if after.1 * self.looks.roots[k] >= -nothing {
                continue;
            }
            let dtau = if before.1 > 0.0 { self.root_of_force(k, z0, before, after)? } else { before.0 };
            if first.is_none_or(|contact| dtau < contact.dtau) {
                first = Some(Encounter::new(self.maps.holding()[k], dtau, Kind::LetsGo));
            }
        }
        Ok(first)
    }

    /// The time at which a force changes its sign, to the roundoff of all forces.
    fn root_of_force(&mut self, k: usize, z0: &Phase, a: (f64, f64), b: (f64, f64)) -> Solved<f64> {
        let mut last = if a.1.abs() < b.1.abs() { a } else { b };
        let value = |dtau: f64| {
            self.look_between(z0, dtau)?;
            let Looks { between, roots, .. } = &*self.looks;
            let (force, push) = (between[k], between[k] * roots[k]);
            let slope = (force - last.1) / (dtau - last.0);
            last = (dtau, force);
            Ok((if push.abs() <= FORCE_ROUNDOFF * total(between, roots) { 0.0 } else { force }, slope))
        };
        root::bracketed(value, a, b, a.0 - a.1 * (b.0 - a.0) / (b.1 - a.1))
    }

    /// How much of the step may be made at once so that it does not enter a wall that has let go: all of it, or a part. None if
    /// every part enters the wall.
    ///
    /// Where N = 0, φ = φ̇ = φ̈ = 0, and φ = φ⃛τ³/6 opens. But a step of order 2 is off by cτ³, which may outweigh that however short
    /// the step is. A part τ₁ so short that it does not enter noticeably ends with φ̈ = φ⃛τ₁ > 0. Then the next one does not enter if
    ///
    /// ```text
    /// φ⃛(τ₁²τ₂ + τ₁τ₂²)/2 + (φ⃛/6 + c)τ₂³ ≥ 0
    /// ```
    ///
    /// τ₂ may be as long as τ₁ times a constant, and so on: the parts grow in geometric progression. Steps of order 1 are off by
    /// cτ², which no parts mend.
    pub(super) fn opening_part(&mut self, wall: usize, z0: &Phase, end: Moment, scale: Scale) -> Solved<Option<f64>> {
        let deepest = scale.roundoff.max(SINKS * scale.lowest);
        let mut moment = self.exact(wall, z0, end)?;
        while moment.gap < -deepest {
            if self.maps.order() < 2 || z0.t + moment.tau == z0.t {
                return Ok(None);
            }
            moment = self.moment_after(wall, z0, 0.5 * moment.tau)?;
        }
        self.noise = deepest;
        Ok(Some(moment.tau))
    }

    /// Computes the forces at the probe, as those of the second moment.
    fn look_at_probe(&mut self) -> Solved<()> {
        self.looks.after.is_exact = true;
        self.maps.forces(self.probe, &mut self.looks.after.forces)
    }

    /// Computes the forces at a state, as those of the second moment.
    fn look_at_forces(&mut self, z: &Phase) -> Solved<()> {
        self.looks.after.is_exact = true;
        self.maps.forces(z, &mut self.looks.after.forces)
    }

    /// Computes the forces at moment k inside the step, as those of the second moment.
    fn look_at_moment(&mut self, k: usize) -> Solved<()> {
        let Some(contact) = self.maps.contact() else { return Ok(()) };
        let (look, moments) = (&mut self.looks.after, self.evaluator.moments());
        look.forces.clear();
        look.forces.extend_from_slice(contact.forces_inside(moments, k)?);
        (look.tau, look.is_exact) = (moments.tau[k], false);
        Ok(())
    }

    /// Recomputes the forces of both moments on the flow itself.
    fn look_exactly(&mut self, z0: &Phase) -> Solved<()> {
        for look in [&mut self.looks.before, &mut self.looks.after] {
            if !look.is_exact {
                self.maps.full().step(z0, look.tau, self.probe)?;
                self.maps.forces(self.probe, &mut look.forces)?;
                look.is_exact = true;
            }
        }
        Ok(())
    }

    /// Computes the forces at Φ_τ(z0), as those between the two moments.
    fn look_between(&mut self, z0: &Phase, tau: f64) -> Solved<()> {
        self.maps.full().step(z0, tau, self.probe)?;
        self.maps.forces(self.probe, &mut self.looks.between)
    }
}

/// A wall of `holding` whose force is negative by far more than roundoff.
pub(crate) fn pulling(
    holding: &[usize],
    forces: &[f64],
    z: &Phase,
    evaluator: &mut dyn Evaluator,
) -> Solved<Option<usize>> {
    if forces.iter().all(|force| *force >= 0.0) {
        return Ok(None);
    }
    let roots = holding.iter().map(|&wall| root_of_response(wall, z, evaluator)).collect::<Solved<Vec<f64>>>()?;
    let total = total(forces, &roots);
    let pulls = forces.iter().zip(&roots).position(|(force, root)| force * root < -PULLS * total);
    Ok(pulls.map(|k| holding[k]))
}

/// Σ|N|√W.
fn total(forces: &[f64], roots: &[f64]) -> f64 {
    forces.iter().zip(roots).map(|(force, root)| force.abs() * root).sum()
}
