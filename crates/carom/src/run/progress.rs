//! A run under way: step by step, with all that is told of it.

use super::account::Account;
use super::algorithm::Machine;
use super::lift::{Lift, View};
use super::outcome::{Crossing, Impact, Status, Watcher};
use super::rest::Rest;
use super::simulation::{Simulation, failure};
use crate::error::Result;
use crate::flow::{Field, Phase};
use crate::impact::Hit;
use crate::model::Direction;
use crate::solve::{Solved, larger};

/// A run under way.
pub(super) struct Progress {
    pub(super) z: Phase,
    next: Phase,
    work: Phase,
    pub(super) steps: usize,
    pub(super) impacts: usize,
    samples: usize,
    pub(super) first_rest: Option<f64>,
    pub(super) energy: [f64; 3],
    keeps_account: bool,
    pub(super) account: Option<Account>,
    crossings: Vec<(f64, usize)>,
    /// How many checkpoints there were, and q at them; NaN where a partial step has no solution.
    checked: usize,
    pub(super) path: Vec<f64>,
    /// The first wall beyond which a checkpoint lies, or which pulls there, and its time.
    pub(super) missed: Option<(usize, f64)>,
}

impl Progress {
    pub(super) fn begin(simulation: &mut Simulation, watcher: &mut dyn Watcher) -> Result<Progress> {
        let mut z = simulation.start.clone();
        let Simulation { lift, machine, constraints, step, ledger, start, .. } = simulation;
        machine.begin(&z);
        let initial = lift.energy(&z, &mut machine.field).map_err(|e| failure(e, &z))?;
        machine.rule.node(&z, *step, true).map_err(|e| failure(e, &z))?;
        machine.fastest = 0.0;
        machine.begin_rest(&mut z).map_err(|e| failure(e, start))?;
        let keeps_account = watcher.wants_account();
        if let Some(ledger) = ledger.as_mut().filter(|_| keeps_account) {
            ledger.begin(&z, machine, lift).map_err(|e| failure(e, &z))?;
        }
        let account = ledger.as_ref().filter(|_| keeps_account).map(|_| Account::default());
        if let Some(constraints) = constraints {
            constraints.restart();
            constraints.see(&z, &mut machine.field).map_err(|e| failure(e, &z))?;
        }
        let Machine { field, rest, .. } = machine;
        let (constraints, hold) = (constraints.as_mut(), rest.as_mut().and_then(Rest::hold));
        let mut view = View { z: &z, lift, field, constraints, hold, step: (*step, true), account };
        watcher.node(&mut view);
        watcher.sample(&mut view);
        let (next, work) = (z.clone(), z.clone());
        let energy = [initial, initial, 0.0];
        let crossings = Vec::new();
        Ok(Progress {
            z,
            next,
            work,
            steps: 0,
            impacts: 0,
            samples: 1,
            first_rest: None,
            energy,
            keeps_account,
            account,
            crossings,
            checked: 0,
            path: Vec::new(),
            missed: None,
        })
    }

    /// One step to the node at `end`. Says so if the run ends there.
    pub(super) fn step(
        &mut self,
        simulation: &mut Simulation,
        end: f64,
        watcher: &mut dyn Watcher,
    ) -> Solved<Option<Status>> {
        let checkpoints = simulation.checkpoints();
        let Simulation { machine, lift, sections, every, constraints, second, ledger, .. } = simulation;
        let mut ledger = ledger.as_mut().filter(|_| self.keeps_account);
        self.work.copy_from(&self.z);
        let mut field = watcher.wants_impacts().then(|| machine.free_field().clone());
        let before = self.impacts;
        let see = |hit: &Hit, lambda: f64, plus: &Phase| {
            self.impacts += 1;
            ledger.iter_mut().for_each(|ledger| ledger.impact(hit, lambda, plus));
            if let Some(field) = &mut field {
                let (minus, plus) = (lift.node(&hit.minus, field), lift.node(plus, field));
                watcher.impact(Impact { wall: hit.wall, lambda, minus, plus });
            }
        };
        let h = end - self.z.t;
        match second.as_ref().filter(|_| self.steps == 0) {
            Some(second) => {
                self.next.copy_from(&second.state);
                machine.pieces.restart(&self.z, machine.mode());
                machine.impulses.copy_from_slice(&second.impulses);
            }
            None => machine.advance(&mut self.work, h, &mut self.next, see)?,
        }
        let stopped = machine.rest.as_ref().and_then(|rest| rest.stopped);
        if stopped.is_none() {
            self.next.t = end;
        }
        if let Some(rest) = &mut machine.rest {
            for holding in rest.news.drain(..) {
                self.first_rest = self.first_rest.or(Some(holding.t));
                watcher.holding(holding);
            }
        }
        std::mem::swap(&mut self.z, &mut self.next);
        self.steps += 1;
        machine.rule.node(&self.z, h, self.impacts > before)?;
        if let Some(constraints) = constraints {
            constraints.end.copy_from_slice(&machine.impulses);
            constraints.see(&self.z, &mut machine.field)?;
        }
        self.energy[1] = lift.energy(&self.z, &mut machine.field)?;
        self.energy[2] = larger(self.energy[2], (self.energy[1] - self.energy[0]).abs());
        self.account = ledger.map(|ledger| ledger.step(&self.z, self.energy[1], machine)).transpose()?;
        self.check_in(checkpoints, machine);
        if let Some(section) = self.cross(machine, lift, sections, watcher)? {
            return Ok(Some(Status::Stopped(section)));
        }
        if let Some(every) = *every {
            self.sample(simulation, every, watcher)?;
        }
        let Simulation { machine: Machine { field, rest, .. }, lift, constraints, step, .. } = simulation;
        let (constraints, hold) = (constraints.as_mut(), rest.as_mut().and_then(Rest::hold));
        let (step, account) = ((*step, true), self.account);
        watcher.node(&mut View { z: &self.z, lift, field, constraints, hold, step, account });
        Ok(stopped.map(|(wall, _)| Status::Zeno(wall)))
    }

    /// A step that failed ends where it came to: at its last impact, if it had one, with the energy and the account there.
    pub(super) fn stay_where_it_failed(&mut self, simulation: &mut Simulation) {
        if self.work.t <= self.z.t {
            return;
        }
        self.z.copy_from(&self.work);
        let Simulation { machine, lift, ledger, .. } = simulation;
        self.energy[1] = lift.energy(&self.z, &mut machine.field).unwrap_or(f64::NAN);
        self.energy[2] = larger(self.energy[2], (self.energy[1] - self.energy[0]).abs());
        let ledger = ledger.as_mut().filter(|_| self.keeps_account);
        self.account = ledger.and_then(|ledger| ledger.step(&self.z, self.energy[1], machine).ok());
    }

    /// Notes q at the checkpoints up to the node, and whether a wall lies behind it, or pulls, that no step has seen.
    fn check_in(&mut self, checkpoints: impl Fn(usize) -> Option<f64>, machine: &mut Machine) {
        while let Some(t) = checkpoints(self.checked).filter(|&t| t <= self.z.t) {
            self.checked += 1;
            let seen = machine.look_at(t, |machine| {
                self.path.extend(machine.probe.q());
                let pulling = machine.pulling_wall()?;
                let Machine { probe, field, walls, projected, .. } = machine;
                // Where switches of a projected path are not located, it is beyond the wall for a part of a step.
                let beyond = if projected.is_some() { None } else { walls.beyond(probe, field)? };
                Ok(pulling.or(beyond))
            });
            match seen.flatten() {
                Ok(wall) => self.missed = self.missed.or(wall.map(|wall| (wall, t))),
                Err(_) => self.path.resize(self.checked * self.z.q().len(), f64::NAN),
            }
        }
    }

    /// Tells of the sections that the step crossed; goes back to one that ends the run.
    fn cross(
        &mut self,
        machine: &mut Machine,
        lift: &mut Lift,
        sections: &[(Direction, bool)],
        watcher: &mut dyn Watcher,
    ) -> Solved<Option<usize>> {
        if sections.is_empty() {
            return Ok(None);
        }
        let directions: Vec<Direction> = sections.iter().map(|(direction, _)| *direction).collect();
        machine.crossings(lift, &directions, self.z.t, &mut self.crossings)?;
        for &(t, section) in &self.crossings {
            let node = machine.look_at(t, |machine| lift.node(&machine.probe, &mut machine.field))?;
            watcher.crossing(Crossing { section, node });
            if sections[section].1 {
                self.z.copy_from(&machine.probe);
                machine.switch(machine.pieces.mode(machine.piece_at(t)));
                return Ok(Some(section));
            }
        }
        Ok(None)
    }

    /// Tells of the uniform samples up to the node.
    fn sample(&mut self, simulation: &mut Simulation, every: f64, watcher: &mut dyn Watcher) -> Solved<()> {
        let Simulation { machine, lift, start, until, constraints, step, .. } = simulation;
        loop {
            let t = start.t + self.samples as f64 * every;
            let near = 1e-9 * every;
            if t > self.z.t + near || t > *until + near {
                return Ok(());
            }
            let is_node = (t - self.z.t).abs() <= near;
            let step = (*step, is_node);
            let mut tell = |z: &Phase, field: &mut Field, rest: &mut Option<Rest>| {
                let (constraints, hold) = (constraints.as_mut(), rest.as_mut().and_then(Rest::hold));
                watcher.sample(&mut View { z, lift, field, constraints, hold, step, account: None });
            };
            if is_node {
                tell(&self.z, &mut machine.field, &mut machine.rest);
            } else {
                machine.look_at(t, |Machine { probe, field, rest, .. }| tell(probe, field, rest))?;
            }
            self.samples += 1;
        }
    }
}
