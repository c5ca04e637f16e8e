//! The start, the end, and what couples them.

use super::program::Form;
use super::{BORDER, STRIDE, Transcription};
use crate::error::Result;
use crate::model::InitialMotion;
use crate::model::control::{Given, PhaseEvent};

const FREE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl Transcription<'_> {
    /// p⁻_0 = p_start: L_v(q_0, v_0), or the momenta that are given.
    pub(super) fn add_start(&mut self) -> Result<()> {
        let model = self.model;
        let start = model.start()?;
        let free = model.system.free();
        let is_momentum =
            matches!(model.initial.as_ref().map(|initial| &initial.motion), Some(InitialMotion::Momentum(_)));
        let values = if is_momentum { &start.p } else { &start.v };
        let entries: Vec<Form> = free
            .iter()
            .map(|&i| match self.problem().free_start[1].get(i).and_then(Option::as_ref) {
                Some(span) => self.program.unknown([span.min, span.max], span.guess_or(values[i]), BORDER),
                None => Form::constant(values[i]),
            })
            .collect();
        if is_momentum {
            for (i, form) in entries.iter().enumerate() {
                self.program.add(self.momentum_rows[0][i], form, -1.0);
            }
            if let Some(periodic) = self.problem().periodic.first() {
                let message = "a periodic start needs velocities";
                return Err(model.error(&periodic.place, message, "give `initial.v` instead of `initial.p`"));
            }
            self.start_p = Some(entries);
            return Ok(());
        }
        let element = self.momentum_element()?;
        let inputs = [&self.q[0][..], &entries, &[Form::default()]].concat();
        let outputs = self.momentum_rows[0].iter().map(|&row| Some((row, -1.0))).collect();
        self.program.apply(element, inputs, outputs);
        self.add_tangent_start(&entries)?;
        self.start_v = Some(entries);
        Ok(())
    }

    /// A free start moves along what is held. A periodic one does so because the end does.
    fn add_tangent_start(&mut self, v: &[Form]) -> Result<()> {
        let surfaces = self.surfaces_of(0);
        let is_free = v.iter().any(|form| !form.terms.is_empty());
        if surfaces.is_empty() || !is_free || !self.problem().periodic.is_empty() {
            return Ok(());
        }
        let element = self.program.element(self.elements.rates(&surfaces)?);
        let outputs = surfaces.iter().map(|_| Some((self.program.row(BORDER), 1.0))).collect();
        let inputs = [&self.q[0][..], v, &[Form::default()]].concat();
        self.program.apply(element, inputs, outputs);
        Ok(())
    }

    /// True if something depends on the velocities at the end.
    pub(super) fn needs_final_velocity(&self) -> bool {
        let problem = self.problem();
        let last = problem.phases.last();
        last.is_some_and(|phase| !matches!(phase.event, PhaseEvent::None))
            || problem.end.motion.iter().any(Option::is_some)
            || !problem.periodic.is_empty()
            || self.elements.end_contains_velocities()
    }

    /// The bounds that `[final]` sets on each velocity.
    pub(super) fn final_velocities(&self, is_final: bool) -> Vec<Option<[f64; 2]>> {
        let end = &self.problem().end;
        let bounds =
            |i: usize| match end.motion.get(i).and_then(Option::as_ref).filter(|_| is_final && !end.is_momentum)? {
                Given::Free(span) => Some([span.min, span.max]),
                given => self.model.number(given).filter(|_| !self.is_soft).map(|number| [number; 2]),
            };
        self.model.system.free().into_iter().map(bounds).collect()
    }

    /// The final conditions, the cost at the end and the periodic conditions.
    pub(super) fn add_end(&mut self) -> Result<()> {
        let phase = self.steps.len() - 1;
        let node = self.total();
        let order = STRIDE * (node - 1) + 9;
        let time = self.end_time(phase);
        let none = vec![Form::default(); self.n()];
        let v = self.events[phase].plus.clone().or(self.events[phase].minus.clone()).unwrap_or(none);
        let state = [&self.q[node][..], &v, &[time]].concat();
        if let Some(cost) = self.elements.end_cost()? {
            let element = self.program.element(cost);
            self.program.apply(element, state.clone(), Vec::new());
        }
        let end = &self.problem().end;
        let conditions = end
            .zero
            .iter()
            .map(|condition| (condition, FREE))
            .chain(end.nonnegative.iter().map(|condition| (condition, [0.0, f64::INFINITY])));
        for (condition, bounds) in conditions {
            let element = self.program.element(self.elements.condition(condition)?);
            let row = self.condition(format!("final `{}`", condition.text), order);
            self.program.apply(element, state.clone(), vec![Some((row, 1.0))]);
            if bounds[0] == 0.0 {
                let guess: Vec<f64> = state.iter().map(|form| form.at(&self.program.start)).collect();
                let guess = self.program.evaluate(element, &guess)[1];
                self.program.within(row, bounds, guess);
            }
        }
        self.add_final_motion(&state, &v, order)?;
        self.add_periodic(node, &v)
    }

    /// Final momenta; final velocities too where they are rows.
    fn add_final_motion(&mut self, state: &[Form], v: &[Form], order: usize) -> Result<()> {
        let end = &self.problem().end;
        let free = self.model.system.free();
        for (f, &i) in free.iter().enumerate() {
            let Some(given) = &end.motion[i] else { continue };
            let (bounds, guess) = match given {
                Given::Free(span) => ([span.min, span.max], span.guess_or(0.0)),
                given => ([self.model.number(given).unwrap_or(f64::NAN); 2], 0.0),
            };
            if !end.is_momentum && (bounds[0] < bounds[1] || !self.is_soft) {
                continue;
            }
            let row = self.condition(format!("final {}[{i}]", if end.is_momentum { "p" } else { "v" }), order);
            if end.is_momentum {
                let element = self.momentum_element()?;
                let outputs = (0..self.n()).map(|k| (k == f).then_some((row, 1.0))).collect();
                self.program.apply(element, state.to_vec(), outputs);
            } else {
                self.program.add(row, &v[f], 1.0);
            }
            self.program.within(row, bounds, guess);
        }
        Ok(())
    }

    /// q_0 = Ψ(q_N), v_0 = Ψ'(q_N) v'.
    fn add_periodic(&mut self, node: usize, v: &[Form]) -> Result<()> {
        let free = self.model.system.free();
        let phase = self.steps.len() - 1;
        for periodic in &self.problem().periodic {
            let Some(f) = free.iter().position(|&i| i == periodic.coordinate) else { continue };
            let element = self.program.element(self.elements.periodic(periodic)?);
            let inputs = [&self.q[node][..], v, &[self.end_time(phase)]].concat();
            let name = &self.model.system.coordinates[periodic.coordinate].name;
            let rows =
                [format!("periodic {name}"), format!("periodic {name}'")].map(|name| self.condition(name, BORDER));
            self.program.apply(element, inputs, rows.iter().map(|&row| Some((row, 1.0))).collect());
            let start_q = self.q[0][f].clone();
            self.program.add(rows[0], &start_q, -1.0);
            if let Some(start_v) = self.start_v.as_ref().map(|v| v[f].clone()) {
                self.program.add(rows[1], &start_v, -1.0);
            }
        }
        Ok(())
    }
}
