//! From the free coordinates of the flows to all coordinates of the model.

use super::account::Account;
use super::constrained::Constraints;
use super::rest::Hold;
use crate::error::Result;
use crate::expr::{Expr, grad, jacobian};
use crate::flow::{Field, Phase};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::model::Model;
use crate::solve::NoSolution;
use crate::system::{System, time};

/// A state in all coordinates, driven ones included.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The time.
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Momenta L_v.
    pub p: Vec<f64>,
    /// The model's outputs.
    pub outputs: Vec<f64>,
    /// The impulse of each constraint in a step, in the sign of [TPC eq. 6a]; empty where that is not known.
    pub lambda: Vec<f64>,
    /// The generalized force of the constraints on the free coordinates; empty where that is not known.
    pub force: Vec<f64>,
}

/// A state of a run, of which only what is asked for is computed.
pub struct View<'a> {
    pub(super) z: &'a Phase,
    pub(super) lift: &'a mut Lift,
    pub(super) field: &'a mut Field,
    pub(super) constraints: Option<&'a mut Constraints>,
    /// What walls do that hold the motion.
    pub(super) hold: Option<&'a mut Hold>,
    /// The step, and whether this is the end of one.
    pub(super) step: (f64, bool),
    pub(super) account: Option<Account>,
}

/// Computes all coordinates, velocities and momenta, the energy and the outputs from a phase point.
#[derive(Clone)]
pub(super) struct Lift {
    free: Vec<usize>,
    n: usize,
    parameters: usize,
    /// (parameters, t, q, v of the free coordinates) → q, v, L_v of all, then the outputs.
    state: Kernel,
    /// The same inputs → energy, where that is not H of the free coordinates.
    energy: Option<Kernel>,
    /// The same inputs → the values of g of the sections.
    sections: Kernel,
    /// The same inputs → ∂q/∂(free q), by rows.
    slopes: Kernel,
    inputs: Vec<f64>,
    values: Vec<f64>,
    pub(super) crossings: Vec<f64>,
}

impl Lift {
    pub(super) fn new(model: &Model, mechanics: &Mechanics, parameters: &[f64]) -> Result<Lift> {
        let system = &model.system;
        let momenta = grad(system.lagrangian.l, &system.v());
        let energy = driven_energy(system, &momenta);
        let slopes = jacobian(&system.drive(&system.q()), &mechanics.q).concat();
        let state: Vec<Expr> = system
            .q()
            .into_iter()
            .chain(system.v())
            .chain(momenta)
            .chain(model.outputs.iter().map(|output| output.value))
            .collect();
        let sections: Vec<Expr> = model.sections.iter().map(|section| section.g).collect();
        let symbols: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&mechanics.v).copied().collect();
        let mut inputs = vec![0.0; parameters.len() + 1 + 2 * mechanics.n()];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Lift {
            free: system.free(),
            n: system.coordinates.len(),
            parameters: parameters.len(),
            energy: energy.map(|e| mechanics.kernel(&symbols, &system.drive(&[e]))).transpose()?,
            state: mechanics.kernel(&symbols, &system.drive(&state))?,
            sections: mechanics.kernel(&symbols, &system.drive(&sections))?,
            slopes: mechanics.kernel(&symbols, &slopes)?,
            inputs,
            values: vec![0.0; state.len()],
            crossings: vec![0.0; sections.len()],
        })
    }

    fn place(&mut self, z: &Phase, field: &mut Field) -> std::result::Result<(), NoSolution> {
        let (at, n) = (self.parameters, z.q().len());
        let v = field.velocity(z.t, &z.z)?;
        self.inputs[at] = z.t;
        self.inputs[at + 1..at + 1 + n].copy_from_slice(z.q());
        self.inputs[at + 1 + n..].copy_from_slice(v);
        Ok(())
    }

    /// The free ones of all coordinates.
    pub(super) fn free_of(&self, q: &[f64]) -> Vec<f64> {
        self.free.iter().map(|&i| q[i]).collect()
    }

    /// The phase point of a state in all coordinates. The momenta are pulled back, p_free = (∂q/∂q_free)ᵀ p: a coordinate that
    /// a constraint was solved for gives its own to the others.
    pub(super) fn free_phase(&mut self, t: f64, q: &[f64], p: &[f64]) -> Phase {
        let (at, n) = (self.parameters, self.free.len());
        let free = self.free_of(q);
        self.inputs[at] = t;
        self.inputs[at + 1..at + 1 + n].copy_from_slice(&free);
        self.inputs[at + 1 + n..].fill(0.0);
        let mut slopes = vec![0.0; self.n * n];
        self.slopes.eval(&self.inputs, &mut slopes);
        let pulled: Vec<f64> = (0..n).map(|j| (0..self.n).map(|i| slopes[i * n + j] * p[i]).sum()).collect();
        Phase::new(t, &free, &pulled)
    }

    /// The energy.
    pub(super) fn energy(&mut self, z: &Phase, field: &mut Field) -> std::result::Result<f64, NoSolution> {
        if self.energy.is_none() {
            return field.energy(z.t, &z.z);
        }
        self.place(z, field)?;
        let mut energy = [0.0];
        self.energy.iter().for_each(|kernel| kernel.eval(&self.inputs, &mut energy));
        Ok(energy[0])
    }

    /// Writes g of every section to `crossings`.
    pub(super) fn section_values(&mut self, z: &Phase, field: &mut Field) -> std::result::Result<(), NoSolution> {
        self.place(z, field)?;
        self.sections.eval(&self.inputs, &mut self.crossings);
        Ok(())
    }

    pub(super) fn node(&mut self, z: &Phase, field: &mut Field) -> Node {
        match self.place(z, field) {
            Ok(()) => self.state.eval(&self.inputs, &mut self.values),
            Err(_) => self.values.fill(f64::NAN),
        }
        let part = |k: usize| self.values[k * self.n..(k + 1) * self.n].to_vec();
        let outputs = self.values[3 * self.n..].to_vec();
        Node { t: z.t, q: part(0), v: part(1), p: part(2), outputs, lambda: Vec::new(), force: Vec::new() }
    }
}

/// The energy where coordinates are driven: T + V, or v·L_v − L of all coordinates where L is not in parts. Without driven
/// coordinates it is H.
fn driven_energy(system: &System, momenta: &[Expr]) -> Option<Expr> {
    if system.free().len() == system.coordinates.len() {
        return None;
    }
    let power: Expr = momenta.iter().zip(system.v()).map(|(&p, v)| p * v).sum();
    Some(match system.lagrangian.parts {
        Some((t, v)) => t + v,
        None => power - system.lagrangian.l,
    })
}

impl View<'_> {
    /// The time.
    pub fn t(&self) -> f64 {
        self.z.t
    }

    /// The state in the free coordinates.
    pub fn phase(&self) -> &Phase {
        self.z
    }

    /// The energy account up to here, at nodes of a run whose watcher wants it, where anything can change the energy.
    pub fn account(&self) -> Option<Account> {
        self.account
    }

    /// p·v over the free coordinates: twice the kinetic energy where that is quadratic in v. NaN where v has no value.
    pub fn power(&mut self) -> f64 {
        let v = self.field.velocity(self.z.t, &self.z.z);
        v.map_or(f64::NAN, |v| self.z.p().iter().zip(v).map(|(p, v)| p * v).sum())
    }

    /// The energy; NaN where there are no velocities for the momenta.
    pub fn energy(&mut self) -> f64 {
        self.lift.energy(self.z, self.field).unwrap_or(f64::NAN)
    }

    /// The state in all coordinates.
    pub fn node(&mut self) -> Node {
        let mut node = self.lift.node(self.z, self.field);
        if let Some(constraints) = &mut self.constraints {
            constraints.describe(self.z, self.field, self.step, self.hold.as_deref_mut(), &mut node);
        }
        node
    }
}
