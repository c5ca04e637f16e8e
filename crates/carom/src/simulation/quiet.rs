//! A watcher of runs that nobody looks at.

use crate::limits::WORK_OF_IMPACT;
use crate::run::{Audience, Watcher};
use crate::step::StepLog;

/// A watcher that ignores all output, and asks to stop when the wrapped watcher does, after a number of steps, or after an amount of work.
pub(super) struct Quiet<'a> {
    stop: &'a dyn Watcher,
    steps: usize,
    work: f64,
}

impl<'a> Quiet<'a> {
    /// Stops when `stop` does.
    pub(super) fn new(stop: &'a dyn Watcher) -> Quiet<'a> {
        Quiet { stop, steps: usize::MAX, work: f64::INFINITY }
    }

    /// Stops also after this number of steps.
    pub(super) fn until(stop: &'a dyn Watcher, steps: usize) -> Quiet<'a> {
        Quiet { steps, ..Quiet::new(stop) }
    }

    /// Stops also after this amount of work, in steps.
    pub(super) fn within(stop: &'a dyn Watcher, work: f64) -> Quiet<'a> {
        Quiet { work, ..Quiet::new(stop) }
    }

    /// True if the work that it allows was not enough.
    pub(super) fn is_spent(&self) -> bool {
        self.work <= 0.0
    }

    pub(super) fn audience(&mut self) -> Audience<'_> {
        Audience { watcher: self, every: None }
    }
}

impl Watcher for Quiet<'_> {
    fn step(&mut self, log: &StepLog) {
        self.steps = self.steps.saturating_sub(log.nodes());
        self.work -= log.nodes() as f64 + WORK_OF_IMPACT * log.impacts().len() as f64;
    }

    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_nodes(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        self.steps == 0 || self.is_spent() || self.stop.wants_to_stop()
    }
}
