//! Why a tolerance was not reached.

use std::fmt;

use super::scout::Scouted;
use crate::limits::{ENCOUNTER, LOW_ORDER, MEANINGLESS};

/// What ended a search for a step before it met its tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// Smaller steps no longer help: the error is roundoff.
    Roundoff,
    /// Somewhere the motion needs steps that are too short.
    Scouted(Scouted),
    /// The error falls with this order, so that the predicted number of steps would be needed.
    Steps { predicted: f64, order: f64 },
    /// After this number of tries, whose errors do not fall with any order.
    Tries(usize),
    /// After this number of tries, whose runs were too much work.
    Work(usize),
    /// Smaller local errors of controlled steps no longer help, for another reason than roundoff.
    Stalled,
}

/// What was measured in a search that did not meet its tolerance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reason {
    pub(super) limit: Limit,
    pub(super) tolerance: f64,
    /// The order of the method.
    pub(super) order: usize,
    /// The step of the best try.
    pub(super) step: f64,
    /// Its error, and that of roundoff in it.
    pub(super) error: f64,
    pub(super) roundoff: f64,
    /// The time in which small disturbances grow tenfold, where they grow exponentially.
    pub(super) tenfold: Option<f64>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Reason { tolerance, step, roundoff, .. } = self;
        match self.limit {
            Limit::Roundoff => match self.tenfold {
                Some(time) => write!(
                    f,
                    "the motion is chaotic over this time: small disturbances grow tenfold in {time:.2e}, and roundoff \
                     grows until the final state has no correct digits; averages may still be meaningful"
                )?,
                None if *roundoff > MEANINGLESS => write!(
                    f,
                    "the final state has no correct digits: it depends so much on the start that roundoff alone grows to \
                     {roundoff:.1e}"
                )?,
                None => write!(
                    f,
                    "the tolerance {tolerance:e} cannot be reached in double precision: roundoff grows to {roundoff:.1e}"
                )?,
            },
            Limit::Scouted(Scouted { shortest: 0.0, at, .. }) => {
                write!(
                    f,
                    "near t = {at:.6} no step is short enough: the motion runs into a singularity or a kink there"
                )?;
            }
            Limit::Scouted(Scouted { shortest, at, mean, order }) => {
                let is_low = order.is_some_and(|order| order < LOW_ORDER * self.order as f64);
                let what = match shortest < ENCOUNTER * mean {
                    _ if is_low => ", at a kink of a force,",
                    true => ", at a close encounter or a short force,",
                    false => "",
                };
                write!(
                    f,
                    "near t = {at:.6}{what} the motion needs steps of {shortest:.1e}, and {mean:.1e} on average: equal steps \
                     would be too many for the tolerance {tolerance:e}"
                )?;
            }
            Limit::Steps { predicted, order } if order < LOW_ORDER * self.order as f64 => write!(
                f,
                "the error falls with the order {order:.1} only, not {}: a force may have a kink; the tolerance \
                 {tolerance:e} would take about {predicted:.0e} steps",
                self.order
            )?,
            Limit::Steps { predicted, .. } => write!(
                f,
                "the tolerance {tolerance:e} would take about {predicted:.0e} steps; use a method of higher order"
            )?,
            Limit::Tries(count) => write!(
                f,
                "no step met the tolerance {tolerance:e} in {count} tries, the best is {step:.2e}: the motion may be stiff, \
                 or a force may have a kink"
            )?,
            Limit::Work(count) => write!(
                f,
                "no step met the tolerance {tolerance:e} in {count} tries, and steps shorter than {step:.2e} would take \
                 too long; give a larger tolerance, an earlier end time, or the step itself"
            )?,
            Limit::Stalled => {
                write!(f, "the tolerance {tolerance:e} was not met: smaller local errors no longer reduce the error")?
            }
        }
        write!(f, " (estimated error {:.1e})", self.error)
    }
}
