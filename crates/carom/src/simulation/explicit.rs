//! Runs of the explicit pair: one pass, with steps controlled as they go.

use super::runner::Plan;
use crate::interval::Piece;
use crate::limits::{CHECKPOINTS, EXPLICIT_TOLERANCE};

/// The steps of a run to a tolerance. No step is longer than an eighth of the time, nor than what functions of time need.
pub(super) fn plan(tolerance: f64, begin: f64, until: f64, short: &[Piece], looks_for_walls: bool) -> Plan {
    let step = short.iter().fold((until - begin) / 8.0, |step, piece| step.min(2.0 * piece.length));
    let checkpoints = if looks_for_walls { CHECKPOINTS } else { 0 };
    Plan { step, control: Some(EXPLICIT_TOLERANCE * tolerance), until, checkpoints, ..Plan::default() }
}
