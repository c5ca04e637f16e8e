//! The error of roundoff in a run, and how it grows.
//!
//! A run and one with every step in two halves share much of their roundoff. What it amounts to is measured by runs with one unit
//! of roundoff more in every step and at every impact: ROUNDOFF_SAFETY times the largest difference to DISTURBED_RUNS of them;
//! to DISTURBED_BESIDE_FINER and the finer run where steps are controlled. Two are enough if SAFETY_OF_TWO times the larger
//! difference is far below the tolerance.

use super::quiet::Quiet;
use super::runner::{Plan, Runner};
use super::scale::{difference, growth};
use crate::error::Result;
use crate::limits::{ROUNDOFF_SAFETY, SAFETY_OF_TWO};
use crate::run::{ErrorScale, Outcome, Watcher};
use crate::solve::larger;

/// The roundoff of a run, from the disturbed runs made so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Roundoff {
    /// Its estimated error.
    pub(super) error: f64,
    runs: usize,
    /// The largest difference to a disturbed run up to each checkpoint.
    pub(super) growth: Vec<f64>,
}

impl Roundoff {
    /// True if two runs tell enough: [`SAFETY_OF_TWO`] times the larger difference is at most `bound`. That becomes the error.
    pub(super) fn is_settled_by_two(&mut self, bound: f64) -> bool {
        let careful = SAFETY_OF_TWO / ROUNDOFF_SAFETY * self.error;
        let is_settled = self.runs == 2 && careful <= bound;
        if is_settled {
            self.error = careful;
        }
        is_settled
    }

    /// Compares a run with disturbed ones, until there are `runs` of them.
    pub(super) fn measure(
        &mut self,
        runner: &mut Runner,
        plan: Plan,
        (outcome, scale): (&Outcome, &ErrorScale),
        runs: usize,
        stop: &dyn Watcher,
    ) -> Result<()> {
        while self.runs < runs && !stop.wants_to_stop() {
            let other = runner.run_disturbed(plan, self.runs as u64, &mut [Quiet::new(stop).audience()])?;
            self.runs += 1;
            let Some(other) = other.filter(|_| !stop.wants_to_stop()) else { continue };
            let failed = other.status != outcome.status;
            let apart = if failed { f64::INFINITY } else { difference(outcome, &other, scale) };
            self.error = larger(self.error, ROUNDOFF_SAFETY * apart);
            let growth = growth(outcome, &other, scale);
            self.growth.resize(growth.len(), 0.0);
            self.growth.iter_mut().zip(growth).for_each(|(most, apart)| *most = larger(*most, apart));
        }
        Ok(())
    }
}
