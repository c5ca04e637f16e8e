//! Several free steps at once.

use super::algorithm::EventDriven;
use super::control::after;
use super::controlled::judge;
use super::log::{Energies, StepLog};
use super::state::Memory;
use crate::limits::FAR;
use crate::phase::FLIGHT;
use crate::solve::{NoSolution, Solved};

impl EventDriven {
    /// Makes up to [`FLIGHT`] controlled steps, as long as each is predicted by the one before, ends before `until`, and is far from
    /// all walls. They are the steps that [`EventDriven::advance_controlled`] makes one by one, without what only events need. Returns
    /// false if it made none.
    pub(super) fn fly(&mut self, until: f64, log: &mut StepLog) -> Solved<bool> {
        let Memory::Control(control) = &mut log.end.memory else { return Err(NoSolution::Diverged) };
        let EventDriven { maps, evaluator, facts, z, z1, flight, .. } = self;
        if control.past.h == 0.0 || facts.kinks > 0 || !maps.holding().is_empty() {
            return Ok(false);
        }
        let Some(quick) = maps.full().quick() else { return Ok(false) };
        let first = control.h.min(control.longest);
        if z.t + first >= until || !quick.take_off((z, evaluator.velocity(z)?), &control.past) {
            return Ok(false);
        }
        for wall in 0..facts.walls {
            let (gap, rate) = evaluator.gap_and_rate(wall, z)?;
            let margin = FAR * first * rate.abs();
            if gap.min(gap + first * rate) <= margin {
                return Ok(false);
            }
        }
        let (mut h, mut next, mut end, mut longest) = (first, control.h, (z.t, control.late), 0.0_f64);
        let goal = control.goal();
        flight.count = 0;
        while flight.count < FLIGHT && end.0 + h < until {
            let Some(tried) =
                quick.fly(h, goal, flight).map(|predicted| judge(predicted, goal)).filter(|tried| tried.is_good)
            else {
                break;
            };
            end = after([end.0, end.1], h);
            quick.keep_flying(end.0, flight);
            longest = longest.max(h);
            next = h * tried.factor;
            h = next.min(control.longest);
        }
        if flight.count == 0 {
            return Ok(false);
        }
        quick.land(flight);
        (control.h, control.late) = (next, end.1);
        control.past.copy_from(&flight.polynomials[flight.count - 1]);
        log.h = longest;
        for k in 0..flight.count {
            let [hamiltonian, twice_kinetic] = flight.write_end(k, z1);
            let energies = Energies { hamiltonian, twice_kinetic };
            log.set_polynomial(&flight.polynomials[k]);
            if let Memory::Control(control) = &mut log.end.memory {
                control.see(z1, twice_kinetic);
            }
            if k + 1 < flight.count {
                log.push_node(z1, energies);
            } else {
                log.end.z.copy_from(z1);
                log.energies = energies;
            }
        }
        Ok(true)
    }
}
