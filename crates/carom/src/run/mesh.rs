//! The nodes of a run.

use crate::limits::WHOLE_RATIO;

/// Equal steps from a start; the last step is shortened to end at the end time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mesh {
    /// The start time.
    pub start: f64,
    /// The step h.
    pub step: f64,
    /// The end time.
    pub until: f64,
}

impl Mesh {
    /// The number of steps.
    pub fn count(&self) -> usize {
        let ratio = (self.until - self.start) / self.step;
        let nearest = ratio.round();
        let count = if (ratio - nearest).abs() <= WHOLE_RATIO * nearest.max(1.0) { nearest } else { ratio.ceil() };
        (count as usize).max(1)
    }

    /// The end times of the steps.
    pub fn nodes(self) -> impl Iterator<Item = f64> {
        let count = self.count();
        (1..=count).map(move |k| if k == count { self.until } else { self.start + k as f64 * self.step })
    }

    /// True if t is one of the nodes start + k·h.
    pub fn contains(&self, t: f64) -> bool {
        let k = ((t - self.start) / self.step).round();
        (t - self.start - k * self.step).abs() < 1e-6 * self.step
    }
}
