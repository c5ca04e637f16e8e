//! Independent runs with the controls found: do they do what was asked?

use super::transcription::{Found, PlannedState};
use crate::error::{Diagnostic, Error, Result};
use crate::mechanics::Node;
use crate::model::Model;
use crate::model::control::{PhaseEvent, Setting};
use crate::run::{Impact, Outcome, Status, Watcher};

/// The flow of high order that shows the error of the discretisation; the first that runs.
const FINE: [&str; 3] = ["gauss4+ctec", "gauss2+ctec", "midpoint+ctec"];

/// How far independent runs end from the answer.
#[derive(Clone, Debug)]
pub struct Check {
    /// The largest difference of q and p at the end, on the same mesh.
    pub final_error: f64,
    /// The largest difference of the times of impacts.
    pub impact_time_error: f64,
    /// The number of impacts of the run.
    pub impacts: usize,
    /// The flow of high order.
    pub fine_method: &'static str,
    /// The largest difference of q and p at the end of a run with it.
    pub fine_final_error: f64,
    /// What went wrong, or differs from the plan.
    pub warnings: Vec<String>,
}

/// A run along the phases.
struct Replay {
    last: PlannedState,
    /// The time and the wall of each impact.
    impacts: Vec<(f64, String)>,
}

/// Runs the answer on its own mesh, and with a flow of high order.
pub(super) fn check(model: &Model, method: &str, found: &Found, steps: &[usize]) -> Check {
    let mut check = Check {
        final_error: f64::NAN,
        impact_time_error: f64::NAN,
        impacts: 0,
        fine_method: FINE[0],
        fine_final_error: f64::NAN,
        warnings: Vec::new(),
    };
    match replay(model, method, found, steps) {
        Err(why) => check.warnings.push(format!("the run with these controls fails: {}", reason(&why))),
        Ok(run) => {
            check.final_error = difference(&run.last, &found.last);
            check.impacts = run.impacts.len();
            let times = found.hits.iter().zip(&run.impacts).map(|(hit, (t, _))| (hit.before.t - t).abs());
            check.impact_time_error = times.fold(0.0, f64::max);
            if run.impacts.len() > found.hits.len() {
                let planned = |t: f64| found.hits.iter().any(|hit| (hit.before.t - t).abs() < 1e-6 * (1.0 + t.abs()));
                if let Some((t, wall)) = run.impacts.iter().find(|(t, _)| !planned(*t)) {
                    let advice = "walls are asked for at the nodes only: give more steps, or a phase for it";
                    check.warnings.push(format!("the run also hits `{wall}` at t = {t}: {advice}"));
                }
            }
        }
    }
    for fine in FINE {
        if let Ok(run) = replay(model, fine, found, steps) {
            (check.fine_method, check.fine_final_error) = (fine, difference(&run.last, &found.last));
            break;
        }
    }
    check
}

fn reason(error: &Error) -> &str {
    match error {
        Error::Model(diagnostic) => &diagnostic.message,
        Error::Numerical(failure) => &failure.message,
    }
}

fn difference(a: &PlannedState, b: &PlannedState) -> f64 {
    let pairs = a.q.iter().zip(&b.q).chain(a.p.iter().zip(&b.p));
    pairs.fold(0.0, |all, (a, b)| crate::solve::larger(all, (a - b).abs()))
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

/// Runs from the start of the answer with its controls, and holds, releases and catches at the ends of the phases.
fn replay(model: &Model, method: &str, found: &Found, steps: &[usize]) -> Result<Replay> {
    let problem = &model.problem;
    let settings = settings(found, steps);
    let held = |phase: usize| (problem.phases[phase].held_walls.clone(), problem.holds_in(phase));
    let (mut last, mut impacts) = (found.nodes[0].clone(), Vec::new());
    let mut first = 0;
    let ends: Vec<f64> = found
        .durations
        .iter()
        .scan(0.0, |t, d| {
            *t += d;
            Some(*t)
        })
        .collect();
    while first < steps.len() {
        // One run as long as nothing else holds.
        let is_catch = |phase: usize| matches!(problem.phases[phase].event, PhaseEvent::Catch { .. });
        let mut end = first + 1;
        while end < steps.len() && held(end) == held(first) && !is_catch(end - 1) {
            end += 1;
        }
        let (walls, constraints) = held(first);
        let variant = model.holding(&walls, &constraints);
        let phase = end - 1;
        let hit = match problem.phases[phase].event {
            PhaseEvent::Impact { wall, .. } => Some(&model.system.walls[wall].name),
            _ => None,
        };
        let h = found.durations[phase] / steps[phase] as f64;
        let until = ends[phase] + if hit.is_some() { 0.5 * h } else { 0.0 };
        let (outcome, Hits(hits)) = run(&variant, method, &last, until, settings.clone())?;
        let named = hits.iter().map(|impact| (impact, variant.system.walls[impact.wall].name.clone()));
        let near: Option<&Node> = hit.and_then(|hit| {
            let same = named.clone().filter(|(impact, wall)| wall == hit && (impact.minus.t - ends[phase]).abs() < h);
            same.min_by(|a, b| (a.0.minus.t - ends[phase]).abs().total_cmp(&(b.0.minus.t - ends[phase]).abs()))
                .map(|(impact, _)| &impact.plus)
        });
        let cut = near.map_or(until, |node| node.t);
        impacts.extend(named.filter(|(impact, _)| impact.minus.t <= cut).map(|(impact, wall)| (impact.minus.t, wall)));
        last = state(near.unwrap_or(&outcome.last));
        if let PhaseEvent::Catch { walls, constraints } = &problem.phases[phase].event {
            let (walls, constraints) = if end < steps.len() { held(end) } else { (walls.clone(), constraints.clone()) };
            last = caught(&model.holding(&walls, &constraints), method, &last)?;
        }
        first = end;
    }
    Ok(Replay { last, impacts })
}

/// The impacts of a run. Nothing else is asked for: the energy account of a run with controls costs more than the run.
#[derive(Default)]
struct Hits(Vec<Impact>);

impl Watcher for Hits {
    fn impact(&mut self, impact: Impact) {
        self.0.push(impact);
    }

    fn wants_nodes(&self) -> bool {
        false
    }
}

fn run(
    model: &Model,
    method: &str,
    from: &PlannedState,
    until: f64,
    settings: Vec<Setting>,
) -> Result<(Outcome, Hits)> {
    // Longer than the run: its steps are those of the controls.
    let step = 2.0 * (until - from.t).max(f64::MIN_POSITIVE);
    let simulation = model.simulation().method(method).step(step).controls(settings).until(until);
    let mut hits = Hits::default();
    let outcome = simulation.start_at(from.t, &from.q, &from.p).watch(&mut hits)?;
    match outcome.status {
        Status::Failed(failure) => Err(Error::Numerical(failure)),
        _ => Ok((outcome, hits)),
    }
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
