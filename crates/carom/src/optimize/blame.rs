//! Which conditions of an infeasible problem cannot be met.

use super::interior::{self, Elastic, Limits, SolverEnding};
use super::transcription::{Found, Options, Transcription};
use crate::error::Result;
use crate::kernel::Backend;
use crate::method::Method;
use crate::model::Model;
use crate::model::control::PhaseEvent;

/// A condition that cannot be met.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmet {
    /// As the user knows it.
    pub condition: String,
    /// How far it is off.
    pub off_by: f64,
}

/// Smaller misfits are none.
const MET: f64 = 1e-5;

/// Which conditions cannot be met.
pub(super) struct Blame {
    /// The conditions, the largest misfit first.
    pub(super) unmet: Vec<Unmet>,
    /// The active bounds of controls.
    pub(super) limits: Vec<String>,
    /// True if the misfit is a minimum.
    pub(super) is_certain: bool,
}

/// Solves again with the mechanics hard and only the user's conditions elastic: final, periodic and bound conditions, and bounds
/// of impulses. Those that are off at the optimum cannot be met. If the mechanics cannot be met even so, an impact or a catch is
/// impossible, and these become elastic too.
pub(super) fn blame(model: &Model, method: &Method, found: &Found, steps: &[usize], finer: usize) -> Result<Blame> {
    let first = relaxed(model, method, (found, steps), finer, false)?;
    let has_events = model.problem.phases.iter().any(|phase| !matches!(phase.event, PhaseEvent::None));
    if first.is_certain || !has_events {
        return Ok(first);
    }
    relaxed(model, method, (found, steps), finer, true)
}

fn relaxed(
    model: &Model,
    method: &Method,
    (found, steps): (&Found, &[usize]),
    finer: usize,
    with_events: bool,
) -> Result<Blame> {
    const COST: f64 = 100.0;
    const PULL: f64 = 1e-6;
    let options = Options { method, finer, is_soft: true, backend: Backend::Interpreter };
    let mut problem = Transcription::new(model, options)?;
    let start = problem.start_like(found, steps);
    let elastic = problem.conditions.iter().filter(|condition| with_events || !condition.is_event);
    let names: Vec<(String, usize)> = elastic.map(|condition| (condition.name.clone(), condition.row)).collect();
    let rows = names.iter().map(|(_, row)| *row).collect();
    let mut c = vec![0.0; problem.program().structure().rows];
    problem.program().values(&start, &mut c);
    let mut elastic = Elastic::new(problem.program(), &start, rows, PULL, COST);
    let begin = elastic.start(&start, &c, 0.1);
    let limits = Limits { tolerance: 1e-6, iterations: 300 };
    let solution = interior::solve(&mut elastic, &begin, limits, &mut |_, _| false);
    let misfits = elastic.misfit(&solution.x);
    let mut unmet: Vec<Unmet> = Vec::new();
    for ((name, _), misfit) in names.iter().zip(misfits) {
        match unmet.iter_mut().find(|known| known.condition == *name) {
            Some(known) => known.off_by = known.off_by.max(misfit.abs()),
            None => unmet.push(Unmet { condition: name.clone(), off_by: misfit.abs() }),
        }
    }
    unmet.retain(|unmet| unmet.off_by > MET);
    unmet.sort_by(|a, b| b.off_by.total_cmp(&a.off_by));
    let is_certain = solution.ending == SolverEnding::Optimal;
    let mut plain = solution;
    let variables = problem.program().structure().variables();
    plain.x.truncate(variables);
    plain.z.truncate(variables);
    let answer = problem.read_off(&plain)?;
    Ok(Blame { unmet, limits: limits_of_controls(model, &answer), is_certain })
}

/// The bounds of controls that push, with the times at which they do.
fn limits_of_controls(model: &Model, found: &Found) -> Vec<String> {
    /// The multipliers of bounds that push are above this part of the largest.
    const PUSHES: f64 = 1e-3;
    let largest = found.control_multipliers.iter().flatten().fold(0.0f64, |all, z| all.max(z.abs()));
    let mut limits = Vec::new();
    for (control, multipliers) in model.problem.controls.iter().zip(&found.control_multipliers) {
        let pushes = |k: &usize| multipliers[*k].abs() > PUSHES * largest.max(1e-6);
        let active: Vec<usize> = (0..multipliers.len()).filter(pushes).collect();
        let is_bounded = control.span.min.is_finite() || control.span.max.is_finite();
        if let (true, Some(&first), Some(&last)) = (is_bounded, active.first(), active.last()) {
            let (from, to) = (found.nodes[first].t, found.nodes[last + 1].t);
            limits.push(format!("limit of {} at t = {from:.3} … {to:.3} (a larger bound would help)", control.name));
        }
    }
    limits
}
