//! Where a step first meets a wall.
//!
//! The gap φ is looked at on a few moments along the step, which the flow's own polynomial gives cheaply. Between two
//! moments the gap may close (φ changes its sign), or dip below zero and come back (φ̇ changes its sign from falling to
//! rising, and the parabola through the moments comes near zero). Either is then located on the partial flow itself.

use super::algorithm::Machine;
use crate::flow::Phase;
use crate::solve::{NoSolution, root};

/// A wall and how far into the step it is met, or lets go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contact {
    pub(super) wall: usize,
    pub(super) dtau: f64,
    pub(super) lets_go: bool,
}

/// A gap as small as this at the beginning of a step, with the gap closing, is an impact there and then.
pub(super) const TOUCHING: f64 = 1e-10;

/// A moment of a step: how far into it, φ, φ̇.
#[derive(Clone, Copy, Debug)]
struct Moment {
    tau: f64,
    gap: f64,
    rate: f64,
    /// On the partial flow itself, not on a polynomial near it.
    is_exact: bool,
}

impl Machine {
    /// The first wall that is met on the partial flow from z0 to z1 = Φ_τ(z0), and when. `left` is the wall that the
    /// motion has just left: its gap is zero at z0 and opens.
    pub(super) fn first_contact(
        &mut self,
        z0: &Phase,
        z1: &Phase,
        tau: f64,
        left: Option<usize>,
    ) -> Result<Option<Contact>, NoSolution> {
        let mut first: Option<Contact> = None;
        for wall in 0..self.walls.count() {
            if self.is_held(wall) {
                continue;
            }
            let until = first.map_or(tau, |contact: Contact| contact.dtau);
            if let Some(dtau) = self.contact_with(wall, z0, z1, tau, left == Some(wall))?
                && (first.is_none() || dtau < until)
            {
                first = Some(Contact { wall, dtau, lets_go: false });
            }
        }
        let release = self.first_release(z0, z1, tau)?;
        Ok(match (first, release) {
            (Some(contact), Some(release)) if contact.dtau <= release.dtau => Some(contact),
            (_, Some(release)) => Some(release),
            (contact, None) => contact,
        })
    }

    /// When the gap of one wall first closes.
    fn contact_with(
        &mut self,
        wall: usize,
        z0: &Phase,
        z1: &Phase,
        tau: f64,
        left: bool,
    ) -> Result<Option<f64>, NoSolution> {
        let mut before = self.moment(wall, 0.0, z0, true)?;
        let last = self.moment(wall, tau, z1, self.partial.is_none())?;
        let (touches, slow) = (before.gap <= TOUCHING, self.slow());
        if touches && !left && before.rate < -slow {
            return Ok(Some(0.0));
        }
        // Bodies that touch and move together do not press: between them there is roundoff.
        if touches && last.gap.abs() <= TOUCHING && before.rate.abs().max(last.rate.abs()) <= slow {
            return Ok(None);
        }
        if is_out_of_reach(before, last, tau) {
            return Ok(None);
        }
        let count = self.partial().moments();
        for k in 1..=count {
            let mut next = if k == count { last } else { self.moment_on_polynomial(wall, z0, tau, k)? };
            // The polynomial may say that the gap is shut where the flow itself says that it is open, by a hair.
            if next.gap < 0.0 && !next.is_exact {
                next = self.moment_after(wall, z0, next.tau)?;
            }
            if let Some(dtau) = self.between(wall, z0, before, next, (left || touches) && k == 1)? {
                return Ok(Some(dtau));
            }
            before = next;
        }
        Ok(None)
    }

    /// Moment number k of the last step, on its polynomial; by a partial step where there is none.
    fn moment_on_polynomial(&mut self, wall: usize, z0: &Phase, tau: f64, k: usize) -> Result<Moment, NoSolution> {
        let part = k as f64 / self.partial().moments() as f64;
        let partial = self.partial.as_mut().unwrap_or(&mut self.full);
        if !partial.interpolate(z0, tau, k, &mut self.probe) {
            return self.moment_after(wall, z0, part * tau);
        }
        let (gap, rate) = self.walls.gap_and_rate(wall, &self.probe, &mut self.field)?;
        Ok(Moment { tau: part * tau, gap, rate, is_exact: false })
    }

    fn moment(&mut self, wall: usize, tau: f64, z: &Phase, is_exact: bool) -> Result<Moment, NoSolution> {
        let (gap, rate) = self.walls.gap_and_rate(wall, z, &mut self.field)?;
        Ok(Moment { tau, gap, rate, is_exact })
    }

    /// The moment τ on the partial flow.
    fn moment_after(&mut self, wall: usize, z0: &Phase, tau: f64) -> Result<Moment, NoSolution> {
        let partial = self.partial.as_mut().unwrap_or(&mut self.full);
        partial.step(z0, tau, &mut self.probe)?;
        let (gap, rate) = self.walls.gap_and_rate(wall, &self.probe, &mut self.field)?;
        Ok(Moment { tau, gap, rate, is_exact: true })
    }

    /// When the gap closes between two moments.
    fn between(
        &mut self,
        wall: usize,
        z0: &Phase,
        a: Moment,
        b: Moment,
        left: bool,
    ) -> Result<Option<f64>, NoSolution> {
        if b.gap < 0.0 {
            let open = if a.gap > 0.0 && !left { Some(a) } else { self.opening(wall, z0, a, b)? };
            return match open {
                Some(open) => self.closing(wall, z0, open, b).map(Some),
                None => Ok(Some(a.tau)),
            };
        }
        self.dip(wall, z0, a, b)
    }

    /// A moment after a, at which the gap is zero, when it is open.
    fn opening(&mut self, wall: usize, z0: &Phase, a: Moment, b: Moment) -> Result<Option<Moment>, NoSolution> {
        let mut part = 0.5 * (b.tau - a.tau);
        for _ in 0..50 {
            let moment = self.moment_after(wall, z0, a.tau + part)?;
            if moment.gap > 0.0 {
                return Ok(Some(moment));
            }
            part *= 0.5;
        }
        Ok(None)
    }

    /// The root of φ between a moment when the gap is open and one when it is not.
    fn closing(&mut self, wall: usize, z0: &Phase, open: Moment, shut: Moment) -> Result<f64, NoSolution> {
        let first = open.tau + (shut.tau - open.tau) * open.gap / (open.gap - shut.gap);
        let value = |tau: f64| self.moment_after(wall, z0, tau).map(|moment| (moment.gap, moment.rate));
        root::bracketed(value, (open.tau, open.gap), (shut.tau, shut.gap), first)
    }

    /// The gap is open at both moments: does it close in between? Only if it first falls and then rises; then the
    /// lowest gap is looked for, unless it is far above zero.
    fn dip(&mut self, wall: usize, z0: &Phase, a: Moment, b: Moment) -> Result<Option<f64>, NoSolution> {
        // A parabola with these slopes dips below the lower end by at most τ(φ̇₁ − φ̇₀)/8; twice that is asked for.
        let may_close = a.gap.min(b.gap) < 0.25 * (b.tau - a.tau) * (b.rate - a.rate);
        if a.rate >= 0.0 || b.rate <= 0.0 || !may_close {
            return Ok(None);
        }
        let (mut falling, mut rising) = (a, b);
        for _ in 0..60 {
            let part = (falling.rate / (falling.rate - rising.rate)).clamp(0.1, 0.9);
            let middle = self.moment_after(wall, z0, falling.tau + part * (rising.tau - falling.tau))?;
            if middle.gap < 0.0 {
                return self.closing(wall, z0, falling, middle).map(Some);
            }
            if middle.rate == 0.0 || rising.tau - falling.tau <= 1e-12 * b.tau {
                break;
            }
            *(if middle.rate < 0.0 { &mut falling } else { &mut rising }) = middle;
        }
        Ok(None)
    }
}

/// True if the gap cannot close: it would have to fall by φ₀ and rise by φ₁ within the step, at four times the larger of
/// the rates at its ends.
fn is_out_of_reach(a: Moment, b: Moment, tau: f64) -> bool {
    b.gap > 0.0 && a.gap + b.gap > 4.0 * tau * a.rate.abs().max(b.rate.abs())
}
