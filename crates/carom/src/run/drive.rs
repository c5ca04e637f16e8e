//! The main loop.

use std::sync::Arc;

use super::mesh::Mesh;
use super::observer::{Look, Observer};
use super::outcome::Status;
use super::sections::Sections;
use crate::error::Failure;
use crate::phase::{FLIGHT, Phase};
use crate::solve::{NoSolution, Solved};
use crate::step::{State, StepLog, Stepper};

/// Where and how a run ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// How it ended.
    pub status: Status,
    /// The last state.
    pub state: State,
    /// The number of completed steps.
    pub steps: usize,
}

/// Steps through the nodes of a mesh, from an initial state or from the final state of an earlier run. The sections see each
/// step first and may end the run inside it; the observers then see only the part up to that point.
#[allow(clippy::too_many_arguments)]
pub fn drive(
    stepper: &mut dyn Stepper,
    mut state: State,
    is_resumed: bool,
    mesh: Mesh,
    sections: &mut Sections,
    log: &mut StepLog,
    look: &mut Look,
    observers: &mut [&mut dyn Observer],
) -> Ending {
    let mut steps = 0;
    let mut begun = Ok(());
    for observer in observers.iter_mut() {
        begun = begun.and_then(|()| observer.begin(&state, is_resumed, look));
    }
    if let Err(e) = begun {
        return Ending { status: failed(e, &state.z), state, steps };
    }
    let mut ahead = mesh.nodes().several();
    let most = if observers.iter().any(|observer| observer.wants_single_steps()) { 1 } else { FLIGHT };
    while let nodes @ [_, ..] = ahead.after(state.z.t) {
        let nodes = &nodes[..nodes.len().min(most)];
        if observers.iter().any(|observer| observer.wants_to_stop()) {
            return Ending { status: Status::Interrupted, state, steps };
        }
        let stepped = stepper.step_along(&state, nodes, log);
        if stepped.is_ok() && log.end.z.z.iter().any(|x| !x.is_finite()) {
            return Ending { status: failed(NoSolution::NotFinite, &state.z), state, steps };
        }
        if !Arc::ptr_eq(&state.parameters, &log.end.parameters) {
            look.begin(&log.end.parameters);
        }
        let ended = one_step(stepped, &state, log, sections, look, observers);
        if ended.is_ok() || log.end.z.t > state.z.t {
            std::mem::swap(&mut state, &mut log.end);
        }
        match ended {
            Ok(None) => steps += log.nodes(),
            Ok(Some(status)) => return Ending { status, state, steps: steps + log.nodes() },
            Err(e) => return Ending { status: failed(e, &state.z), state, steps },
        }
    }
    Ending { status: Status::Completed, state, steps }
}

/// Shows a step to the sections and the observers. Returns the status if the run ends in this step.
fn one_step(
    stepped: Solved<()>,
    before: &State,
    log: &mut StepLog,
    sections: &mut Sections,
    look: &mut Look,
    observers: &mut [&mut dyn Observer],
) -> Solved<Option<Status>> {
    if stepped.is_err() && log.end.z.t <= before.z.t {
        return stepped.map(|()| None);
    }
    let stop = sections.see(log, look)?;
    for observer in observers.iter_mut() {
        observer.see(log, look)?;
    }
    if let Some(section) = stop {
        return Ok(Some(Status::Stopped(section)));
    }
    stepped?;
    Ok(log.accumulation().map(Status::Zeno))
}

fn failed(e: NoSolution, z: &Phase) -> Status {
    Status::Failed(Box::new(failure(e, z)))
}

/// The message of a motion that is held by a force that jumps.
pub const STICKS: &str =
    "a force that jumps with a velocity holds the motion where that velocity is zero, as friction does";

/// The error message and the hint for a step that could not be computed.
pub fn failure(e: NoSolution, z: &Phase) -> Failure {
    let message = match e {
        NoSolution::TurnsBack(part) => {
            let percent = 100.0 * part;
            let message = format!(
                "a step this long has no solution: those of shorter steps turn back at {percent:.0} % of its length"
            );
            let hint = format!("try a step shorter than {percent:.0} % of this one, or another method");
            return Failure { message, t: z.t, q: z.q().to_vec(), p: z.p().to_vec(), hint };
        }
        NoSolution::Singular => "the equations of a step are singular",
        NoSolution::Accumulated => "impacts accumulate on a wall, or the motion rests on it",
        NoSolution::Squeezed => "walls close on each other and leave no room for the motion",
        NoSolution::Tangent => "the constraints block the normal direction of a wall, so no impulse can act",
        NoSolution::NoGap => "the gap of a wall is not a number near the last state",
        NoSolution::NoImpulse => "the impact rule has no solution λ > 0",
        NoSolution::Kink => "the motion slides along a kink of a potential or a force, or crosses it again and again",
        NoSolution::Sticks => STICKS,
        NoSolution::Diverged => "the equations of a step have no solution near the last state",
        NoSolution::TooShort => "no step is short enough: the motion runs into a singularity or a kink",
        NoSolution::NotFinite => "the next state is not finite",
    };
    let hint = match e {
        NoSolution::Accumulated => {
            "coming to rest needs the rule `ctec`, a flow other than `rk4`, and walls that leave room for the motion and do \
             not jump; otherwise end the run earlier"
        }
        NoSolution::Squeezed => "end the run earlier, or move the walls so that there is room",
        NoSolution::Kink => "replace `abs(x)` by `sqrt(x^2 + a^2)` with a small a, and likewise `min` and `max`",
        NoSolution::Sticks => {
            "end the run earlier, or replace `u/abs(u)` by `tanh(u/a)` with a small a: there is no static friction"
        }
        NoSolution::NoGap => "rewrite `phi` so that it is defined on both sides of the wall",
        NoSolution::NoImpulse => {
            "the impact is so slow that no λ meets the energy condition of the rule: try a smaller step, or the rule \
             `ctec`, which always has a solution"
        }
        NoSolution::TooShort => "end the run earlier, or keep the motion away from there",
        _ => "try a smaller step, or another method",
    };
    Failure { message: message.into(), t: z.t, q: z.q().to_vec(), p: z.p().to_vec(), hint: hint.into() }
}
