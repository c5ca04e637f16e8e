//! Detects walls that the steps missed.

use super::observer::{Look, Observer};
use crate::limits::BEYOND;
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

/// Checks the motion at equally spaced times, independent of the steps.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    start: f64,
    time: f64,
    count: usize,
    walls: usize,
    checked: usize,
    /// q at the checkpoints; NaN if a partial step to one has no solution.
    pub path: Vec<f64>,
    /// p at the checkpoints.
    pub momenta: Vec<f64>,
    /// For each wall the largest size of what adds up to φ̇ so far.
    rates: Vec<f64>,
    /// The first wall that was missed.
    pub missed: Option<Missed>,
}

impl Checkpoints {
    /// `count` checkpoints from `start` to `until`, in a system with `walls` walls.
    pub fn new(start: f64, until: f64, count: usize, walls: usize) -> Checkpoints {
        Checkpoints {
            start,
            time: until - start,
            count,
            walls,
            checked: 0,
            path: Vec::new(),
            momenta: Vec::new(),
            rates: vec![0.0; walls],
            missed: None,
        }
    }

    fn next(&self) -> Option<f64> {
        let part = (self.checked + 1) as f64 / (self.count + 1) as f64;
        (self.checked < self.count).then_some(self.start + self.time * part)
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
        self.path.reserve(self.count * state.z.q().len());
        self.momenta.reserve(self.count * state.z.q().len());
        Ok(())
    }

    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        while let Some(t) = self.next().filter(|&t| t <= log.end.z.t) {
            self.checked += 1;
            let arc = log.arc_at(t);
            let mut z = std::mem::replace(&mut look.z, Phase { t, z: Vec::new() });
            let seen = look.looker.on_arc(log, arc, t, &mut z);
            match seen {
                Ok(()) => {
                    self.path.extend(z.q());
                    self.momenta.extend(z.p());
                }
                Err(_) => self.path.resize(self.checked * z.q().len(), f64::NAN),
            }
            let wall = seen.and_then(|()| self.hidden_wall(&z, log.h, log.holding(arc), look));
            look.z = z;
            if let Ok(Some(wall)) = wall {
                self.missed = self.missed.or(Some(Missed { wall, t }));
            }
        }
        Ok(())
    }
}
