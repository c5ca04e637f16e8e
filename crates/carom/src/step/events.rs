//! The events of a step, counted.

use super::event::{Encounter, Kind};
use crate::limits::{MAX_AT_ONE_INSTANT, MAX_IN_ONE_STEP, STEADY, STEADY_EVENTS};
use crate::solve::{NoSolution, Solved};

/// The events of a step so far.
#[derive(Default)]
pub(super) struct Events {
    pub(super) total: usize,
    at_once: usize,
    rattle: Rattle,
}

impl Events {
    /// Counts an event after the time t, where `tau_left` is left of the step. Fails if there are too many, in the step or at one
    /// instant, and as soon as it is clear that there will be.
    pub(super) fn count(&mut self, encounter: &Encounter, t: f64, tau_left: f64) -> Solved<()> {
        // An interval too short to change the time is zero.
        self.at_once = if t + encounter.dtau > t { 0 } else { self.at_once + 1 };
        self.total += 1;
        let is_endless = self.rattle.count(encounter, tau_left);
        match is_endless || self.at_once > MAX_AT_ONE_INSTANT || self.total > MAX_IN_ONE_STEP {
            true if encounter.kind == Kind::Passes => Err(NoSolution::Kink),
            true => Err(NoSolution::Accumulated),
            false => Ok(()),
        }
    }

    /// The interval between the last two events of the step; 0 if there was only one.
    pub(super) fn interval(&self, last: &Encounter) -> f64 {
        if self.total > 1 { last.dtau } else { 0.0 }
    }
}

/// Events at one wall in a row. Bounces with e < 1 follow each other faster and faster, until the wall holds the motion. If they
/// neither do that nor slow down, the step will have as many as fit into it.
#[derive(Default)]
struct Rattle {
    wall: Option<usize>,
    events: usize,
    /// How long the last blocks of events took; the last one is not complete.
    blocks: [f64; 5],
}

impl Rattle {
    /// Counts an event; true if so many more are to be expected in the step that it will be given up.
    fn count(&mut self, encounter: &Encounter, tau_left: f64) -> bool {
        if self.wall != Some(encounter.wall) {
            *self = Rattle { wall: Some(encounter.wall), ..Rattle::default() };
        }
        self.events += 1;
        self.blocks[4] += encounter.dtau;
        if !self.events.is_multiple_of(STEADY_EVENTS) {
            return false;
        }
        self.blocks.rotate_left(1);
        self.blocks[4] = 0.0;
        let (least, most) = self.blocks[..4].iter().fold((f64::INFINITY, 0.0), |(a, b), x| (x.min(a), x.max(b)));
        let is_steady = least > 0.0 && most <= (1.0 + STEADY) * least;
        is_steady && tau_left * STEADY_EVENTS as f64 > most * MAX_IN_ONE_STEP as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many events of a step of length 1 are counted, if the intervals between them follow this law; none if all are, until the
    /// step ends or they are so near to each other that the wall would hold.
    fn refused_after(interval: impl Fn(usize) -> f64, wall: impl Fn(usize) -> usize) -> Option<usize> {
        let (mut events, mut t) = (Events::default(), 0.0);
        for k in 0..90_000 {
            let encounter = Encounter::new(wall(k), interval(k), Kind::Meets);
            if events.count(&encounter, t, 1.0 - t).is_err() {
                return Some(k);
            }
            t += encounter.dtau;
            if t >= 1.0 || encounter.dtau < 1e-12 {
                return None;
            }
        }
        None
    }

    #[test]
    fn steady_events_are_refused_where_too_many_would_follow() {
        // The first event is not as near to the start of the step as the others to each other; they scatter.
        let scattered = |k: usize| if k == 0 { 0.1 } else { 1e-7 * (1.0 + 0.05 * (k as f64).sin()) };
        assert_eq!(refused_after(scattered, |_| 3), Some(5 * STEADY_EVENTS - 1));
        assert_eq!(refused_after(|_| 1.1e-5, |_| 3), None, "all of them are in the step");
    }

    #[test]
    fn sequences_that_end_are_not_refused() {
        for e in [0.5, 0.9, 0.99, 0.999, 0.9998_f64] {
            assert_eq!(refused_after(|k| 1e-6 * e.powi(k as i32), |_| 3), None, "e = {e}");
        }
        // Two walls in turns, as where a ball is caught between a wall and a heavy one: their number is not bound to the time.
        assert_eq!(refused_after(|_| 1e-7, |k| k % 2), None);
        // Slower and slower: they will end.
        assert_eq!(refused_after(|k| 1e-9 * 1.001_f64.powi(k as i32), |_| 3), None);
    }
}
