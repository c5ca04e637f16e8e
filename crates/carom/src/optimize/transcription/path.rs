//! Walls and bounds on the way.

use super::program::Form;
use super::{STRIDE, Transcription};
use crate::elements::{Bounded, Surface};
use crate::error::Result;
use crate::model::control::{Bound, PhaseEvent};

impl Transcription<'_> {
    /// φ(q_k) ≥ 0 at the inner nodes, for every wall that is not held.
    pub(super) fn add_walls(&mut self) -> Result<()> {
        for wall in 0..self.elements.walls() {
            let element = self.program.element(self.elements.gap(wall)?);
            for phase in 0..self.steps.len() {
                if self.surfaces_of(phase).contains(&Surface::Wall(wall)) {
                    continue;
                }
                for k in self.steps_of(phase).skip(1) {
                    self.add_inequality(element, phase, k, [0.0, f64::INFINITY], None);
                }
                self.keep_open_at_end(wall, element, phase)?;
            }
        }
        Ok(())
    }

    /// φ ≥ 0 at the end of a phase, unless the wall is hit or begins to hold there.
    fn keep_open_at_end(&mut self, wall: usize, element: usize, phase: usize) -> Result<()> {
        const BEHIND: f64 = 1e-9;
        let is_met = match &self.problem().phases[phase].event {
            PhaseEvent::None => false,
            PhaseEvent::Impact { wall: hit, .. } => *hit == wall,
            PhaseEvent::Catch { walls, .. } => walls.contains(&wall),
        };
        let is_held_next = phase + 1 < self.steps.len() && self.surfaces_of(phase + 1).contains(&Surface::Wall(wall));
        if is_met || is_held_next {
            return Ok(());
        }
        let last = self.first_step(phase + 1);
        let inputs = [&self.q[last][..], &[self.end_time(phase)]].concat();
        if inputs.iter().any(|form| form.terms.iter().any(|(_, factor)| *factor != 0.0)) {
            self.add_inequality(element, phase, last, [0.0, f64::INFINITY], None);
            return Ok(());
        }
        let at: Vec<f64> = inputs.iter().map(|form| form.at(&self.program.start)).collect();
        let gap = self.program.evaluate(element, &at)[1];
        if gap < -BEHIND {
            let name = &self.model.system.walls[wall].name;
            let message = format!("the end is behind the wall `{name}`, where its `phi` is {gap}");
            return Err(self.model.error(&self.problem().end.place, message, "`phi` must be 0 or more there"));
        }
        Ok(())
    }

    /// `[[bound]]`: at the inner nodes, or at the points of the quadrature if it contains velocities or controls.
    pub(super) fn add_bounds(&mut self) -> Result<()> {
        for bound in &self.problem().bounds {
            match self.elements.kind_of(bound) {
                // The bounds of a plain coordinate and of a control are those of its variables.
                Bounded::Coordinate | Bounded::Control if !self.is_soft => {}
                Bounded::Coordinate | Bounded::Place => self.add_bound_at_nodes(bound)?,
                Bounded::Control | Bounded::Motion => self.add_bound_in_steps(bound)?,
            }
        }
        Ok(())
    }

    fn phases_of(&self, bound: &Bound) -> Vec<usize> {
        bound.phases.clone().unwrap_or_else(|| (0..self.steps.len()).collect())
    }

    fn add_inequality(&mut self, element: usize, phase: usize, k: usize, bounds: [f64; 2], name: Option<String>) {
        let order = STRIDE * (k - 1) + 4;
        let time = self.step_time(phase, k - self.first_step(phase));
        let inputs = [&self.q[k][..], &[time]].concat();
        self.ask_within(element, inputs, bounds, order, name);
    }

    /// A row that an element keeps within bounds.
    fn ask_within(&mut self, element: usize, inputs: Vec<Form>, bounds: [f64; 2], order: usize, name: Option<String>) {
        let at: Vec<f64> = inputs.iter().map(|form| form.at(&self.program.start)).collect();
        let guess = self.program.evaluate(element, &at)[1];
        let row = match name {
            Some(name) => self.condition(name, order),
            None => self.program.row(order),
        };
        self.program.apply(element, inputs, vec![Some((row, 1.0))]);
        self.program.within(row, bounds, guess);
    }

    fn add_bound_at_nodes(&mut self, bound: &Bound) -> Result<()> {
        let element = self.program.element(self.elements.bound_at_node(bound)?);
        for phase in self.phases_of(bound) {
            for k in self.steps_of(phase).skip(1) {
                let name = self.is_soft.then(|| format!("bound `{}`", bound.name));
                self.add_inequality(element, phase, k, [bound.span.min, bound.span.max], name);
            }
        }
        Ok(())
    }

    fn add_bound_in_steps(&mut self, bound: &Bound) -> Result<()> {
        for element in self.elements.bound_in_step(bound)? {
            let element = self.program.element(element);
            for phase in self.phases_of(bound) {
                for k in self.steps_of(phase) {
                    let name = self.is_soft.then(|| format!("bound `{}`", bound.name));
                    let inputs = self.step_inputs(phase, k);
                    self.ask_within(element, inputs, [bound.span.min, bound.span.max], STRIDE * k + 4, name);
                }
            }
        }
        Ok(())
    }
}
