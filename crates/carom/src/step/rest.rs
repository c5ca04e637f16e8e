//! Rest: walls that hold the motion.
//!
//! A bounce with e < 1 is shorter than the one before it, and there are infinitely many in a finite time (Zeno). When a
//! bounce would be lower than roundoff can tell, the rest of them takes
//!
//! ```text
//! T = 2φ̇⁺ / (|φ̈| (1 − e))
//! ```
//!
//! and leads to φ = φ̇ = 0: the wall then holds the motion as a constraint does, with a force N ≥ 0, and lets go when N
//! would pull. Which of several walls hold is the problem of complementarity
//!
//! ```text
//! 0 ≤ N  ⊥  φ̈ = φ̈_free + W N ≥ 0,   W = G M⁻¹ Gᵀ
//! ```
//!
//! that [`moreau`](crate::impact::moreau) solves for velocities. A wall with e = 1 holds only what touches it without any speed.

use super::instant::Resolver;
use super::log::{EventKind, StepLog};
use super::maps::Maps;
use super::press::press;
use super::touching::{Pace, Scale, Touching};
use crate::limits::{NO_FORCE, SLOW, SLOW_BOUNCE};
use crate::phase::Phase;
use crate::plant::{Evaluator, Facts};
use crate::solve::{NoSolution, Solved};

/// Decides which walls hold.
pub(super) struct Rest {
    /// The step is to end where impacts accumulate.
    pub(super) stops: bool,
    /// Walls that are touched and hardly left, with their rates.
    pub(super) touching: Touching,
    /// What is small at them.
    scales: Vec<Scale>,
}

/// A wall that holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    wall: usize,
    /// The time in which its bounces come to an end.
    wait: f64,
}

/// What the step needs to come to rest.
pub(super) struct Surroundings<'a> {
    pub(super) resolver: &'a mut Resolver,
    pub(super) maps: &'a mut Maps,
    pub(super) evaluator: &'a mut dyn Evaluator,
    pub(super) log: &'a mut StepLog,
    /// The full step.
    pub(super) h: f64,
}

impl Surroundings<'_> {
    pub(super) fn pace(&self) -> Pace {
        Pace { fastest: self.log.end.fastest, h: self.h }
    }
}

impl Rest {
    pub(super) fn new(stops: bool, facts: &Facts) -> Rest {
        Rest { stops, touching: Touching::new(facts), scales: Vec::new() }
    }

    /// Decides which of the walls that are touched hold the motion from here on, goes over to that contact mode, and moves z
    /// onto them. The walls in `released` have let go at this instant, the last of them just now; `before` held up to here. Returns the time that is left until impacts accumulate,
    /// if the step is to end there.
    pub(super) fn settle(
        &mut self,
        z: &mut Phase,
        released: &[usize],
        before: &[usize],
        mut around: Surroundings,
    ) -> Solved<Option<f64>> {
        around.maps.select(&[])?;
        self.collect_slow_walls(z, released, &mut around)?;
        let taken = match released.last() {
            Some(wall) => self.hand_over(z, before, *wall, &mut around)?,
            None => None,
        };
        let held = match taken {
            Some(walls) => walls.into_iter().map(|wall| Held { wall, wait: 0.0 }).collect(),
            None => self.holding_walls(z, &mut around)?,
        };
        if held.is_empty() && before.is_empty() {
            return Ok(None);
        }
        let walls: Vec<usize> = held.iter().map(|held| held.wall).collect();
        for &wall in before.iter().filter(|wall| !walls.contains(wall)) {
            around.log.push_event(z.t, EventKind::LetsGo(wall));
        }
        let mut stop = None;
        for held in held.iter().filter(|held| !before.contains(&held.wall)) {
            around.log.push_event(z.t + held.wait, EventKind::Holds(held.wall));
            if self.stops && held.wait > 0.0 {
                stop = Some(*held);
            }
        }
        if let Some(held) = stop {
            around.log.push_event(z.t + held.wait, EventKind::Accumulates(held.wall));
        }
        come_to_rest(z, &walls, &mut around)?;
        around.log.end.holding = walls;
        Ok(stop.map(|held| held.wait))
    }

    /// Holds a wall on which the motion presses, beside those that held up to here.
    pub(super) fn hold(
        &mut self,
        z: &mut Phase,
        wall: usize,
        before: &[usize],
        mut around: Surroundings,
    ) -> Solved<()> {
        let mut walls = before.to_vec();
        walls.push(wall);
        walls.sort_unstable();
        around.log.push_event(z.t, EventKind::Holds(wall));
        come_to_rest(z, &walls, &mut around)?;
        around.log.end.holding = walls;
        Ok(())
    }

    /// Lists in `touching` the walls that are touched, and hardly left, with their rates.
    fn collect_slow_walls(&mut self, z: &Phase, released: &[usize], around: &mut Surroundings) -> Solved<()> {
        self.touching.walls.clear();
        self.scales.clear();
        let (restitution, pace) = (&around.resolver.restitution, around.pace());
        self.touching.move_with(z, pace.h, around.evaluator)?;
        for wall in (0..restitution.len()).filter(|wall| !released.contains(wall)) {
            let (gap, rate) = around.evaluator.gap_and_rate(wall, z)?;
            let scale = self.touching.scale(wall, rate, z, pace, around.evaluator)?;
            // Without loss only what is below roundoff is no bounce.
            let loses = restitution[wall] < 1.0;
            let lowest = if loses { scale.lowest } else { scale.roundoff };
            let touches = if loses { gap <= lowest } else { gap.abs() <= lowest };
            let fast = if loses { SLOW_BOUNCE * pace.fastest * scale.root_w } else { f64::INFINITY };
            if touches && (rate.abs() <= fast || rate.abs() <= scale.slow) {
                self.touching.walls.push((wall, rate));
                self.scales.push(Scale { lowest, ..scale });
            }
        }
        Ok(())
    }

    /// Of the walls in `touching` those that hold.
    fn holding_walls(&mut self, z: &Phase, around: &mut Surroundings) -> Solved<Vec<Held>> {
        if self.touching.walls.is_empty() {
            return Ok(Vec::new());
        }
        let walls: Vec<usize> = self.touching.walls.iter().map(|(wall, _)| *wall).collect();
        let mut free = Vec::new();
        let size = around.evaluator.accelerations(z, &walls, &mut free)?;
        // Where even a whole step of it gives no speed, an acceleration is roundoff.
        let (Pace { h, fastest }, scales) = (around.pace(), &self.scales);
        let is_low = |k: usize, rate: f64, a: f64| {
            let presses = fastest == 0.0 || a.abs() * h > SLOW * fastest * scales[k].root_w;
            presses && (rate * rate <= 2.0 * scales[k].lowest * a.abs() || rate.abs() <= scales[k].slow)
        };
        let rates: Vec<f64> = self.touching.walls.iter().map(|(_, rate)| *rate).collect();
        let low: Vec<usize> = (0..free.len()).filter(|&k| is_low(k, rates[k], free[k])).collect();
        if low.iter().all(|&k| free[k] >= 0.0) {
            return Ok(Vec::new());
        }
        let w = self.touching.responses(z, around.evaluator)?;
        let pressed = press(&w, &free, size, low, |k, a| is_low(k, rates[k], a)).ok_or(NoSolution::Accumulated)?;
        let total: f64 = pressed.iter().map(|wall| wall.force).sum();
        let restitution = &around.resolver.restitution;
        let wait = |k: usize, a: f64| match (rates[k].max(0.0), a.abs(), restitution[self.touching.walls[k].0]) {
            (rate, a, e) if e < 1.0 && a > 0.0 => 2.0 * rate / (a * (1.0 - e)),
            _ => 0.0,
        };
        let holding = pressed.iter().filter(|wall| wall.force > NO_FORCE * total);
        let held =
            holding.map(|p| Held { wall: self.touching.walls[p.number].0, wait: wait(p.number, p.acceleration) });
        let mut held: Vec<Held> = held.collect();
        held.sort_by_key(|held| held.wall);
        Ok(held)
    }
}

/// Goes over to the contact mode of these walls, moves z onto them, and books what that does to the energy: the last bounces,
/// left out, would have lost it, but for −λφ_t, which is the work of walls that move.
fn come_to_rest(z: &mut Phase, walls: &[usize], around: &mut Surroundings) -> Solved<()> {
    let before = around.evaluator.hamiltonian(z)?;
    around.maps.select(walls)?;
    let Some(contact) = around.maps.contact() else { return Ok(()) };
    let work = contact.settle(z)?;
    let change = around.evaluator.hamiltonian(z)? - before;
    around.log.settling.work += work;
    around.log.settling.loss += change - work;
    Ok(())
}
