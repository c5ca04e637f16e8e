//! The answer, read off a solution of the program.

use super::{Form, Transcription};
use crate::elements::Surface;
use crate::error::Result;
use crate::mechanics::Node;
use crate::model::control::PhaseEvent;
use crate::optimize::interior::Solution;
use crate::solve::Lu;

/// A state, every coordinate in order.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedState {
    /// The time.
    pub t: f64,
    /// The coordinates.
    pub q: Vec<f64>,
    /// The velocities.
    pub v: Vec<f64>,
    /// The momenta.
    pub p: Vec<f64>,
}

/// An impact at the end of a phase.
#[derive(Clone, Debug)]
pub struct PlannedImpact {
    /// The wall.
    pub wall: usize,
    /// λ.
    pub lambda: f64,
    /// The state before.
    pub before: PlannedState,
    /// The state after.
    pub after: PlannedState,
    /// The multipliers of its equations.
    pub multipliers: ImpactMultipliers,
}

/// The multipliers of an impact at the end of a phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImpactMultipliers {
    /// Of φ = 0.
    pub phi: f64,
    /// Of the impact law.
    pub law: f64,
    /// Of the bounds of λ.
    pub lambda: f64,
}

/// What holds in a phase, or is caught at its end.
#[derive(Clone, Debug)]
pub struct Caught {
    /// The phase.
    pub phase: usize,
    /// The name of the wall or constraint.
    pub name: String,
    /// Λ_k at the inner nodes.
    pub impulses: Vec<f64>,
    /// The impulse with which it was caught.
    pub catch_impulse: Option<f64>,
}

/// A solution in the words of the model.
#[derive(Clone, Debug)]
pub struct Found {
    /// The duration of each phase.
    pub durations: Vec<f64>,
    /// The nodes. A node with an impact has the state before it.
    pub nodes: Vec<PlannedState>,
    /// The state after the last event.
    pub last: PlannedState,
    /// Each control on each step.
    pub controls: Vec<Vec<f64>>,
    /// The impacts.
    pub hits: Vec<PlannedImpact>,
    /// What is held or caught.
    pub holds: Vec<Caught>,
    /// The cost at the end.
    pub end_cost: f64,
    /// The multipliers of the momentum equations at each node, of the end, and of the bounds of each control.
    pub node_multipliers: Vec<Vec<f64>>,
    /// Those of the momentum equations at the end.
    pub end_multipliers: Vec<f64>,
    /// Those of the bounds of each control; positive where the upper one is active.
    pub control_multipliers: Vec<Vec<f64>>,
}

impl Transcription<'_> {
    /// The answer that a solution is.
    pub(in crate::optimize) fn read_off(&mut self, solution: &Solution) -> Result<Found> {
        let (x, n, total) = (&solution.x, self.n(), self.total());
        let at = |forms: &[Form]| forms.iter().map(|form| form.at(x)).collect::<Vec<f64>>();
        let row = |row: usize| self.kept.get(row).copied().flatten().map_or(0.0, |row| solution.y[row]);
        let of_variable = |form: &Form| form.terms.first().map_or(0.0, |&(variable, _)| solution.z[variable]);
        let node_multipliers = self.momentum_rows.iter().map(|rows| rows.iter().map(|&k| row(k)).collect()).collect();
        let end_multipliers = self.end_rows.iter().map(|&k| row(k)).collect();
        let count = self.problem().controls.len();
        let control_multipliers = (0..count).map(|c| self.u.iter().map(|u| of_variable(&u[c])).collect()).collect();
        let controls = (0..count).map(|c| self.u.iter().map(|u| u[c].at(x)).collect()).collect();
        let hit_multipliers: Vec<ImpactMultipliers> = (0..self.steps.len())
            .map(|phase| {
                let [phi, law] = self.impact_rows[phase].map_or([0.0; 2], |rows| rows.map(row));
                ImpactMultipliers { phi, law, lambda: self.lambdas[phase].as_ref().map_or(0.0, of_variable) }
            })
            .collect();
        let start_v = match (&self.start_v, &self.start_p) {
            (Some(v), _) => at(v),
            (None, p) => self.velocity(0, &at(&self.q[0]), &p.as_ref().map_or(vec![0.0; n], |p| at(p)), 0.0)?,
        };
        let mut nodes = vec![self.state(0.0, &at(&self.q[0]), &start_v)];
        for phase in 0..self.steps.len() {
            for k in self.steps_of(phase) {
                let inputs = at(&self.step_inputs(phase, k));
                let t = inputs[inputs.len() - 2] + inputs[inputs.len() - 1];
                let values = self.program.evaluate(self.step_element, &inputs);
                let p = &values[1 + (1 + self.inner) * n..];
                let q = at(&self.q[k + 1]);
                let v = self.velocity(phase, &q, p, t)?;
                nodes.push(self.state(t, &q, &v));
            }
        }
        let (mut hits, mut holds) = (Vec::new(), Vec::new());
        let mut last = nodes[total].clone();
        for phase in 0..self.steps.len() {
            let node = self.first_step(phase + 1);
            let before = nodes[node].clone();
            let plus = self.events[phase].plus.as_ref().map(|v| at(v));
            let after = plus.map(|v| self.state(before.t, &at(&self.q[node]), &v));
            if let (PhaseEvent::Impact { wall, .. }, Some(after)) = (&self.problem().phases[phase].event, &after) {
                let lambda = self.lambdas[phase].as_ref().map_or(0.0, |lambda| lambda.at(x));
                hits.push(PlannedImpact {
                    wall: *wall,
                    lambda,
                    before,
                    after: after.clone(),
                    multipliers: hit_multipliers[phase],
                });
            }
            if phase + 1 == self.steps.len() {
                last = after.unwrap_or(last.clone());
            }
            holds.extend(self.holds(phase, x));
        }
        let end_cost = self.elements.end_cost_at(last.t, &last.q, &last.v);
        let durations = at(&self.durations);
        Ok(Found {
            durations,
            nodes,
            last,
            controls,
            hits,
            holds,
            end_cost,
            node_multipliers,
            end_multipliers,
            control_multipliers,
        })
    }

    fn holds(&self, phase: usize, x: &[f64]) -> Vec<Caught> {
        let name = |surface: &Surface| match surface {
            Surface::Wall(k) => self.model.system.walls[*k].name.clone(),
            Surface::Constraint(k) => self.problem().constraints[*k].name.clone(),
        };
        let impulses = |i: usize| self.held[phase].iter().map(|all| all[i].at(x)).collect();
        let held = self.surfaces_of(phase);
        let held = held.iter().enumerate().map(|(i, s)| Caught {
            phase,
            name: name(s),
            impulses: impulses(i),
            catch_impulse: None,
        });
        let is_catch = matches!(self.problem().phases[phase].event, PhaseEvent::Catch { .. });
        let after = self.surfaces_after(phase);
        let caught = after.iter().zip(&self.catches[phase]).filter(|_| is_catch).map(|(surface, nu)| Caught {
            phase,
            name: name(surface),
            impulses: Vec::new(),
            catch_impulse: Some(nu.at(x)),
        });
        held.chain(caught).collect()
    }

    /// All coordinates, velocities and momenta of a state of the free ones.
    fn state(&self, t: f64, q: &[f64], v: &[f64]) -> PlannedState {
        let Node { t, q, v, p, .. } = self.elements.node(t, q, v);
        PlannedState { t, q, v, p }
    }

    /// v of the free coordinates with p = L_v(q, v) + Gᵀν, tangent to what the phase holds.
    fn velocity(&mut self, phase: usize, q: &[f64], p: &[f64], t: f64) -> Result<Vec<f64>> {
        const ITERATIONS: usize = 20;
        let (n, element) = (self.n(), self.velocity_element(phase)?);
        let (compiled, numbers) = (self.program.compiled(element), self.program.numbers());
        let m = compiled.rows - n;
        let size = n + m;
        let mut memory = [numbers, q, &vec![0.0; size], &[t], &vec![0.0; compiled.rows + 1]].concat();
        let first = numbers.len() + n;
        let (mut values, mut slopes) = (vec![0.0; compiled.rows + 1], vec![0.0; compiled.derivatives_count()]);
        for _ in 0..ITERATIONS {
            compiled.eval(&memory, &mut values);
            compiled.differentiate(&memory, &mut slopes);
            let residual: Vec<f64> =
                values[1..].iter().zip(p.iter().chain(&vec![0.0; m])).map(|(a, b)| a - b).collect();
            let mut matrix = vec![0.0; size * size];
            for (&(row, input), slope) in compiled.jacobian.iter().zip(&slopes[compiled.gradient.len()..]) {
                if (n..n + size).contains(&input) {
                    matrix[row * size + input - n] = *slope;
                }
            }
            let mut lu = Lu::new(size);
            if !lu.factor(&matrix) {
                break;
            }
            let mut change = vec![0.0; size];
            lu.solve(&residual, &mut change);
            memory[first..first + size].iter_mut().zip(&change).for_each(|(x, d)| *x -= d);
            let largest = change.iter().fold(0.0f64, |all, d| all.max(d.abs()));
            if largest <= 1e-13 || largest.is_nan() {
                break;
            }
        }
        Ok(memory[first..first + n].to_vec())
    }

    /// q, v, ν, t → L_v + Gᵀν, G v + g_t for what a phase holds.
    pub(super) fn velocity_element(&mut self, phase: usize) -> Result<usize> {
        let surfaces = self.surfaces_of(phase);
        if let Some((_, known)) = self.velocity_elements.iter().find(|(known, _)| *known == surfaces) {
            return Ok(*known);
        }
        let element = self.program.element(self.elements.velocity(&surfaces)?);
        self.velocity_elements.push((surfaces, element));
        Ok(element)
    }
}
