//! Rest: walls that hold the motion.
//!
//! With e < 1 each bounce is shorter than the one before, and infinitely many bounces fit into a finite time (Zeno). Once a
//! bounce is too low to be resolved in double precision, the remaining bounces take the time
//!
//! ```text
//! T = 2φ̇⁺ / (|φ̈| (1 − e))
//! ```
//!
//! and end at φ = φ̇ = 0. From there the wall acts as a constraint with a force N ≥ 0, and lets go when N would become negative.
//! Which of several walls hold is a complementarity problem:
//!
//! ```text
//! 0 ≤ N  ⊥  φ̈ = φ̈_free + W N ≥ 0,   W = G M⁻¹ Gᵀ
//! ```
//!
//! Where walls answer to each other's impulses, more may be left than one low bounce: see `rocking.rs`.
//!
//! [`moreau`](crate::impact::moreau) solves the same problem for velocities. A wall with e = 1 holds the motion only if φ̇ = 0 to
//! roundoff.

use super::instant::Resolver;
use super::log::{EventKind, StepLog};
use super::maps::Maps;
use super::press::{Pressed, press};
use super::rocking::{Bounce, Left, what_is_left};
use super::touching::{Pace, Scale};
use crate::impact::by_others;
use crate::limits::{LAST_ROCK, LEAVES, NO_FORCE, SLOW, SLOW_BOUNCE};
use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::solve::{NoSolution, Solved};

/// Decides which walls hold the motion.
pub(super) struct Rest {
    /// True if the run ends at an accumulation point.
    pub(super) stops: bool,
    /// The length and velocity scales at the touching walls with small rates.
    scales: Vec<Scale>,
}

/// A wall that holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    wall: usize,
    /// The time until the accumulation point of its bounces.
    wait: f64,
}

/// The parts of the stepper that are needed to come to rest.
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
        Pace::of(&self.log.end, self.h, self.resolver.lowest)
    }
}

impl Rest {
    pub(super) fn new(stops: bool) -> Rest {
        Rest { stops, scales: Vec::new() }
    }

    /// Decides which of the touching walls hold the motion from this instant on, selects that contact mode, and projects z onto
    /// them. The walls in `before` held until now. The walls in `released` have let go at this instant, the most recent one
    /// last. Returns the time until the accumulation point if the step must end there.
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
        let pushed = self.pushed_walls(z, &walls, &mut around)?;
        if !pushed.is_empty() {
            stop_together(z, &walls, pushed, &mut around)?;
        }
        around.log.end.holding = walls;
        Ok(stop.map(|held| held.wait))
    }

    /// The touching walls that do not hold, and that close because others have come to rest; with e = 1 they will rebound.
    fn pushed_walls(&self, z: &Phase, held: &[usize], around: &mut Surroundings) -> Solved<Vec<usize>> {
        let mut pushed = Vec::new();
        let Resolver { restitution, touching, .. } = &*around.resolver;
        for (&(wall, before), scale) in touching.walls.iter().zip(&self.scales) {
            if held.is_empty() || held.contains(&wall) || restitution[wall] == 1.0 {
                continue;
            }
            let rate = around.evaluator.gap_and_rate(wall, z)?.1;
            if rate < before && rate < -scale.slow {
                pushed.push(wall);
            }
        }
        Ok(pushed)
    }

    /// Adds a wall against which the motion presses to the walls that held until now.
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

    /// Collects the touching walls with small rates in `resolver.touching`.
    fn collect_slow_walls(&mut self, z: &Phase, released: &[usize], around: &mut Surroundings) -> Solved<()> {
        self.scales.clear();
        let pace = around.pace();
        let Surroundings { resolver: Resolver { restitution, touching, .. }, evaluator, .. } = around;
        touching.walls.clear();
        touching.move_with(z, pace.h, &mut **evaluator)?;
        for wall in (0..restitution.len()).filter(|wall| !released.contains(wall)) {
            let (gap, rate) = evaluator.gap_and_rate(wall, z)?;
            if touching.is_far(wall, (gap, rate), z, pace, &mut **evaluator)? {
                continue;
            }
            // With e = 1 every bounce above roundoff is kept.
            let loses = restitution[wall] < 1.0;
            if !loses {
                let roundoff = touching.roundoff(wall, rate, z, &mut **evaluator)?;
                if gap.abs() > roundoff || (rate * pace.h).abs() > LEAVES * roundoff {
                    continue;
                }
            }
            let scale = touching.scale(wall, rate, z, pace, &mut **evaluator)?;
            let lowest = if loses { scale.lowest } else { scale.roundoff };
            let fast = if loses { SLOW_BOUNCE * pace.fastest * scale.root_w } else { f64::INFINITY };
            if gap <= lowest && (rate.abs() <= fast || rate.abs() <= scale.slow) {
                touching.walls.push((wall, rate));
                let gap = if gap > scale.roundoff { gap } else { 0.0 };
                self.scales.push(Scale { lowest, gap, ..scale });
            }
        }
        Ok(())
    }

    /// Selects from `resolver.touching` the walls that hold the motion.
    fn holding_walls(&mut self, z: &Phase, around: &mut Surroundings) -> Solved<Vec<Held>> {
        if around.resolver.touching.walls.is_empty() {
            return Ok(Vec::new());
        }
        let walls: Vec<usize> = around.resolver.touching.walls.iter().map(|(wall, _)| *wall).collect();
        let mut free = Vec::new();
        let size = around.evaluator.accelerations(z, &walls, &mut free)?;
        // An acceleration that changes no velocity noticeably within a whole step is roundoff.
        let (Pace { h, fastest, .. }, scales) = (around.pace(), &self.scales);
        let is_low = |k: usize, rate: f64, a: f64| {
            let presses = fastest == 0.0 || a.abs() * h > SLOW * fastest * scales[k].root_w;
            presses && (rate * rate <= 2.0 * scales[k].lowest * a.abs() || rate.abs() <= scales[k].slow)
        };
        let rates: Vec<f64> = around.resolver.touching.walls.iter().map(|(_, rate)| *rate).collect();
        let low: Vec<usize> = (0..free.len()).filter(|&k| is_low(k, rates[k], free[k])).collect();
        if low.iter().all(|&k| free[k] >= 0.0) {
            return Ok(Vec::new());
        }
        let (m, w) = (free.len(), around.resolver.touching.responses(z, around.evaluator)?);
        // A ball that falls into a gap without play closes on both sides by what their gradients differ by, which no force can
        // stop: φ̈ is not that of the combination of other walls on which this wall nearly depends.
        let gives_way = |k: usize, a: &[f64]| {
            by_others(&w, m, k, a).is_some_and(|by_others| (a[k] - by_others).abs() > 0.5 * a[k].abs())
        };
        let low = low.into_iter().filter(|&k| free[k] >= 0.0 || !gives_way(k, &free)).collect();
        let is_low = |k: usize, a: &[f64]| is_low(k, rates[k], a[k]) && !gives_way(k, a);
        let restitution: Vec<f64> = walls.iter().map(|&wall| around.resolver.restitution[wall]).collect();
        let held = self.held_for_good((&w, &free, size), (&rates, &restitution), low, is_low)?;
        let mut held: Vec<Held> = held.into_iter().map(|(k, wait)| Held { wall: walls[k], wait }).collect();
        held.sort_by_key(|held| held.wall);
        Ok(held)
    }

    /// The walls that hold, as [`press`] selects them from `low`, without those that bear nothing; and how long the bounces take that are
    /// left. Where one of these may be too high, or the other walls stop a bounce that is not among the last, the highest one goes on.
    fn held_for_good(
        &self,
        (w, free, size): (&[f64], &[f64], f64),
        (rates, restitution): (&[f64], &[f64]),
        mut low: Vec<usize>,
        is_low: impl Fn(usize, &[f64]) -> bool,
    ) -> Solved<Vec<(usize, f64)>> {
        let m = free.len();
        let mut goes_on = vec![false; m];
        while low.iter().any(|&k| free[k] < 0.0) {
            let may_hold = |k: usize, a: &[f64]| !goes_on[k] && is_low(k, a);
            let mut pressed = press(w, free, size, low.clone(), may_hold).ok_or(NoSolution::Accumulated)?;
            // Forces at walls in several units: N√W.
            let push = |wall: &Pressed| wall.force * w[wall.number * (m + 1)].sqrt();
            let total: f64 = pressed.iter().map(push).sum();
            pressed.retain(|wall| push(wall) > NO_FORCE * total);
            let bounce = |wall: &Pressed| self.bounce(wall, rates, free, restitution);
            let bounces: Vec<Bounce> = pressed.iter().map(bounce).collect();
            let left = what_is_left(w, m, &bounces);
            let is_last =
                |(bounce, left): (&Bounce, &Left)| left.height <= LAST_ROCK * self.scales[bounce.number].lowest;
            let is_stopped = |k: usize| {
                let pushes = bounces.iter().zip(&left).map(|(bounce, left)| w[k * m + bounce.number] * left.impulse);
                let change: f64 = pushes.sum();
                goes_on[k] && change < 0.0 && rates[k] + change < -self.scales[k].slow
            };
            let height = |bounce: &Bounce| {
                let Bounce { number: k, gap, rate, .. } = *bounce;
                (gap + 0.5 * rate * rate / free[k].abs()) / self.scales[k].lowest
            };
            let highest = bounces.iter().filter(|bounce| height(bounce) > 0.0);
            let highest = highest.max_by(|a, b| height(a).total_cmp(&height(b)));
            let is_good = bounces.iter().zip(&left).all(is_last) && !(0..m).any(is_stopped);
            match highest.filter(|_| !is_good) {
                None => return Ok(bounces.iter().zip(left).map(|(bounce, left)| (bounce.number, left.wait)).collect()),
                Some(highest) => {
                    goes_on[highest.number] = true;
                    low.retain(|&k| k != highest.number);
                }
            }
        }
        Ok(Vec::new())
    }

    /// The bounce at a wall that begins to hold.
    fn bounce(&self, wall: &Pressed, rates: &[f64], free: &[f64], restitution: &[f64]) -> Bounce {
        let Pressed { number, force } = *wall;
        let (rate, scale) = (rates[number], &self.scales[number]);
        let is_roundoff = rate.abs() <= scale.slow || rate * rate <= 2.0 * scale.roundoff * free[number].abs();
        let rate = if is_roundoff { 0.0 } else { rate };
        Bounce { number, gap: scale.gap, rate, force, restitution: restitution[number] }
    }
}

/// Stops the motion at the walls that hold and at those into which it is pushed by coming to rest there: an impulse for these alone would
/// push it off the others, whose last bounces would push it back. Only the former hold it.
#[cold]
fn stop_together(z: &mut Phase, held: &[usize], pushed: Vec<usize>, around: &mut Surroundings) -> Solved<()> {
    let before = z.clone();
    let mut walls = [held, &pushed].concat();
    walls.sort_unstable();
    if come_to_rest(z, &walls, around).is_err() {
        // They depend on each other.
        z.copy_from(&before);
    }
    around.maps.select(held)
}

/// Selects the contact mode of these walls, projects z onto them, and records the change of the energy. Moving walls do the work
/// −λφ_t; the rest is what the omitted last bounces would have dissipated.
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
