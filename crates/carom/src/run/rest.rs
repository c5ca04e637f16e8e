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

use std::sync::Arc;

use super::algorithm::Machine;
use super::event::TOUCHING;
use super::instant::SLOW;
use super::press::press;
use super::release::Look;
use crate::constraint::{Active, LocalCode};
use crate::error::Result;
use crate::flow::{self, Field, Flow, FlowKind, Halved, HeldCode, Phase};
use crate::mechanics::Mechanics;
use crate::solve::{NoSolution, Solved};

/// A bounce as low as this, relative to 1 + |q|, is the last: what is nearer to a wall touches it.
const LOWEST_BOUNCE: f64 = TOUCHING;
/// Only bounces slower than this part of the fastest impact so far are looked at.
const SLOW_BOUNCE: f64 = 1e-2;
/// A force below this part of all forces is none.
pub(super) const NO_FORCE: f64 = 1e-12;

/// The motion while some walls hold it.
pub(super) struct Mode {
    walls: Vec<usize>,
    flow: Box<dyn Flow>,
    field: Field,
    /// None for the mode in which no wall holds.
    pub(super) hold: Option<Hold>,
}

/// What walls that hold do, together with the constraints of the model, which come first.
pub(super) struct Hold {
    pub(super) active: Active,
    /// Looks ahead, where there are constraints, to tell of their impulses.
    pub(super) ahead: Option<Box<dyn Flow>>,
}

/// A wall that begins or ceases to hold the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding {
    /// The number of the wall.
    pub wall: usize,
    /// When: for a wall on which impacts accumulate, where they do.
    pub t: f64,
    /// True if it begins.
    pub begins: bool,
}

/// What is needed to rest, and how the motion is held now.
pub(super) struct Rest {
    mechanics: Mechanics,
    parameters: Vec<f64>,
    /// The name of the flow, and α of the generalized midpoint rule.
    flow: (String, Option<f64>),
    /// Made when a wall is first touched.
    codes: Option<Codes>,
    /// The first is the free one. The map and the field of the current one are in the machine, and others in their place.
    pub(super) modes: Vec<Mode>,
    pub(super) mode: usize,
    /// Steps are made in two halves.
    halves: bool,
    /// The forces at moments of a step.
    pub(super) looks: [Look; 3],
    /// What happened since it was last asked.
    pub(super) news: Vec<Holding>,
    /// What coming to rest did to the energy since it was last asked: the work of walls that move, and the loss.
    pub(super) booked: [f64; 2],
    /// The run is to end where impacts accumulate.
    pub(super) stops: bool,
    /// The wall on which they did, and the time that was left till then.
    pub(super) stopped: Option<(usize, f64)>,
}

/// What is compiled for all sets of walls that may hold.
struct Codes {
    kind: FlowKind,
    local: Arc<LocalCode>,
    held: Arc<HeldCode>,
    /// The motion without walls.
    free: Active,
}

impl Rest {
    /// `free` are the map and the field of the motion that no wall holds.
    pub(super) fn new(
        mechanics: &Mechanics,
        parameters: &[f64],
        flow: (String, Option<f64>),
        free: (&dyn Flow, &Field),
        stops: bool,
    ) -> Rest {
        Rest {
            mechanics: mechanics.clone(),
            parameters: parameters.to_vec(),
            flow,
            codes: None,
            modes: vec![Mode { walls: Vec::new(), flow: free.0.boxed_clone(), field: free.1.clone(), hold: None }],
            mode: 0,
            halves: false,
            looks: Default::default(),
            news: Vec::new(),
            booked: [0.0; 2],
            stops,
            stopped: None,
        }
    }

    /// What all sets of walls have in common.
    fn codes(&mut self) -> Result<&mut Codes> {
        let codes = match self.codes.take() {
            Some(codes) => codes,
            None => {
                let kind = flow::named(&self.flow.0, self.flow.1)?;
                let local = Arc::new(LocalCode::new(&self.mechanics)?);
                let held = Arc::new(kind.held_code(&local)?);
                let free = Active::new(&local, &[], &self.parameters);
                Codes { kind, local, held, free }
            }
        };
        Ok(self.codes.insert(codes))
    }

    /// φ̈ of these walls without their forces, zero where it is roundoff, as between bodies that fall alike; and the norm of the
    /// acceleration in the mass metric.
    fn accelerations(&mut self, z: &Phase, v: &[f64], walls: impl Iterator<Item = usize>) -> Solved<(Vec<f64>, f64)> {
        let free = &mut self.codes().map_err(|_| NoSolution::Accumulated)?.free;
        free.react(z.t, z.q(), v)?;
        let acceleration = |(a, size): (f64, f64)| if a.abs() <= SLOW * size { 0.0 } else { a };
        let size = free.size_of_acceleration();
        Ok((walls.map(|wall| acceleration(free.acceleration_of(wall))).collect(), size))
    }

    /// The maps of all modes but the current one, whose map is in the machine. Those to come are made in halves, or not.
    pub(super) fn flows(&mut self, halves: bool) -> impl Iterator<Item = &mut Box<dyn Flow>> {
        self.halves = halves;
        self.modes.iter_mut().map(|mode| &mut mode.flow)
    }

    /// The numbers of the walls that hold now.
    pub(super) fn walls(&self) -> &[usize] {
        &self.modes[self.mode].walls
    }

    /// What the walls do that hold now.
    pub(super) fn hold(&mut self) -> Option<&mut Hold> {
        self.modes[self.mode].hold.as_mut()
    }

    /// The number of the mode in which these walls hold; it is made when first needed.
    fn mode_of(&mut self, walls: &[usize]) -> Result<usize> {
        if let Some(known) = self.modes.iter().position(|mode| mode.walls == walls) {
            return Ok(known);
        }
        let parameters = self.parameters.clone();
        let codes = self.codes()?;
        let whole = codes.kind.held(&codes.held, walls, &parameters);
        let (field, active) =
            (Field::held(&codes.local, walls, &parameters), Active::new(&codes.local, walls, &parameters));
        let (has_constraints, size) = (!self.mechanics.constraints.is_empty(), 2 * self.mechanics.n());
        self.modes.push(Mode {
            walls: walls.to_vec(),
            hold: Some(Hold { active, ahead: has_constraints.then(|| whole.boxed_clone()) }),
            flow: if self.halves { Box::new(Halved::new(whole, size)) } else { whole },
            field,
        });
        Ok(self.modes.len() - 1)
    }
}

impl Machine {
    /// The number of the mode of motion; 0 where no wall holds.
    pub(super) fn mode(&self) -> usize {
        self.rest.as_ref().map_or(0, |rest| rest.mode)
    }

    /// True if the wall holds the motion.
    pub(super) fn is_held(&self, wall: usize) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.walls().contains(&wall))
    }

    /// H and v of the motion that no wall holds, as it is at impacts.
    pub(super) fn free_field(&self) -> &Field {
        self.rest.as_ref().filter(|rest| rest.mode > 0).map_or(&self.field, |rest| &rest.modes[0].field)
    }

    /// Does something in another mode of motion.
    pub(super) fn in_mode<T>(&mut self, mode: usize, act: impl FnOnce(&mut Machine) -> T) -> T {
        let now = self.mode();
        self.switch(mode);
        let done = act(self);
        self.switch(now);
        done
    }

    /// Goes over to another mode of motion: its map and field take the places of those in use.
    pub(super) fn switch(&mut self, mode: usize) {
        let Some(rest) = &mut self.rest else { return };
        for number in [rest.mode, mode] {
            if rest.mode != mode {
                let there = &mut rest.modes[number];
                std::mem::swap(&mut self.full, &mut there.flow);
                std::mem::swap(&mut self.field, &mut there.field);
            }
        }
        rest.mode = mode;
    }

    /// Begins a run at z, which may rest.
    pub(super) fn begin_rest(&mut self, z: &mut Phase) -> Solved<()> {
        if let Some(rest) = &mut self.rest {
            rest.news.clear();
            rest.booked = [0.0; 2];
            rest.stopped = None;
        }
        self.settle(z, None, 0)
    }

    /// Decides which of the walls that are touched hold the motion from here on; z is moved onto them. `leaving` has just
    /// let go; `before` is the mode of motion up to here.
    pub(super) fn settle(&mut self, z: &mut Phase, leaving: Option<usize>, before: usize) -> Solved<()> {
        self.switch(0);
        self.collect_slow_walls(z, leaving)?;
        let held = match leaving {
            Some(wall) => {
                let old = self.rest.as_ref().map_or(Vec::new(), |rest| rest.modes[before].walls.clone());
                self.hand_over(z, &old, wall)?.map(|walls| walls.into_iter().map(|wall| (wall, 0.0)).collect())
            }
            None => None,
        };
        let held = match held {
            Some(held) => held,
            None if self.touching.is_empty() => Vec::new(),
            None => self.holding_walls(z)?,
        };
        let Some(rest) = &mut self.rest else { return Ok(()) };
        if held.is_empty() && before == 0 {
            return Ok(());
        }
        let numbers: Vec<usize> = held.iter().map(|(wall, _)| *wall).collect();
        let mode = if held.is_empty() { 0 } else { rest.mode_of(&numbers).map_err(|_| NoSolution::Accumulated)? };
        let old = if before == 0 { Vec::new() } else { rest.modes[before].walls.clone() };
        let ends =
            old.iter().filter(|wall| !numbers.contains(wall)).map(|&wall| Holding { wall, t: z.t, begins: false });
        rest.news.extend(ends);
        for &(wall, wait) in held.iter().filter(|(wall, _)| !old.contains(wall)) {
            rest.news.push(Holding { wall, t: z.t + wait, begins: true });
            if rest.stops && wait > 0.0 {
                rest.stopped = Some((wall, wait));
            }
        }
        // In the mode of rest H would be that of the velocities along the walls already.
        let energy = self.field.energy(z.t, &z.z)?;
        self.switch(mode);
        self.come_to_rest(z, energy)
    }

    /// Moves z onto the walls that hold, and books what that does to the energy: the last bounces, left out, would have lost
    /// it, but for −λφ_t, which is the work of walls that move.
    fn come_to_rest(&mut self, z: &mut Phase, energy: f64) -> Solved<()> {
        let Machine { rest: Some(rest), field, .. } = self else { return Ok(()) };
        let Some(hold) = &mut rest.modes[rest.mode].hold else { return Ok(()) };
        hold.active.project(z, field)?;
        let impulses = field.multipliers().to_vec();
        let change = field.energy(z.t, &z.z)? - energy;
        hold.active.react(z.t, z.q(), field.velocity(z.t, &z.z)?)?;
        let drives: f64 = impulses.iter().zip(hold.active.rates()).map(|(mu, rate)| mu * rate).sum();
        rest.booked[0] += drives;
        rest.booked[1] += change - drives;
        Ok(())
    }

    /// Lists in `touching` the walls that are touched, and hardly left, with their rates.
    fn collect_slow_walls(&mut self, z: &Phase, leaving: Option<usize>) -> Solved<()> {
        self.touching.clear();
        if self.rest.is_none() {
            return Ok(());
        }
        for wall in (0..self.walls.count()).filter(|&wall| leaving != Some(wall)) {
            let (gap, rate) = self.walls.gap_and_rate(wall, z, &mut self.field)?;
            let fast = if self.restitution[wall] < 1.0 { SLOW_BOUNCE * self.fastest } else { 0.0 };
            if gap <= TOUCHING && (rate.abs() <= fast || rate.abs() <= f64::EPSILON) {
                self.touching.push((wall, rate));
            }
        }
        Ok(())
    }

    /// Of the walls in `touching` those that hold, each with the time in which its bounces come to an end.
    fn holding_walls(&mut self, z: &Phase) -> Solved<Vec<(usize, f64)>> {
        let v = self.field.velocity(z.t, &z.z)?.to_vec();
        let scale = LOWEST_BOUNCE * (1.0 + z.q().iter().map(|q| q.abs()).sum::<f64>());
        let Machine { rest: Some(rest), touching, .. } = self else { return Ok(Vec::new()) };
        let (free, size) = rest.accelerations(z, &v, touching.iter().map(|(wall, _)| *wall))?;
        // Where even a whole step of it gives no speed, an acceleration is roundoff.
        let (h, fastest, slow) = (self.hit.h, self.fastest, SLOW * self.fastest);
        let is_low = |rate: f64, a: f64| {
            let presses = fastest == 0.0 || a.abs() * h > slow;
            presses && (rate * rate <= 2.0 * scale * a.abs() || rate.abs() <= f64::EPSILON)
        };
        let rates: Vec<f64> = self.touching.iter().map(|(_, rate)| *rate).collect();
        let low: Vec<usize> = (0..free.len()).filter(|&k| is_low(rates[k], free[k])).collect();
        if low.iter().all(|&k| free[k] >= 0.0) {
            return Ok(Vec::new());
        }
        self.hit.minus.copy_from(z);
        let w = self.responses()?;
        let pressed = press(&w, &free, size, low, |k, a| is_low(rates[k], a)).ok_or(NoSolution::Accumulated)?;
        let total: f64 = pressed.iter().map(|wall| wall.force).sum();
        let wait = |k: usize, a: f64| match (rates[k].max(0.0), a.abs(), self.restitution[self.touching[k].0]) {
            (rate, a, e) if e < 1.0 && a > 0.0 => 2.0 * rate / (a * (1.0 - e)),
            _ => 0.0,
        };
        let holding = pressed.iter().filter(|wall| wall.force > NO_FORCE * total);
        let mut held: Vec<_> = holding.map(|p| (self.touching[p.number].0, wait(p.number, p.acceleration))).collect();
        held.sort_by_key(|(wall, _)| *wall);
        Ok(held)
    }
}
