//! Detects walls that the steps missed.

use super::observer::{Look, Observer};
use crate::limits::{BEYOND, CHECKPOINTS, DIP_DEPTH, DIPS};
use crate::phase::Phase;
use crate::solve::Solved;
use crate::step::{State, StepLog, pulling, terms_of_rate};

/// A wall that the steps missed: the motion is beyond it, or the wall holds the motion although it would have to pull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missed {
    /// The index of the wall.
    pub wall: usize,
    /// The time at which this was detected.
    pub t: f64,
}

/// The gap of a wall at a checkpoint, and its rate.
#[derive(Clone, Copy, Debug)]
struct Seen {
    t: f64,
    gap: f64,
    rate: f64,
}

/// A gap that was not looked at.
const UNSEEN: Seen = Seen { t: f64::NAN, gap: f64::NAN, rate: f64::NAN };

/// Checks the motion at equally spaced times, independent of the steps: on the polynomials of the steps, but at every
/// `stride`-th time, where runs are compared, to the order of the flow. Steps without a polynomial are looked at in between only where
/// there are walls. Between two such times on one arc, gaps that might be shut
/// there are looked at too.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    start: f64,
    time: f64,
    walls: usize,
    /// The number of the last checkpoint that was looked at.
    checked: usize,
    /// The next one is so many further.
    every: usize,
    /// Runs are compared at every checkpoint whose number is a multiple of this.
    stride: usize,
    /// q where runs are compared; NaN if a partial step to one has no solution.
    pub path: Vec<f64>,
    /// The least, largest and largest absolute value of each component of the state.
    pub bounds: Vec<[f64; 3]>,
    /// For each wall the largest size of what adds up to φ̇ so far.
    rates: Vec<f64>,
    /// The gaps at this checkpoint, and at the one before.
    now: Vec<Seen>,
    before: Vec<Seen>,
    /// The number of gaps that may still be evaluated between checkpoints.
    dips: usize,
    /// The first wall that was missed.
    pub missed: Option<Missed>,
}

impl Checkpoints {
    /// Checkpoints from `start` to `until`, in a system with `walls` walls, of which `compared` serve to compare runs. If `only_compares`,
    /// there are no others, and no walls are looked for.
    pub fn new(start: f64, until: f64, compared: usize, walls: usize, only_compares: bool) -> Checkpoints {
        let stride = (CHECKPOINTS + 1) / (compared + 1);
        let walls = if only_compares { 0 } else { walls };
        Checkpoints {
            start,
            time: until - start,
            walls,
            checked: 0,
            stride,
            every: if only_compares { stride } else { 1 },
            path: Vec::new(),
            bounds: Vec::new(),
            rates: vec![0.0; walls],
            now: vec![UNSEEN; walls],
            before: vec![UNSEEN; walls],
            dips: DIPS,
            missed: None,
        }
    }

    fn next(&self) -> Option<f64> {
        let next = self.checked + self.every;
        (next <= CHECKPOINTS).then_some(self.start + self.time * next as f64 / (CHECKPOINTS + 1) as f64)
    }

    /// Includes a state in the bounds.
    fn bound(&mut self, z: &Phase) {
        for ([low, high, size], x) in self.bounds.iter_mut().zip(&z.z) {
            (*low, *high, *size) = (low.min(*x), high.max(*x), size.max(x.abs()));
        }
    }

    /// Returns a wall with φ < 0, or a wall that holds the motion and would have to pull.
    fn hidden_wall(&mut self, z: &Phase, h: f64, holding: &[usize], look: &mut Look) -> Solved<Option<usize>> {
        if let Some(contact) = look.looker.contact(holding)? {
            let pulling = pulling(holding, contact.forces(z)?, z, &mut *look.evaluator)?;
            if pulling.is_some() {
                return Ok(pulling);
            }
        }
        // If the switches of a projected path are not located, part of a step lies beyond the wall.
        let walls = if look.looker.is_projected() { 0 } else { self.walls };
        for wall in (0..walls).filter(|wall| !holding.contains(wall)) {
            let (gap, rate) = look.evaluator.gap_and_rate(wall, z)?;
            self.now[wall] = Seen { t: z.t, gap, rate };
            self.rates[wall] = self.rates[wall].max(look.evaluator.size_of_rate(wall, z)?);
            if self.is_beyond(wall, gap, z, h, look)? {
                return Ok(Some(wall));
            }
        }
        Ok(None)
    }

    /// True if the motion is beyond a wall by more than roundoff.
    fn is_beyond(&self, wall: usize, gap: f64, z: &Phase, h: f64, look: &mut Look) -> Solved<bool> {
        if gap >= 0.0 || gap >= -BEYOND * (h * self.rates[wall] + look.evaluator.size_of_gap(wall, z, z.q())?) {
            return Ok(false);
        }
        Ok(gap < -BEYOND * h * terms_of_rate(wall, z, &mut *look.evaluator)?)
    }

    /// A wall that the motion enters and leaves again between this checkpoint and the one before, on an arc.
    fn hidden_dip(&mut self, log: &StepLog, arc: usize, z: &mut Phase, look: &mut Look) -> Solved<Option<Missed>> {
        for wall in 0..self.walls {
            let ends = [self.before[wall], self.now[wall]];
            if ends[0].t >= log.arcs()[arc].start.t
                && let Some(t) = self.dip_between(ends, DIP_DEPTH, wall, (log, arc), z, look)?
            {
                return Ok(Some(Missed { wall, t }));
            }
        }
        Ok(None)
    }

    /// When the gap of a wall is shut between two moments at which it is open. It cannot be if both gaps together are more than its
    /// largest rate covers; else it is looked at between them, where φ̇ is about zero or in the middle.
    fn dip_between(
        &mut self,
        [a, b]: [Seen; 2],
        depth: usize,
        wall: usize,
        (log, arc): (&StepLog, usize),
        z: &mut Phase,
        look: &mut Look,
    ) -> Solved<Option<f64>> {
        let is_open = a.gap + b.gap > self.rates[wall] * (b.t - a.t);
        if is_open || a.t.is_nan() || b.t.is_nan() || depth == 0 || self.dips == 0 {
            return Ok(None);
        }
        self.dips -= 1;
        let part = if a.rate < 0.0 && b.rate > 0.0 { a.rate / (a.rate - b.rate) } else { 0.5 };
        let t = a.t + part.clamp(0.1, 0.9) * (b.t - a.t);
        look.looker.near(log, arc, t, z)?;
        let (gap, rate) = look.evaluator.gap_and_rate(wall, z)?;
        if self.is_beyond(wall, gap, z, log.h, look)? {
            // The polynomial may be beyond a wall where the motion is not.
            look.looker.on_arc(log, arc, t, z)?;
            let gap = look.evaluator.gap_and_rate(wall, z)?.0;
            return Ok(self.is_beyond(wall, gap, z, log.h, look)?.then_some(t));
        }
        let seen = Seen { t, gap, rate };
        let first = self.dip_between([a, seen], depth - 1, wall, (log, arc), z, look)?;
        if first.is_some() { Ok(first) } else { self.dip_between([seen, b], depth - 1, wall, (log, arc), z, look) }
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
            self.checked += self.every;
            self.now.fill(UNSEEN);
            let arc = log.arc_at(t);
            let is_compared = self.checked.is_multiple_of(self.stride);
            // Without walls a state between the nodes adds to the bounds only, which is not worth a partial step.
            if self.walls == 0 && !is_compared && log.polynomial(arc).is_none() {
                continue;
            }
            let mut z = std::mem::replace(&mut look.z, Phase { t, z: Vec::new() });
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
            let missed = match wall {
                Ok(Some(wall)) => Some(Missed { wall, t }),
                _ => self.hidden_dip(log, arc, &mut z, look).unwrap_or(None),
            };
            self.missed = self.missed.or(missed);
            std::mem::swap(&mut self.before, &mut self.now);
            look.z = z;
        }
        for arc in &log.arcs()[1..log.nodes()] {
            self.bound(&arc.start);
        }
        self.bound(&log.end.z);
        Ok(())
    }
}
