//! Where a step first meets a wall.

use super::algorithm::Machine;
use crate::flow::Phase;
use crate::solve::{NoSolution, root};

/// A wall and how far into the step it is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contact {
    pub(super) wall: usize,
    pub(super) dtau: f64,
}

/// A gap as small as this at the beginning of a step, with the gap closing, is an impact there and then.
const TOUCHING: f64 = 1e-10;

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
            if let Some(dtau) = self.contact_with(wall, z0, z1, tau, left == Some(wall))?
                && first.is_none_or(|contact| dtau < contact.dtau)
            {
                first = Some(Contact { wall, dtau });
            }
        }
        Ok(first)
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
        let start = self.walls.gap_and_rate(wall, z0, &mut self.field)?;
        let end = self.walls.gap_and_rate(wall, z1, &mut self.field)?;
        if !left && start.0 <= TOUCHING && start.1 < 0.0 {
            return Ok(Some(0.0));
        }
        if end.0 < 0.0 {
            let open = if start.0 > 0.0 && !left { Some((0.0, start.0)) } else { self.opening(wall, z0, tau)? };
            return match open {
                Some(open) => self.closing(wall, z0, open, (tau, end.0)).map(Some),
                None => Ok(Some(0.0)),
            };
        }
        self.dip(wall, z0, tau, start, end)
    }

    /// A time after z0, where the gap is zero, at which it is open, with the gap there.
    fn opening(&mut self, wall: usize, z0: &Phase, tau: f64) -> Result<Option<(f64, f64)>, NoSolution> {
        let mut part = 0.5 * tau;
        for _ in 0..50 {
            let gap = self.gap_after(wall, z0, part)?.0;
            if gap > 0.0 {
                return Ok(Some((part, gap)));
            }
            part *= 0.5;
        }
        Ok(None)
    }

    /// φ and φ̇ at Φ_τ(z0).
    fn gap_after(&mut self, wall: usize, z0: &Phase, tau: f64) -> Result<(f64, f64), NoSolution> {
        self.partial.step(z0, tau, &mut self.probe)?;
        self.walls.gap_and_rate(wall, &self.probe, &mut self.field)
    }

    /// The root of φ between a time at which the gap is open and one at which it is not.
    fn closing(&mut self, wall: usize, z0: &Phase, open: (f64, f64), shut: (f64, f64)) -> Result<f64, NoSolution> {
        let first = open.0 + (shut.0 - open.0) * open.1 / (open.1 - shut.1);
        root::bracketed(|tau| self.gap_after(wall, z0, tau), open, shut, first)
    }

    /// The gap is open at both ends: does it close in between? Only if it first falls and then rises; then the lowest
    /// gap is looked for, unless a cubic through both ends stays far above zero.
    fn dip(
        &mut self,
        wall: usize,
        z0: &Phase,
        tau: f64,
        start: (f64, f64),
        end: (f64, f64),
    ) -> Result<Option<f64>, NoSolution> {
        if start.1 >= 0.0 || end.1 <= 0.0 || !may_dip(start, end, tau) {
            return Ok(None);
        }
        let (mut falling, mut rising) = (0.0, tau);
        let (mut a, mut b) = (start.1, end.1);
        for _ in 0..60 {
            let middle = falling + (rising - falling) * (a / (a - b)).clamp(0.1, 0.9);
            let (gap, rate) = self.gap_after(wall, z0, middle)?;
            if gap < 0.0 {
                return self.closing(wall, z0, (falling, start.0), (middle, gap)).map(Some);
            }
            if rate == 0.0 || rising - falling <= 1e-12 * tau {
                break;
            }
            if rate < 0.0 {
                (falling, a) = (middle, rate);
            } else {
                (rising, b) = (middle, rate);
            }
        }
        Ok(None)
    }
}

/// Could the gap reach zero inside the step? A parabola with these slopes dips below the lower end by at most
/// τ(φ̇₁ − φ̇₀)/8; twice that is asked for.
fn may_dip(start: (f64, f64), end: (f64, f64), tau: f64) -> bool {
    start.0.min(end.0) < 0.25 * tau * (end.1 - start.1)
}
