//! Several free steps at once.

use super::algorithm::EventDriven;
use super::control::after;
use super::controlled::judge;
use super::log::{Energies, StepLog};
use super::stages::{Shown, all_open, meets_next};
use super::state::Memory;
use crate::flow::is_same_step;
use crate::phase::{FLIGHT, Predicted};
use crate::solve::{NoSolution, Solved};

impl EventDriven {
    /// Makes up to [`FLIGHT`] controlled steps, as long as each is predicted by the one before, ends before `until`, and meets no wall,
    /// as its stages show. They are the steps that [`EventDriven::advance_controlled`] makes one by one, without what only events need.
    pub(super) fn fly(&mut self, until: f64, log: &mut StepLog) -> Solved<Takeoff> {
        let Memory::Control(control) = &mut log.end.memory else { return Err(NoSolution::Diverged) };
        let EventDriven { maps, evaluator, facts, z, z1, flight, .. } = self;
        if control.past.h == 0.0 || facts.kinks > 0 || !maps.holding().is_empty() {
            return Ok(Takeoff::None);
        }
        let Some(quick) = maps.full().quick() else { return Ok(Takeoff::None) };
        let first = control.h.min(control.longest);
        if z.t + first >= until || !quick.take_off((z, evaluator.velocity(z)?), &control.past) {
            return Ok(Takeoff::None);
        }
        let (mut h, mut next, mut end, mut longest) = (first, control.h, (z.t, control.late), 0.0_f64);
        let goal = control.goal();
        flight.count = 0;
        while flight.count < FLIGHT && end.0 + h < until {
            let Some(predicted) = quick.fly(h, goal, flight) else { break };
            let (tried, gaps) = (judge(predicted, goal), quick.gaps());
            if !tried.is_good || !gaps.is_some_and(|gaps| all_open(gaps, h)) {
                if flight.count == 0 {
                    return Ok(Takeoff::Tried { h, predicted });
                }
                break;
            }
            end = after([end.0, end.1], h);
            next = h * tried.factor;
            let meets = gaps.is_some_and(|gaps| meets_next(gaps, h, next.min(control.longest)));
            quick.keep_flying(end.0, flight);
            longest = longest.max(h);
            h = next.min(control.longest);
            if meets {
                break;
            }
        }
        if flight.count == 0 {
            return Ok(Takeoff::None);
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
        Ok(Takeoff::Flown)
    }

    /// Makes a step to each of these nodes, as long as every wall stays open and the steps are equally long.
    pub(super) fn fly_along(&mut self, nodes: &[f64], log: &mut StepLog) -> Flown {
        self.leaving.clear();
        let is_free = self.maps.holding().is_empty() && self.facts.kinks == 0 && log.impulses.is_empty();
        if !is_free || self.resolver.rule.remembers() {
            return Flown::None { is_solved: false };
        }
        for (k, &node) in nodes.iter().enumerate() {
            let h = node - self.z.t;
            let is_solved = is_same_step(h, log.h) && self.maps.full().step(&self.z, h, &mut self.z1).is_ok();
            let ends = if is_solved { self.free_end(h, node) } else { None };
            let Some(energies) = ends else {
                return if k > 0 { Flown::Some } else { Flown::None { is_solved } };
            };
            if k > 0 {
                log.push_node(&self.z, log.energies);
            }
            log.keep_polynomial(self.maps.full(), &self.z, h);
            log.energies = energies;
            log.end.z.copy_from(&self.z1);
            std::mem::swap(&mut self.z, &mut self.z1);
        }
        Flown::Some
    }

    /// Ends a step from z of length h in z1, at the time of a node. Returns the energies there; none if a wall may be met, or where the
    /// state has no energy.
    fn free_end(&mut self, h: f64, node: f64) -> Option<Energies> {
        let is_open = self.facts.walls == 0 || matches!(self.shown_by_moments(h, None), Ok(Shown::Open));
        let EventDriven { evaluator, z1, .. } = self;
        if !is_open || z1.z.iter().any(|x| !x.is_finite()) {
            return None;
        }
        z1.t = node;
        let (hamiltonian, twice_kinetic) = evaluator.hamiltonian_and_power(z1).ok()?;
        Some(Energies { hamiltonian, twice_kinetic })
    }
}

/// What came of a flight of controlled steps.
pub(super) enum Takeoff {
    /// At least one step, all in the log.
    Flown,
    /// No step: one of this length was solved, but is too long or not far from all walls.
    Tried { h: f64, predicted: Predicted },
    /// No step.
    None,
}

/// What came of a flight of equal steps.
pub(super) enum Flown {
    /// At least one step, all in the log.
    Some,
    /// No step. Algorithm 1 makes the first one, for which the full step may be solved.
    None {
        /// It is.
        is_solved: bool,
    },
}
