//! Notes before a run and warnings after it.

use crate::error::{Diagnostic, Error, Failure, Result, plain};
use crate::limits::{DRIFT_ROUNDING, LARGE_DRIFT, LARGE_MEAN_DRIFT};
use crate::mechanics::size_of_lagrangian;
use crate::model::{Model, Start};
use crate::plant::Facts;
use crate::run::{Energy, Jump, Missed, Outcome, Status};
use crate::step::Scheme;

/// A message names no more expressions than this.
const MOST_NAMED: usize = 3;

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

/// A note after a run that met no wall of its model: a wall may be in the wrong place, or the run too short.
pub(super) fn unmet(model: &Model, outcome: &Outcome) -> Option<String> {
    let is_met = outcome.impacts > 0 || outcome.first_rest.is_some() || outcome.missed.is_some();
    let is_over = matches!(outcome.status, Status::Completed | Status::Stopped(_));
    let walls = &model.system.walls;
    if is_met || !is_over || walls.is_empty() {
        return None;
    }
    let which = match walls.as_slice() {
        [wall] => format!("the wall `{}`", wall.name),
        all => format!("none of the {} walls", all.len()),
    };
    let verb = if walls.len() == 1 { "was not met" } else { "was met" };
    Some(format!("{which} {verb} up to t = {}", plain(outcome.last.t)))
}

/// The expressions with kinks that steps do not locate, and what follows from them; none if there are none.
pub(super) fn kinks(model: &Model, scheme: &Scheme) -> Option<String> {
    let others = scheme.plant.lagrangian().ok()?.kinks().others;
    let list: Vec<String> = others.iter().take(MOST_NAMED).map(|&e| format!("`{}`", model.written(e))).collect();
    let (has, its, it) =
        if list.len() == 1 { ("has", "its argument is", "it") } else { ("have", "their arguments are", "them") };
    let advice =
        format!("{has} a kink where {its} zero, which keeps the order of a method only if no motion comes near {it}");
    (!list.is_empty()).then(|| format!("{} {advice}", list.join(", ")))
}

/// The expressions that jump with a velocity.
pub(super) fn jumps(model: &Model, scheme: &Scheme) -> Option<String> {
    let jumps = scheme.plant.lagrangian().ok()?.kinks().jumps;
    let list: Vec<String> = jumps.iter().take(MOST_NAMED).map(|&e| format!("`{}`", model.written(e))).collect();
    (!list.is_empty()).then(|| format!("{} {}", list.join(", "), if list.len() == 1 { "jumps" } else { "jump" }))
}

/// What a force that is a function did, if it was not finite since this was last asked.
pub(super) fn function(model: &Model) -> Option<Diagnostic> {
    let trouble = model.system.function.as_ref()?.take_trouble()?;
    Some(Diagnostic::new(trouble).with_help("it must be finite wherever a step looks, also near the motion"))
}

/// An error of the search for a step, with the kinks that may be its cause.
pub(super) fn with_kinks(error: Error, model: &Model, scheme: &Scheme) -> Error {
    match (error, kinks(model, scheme)) {
        (Error::Model(diagnostic), Some(kinks)) => {
            let help = diagnostic.help.clone().map_or(kinks.clone(), |help| format!("{help}; {kinks}"));
            diagnostic.with_help(help).into()
        }
        (error, _) => error,
    }
}

/// Warnings after a run. `is_tuned` is true if carom found the step.
pub(super) fn after(model: &Model, facts: &Facts, outcome: &Outcome, is_tuned: bool) -> Vec<String> {
    let walls = outcome.missed.map(|missed| about_wall(model, missed, outcome.longest_step));
    // Where carom found the step and the run failed, the failure says why: no shorter step helps.
    let is_explained = is_tuned && matches!(outcome.status, Status::Failed(_));
    let is_due = facts.sources.is_conservative(&outcome.restitution) && !is_explained;
    let energy = if is_due { about_energy(model, outcome, is_tuned) } else { None };
    walls.into_iter().chain(energy).collect()
}

/// The jump of an energy that should be conserved, and the failure of a run with it; its state is yet to be filled in.
pub(super) fn broken_energy(model: &Model, facts: &Facts, outcome: &Outcome) -> Option<(Jump, Failure)> {
    let jump = outcome.energy.jump.filter(|_| facts.sources.is_conservative(&outcome.restitution))?;
    let Jump { t, before, after, .. } = jump;
    if (after - before).abs() <= roundoff_of_energy(model, outcome) {
        return None;
    }
    let message = format!(
        "the energy, which should be conserved, jumps from {before:.3e} to {after:.3e} in the step to t = {t:.6}, and shorter \
         steps do not mend that"
    );
    let hint = "the motion runs into a singularity: end the run earlier, or change the model there; with a step of your own \
                (`--step`) this is a warning";
    Some((jump, Failure { message, t, q: Vec::new(), p: Vec::new(), hint: hint.into() }))
}

/// Drifts of the energy up to this are roundoff, relative to the absolute terms of L at the end.
fn roundoff_of_energy(model: &Model, outcome: &Outcome) -> f64 {
    let size = size_of_lagrangian(&model.system, &outcome.state.parameters, &outcome.last);
    if size.is_finite() { DRIFT_ROUNDING * size } else { 0.0 }
}

/// Warns if a conserved energy drifts: the largest |H − H(0)| is large compared with the largest or the mean kinetic energy. The
/// mean is that of a bound orbit as a whole: with a close encounter the largest may be far above its binding energy.
fn about_energy(model: &Model, outcome: &Outcome, is_tuned: bool) -> Option<String> {
    let Energy { max_drift: drift, max_kinetic: kinetic, mean_kinetic: mean, .. } = outcome.energy;
    let is_small = drift <= LARGE_DRIFT * kinetic && drift <= LARGE_MEAN_DRIFT * mean;
    if is_small || drift <= roundoff_of_energy(model, outcome) {
        return None;
    }
    let by =
        if drift.is_nan() { "is not a number at some node".into() } else { format!("drifts by up to {drift:.2e}") };
    let scale = match kinetic > 0.0 {
        true => format!(" (the kinetic energy reaches {kinetic:.2e}, and is {mean:.2e} on average)"),
        false => String::new(),
    };
    let leave = if is_tuned { "" } else { ", or let carom choose: method `auto`, step `auto`" };
    Some(format!(
        "the energy should be conserved, but {by}{scale}: the step is too large for this method\nhelp: try the step \
         {}{leave}; `carom compare` shows the drift of methods and steps",
        tenth(outcome.longest_step)
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
    rounded.parse().map_or(rounded, plain)
}
