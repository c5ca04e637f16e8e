//! Detects walls that the steps missed.

use super::observer::{Look, Observer};
use crate::limits::{BEYOND, CHECKPOINTS};
use crate::phase::Phase;
use crate::solve::Solved;
use crate::step::{State, StepLog, pulling};

/// A wall that the steps missed: the motion is beyond it, or the wall holds the motion although it would have to pull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missed {
    /// The index of the wall.
    pub wall: usize,
    /// The time at which this was detected.
    pub t: f64,
}

/// Checks the motion at equally spaced times, independent of the steps: on the polynomials of the steps, but at every
/// `stride`-th time, where runs are compared, to the order of the flow.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    start: f64,
    time: f64,
    walls: usize,
    checked: usize,
    stride: usize,
    /// q where runs are compared; NaN if a partial step to one has no solution.
    pub path: Vec<f64>,
    /// The least, largest and largest absolute value of each component of the state.
    pub bounds: Vec<[f64; 3]>,
    /// For each wall the largest size of what adds up to φ̇ so far.
    rates: Vec<f64>,
    /// The first wall that was missed.
    pub missed: Option<Missed>,
}

impl Checkpoints {
    /// Checkpoints from `start` to `until`, in a system with `walls` walls, of which `compared` serve to compare runs.
    pub fn new(start: f64, until: f64, compared: usize, walls: usize) -> Checkpoints {
        Checkpoints {
            start,
            time: until - start,
            walls,
            checked: 0,
            stride: (CHECKPOINTS + 1) / (compared + 1),
            path: Vec::new(),
            bounds: Vec::new(),
            rates: vec![0.0; walls],
            missed: None,
        }
    }

    fn next(&self) -> Option<f64> {
        let part = (self.checked + 1) as f64 / (CHECKPOINTS + 1) as f64;
        (self.checked < CHECKPOINTS).then_some(self.start + self.time * part)
    }

    /// Includes a state in the bounds.
    fn bound(&mut self, z: &Phase) {
        for ([low, high, size], x) in self.bounds.iter_mut().zip(&z.z) {
            (*low, *high, *size) = (low.min(*x), high.max(*x), size.max(x.abs()));
        }
    }

    /// Returns a wall with φ < 0, or a wall that holds the motion and would have to pull.
    fn hidden_wall(&mut self, z: &Phase, h: f64, holding: &[usize], look: &mut Look) -> Solved<Option<usize>> {
        if let Some(contact) = look.looker.contact(holding)?
            && let Some(k) = pulling(contact.forces(z)?)
        {
            return Ok(Some(holding[k]));
        }
        // If the switches of a projected path are not located, part of a step lies beyond the wall.
        let walls = if look.looker.is_projected() { 0 } else { self.walls };
        for wall in (0..walls).filter(|wall| !holding.contains(wall)) {
            let gap = look.evaluator.gap_and_rate(wall, z)?.0;
            let rate = &mut self.rates[wall];
            *rate = rate.max(look.evaluator.size_of_rate(wall, z)?);
            if gap < 0.0 && gap < -BEYOND * (h * *rate + look.evaluator.size_of_gap(wall, z, z.q())?) {
                return Ok(Some(wall));
            }
        }
        Ok(None)
    }
}

impl Observer for Checkpoints {
    fn begin(&mut self, state: &State, _is_resumed: bool, _look: &mut Look) -> Solved<()> {
        self.path.reserve(CHECKPOINTS / self.stride * state.z.q().len());
        self.bounds = state.z.z.iter().map(|&x| [x, x, x.abs()]).collect();
        Ok(())
    }

    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        while let Some(t) = self.next().filter(|&t| t <= log.end.z.t) {
            self.checked += 1;
            let arc = log.arc_at(t);
            let mut z = std::mem::replace(&mut look.z, Phase { t, z: Vec::new() });
            let is_compared = self.checked.is_multiple_of(self.stride);
            let seen = match is_compared {
                true => look.looker.on_arc(log, arc, t, &mut z),
                false => look.looker.near(log, arc, t, &mut z),
            };
            if seen.is_ok() {
                self.bound(&z);
            }
            match seen {
                Ok(()) if is_compared => self.path.extend(z.q()),
                Err(_) if is_compared => self.path.resize(self.checked / self.stride * z.q().len(), f64::NAN),
                _ => {}
            }
            let mut wall = seen.and_then(|()| self.hidden_wall(&z, log.h, log.holding(arc), look));
            // The polynomial may be beyond a wall where the motion is not.
            if let Ok(Some(_)) = wall
                && !is_compared
            {
                wall = look
                    .looker
                    .on_arc(log, arc, t, &mut z)
                    .and_then(|()| self.hidden_wall(&z, log.h, log.holding(arc), look));
            }
            look.z = z;
            if let Ok(Some(wall)) = wall {
                self.missed = self.missed.or(Some(Missed { wall, t }));
            }
        }
        self.bound(&log.end.z);
        Ok(())
    }
}
