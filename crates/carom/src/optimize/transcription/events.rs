//! What is held, and the events at the ends of phases.

use super::program::Form;
use super::{Condition, STRIDE, Transcription};
use crate::elements::{Asked, Surface};
use crate::error::Result;
use crate::model::control::PhaseEvent;

const FREE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl Transcription<'_> {
    /// What holds throughout a phase: its walls, then its constraints.
    pub(super) fn surfaces_of(&self, phase: usize) -> Vec<Surface> {
        let walls = self.problem().phases[phase].held_walls.iter().map(|&k| Surface::Wall(k));
        walls.chain(self.problem().holds_in(phase).into_iter().map(Surface::Constraint)).collect()
    }

    /// What holds after the event of a phase: what the next phase holds; at the very end what was caught, or is still held.
    pub(super) fn surfaces_after(&self, phase: usize) -> Vec<Surface> {
        if phase + 1 < self.steps.len() {
            let hit = match self.problem().phases[phase].event {
                PhaseEvent::Impact { wall, .. } => Some(Surface::Wall(wall)),
                _ => None,
            };
            return self.surfaces_of(phase + 1).into_iter().filter(|surface| Some(*surface) != hit).collect();
        }
        let always = self.problem().holds_in(usize::MAX).into_iter().map(Surface::Constraint);
        match &self.problem().phases[phase].event {
            PhaseEvent::Catch { walls, constraints } => {
                let caught = constraints.iter().map(|&k| Surface::Constraint(k));
                walls.iter().map(|&k| Surface::Wall(k)).chain(caught).chain(always).collect()
            }
            _ => self.surfaces_of(phase),
        }
    }

    /// True if momenta do not simply continue at the end of a phase: there is an impact, something is caught or released, or the
    /// motion ends.
    pub(super) fn has_event(&self, phase: usize) -> bool {
        let is_plain = matches!(self.problem().phases[phase].event, PhaseEvent::None);
        phase + 1 == self.steps.len() || !is_plain || !self.surfaces_of(phase).is_empty()
    }

    /// The impulses Λ of what is held at the inner nodes and at the first node of each phase, with g = 0.
    pub(super) fn add_held(&mut self) -> Result<()> {
        let n = self.n();
        for phase in 0..self.steps.len() {
            let surfaces = self.surfaces_of(phase);
            if surfaces.is_empty() {
                continue;
            }
            let element = self.program.element(self.elements.held(&surfaces)?);
            let first = self.first_step(phase);
            for k in self.steps_of(phase) {
                let is_first = k == first;
                let pushes = |surface: &Surface| {
                    if matches!(surface, Surface::Wall(_)) && !is_first { [0.0, f64::INFINITY] } else { FREE }
                };
                let bounds: Vec<[f64; 2]> = surfaces.iter().map(pushes).collect();
                let order = STRIDE * k;
                let lambda: Vec<Form> = bounds.iter().map(|&b| self.program.unknown(b, 0.0, order)).collect();
                let time = self.step_time(phase, k - first);
                let inputs = [&self.q[k][..], &lambda, &[time]].concat();
                let mut outputs: Vec<Option<(usize, f64)>> =
                    self.momentum_rows[k].iter().map(|&row| Some((row, -1.0))).collect();
                // Later phases begin where the one before them ended, on what holds or was caught there.
                let asks = k > 0 && !is_first || phase == 0 && is_first;
                for _ in &surfaces {
                    outputs.push(if asks { Some((self.program.row(order), 1.0)) } else { None });
                }
                self.program.apply(element, inputs, outputs);
                if !is_first {
                    self.held[phase].push(lambda);
                }
                if self.constrains_inner && self.inner > 0 {
                    self.hold_inner_points(phase, k, element, &bounds)?;
                }
            }
            // The last node: g = 0; the part of p normal to it is lost.
            let last = self.first_step(phase + 1);
            let inputs = [&self.q[last][..], &vec![Form::default(); surfaces.len()], &[self.end_time(phase)]].concat();
            let mut outputs = vec![None; n];
            for _ in &surfaces {
                outputs.push(Some((self.program.row(STRIDE * (last - 1) + 5), 1.0)));
            }
            self.program.apply(element, inputs, outputs);
        }
        Ok(())
    }

    /// What is held also holds at the inner points of flows that ask for it there.
    fn hold_inner_points(&mut self, phase: usize, k: usize, element: usize, bounds: &[[f64; 2]]) -> Result<()> {
        let (n, order) = (self.n(), STRIDE * k + 2);
        for (j, c) in self.inner_times.clone().into_iter().enumerate() {
            let lambda: Vec<Form> = bounds.iter().map(|&b| self.program.unknown(b, 0.0, order)).collect();
            let time = self.step_time(phase, k - self.first_step(phase)).combine(1.0, &self.h(phase), c);
            let inputs = [&self.inner_points[k][j * n..(j + 1) * n], &lambda, &[time]].concat();
            let rows = self.inner_rows[k][j * n..(j + 1) * n].to_vec();
            let mut outputs: Vec<Option<(usize, f64)>> = rows.into_iter().map(|row| Some((row, 1.0))).collect();
            for _ in bounds {
                outputs.push(Some((self.program.row(STRIDE * k + 5), 1.0)));
            }
            self.program.apply(element, inputs, outputs);
        }
        Ok(())
    }

    /// v⁻ and v⁺ at the end of each phase with an event, and what they satisfy.
    pub(super) fn add_events(&mut self) -> Result<()> {
        for phase in 0..self.steps.len() {
            let Some(rows) =
                self.phase_end_rows.iter().find(|(known, _)| *known == phase).map(|(_, rows)| rows.clone())
            else {
                continue;
            };
            let is_last = phase + 1 == self.steps.len();
            let last = self.first_step(phase + 1);
            let order = STRIDE * (last - 1);
            let event = self.problem().phases[phase].event.clone();
            let is_plain = matches!(event, PhaseEvent::None);
            let minus = self.add_velocities(order + 6, is_last && is_plain, [last - 1, last], phase);
            self.add_momenta_before(phase, last, &minus, &rows)?;
            self.events[phase].minus = Some(minus.clone());
            let mut plus = minus.clone();
            if !is_plain {
                let near = if is_last { [last - 1, last] } else { [last, last + 1] };
                plus = self.add_velocities(order + 8, is_last, near, phase);
                self.add_jump(phase, last, &minus, &plus, &event)?;
                self.events[phase].plus = Some(plus.clone());
            }
            if !is_last {
                let element = self.momentum_element()?;
                let inputs = [&self.q[last][..], &plus, &[self.end_time(phase)]].concat();
                let outputs = self.momentum_rows[last].iter().map(|&row| Some((row, -1.0))).collect();
                self.program.apply(element, inputs, outputs);
            }
        }
        Ok(())
    }

    /// q, v, t → L_v.
    pub(super) fn momentum_element(&mut self) -> Result<usize> {
        if let Some(known) = self.momentum {
            return Ok(known);
        }
        let element = self.program.element(self.elements.momentum()?);
        self.momentum = Some(element);
        Ok(element)
    }

    /// Velocities at a node: those that `[final]` gives if it is the end, else unknowns whose guess is the secant of two nodes.
    fn add_velocities(&mut self, order: usize, is_final: bool, near: [usize; 2], phase: usize) -> Vec<Form> {
        let start = &self.program.start;
        let length = self.h(phase.min(self.steps.len() - 1)).at(start);
        let secant: Vec<f64> =
            (0..self.n()).map(|i| (self.q[near[1]][i].at(start) - self.q[near[0]][i].at(start)) / length).collect();
        let given = self.final_velocities(is_final);
        let make = |(guess, given): (f64, Option<[f64; 2]>)| self.program.unknown(given.unwrap_or(FREE), guess, order);
        secant.into_iter().zip(given).map(make).collect()
    }

    /// p⁺_N = L_v(q, v⁻) + Gᵀν with v⁻ tangent to what is held.
    fn add_momenta_before(&mut self, phase: usize, node: usize, minus: &[Form], rows: &[usize]) -> Result<()> {
        let gaps = self.surfaces_of(phase);
        let (n, order) = (self.n(), STRIDE * (node - 1));
        let element = self.velocity_element(phase)?;
        let nu: Vec<Form> = gaps.iter().map(|_| self.program.unknown(FREE, 0.0, order + 6)).collect();
        let mut outputs: Vec<Option<(usize, f64)>> = rows.iter().map(|&row| Some((row, -1.0))).collect();
        for _ in &gaps {
            outputs.push(Some((self.program.row(order + 7), 1.0)));
        }
        debug_assert_eq!(outputs.len(), n + gaps.len());
        let inputs = [&self.q[node][..], minus, &nu, &[self.end_time(phase)]].concat();
        self.program.apply(element, inputs, outputs);
        Ok(())
    }

    /// The jump of the velocities at an impact or a catch.
    fn add_jump(&mut self, phase: usize, node: usize, minus: &[Form], plus: &[Form], event: &PhaseEvent) -> Result<()> {
        let (n, order) = (self.n(), STRIDE * (node - 1));
        let surfaces = self.surfaces_after(phase);
        let keeps_energy = self.is_dtec && phase + 1 < self.steps.len();
        let mut new: Vec<Surface> = Vec::new();
        let mut impulse = Form::default();
        match event {
            PhaseEvent::Impact { lambda: span, .. } => {
                let bounds = if self.is_soft { [0.0, span.max] } else { [span.min, span.max] };
                impulse = self.program.unknown(bounds, span.guess_or(span.min.max(1.0)), order + 8);
                self.lambdas[phase] = Some(impulse.clone());
                if self.is_soft && span.min > 0.0 {
                    let row =
                        self.condition(format!("lambda.min of `{}`", self.problem().phases[phase].name), order + 9);
                    self.program.add(row, &impulse, 1.0);
                    self.program.within(row, [span.min, f64::INFINITY], span.min + 1.0);
                }
            }
            PhaseEvent::Catch { walls, constraints } => {
                let caught =
                    walls.iter().map(|&k| Surface::Wall(k)).chain(constraints.iter().map(|&k| Surface::Constraint(k)));
                let known = self.surfaces_of(phase);
                new.extend(caught.filter(|surface| !known.contains(surface)));
            }
            PhaseEvent::None => {}
        }
        let asked = match event {
            PhaseEvent::Impact { wall, .. } => Asked::Impact(*wall, keeps_energy),
            _ => Asked::Catch(&new),
        };
        let element = self.elements.jump(asked, &surfaces)?;
        let rows = element.rows;
        let element = self.program.element(element);
        let nu: Vec<Form> = surfaces.iter().map(|_| self.program.unknown(FREE, 0.0, order + 8)).collect();
        let outputs: Vec<Option<(usize, f64)>> = (0..rows).map(|_| Some((self.program.row(order + 9), 1.0))).collect();
        if self.is_soft {
            let name = &self.problem().phases[phase].name;
            let what = match event {
                PhaseEvent::Impact { wall, .. } => {
                    format!("impact on `{}` at the end of `{name}`", self.model.system.walls[*wall].name)
                }
                _ => format!("catch at the end of `{name}`"),
            };
            let count = if matches!(event, PhaseEvent::Impact { .. }) { 1 } else { new.len() };
            for (row, _) in outputs[n..n + count].iter().flatten() {
                self.conditions.push(Condition { name: what.clone(), row: *row, is_event: true });
            }
        }
        if let PhaseEvent::Impact { .. } = event {
            let place = |k: usize| outputs[n + k].map_or(0, |(row, _)| row);
            self.impact_rows[phase] = Some([place(0), place(1)]);
            if keeps_energy {
                self.add_energies(phase, node, place(1))?;
            }
        }
        let inputs = [&self.q[node][..], minus, plus, &[impulse], &nu, &[self.end_time(phase)]].concat();
        self.catches[phase] = nu;
        self.program.apply(element, inputs, outputs);
        Ok(())
    }

    /// E of the first step after an impact minus that of the last one before it, E = −D₃L_d.
    fn add_energies(&mut self, phase: usize, node: usize, row: usize) -> Result<()> {
        let element = match self.energy {
            Some(known) => known,
            None => self.program.element(self.elements.energy()?),
        };
        self.energy = Some(element);
        let [before, after] = [self.step_inputs(phase, node - 1), self.step_inputs(phase + 1, node)];
        self.program.apply(element, before, vec![Some((row, -1.0))]);
        self.program.apply(element, after, vec![Some((row, 1.0))]);
        Ok(())
    }
}
