//! Notes before a run and warnings after it.

use crate::error::Result;
use crate::limits::{DRIFT_ROUNDING, LARGE_DRIFT};
use crate::model::{Model, Start};
use crate::plant::Facts;
use crate::run::{Energy, Missed, Outcome};

/// Notes before a run: a start that was moved, and constraints that are known to be unstable.
pub(super) fn notes(model: &Model, start: Option<&Start>) -> Vec<String> {
    let mut notes: Vec<String> = start.map_or(Vec::new(), |start| start.notes.clone());
    if let Some([q, v]) = start.and_then(|start| start.moved) {
        notes.push(format!("the start was moved onto the constraints, q by {q:.3e}, v by {v:.3e}"));
    }
    let growth: Result<Vec<(String, f64)>> = model.two_point_growth();
    for (name, growth) in growth.unwrap_or_default() {
        notes.push(format!(
            "the two-point constraint `{name}` is for study only: theory predicts that its error grows by a factor of \
             {growth:.4} in each step near the start"
        ));
    }
    notes
}

/// Warnings after a run. `is_tuned` is true if carom found the step.
pub(super) fn after(
    model: &Model,
    facts: &Facts,
    restitution: &[f64],
    outcome: &Outcome,
    is_tuned: bool,
) -> Vec<String> {
    let walls = outcome.missed.map(|missed| about_wall(model, missed, outcome.step));
    let conservative = facts.sources.is_conservative(restitution);
    let energy = if conservative { about_energy(outcome.energy, outcome.step, is_tuned) } else { None };
    walls.into_iter().chain(energy).collect()
}

/// Warns if a conserved energy drifts: the largest |H − H(0)| is large compared with the largest kinetic energy.
fn about_energy(energy: Energy, step: f64, is_tuned: bool) -> Option<String> {
    let Energy { initial, max_drift: drift, max_kinetic: kinetic, .. } = energy;
    let large = drift > LARGE_DRIFT * kinetic && drift > DRIFT_ROUNDING * (1.0 + initial.abs());
    if !(large || drift.is_nan()) {
        return None;
    }
    let by =
        if drift.is_nan() { "is not a number at some node".into() } else { format!("drifts by up to {drift:.2e}") };
    let scale = if kinetic > 0.0 { format!(" (the kinetic energy reaches {kinetic:.2e})") } else { String::new() };
    let leave = if is_tuned { "" } else { ", or give neither step nor method and let carom choose" };
    Some(format!(
        "the energy should be conserved, but {by}{scale}: the step is too large for this method\nhelp: try the step \
         {}{leave}; `carom compare` shows the drift of methods and steps",
        tenth(step)
    ))
}

/// Warns of a wall that the steps missed.
fn about_wall(model: &Model, missed: Missed, step: f64) -> String {
    let name = &model.system.walls[missed.wall].name;
    format!(
        "the motion is beyond the wall `{name}` at t = {:.6}, or rests on it although it should leave: the step is too large \
         to detect this\nhelp: try the step {}",
        missed.t,
        tenth(step)
    )
}

/// A tenth of the step, rounded to two digits.
fn tenth(step: f64) -> String {
    let rounded = format!("{:.1e}", 0.1 * step);
    rounded.parse::<f64>().map_or(rounded, |x| x.to_string())
}
