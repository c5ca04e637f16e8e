//! Durations, nodes, controls and steps.

use super::program::Form;
use super::{BORDER, STRIDE, Transcription};
use crate::error::Result;
use crate::model::Guess;
use crate::model::control::{Given, Span};

/// A free duration is at least this part of its guess, unless the model says less.
const SHORTEST: f64 = 1e-3;

impl Transcription<'_> {
    /// T of each phase. If the end time is given, the last free duration is what is left of it.
    pub(super) fn add_durations(&mut self) -> Result<()> {
        let problem = self.problem();
        let guesses = problem.guessed_durations();
        let spans: Vec<Span> = problem.phases.iter().map(|phase| phase.duration.clone()).collect();
        let end = problem.end.t.as_ref().and_then(Span::number);
        let open = spans.iter().rposition(|span| span.number().is_none()).filter(|_| end.is_some());
        let shortest = |span: &Span, guess: f64| if span.min > 0.0 { span.min } else { SHORTEST * guess };
        for (k, span) in spans.iter().enumerate() {
            let bounds = if span.number().is_some() { [span.min; 2] } else { [shortest(span, guesses[k]), span.max] };
            let form = if Some(k) == open { Form::default() } else { self.program.unknown(bounds, guesses[k], BORDER) };
            self.durations.push(form);
        }
        let sum = self.durations.iter().fold(Form::default(), |sum, form| sum.combine(1.0, form, 1.0));
        match (open, end) {
            (Some(k), Some(end)) => {
                let left = Form::constant(end).combine(1.0, &sum, -1.0);
                self.bound_form(&left, [shortest(&spans[k], guesses[k]), spans[k].max], guesses[k]);
                self.durations[k] = left;
            }
            _ => {
                if let Some(span) = problem.end.t.as_ref().filter(|span| span.number().is_none()) {
                    self.bound_form(&sum, [span.min, span.max], guesses.iter().sum());
                }
            }
        }
        Ok(())
    }

    /// Keeps a combination of durations within bounds: those of its variable, if it has only one, else by a row.
    fn bound_form(&mut self, form: &Form, [min, max]: [f64; 2], guess: f64) {
        match form.terms.as_slice() {
            [] => {}
            &[(variable, a)] => {
                let ends = [(min - form.constant) / a, (max - form.constant) / a];
                let structure = &mut self.program.structure;
                structure.lower[variable] = structure.lower[variable].max(ends[0].min(ends[1]));
                structure.upper[variable] = structure.upper[variable].min(ends[0].max(ends[1]));
            }
            _ => {
                let row = self.program.row(BORDER);
                self.program.add(row, form, 1.0);
                self.program.within(row, [min, max], guess);
            }
        }
    }

    /// h of a phase.
    pub(super) fn h(&self, phase: usize) -> Form {
        self.durations[phase].combine(1.0 / self.steps[phase] as f64, &Form::default(), 0.0)
    }

    /// The time at a part of a phase.
    pub(super) fn time(&self, phase: usize, part: f64) -> Form {
        let before = self.durations[..phase].iter().fold(Form::default(), |sum, form| sum.combine(1.0, form, 1.0));
        before.combine(1.0, &self.durations[phase], part)
    }

    /// The time at the end of a phase.
    pub(super) fn end_time(&self, phase: usize) -> Form {
        self.time(phase, 1.0)
    }

    /// The time at the beginning of step k of a phase, counted in the phase.
    pub(super) fn step_time(&self, phase: usize, k: usize) -> Form {
        self.time(phase, k as f64 / self.steps[phase] as f64)
    }

    /// q at the nodes, the inner points and the controls.
    pub(super) fn add_unknowns(&mut self) -> Result<()> {
        let (problem, model) = (self.problem(), self.model);
        let guess = Guess::new(model, &self.steps)?;
        let free = model.system.free();
        let number = |given: &Given| model.number(given);
        let start = guess.start_q();
        let first = free.iter().map(|&i| match problem.free_start[0].get(i).and_then(Option::as_ref) {
            Some(span) => self.program.unknown([span.min, span.max], span.guess_or(start[i]), BORDER),
            None => Form::constant(start[i]),
        });
        self.q.push(first.collect());
        let total = self.total();
        for phase in 0..self.steps.len() {
            for k in self.steps_of(phase) {
                let order = STRIDE * k;
                let local = k - self.first_step(phase);
                let controls = problem.controls.iter().enumerate().map(|(c, control)| {
                    let [mut min, mut max] = [control.span.min, control.span.max];
                    for bound in problem.bounds.iter().filter(|bound| bound.of == control.symbol && !self.is_soft) {
                        if bound.phases.as_ref().is_none_or(|phases| phases.contains(&phase)) {
                            (min, max) = (min.max(bound.span.min), max.min(bound.span.max));
                        }
                    }
                    self.program.unknown([min, max], guess.control(c, k, phase, local), order + 1)
                });
                self.u.push(controls.collect());
                let here = guess.q(k);
                let next = guess.q(k + 1);
                let inner = self.inner_times.clone().into_iter().flat_map(|c| {
                    let blend = move |i: usize| (i, c);
                    free.iter().map(|&i| blend(i)).collect::<Vec<_>>()
                });
                let inner: Vec<Form> = inner
                    .map(|(i, c)| {
                        let between = (1.0 - c) * here[i] + c * next[i];
                        self.program.unknown([f64::NEG_INFINITY, f64::INFINITY], between, order + 2)
                    })
                    .collect();
                self.inner_points.push(inner);
                let is_last = k + 1 == total;
                let is_boundary = k + 1 == self.first_step(phase + 1);
                let mut point = Vec::new();
                for &i in &free {
                    let given = problem.end.q[i].as_ref().filter(|_| is_last);
                    let [mut min, mut max] = [f64::NEG_INFINITY, f64::INFINITY];
                    match given {
                        Some(Given::Free(span)) => [min, max] = [span.min, span.max],
                        Some(given) if !self.is_soft => {
                            point.extend(number(given).map(Form::constant));
                            continue;
                        }
                        _ => {}
                    }
                    let coordinate = model.system.coordinates[i].q;
                    for bound in
                        problem.bounds.iter().filter(|bound| bound.of == coordinate && !is_boundary && !self.is_soft)
                    {
                        if bound.phases.as_ref().is_none_or(|phases| phases.contains(&phase)) {
                            (min, max) = (min.max(bound.span.min), max.min(bound.span.max));
                        }
                    }
                    point.push(self.program.unknown([min, max], next[i], order + 3));
                }
                self.q.push(point);
                if is_last && self.is_soft {
                    for (f, &i) in free.iter().enumerate() {
                        if let Some(value) = problem.end.q[i].as_ref().and_then(number) {
                            let row = self.condition(format!("final q[{i}]"), order + 4);
                            let form = self.q[k + 1][f].clone();
                            self.program.add(row, &form, 1.0);
                            self.program.add(row, &Form::constant(value), -1.0);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A row of a condition of the user.
    pub(super) fn condition(&mut self, name: String, order: usize) -> usize {
        let row = self.program.row(order);
        self.conditions.push(super::Condition { name, row, is_event: false });
        row
    }

    /// The inputs of a step: q0, the inner points, q1, u, t0, h.
    pub(super) fn step_inputs(&self, phase: usize, k: usize) -> Vec<Form> {
        let local = k - self.first_step(phase);
        let ends = [&self.q[k][..], &self.inner_points[k], &self.q[k + 1], &self.u[k]].concat();
        [ends, vec![self.step_time(phase, local), self.h(phase)]].concat()
    }

    /// The momentum equations p⁻_k − p⁺_k = …, and those of the inner points. A step adds p⁻ to the row of its first node and −p⁺
    /// to that of its last, unless an event stands between them.
    pub(super) fn add_steps(&mut self) -> Result<()> {
        let n = self.n();
        let total = self.total();
        self.momentum_rows = (0..total).map(|k| (0..n).map(|_| self.program.row(STRIDE * k + 5)).collect()).collect();
        for phase in 0..self.steps.len() {
            let is_smooth = !self.has_event(phase);
            for k in self.steps_of(phase) {
                let mut outputs: Vec<Option<(usize, f64)>> =
                    self.momentum_rows[k].iter().map(|&row| Some((row, 1.0))).collect();
                let inner: Vec<usize> = (0..n * self.inner).map(|_| self.program.row(STRIDE * k + 5)).collect();
                outputs.extend(inner.iter().map(|&row| Some((row, 1.0))));
                self.inner_rows.push(inner);
                let is_boundary = k + 1 == self.first_step(phase + 1);
                let into: Vec<Option<(usize, f64)>> = if is_boundary && !(is_smooth && k + 1 < total) {
                    self.add_end_rows(phase, k)
                } else {
                    self.momentum_rows[k + 1].iter().map(|&row| Some((row, -1.0))).collect()
                };
                outputs.extend(into);
                let inputs = self.step_inputs(phase, k);
                self.program.apply(self.step_element, inputs, outputs);
            }
        }
        Ok(())
    }

    /// The rows p⁺_N − … at the end of a phase with an event, or none where nothing depends on it.
    fn add_end_rows(&mut self, phase: usize, k: usize) -> Vec<Option<(usize, f64)>> {
        let n = self.n();
        let is_last = phase + 1 == self.steps.len();
        if is_last && !self.needs_final_velocity() {
            return vec![None; n];
        }
        let rows: Vec<usize> = (0..n).map(|_| self.program.row(STRIDE * k + 7)).collect();
        if is_last {
            self.end_rows = rows.clone();
        }
        self.phase_end_rows.push((phase, rows.clone()));
        rows.into_iter().map(|row| Some((row, 1.0))).collect()
    }
}
