//! When runs that should be the same depart from each other.

use super::quiet::Quiet;
use super::runner::{Plan, Runner};
use super::scale::growth;
use super::tolerance::Trial;
use crate::error::Result;
use crate::limits::{CHECKPOINTS, DISTURBED_RUNS, FINER, MEANINGLESS, ORDERLESS, RESOLVED, ROUNDOFF_SAFETY, TENFOLD};
use crate::run::Watcher;

/// The differences to a finer run and to disturbed ones along the part of a run in which they become large, at equally spaced times.
pub(super) struct Departure {
    /// The time from one difference to the next.
    every: f64,
    finer: Vec<f64>,
    disturbed: Vec<f64>,
}

impl Departure {
    /// Looks at a trial that has been compared with disturbed runs: at shorter and shorter runs, until the differences become large
    /// over several checkpoints.
    pub(super) fn of(runner: &mut Runner, trial: &Trial, stop: &dyn Watcher) -> Result<Departure> {
        let start = runner.start().z.t;
        let mut plan = Plan { checkpoints: CHECKPOINTS, ..trial.plan };
        loop {
            let outcome = runner.run(plan, &mut [Quiet::new(stop).audience()])?;
            let other = runner.run_finer(plan, FINER, &mut [Quiet::new(stop).audience()])?;
            let finer = growth(&outcome, &other, &trial.scale);
            let mut closer = super::roundoff::Roundoff::default();
            closer.measure(runner, plan, (&outcome, &trial.scale), DISTURBED_RUNS / 2, stop)?;
            let disturbed = closer.growth;
            let count = finer.len().max(disturbed.len());
            let every = (plan.until - start) / (count + 1) as f64;
            let end = first_above(MEANINGLESS, &finer).min(first_above(MEANINGLESS, &disturbed));
            let until = start + every * (end + 2) as f64;
            if end >= RESOLVED || until >= plan.until || until <= start || stop.wants_to_stop() {
                return Ok(Departure { every, finer, disturbed });
            }
            plan = Plan { until, ..plan };
        }
    }

    /// True if the disturbed runs depart about as early as the finer run: then roundoff explains its error, and no step helps.
    pub(super) fn is_roundoff(&self) -> bool {
        let finer = first_above(ORDERLESS, &self.finer);
        let disturbed = first_above(ORDERLESS / ROUNDOFF_SAFETY, &self.disturbed);
        disturbed < self.disturbed.len() && 4 * disturbed <= 5 * finer + 8
    }

    /// The time in which small disturbances grow tenfold, if they grow exponentially: at least tenfold in each of the last three
    /// quarters of the time in which they become large. Under a power law up to t³ they grow less than tenfold in the second.
    pub(super) fn tenfold_time(&self) -> Option<f64> {
        let end = first_above(MEANINGLESS, &self.disturbed).min(self.disturbed.len().checked_sub(1)?);
        let [first, second, third, last] = [1, 2, 3, 4].map(|quarter| self.disturbed[quarter * end / 4].min(1.0));
        let is_exponential = end >= RESOLVED
            && first > 0.0
            && second >= TENFOLD * first
            && third >= TENFOLD * second
            && last >= TENFOLD * third;
        is_exponential.then(|| 0.75 * self.every * end as f64 / (last / first).log10())
    }
}

/// The first place with a number above a bound; the length if there is none.
fn first_above(bound: f64, list: &[f64]) -> usize {
    list.iter().position(|x| x.is_nan() || *x > bound).unwrap_or(list.len())
}
