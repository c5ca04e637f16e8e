//! From the free coordinates of the flows to all coordinates of the model.

use crate::error::Result;
use crate::expr::{Expr, grad};
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
}

/// A state of a run, of which only what is asked for is computed.
pub struct View<'a> {
    pub(super) z: &'a Phase,
    pub(super) lift: &'a mut Lift,
    pub(super) field: &'a mut Field,
}

/// Computes all coordinates, velocities and momenta, the energy and the outputs from a phase point.
#[derive(Clone)]
pub(super) struct Lift {
    pub(super) free: Vec<usize>,
    n: usize,
    parameters: usize,
    /// (parameters, t, q, v of the free coordinates) → energy, then q, v, L_v of all, then the outputs.
    state: Kernel,
    /// The same inputs → the values of g of the sections.
    sections: Kernel,
    inputs: Vec<f64>,
    values: Vec<f64>,
    pub(super) crossings: Vec<f64>,
}

impl Lift {
    pub(super) fn new(model: &Model, mechanics: &Mechanics, parameters: &[f64]) -> Result<Lift> {
        let system = &model.system;
        let momenta = grad(system.lagrangian.l, &system.v());
        let state = [energy(system, &momenta)].into_iter().chain(system.q()).chain(system.v()).chain(momenta);
        let state: Vec<Expr> = state.chain(model.outputs.iter().map(|output| output.value)).collect();
        let sections: Vec<Expr> = model.sections.iter().map(|section| section.g).collect();
        let symbols: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&mechanics.v).copied().collect();
        let mut inputs = vec![0.0; parameters.len() + 1 + 2 * mechanics.n()];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Lift {
            free: system.free(),
            n: system.coordinates.len(),
            parameters: parameters.len(),
            state: mechanics.kernel(&symbols, &system.drive(&state))?,
            sections: mechanics.kernel(&symbols, &system.drive(&sections))?,
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

    /// The energy.
    pub(super) fn energy(&mut self, z: &Phase, field: &mut Field) -> std::result::Result<f64, NoSolution> {
        self.place(z, field)?;
        self.state.eval(&self.inputs, &mut self.values);
        Ok(self.values[0])
    }

    /// Writes g of every section to `crossings`.
    pub(super) fn section_values(&mut self, z: &Phase, field: &mut Field) -> std::result::Result<(), NoSolution> {
        self.place(z, field)?;
        self.sections.eval(&self.inputs, &mut self.crossings);
        Ok(())
    }

    pub(super) fn node(&mut self, z: &Phase, field: &mut Field) -> Node {
        if self.energy(z, field).is_err() {
            self.values.fill(f64::NAN);
        }
        let part = |k: usize| self.values[1 + k * self.n..1 + (k + 1) * self.n].to_vec();
        let outputs = self.values[1 + 3 * self.n..].to_vec();
        Node { t: z.t, q: part(0), v: part(1), p: part(2), outputs }
    }
}

/// v·L_v − L; with driven coordinates T + V.
fn energy(system: &System, momenta: &[Expr]) -> Expr {
    let power: Expr = momenta.iter().zip(system.v()).map(|(&p, v)| p * v).sum();
    match system.lagrangian.parts {
        Some((t, v)) if system.free().len() < system.coordinates.len() => t + v,
        _ => power - system.lagrangian.l,
    }
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

    /// The energy; NaN where there are no velocities for the momenta.
    pub fn energy(&mut self) -> f64 {
        self.lift.energy(self.z, self.field).unwrap_or(f64::NAN)
    }

    /// The state in all coordinates.
    pub fn node(&mut self) -> Node {
        self.lift.node(self.z, self.field)
    }
}
