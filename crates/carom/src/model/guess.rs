//! The first guess of a control problem.

use super::Model;
use super::control::{Given, PhaseEvent};
use crate::error::Result;
use crate::expr::{Expr, eval, grad};
use crate::system::time;

/// Configurations at all nodes and controls on all steps to begin with.
pub(crate) struct Guess<'m> {
    model: &'m Model,
    q: Vec<Vec<f64>>,
    /// The middle of each step.
    middles: Vec<f64>,
    parameters: Vec<(Expr, f64)>,
    steps: Vec<usize>,
}

impl<'m> Guess<'m> {
    pub(crate) fn new(model: &'m Model, steps: &[usize]) -> Result<Guess<'m>> {
        let problem = &model.problem;
        let start = model.start()?;
        let mut guess = Guess {
            model,
            q: vec![start.q.clone()],
            middles: Vec::new(),
            parameters: model.parameter_values(),
            steps: steps.to_vec(),
        };
        let mut t = 0.0;
        for (number, (phase, duration)) in problem.phases.iter().zip(problem.guessed_durations()).enumerate() {
            let count = steps[number];
            let h = duration / count as f64;
            let from = guess.q.last().cloned().unwrap_or_default();
            let to = guess.aim(number, &from);
            for k in 1..=count {
                let s = k as f64 / count as f64;
                let line = |i: usize| (1.0 - s) * from[i] + s * to[i];
                let mut q: Vec<f64> = (0..from.len()).map(line).collect();
                if !phase.guess.is_empty() {
                    q = guess.at(&phase.guess, &from, t + s * duration);
                }
                guess.q.push(q);
                guess.middles.push(t + (k as f64 - 0.5) * h);
            }
            t += duration;
        }
        Ok(guess)
    }

    fn at(&self, fs: &[Expr], q: &[f64], t: f64) -> Vec<f64> {
        let mut known = self.parameters.clone();
        known.push((time(), t));
        known.extend(self.model.system.q().into_iter().zip(q.iter().copied()));
        eval(fs, &known)
    }

    /// Where the straight line of a phase goes: to the end if it is fixed, else to the nearest point of the wall that is hit.
    fn aim(&self, phase: usize, from: &[f64]) -> Vec<f64> {
        let (system, problem) = (&self.model.system, &self.model.problem);
        let fixed = |i: usize| match &problem.end.q[i] {
            Some(Given::Fixed(e)) => eval(&[*e], &self.parameters)[0],
            Some(Given::Free(span)) => span.guess_or(from[i]),
            None => from[i],
        };
        let end: Vec<f64> = (0..from.len()).map(fixed).collect();
        let target = match &problem.phases[phase].event {
            PhaseEvent::Impact { wall, .. } => Some(system.walls[*wall].phi),
            PhaseEvent::Catch { walls, constraints } => {
                let wall = walls.first().map(|&k| system.walls[k].phi);
                wall.or(constraints.first().map(|&k| problem.constraints[k].g))
            }
            PhaseEvent::None => None,
        };
        match target {
            Some(phi) if phase + 1 < problem.phases.len() => self.onto(phi, from, &end),
            _ if phase + 1 < problem.phases.len() => from.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect(),
            _ => end,
        }
    }

    /// The point of φ = 0 nearest to a line, roughly.
    fn onto(&self, phi: Expr, from: &[f64], to: &[f64]) -> Vec<f64> {
        const SAMPLES: usize = 16;
        const NEWTON: usize = 20;
        let qs = self.model.system.q();
        let gradient = grad(phi, &qs);
        let on_line = |k: usize| {
            let s = k as f64 / SAMPLES as f64;
            from.iter().zip(to).map(|(a, b)| (1.0 - s) * a + s * b).collect::<Vec<f64>>()
        };
        let gap = |q: &Vec<f64>| self.at(&[phi], q, 0.0)[0].abs();
        let mut q = (0..=SAMPLES).map(on_line).min_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(from.to_vec());
        for _ in 0..NEWTON {
            let (value, slope) = (self.at(&[phi], &q, 0.0)[0], self.at(&gradient, &q, 0.0));
            let size: f64 = slope.iter().map(|s| s * s).sum();
            if !(size > 0.0 && value.is_finite()) {
                return to.to_vec();
            }
            q.iter_mut().zip(&slope).for_each(|(q, s)| *q -= value * s / size);
        }
        if q.iter().all(|q| q.is_finite()) { q } else { to.to_vec() }
    }

    /// q at the start.
    pub(crate) fn start_q(&self) -> &[f64] {
        &self.q[0]
    }

    /// q at a node.
    pub(crate) fn q(&self, node: usize) -> Vec<f64> {
        self.q[node].clone()
    }

    /// A control on a step: its `value`, on the mesh of the model.
    pub(crate) fn control(&self, control: usize, step: usize, phase: usize, local: usize) -> f64 {
        let problem = &self.model.problem;
        let coarse: Vec<usize> = problem.phases.iter().map(|phase| phase.steps).collect();
        let k = coarse[..phase].iter().sum::<usize>() + local * coarse[phase] / self.steps[phase];
        problem.controls[control].value.at(k, coarse.iter().sum(), self.middles[step], &self.parameters)
    }
}
