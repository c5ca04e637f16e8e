//! The planned motion with the derivatives of its steps, continued beyond its impacts.

use super::linear::Saltation;
use super::riccati::StepDerivatives;
use crate::error::{Diagnostic, Result};
use crate::model::Model;
use crate::model::control::PhaseEvent;
use crate::optimize::{Answer, PlannedState};
use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::run::Track;
use crate::solve::Solved;
use crate::tangent::{Matrix, Tangent, dot};

/// A reference goes on for this number of steps before its first and after its last impact.
const SPREAD: usize = 10;

/// Follows the plan step by step.
pub(super) struct Reference<'a> {
    model: &'a Model,
    answer: &'a Answer,
    tangent: Tangent,
    evaluator: Box<dyn Evaluator>,
    parameters: Vec<f64>,
}

/// A phase of the plan.
pub(super) struct Planned {
    pub(super) h: f64,
    /// The nodes, without gains.
    pub(super) track: Track,
    pub(super) steps: Vec<StepDerivatives>,
    /// The steps before it, the last one first.
    pub(super) before: Vec<StepDerivatives>,
    pub(super) jump: Option<Saltation>,
}

impl<'a> Reference<'a> {
    pub(super) fn new(model: &'a Model, answer: &'a Answer) -> Result<Reference<'a>> {
        let simulation = model.simulation().method(&answer.method);
        let plain = model.plain_parameters().len();
        let theta: Vec<usize> = (plain..model.system.parameters.len()).collect();
        let scheme = simulation.compiled_scheme()?;
        let code = simulation.tangent_code(&scheme.method, &theta)?;
        let parameters: Vec<f64> = model.system.parameters.iter().map(|parameter| parameter.value).collect();
        let mut evaluator = scheme.plant.evaluator();
        evaluator.set_parameters(&parameters);
        Ok(Reference { tangent: Tangent::new(&scheme, &code)?, model, answer, evaluator, parameters })
    }

    /// All phases.
    pub(super) fn phases(&mut self) -> Result<Vec<Planned>> {
        let steps = &self.answer.steps;
        let (mut all, mut first, mut hits) = (Vec::new(), 0, 0);
        for (number, &count) in steps.iter().enumerate() {
            let begin = if number > 0 && hits > 0 { Some(hits - 1) } else { None };
            let is_hit = matches!(self.model.problem.phases[number].event, PhaseEvent::Impact { .. });
            let begins_with_impact =
                number > 0 && matches!(self.model.problem.phases[number - 1].event, PhaseEvent::Impact { .. });
            let planned =
                self.phase(number, first, count, begin.filter(|_| begins_with_impact), is_hit.then_some(hits));
            let failed = || Diagnostic::new("the equations of the derivatives have no solution along the plan");
            all.push(planned.map_err(|_| failed())?);
            hits += usize::from(is_hit);
            first += count;
        }
        Ok(all)
    }

    fn free(&mut self, state: &PlannedState) -> Phase {
        self.evaluator.free_phase(state.t, &state.q, &state.p)
    }

    /// Sets the controls of step k of the plan, and returns them.
    fn set_controls(&mut self, k: usize) -> Vec<f64> {
        let u: Vec<f64> = self.answer.found.controls.iter().map(|control| control[k]).collect();
        let first = self.parameters.len() - u.len();
        self.parameters[first..].copy_from_slice(&u);
        self.tangent.begin(&self.parameters);
        u
    }

    fn step(&mut self, z: &Phase, h: f64) -> Solved<(Phase, StepDerivatives)> {
        let (end, slopes) = self.tangent.smooth(z, h)?;
        let size = z.z.len();
        let part = |from: usize, count: usize| {
            let data = (0..size).flat_map(|i| slopes.row(i)[from..from + count].to_vec()).collect();
            Matrix { columns: count, data }
        };
        let controls = slopes.columns - size - 2;
        let step = StepDerivatives {
            a: part(0, size),
            b: part(size + 2, controls),
            by_t: part(size, 1).data,
            by_h: part(size + 1, 1).data,
        };
        Ok((end, step))
    }

    /// Phase `number` from node `first` on, after the impact `begin` and to the impact `hit`.
    fn phase(
        &mut self,
        number: usize,
        first: usize,
        count: usize,
        begin: Option<usize>,
        hit: Option<usize>,
    ) -> Solved<Planned> {
        let found = &self.answer.found;
        let h = found.durations[number] / count as f64;
        let start = begin.map_or(&found.nodes[first], |begin| &found.hits[begin].after);
        let states: Vec<&PlannedState> =
            std::iter::once(start).chain(&found.nodes[first + 1..=first + count]).collect();
        let nodes: Vec<Phase> = states.into_iter().map(|state| self.free(state)).collect();
        let mut track = Track::default();
        let push = |track: &mut Track, z: &Phase, u: &[f64]| {
            track.t.push(z.t);
            track.z.push(z.z.clone());
            track.u.push(u.to_vec());
        };
        let mut before = Vec::new();
        if begin.is_some() {
            let u = self.set_controls(first);
            let mut z = nodes[0].clone();
            let mut back = Vec::new();
            while back.len() < SPREAD {
                let Ok((end, _)) = self.step(&z, -h) else { break };
                let Ok((_, step)) = self.step(&end, h) else { break };
                if end.z.iter().any(|x| !x.is_finite()) {
                    break;
                }
                before.push(step);
                back.push(end.clone());
                z = end;
            }
            back.iter().rev().for_each(|z| push(&mut track, z, &u));
        }
        track.first = track.t.len();
        let mut steps = Vec::new();
        for (k, z) in nodes[..count].iter().enumerate() {
            let u = self.set_controls(first + k);
            push(&mut track, z, &u);
            steps.push(self.step(z, h)?.1);
        }
        let u = self.set_controls(first + count - 1);
        push(&mut track, &nodes[count], &u);
        track.last = track.t.len() - 1;
        let jump = hit.map(|hit| self.jump(hit, &nodes[count], &steps[count - 1])).transpose()?;
        if let Some(hit) = hit {
            track.wall = Some(self.answer.found.hits[hit].wall);
            let mut z = nodes[count].clone();
            for _ in 0..SPREAD {
                let Ok((end, _)) = self.step(&z, h) else { break };
                if end.z.iter().any(|x| !x.is_finite()) {
                    break;
                }
                push(&mut track, &end, &u);
                z = end;
            }
        }
        Ok(Planned { h, track, steps, before, jump })
    }

    fn jump(&mut self, hit: usize, minus: &Phase, step: &StepDerivatives) -> Solved<Saltation> {
        let hit = &self.answer.found.hits[hit];
        let plus = self.free(&hit.after);
        let reset = self.tangent.jump(hit.wall, hit.lambda, minus, &plus)?;
        let (mut normal, phi_t) = self.tangent.gap_slopes(hit.wall, minus)?;
        let n = normal.len();
        let rate = dot(&normal, &step.by_h[..n]) + phi_t;
        normal.resize(2 * n, 0.0);
        Ok(Saltation { reset, normal, rate, by_length: step.by_h.clone() })
    }
}
