//! Runs along the phases of a plan with its controls, which hold, release and catch at the ends of phases.

use super::transcription::{Found, PlannedState};
use crate::error::{Diagnostic, Result};
use crate::mechanics::Node;
use crate::model::Model;
use crate::model::control::{PhaseEvent, Setting};
use crate::run::{Impact, Outcome};
use crate::simulation::Simulation;

/// Consecutive phases in which the same walls and constraints hold.
pub struct Leg {
    /// The model in which they are constraints, without outputs and sections.
    pub model: Model,
    /// The number in the whole model of each of its walls.
    pub walls: Vec<usize>,
    /// When it begins and ends.
    pub span: [f64; 2],
    method: String,
    start: PlannedState,
    settings: Vec<Setting>,
    /// The last step.
    h: f64,
    /// The wall whose impact ends it, by its number in `model`.
    hit: Option<usize>,
}

impl Leg {
    /// The run of this leg, with its model or one that differs in outputs only. If an impact ends the leg, the run ends half a step
    /// later: roundoff may delay the impact.
    pub fn simulation(&self, model: &Model) -> Simulation {
        let until = self.span[1] + if self.hit.is_some() { 0.5 * self.h } else { 0.0 };
        // Longer than the run: its steps are those of the controls.
        let step = 2.0 * (until - self.start.t).max(f64::MIN_POSITIVE);
        let simulation =
            model.simulation().method(&self.method).step(step).controls(self.settings.clone()).until(until);
        simulation.start_at(self.start.t, &self.start.q, &self.start.p)
    }

    /// True if this impact ends the leg.
    pub fn ends_with(&self, impact: &Impact) -> bool {
        self.hit == Some(impact.wall) && (impact.minus.t - self.span[1]).abs() < self.h
    }
}

/// Makes the run of a leg, and returns how it ended and its impacts.
pub type RunLeg<'a> = dyn FnMut(&Leg) -> Result<(Outcome, Vec<Impact>)> + 'a;

/// What a run along the phases did.
pub(super) struct Replay {
    /// The state at the end, after the last event.
    pub last: PlannedState,
    /// The time and the wall of each impact.
    pub impacts: Vec<(f64, usize)>,
}

/// Runs from the start of a plan, leg by leg.
pub(super) fn replay(model: &Model, method: &str, found: &Found, steps: &[usize], run: &mut RunLeg) -> Result<Replay> {
    let problem = &model.problem;
    let held = |phase: usize| (problem.phases[phase].held_walls.clone(), problem.holds_in(phase));
    let is_catch = |phase: usize| matches!(problem.phases[phase].event, PhaseEvent::Catch { .. });
    let mut replay = Replay { last: found.nodes[0].clone(), impacts: Vec::new() };
    let (mut first, mut begin) = (0, 0.0);
    while first < steps.len() {
        let mut next = first + 1;
        while next < steps.len() && held(next) == held(first) && !is_catch(next - 1) {
            next += 1;
        }
        let (held_walls, constraints) = held(first);
        let walls: Vec<usize> = (0..model.system.walls.len()).filter(|wall| !held_walls.contains(wall)).collect();
        let event = &problem.phases[next - 1].event;
        let hit = match event {
            PhaseEvent::Impact { wall, .. } => walls.iter().position(|number| number == wall),
            _ => None,
        };
        let end = found.durations[first..next].iter().fold(begin, |t, duration| t + duration);
        let leg = Leg {
            model: model.holding(&held_walls, &constraints),
            walls,
            span: [begin, end],
            method: method.into(),
            start: replay.last.clone(),
            settings: settings(found, steps),
            h: found.durations[next - 1] / steps[next - 1] as f64,
            hit,
        };
        let (outcome, impacts) = run(&leg)?;
        let last = impacts.iter().position(|impact| leg.ends_with(impact));
        let before = &impacts[..last.map_or(impacts.len(), |last| last + 1)];
        replay.impacts.extend(before.iter().map(|impact| (impact.minus.t, leg.walls[impact.wall])));
        replay.last = state(last.map_or(&outcome.last, |last| &impacts[last].plus));
        if let PhaseEvent::Catch { walls, constraints } = event {
            let (walls, constraints) =
                if next < steps.len() { held(next) } else { (walls.clone(), constraints.clone()) };
            replay.last = caught(&model.holding(&walls, &constraints), method, &replay.last)?;
        }
        (first, begin) = (next, end);
    }
    Ok(replay)
}

/// The controls of an answer along the time.
pub(super) fn settings(found: &Found, steps: &[usize]) -> Vec<Setting> {
    let (mut settings, mut t, mut first) = (Vec::new(), 0.0, 0);
    for (&count, &duration) in steps.iter().zip(&found.durations) {
        for k in 0..count {
            let controls = found.controls.iter().map(|control| control[first + k]).collect();
            settings.push(Setting { from: t + duration * k as f64 / count as f64, controls });
        }
        t += duration;
        first += count;
    }
    settings
}

/// The state after a plastic impact onto the constraints of a model.
fn caught(model: &Model, method: &str, from: &PlannedState) -> Result<PlannedState> {
    let simulation = model.simulation().method(method).step(1.0);
    let mut evaluator = simulation.compiled_scheme()?.plant.evaluator();
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    evaluator.set_parameters(&parameters);
    let mut z = evaluator.free_phase(from.t, &from.q, &from.p);
    evaluator.project(&mut z).map_err(|_| Diagnostic::new("what is caught cannot hold"))?;
    let mut node = Node::default();
    evaluator.node(&z, &mut node);
    Ok(state(&node))
}

fn state(node: &Node) -> PlannedState {
    PlannedState { t: node.t, q: node.q.clone(), v: node.v.clone(), p: node.p.clone() }
}
