//! A step for a tolerance, and an estimate of the error that it leaves.

use super::outcome::{Outcome, Status, Watcher};
use super::simulation::Simulation;
use crate::error::Result;
use crate::solve::larger;

/// Where steps cannot be made in halves, the second run has a step shorter by this: less than a tenth of the error for orders
/// from 10 on.
const FINER: f64 = 0.8;
/// A run never has more steps than this because of a tolerance.
const MOST_STEPS: f64 = 1e7;
/// A run that fails is tried again with half the step, so often.
const TRIES: usize = 6;
/// At so many times on the way the coordinates are compared, and walls are looked for that the steps do not see.
pub const CHECKPOINTS: usize = 255;
/// How much a difference of the times when rest began counts.
const REST: f64 = 1e-2;
/// Above this the first digits of the final state are wrong.
const MEANINGLESS: f64 = 1e-2;

/// A run to a tolerance.
pub struct Tuned {
    /// The run.
    pub outcome: Outcome,
    /// The step that was found.
    pub step: f64,
    /// The largest difference to a finer run, of the final state and of the coordinates at times on the way: an estimate of the
    /// error, relative to 1 + |z|.
    pub error: f64,
    /// What to tell the user, if the tolerance was not reached.
    pub warning: Option<String>,
}

/// How far two runs are apart, relative to 1 + |z|: in the last state, and in the coordinates on the way, since what rests has
/// forgotten how it came there. The times when rest began are compared too, though not to all digits: where bounces end is
/// extrapolated.
fn difference(a: &Outcome, b: &Outcome) -> f64 {
    let gap = |(a, b): (&f64, &f64)| (a - b).abs() / (1.0 + b.abs());
    let rest = match (a.first_rest, b.first_rest) {
        (Some(a), Some(b)) => REST * (a - b).abs(),
        _ => 0.0,
    };
    let pairs = a.end.z.iter().zip(&b.end.z).chain(a.path.iter().zip(&b.path));
    let worst = pairs.map(gap).fold(rest, larger);
    if worst.is_finite() { worst } else { f64::INFINITY }
}

impl Simulation {
    /// Runs with a step for which the final state, and the coordinates on the way, are right to `tolerance`. `watcher` makes a new
    /// watcher for each try.
    pub fn run_to_tolerance<W: Watcher>(&mut self, tolerance: f64, watcher: impl Fn() -> W) -> Result<(Tuned, W)> {
        let checkpoints = std::mem::replace(&mut self.checkpoints, CHECKPOINTS);
        let tuned = self.tune(tolerance, watcher);
        self.checkpoints = checkpoints;
        tuned
    }

    fn tune<W: Watcher>(&mut self, tolerance: f64, watcher: impl Fn() -> W) -> Result<(Tuned, W)> {
        self.step = self.pilot(tolerance)?;
        let smallest = (self.until - self.start().t) / MOST_STEPS;
        let (mut previous, mut tries) = (f64::INFINITY, 0);
        loop {
            let step = self.step;
            let mut seen = watcher();
            let outcome = self.run(&mut seen)?;
            // Where the equations of a step have no solution, those of a shorter one may; and it may see a wall.
            let fails = matches!(outcome.status, Status::Failed(_)) || outcome.missed.is_some();
            if fails && tries < TRIES && step > smallest {
                (self.step, tries) = ((0.5 * step).max(smallest), tries + 1);
                continue;
            }
            if outcome.status != Status::Completed {
                return Ok((Tuned { outcome, step, error: f64::NAN, warning: None }, seen));
            }
            let finer = self.run_finer(&mut Quiet(&seen))?;
            let failed = matches!(finer.status, Status::Failed(_)) || finer.missed.is_some();
            let error = if failed { f64::INFINITY } else { difference(&outcome, &finer) };
            let stuck = error > 0.25 * previous || step <= smallest;
            if error <= tolerance || stuck || seen.wants_to_stop() {
                let warning = (error > tolerance).then(|| warning(error, tolerance, step <= smallest));
                return Ok((Tuned { outcome, step, error, warning }, seen));
            }
            previous = error;
            let factor = 0.8 * (tolerance / error).powf(1.0 / self.order() as f64);
            self.step = (step * factor.clamp(0.05, 0.9)).max(smallest);
        }
    }

    /// A first step: short runs with h and h/2 are compared, beginning with a large h.
    fn pilot(&mut self, tolerance: f64) -> Result<f64> {
        let (start, until) = (self.start().t, self.until);
        let time = until - start;
        let smallest = time / MOST_STEPS;
        let mut h = time / 8.0;
        while h > smallest {
            self.until = (start + 16.0 * h).min(until);
            let part = (self.until - start) / time;
            let error = self.error_of_step(h)?;
            self.until = until;
            if error <= (tolerance * part).max(1e-14) {
                return Ok(h);
            }
            // Beyond its own scale the method says nothing about the right step.
            let factor =
                if error > 1e-3 { 0.5 } else { 0.9 * (tolerance * part / error).powf(1.0 / self.order() as f64) };
            h *= factor.clamp(0.05, 0.9);
        }
        Ok(smallest)
    }

    fn error_of_step(&mut self, h: f64) -> Result<f64> {
        self.step = h;
        let ends = [self.run(&mut ())?, self.run_finer(&mut ())?];
        let fails = |end: &Outcome| end.status != Status::Completed || end.missed.is_some();
        Ok(if ends.iter().any(fails) { f64::INFINITY } else { difference(&ends[0], &ends[1]) })
    }

    /// The same run, with less error: each step in two halves, partial ones too. A shorter step alone would not change what
    /// comes before an impact in the first step.
    fn run_finer(&mut self, watcher: &mut dyn Watcher) -> Result<Outcome> {
        let step = self.step;
        let halves = self.machine.halve(true);
        if !halves {
            self.step = FINER * step;
        }
        let finer = self.run(watcher);
        self.machine.halve(false);
        self.step = step;
        finer
    }
}

/// Looks at nothing, but stops where the other wants to.
struct Quiet<'a>(&'a dyn Watcher);

impl Watcher for Quiet<'_> {
    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        self.0.wants_to_stop()
    }
}

fn warning(error: f64, tolerance: f64, too_many_steps: bool) -> String {
    let message = if error > MEANINGLESS {
        "the motion is so sensitive that its final state means nothing; what holds on average still does".to_string()
    } else if too_many_steps {
        format!("the tolerance {tolerance:e} would take more than {MOST_STEPS:e} steps; a method of higher order helps")
    } else {
        format!("the tolerance {tolerance:e} is out of reach of double precision here")
    };
    format!("{message} (estimated error {error:.1e})")
}
