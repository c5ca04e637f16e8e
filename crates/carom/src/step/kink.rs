//! Kinks of the equations: a step is made on one side of each, ends where its argument is zero, and goes on from there on the other
//! side. So every arc is smooth, and the order of the method is kept.

use super::event::{Encounter, Kind, Search};
use super::maps::Maps;
use super::moment::{Moment, is_out_of_reach};
use crate::limits::GAP_ROUNDOFF;
use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::solve::{NoSolution, Solved};

impl Search<'_> {
    /// The first kink that the motion from z0 to z1 = Φ_τ(z0) comes to before `until`. `left` is the event that it has just left.
    /// The ends of the step have been looked at.
    pub(super) fn first_kink(
        &mut self,
        z0: &Phase,
        tau: f64,
        left: Option<usize>,
        until: f64,
    ) -> Solved<Option<Encounter>> {
        let mut first: Option<Encounter> = None;
        self.sinks = 0.0;
        for kink in self.walls..self.walls + self.sides.len() {
            let side = self.sides[kink - self.walls];
            let [begin, end] = self.evaluator.ends(kink).map(|(gap, rate)| (side * gap, side * rate));
            let begin = Moment { tau: 0.0, gap: begin.0, rate: begin.1, is_exact: true };
            let end = Moment { tau, gap: end.0, rate: end.1, is_exact: !self.maps.has_partial() };
            let until = first.map_or(until, |kink| kink.dtau);
            let left = left == Some(kink);
            let dtau = if side == 0.0 || is_out_of_reach(begin, end) {
                None
            } else if begin.gap <= 0.0 && begin.rate < 0.0 && !left {
                Some(0.0)
            } else {
                self.look_inside(z0, tau)?;
                self.contact_with(kink, z0, begin, end, until, left || begin.gap <= 0.0)?
            };
            if let Some(dtau) = dtau.filter(|&dtau| dtau < until) {
                first = Some(Encounter { wall: kink, dtau, kind: Kind::Passes });
            }
        }
        Ok(first)
    }
}

/// Writes the side of each kink on which the motion is just after a state; 0 where it stays on the kink. `probe` is room for a state,
/// and h the step to come.
pub(super) fn find_sides(
    sides: &mut [f64],
    walls: usize,
    z: &Phase,
    h: f64,
    maps: &mut Maps,
    evaluator: &mut dyn Evaluator,
    probe: &mut Phase,
) -> Solved<()> {
    for (k, side) in sides.iter_mut().enumerate() {
        let (gap, rate) = evaluator.gap_and_rate(walls + k, z)?;
        let roundoff = GAP_ROUNDOFF * evaluator.size_of_gap(walls + k, z, z.q())?;
        *side = if gap.abs() > roundoff { gap } else { rate };
        *side = if *side == 0.0 { 0.0 } else { side.signum() };
    }
    for k in 0..sides.len() {
        if sides[k] != 0.0 {
            continue;
        }
        // The motion is on the kink and has no speed off it. It stays there if it does so between both sides, or goes to a side on
        // which it does not come back at once.
        let mut goes = |side: f64, sides: &mut [f64]| -> Solved<f64> {
            sides[k] = side;
            maps.set_sides(sides);
            maps.partial().step(z, h, probe)?;
            let gap = evaluator.gap_and_rate(walls + k, probe)?.0;
            let roundoff = GAP_ROUNDOFF * evaluator.size_of_gap(walls + k, probe, probe.q())?;
            Ok(if gap.abs() > roundoff { gap.signum() } else { 0.0 })
        };
        let between = goes(0.0, sides)?;
        if between != 0.0 && goes(between, sides)? != between && goes(-between, sides)? != -between {
            return Err(NoSolution::Kink);
        }
    }
    maps.set_sides(sides);
    Ok(())
}
