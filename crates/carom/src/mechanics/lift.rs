//! Conversion from the free coordinates of the flows to all coordinates of the model.

use super::{Inputs, Mechanics};
use crate::error::Result;
use crate::expr::{Expr, grad, jacobian};
use crate::kernel::Kernel;
use crate::phase::Phase;
use crate::system::{System, normal_force, time};

/// A state in all coordinates, driven ones included.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The impulse of each constraint per step, with the sign of [TPC eq. 6a]; empty if unknown.
    pub lambda: Vec<f64>,
    /// The generalized force of the constraints on the free coordinates; empty if unknown.
    pub force: Vec<f64>,
}

/// Computes all coordinates, velocities and momenta, the energy and the outputs from (t, q, v) of the free coordinates.
#[derive(Clone, Debug)]
pub struct Lift {
    free: Vec<usize>,
    n: usize,
    /// (parameters, t, q, v) → q, v, L_v of all, then the outputs.
    state: Kernel,
    /// (parameters, t, q, v) → energy, if that differs from H of the free coordinates.
    energy: Option<Kernel>,
    /// (parameters, t, q, v) → the values of g of the sections.
    sections: Kernel,
    /// (parameters, t, q, v) → ∂q/∂(free q), by rows.
    slopes: Kernel,
    inputs: Inputs,
    values: Vec<f64>,
    crossings: Vec<f64>,
    /// The walls whose normal forces the outputs contain, and these forces. They follow the other inputs of `state`.
    walls: Vec<usize>,
    forces: Vec<f64>,
    loaded: Vec<f64>,
}

impl Lift {
    /// Compiles the state, the energy, the outputs and the sections of a system.
    pub fn new(
        system: &System,
        outputs: &[Expr],
        sections: &[Expr],
        mechanics: &Mechanics,
        parameters: &[f64],
    ) -> Result<Lift> {
        let momenta = grad(system.lagrangian.l, &system.v());
        let energy = driven_energy(system, &momenta);
        let slopes = jacobian(&system.drive(&system.q()), &mechanics.q).concat();
        let state: Vec<Expr> = [system.q(), system.v(), momenta, outputs.to_vec()].concat();
        let symbols = mechanics.state_symbols();
        let used: Vec<Expr> = outputs.iter().flat_map(|output| output.symbols()).collect();
        let walls: Vec<usize> = (0..system.walls.len()).filter(|&wall| used.contains(&normal_force(wall))).collect();
        let forces = walls.iter().map(|&wall| normal_force(wall));
        let loaded: Vec<Expr> = symbols.iter().copied().chain(forces).collect();
        Ok(Lift {
            free: system.free(),
            n: system.coordinates.len(),
            energy: energy.map(|e| mechanics.kernel(&symbols, &system.drive(&[e]))).transpose()?,
            state: mechanics.kernel(&loaded, &system.drive(&state))?,
            sections: mechanics.kernel(&symbols, &system.drive(sections))?,
            slopes: mechanics.kernel(&symbols, &slopes)?,
            inputs: Inputs::new(parameters, mechanics.n()),
            values: vec![0.0; state.len()],
            crossings: vec![0.0; sections.len()],
            forces: vec![0.0; walls.len()],
            walls,
            loaded: Vec::new(),
        })
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs.set_parameters(parameters);
    }

    /// Selects the free coordinates from all coordinates.
    pub fn free_of(&self, q: &[f64]) -> Vec<f64> {
        self.free.iter().map(|&i| q[i]).collect()
    }

    /// Converts a state in all coordinates to a phase point. The momenta are pulled back, p_free = (∂q/∂q_free)ᵀ p, so the
    /// momentum of a coordinate that a constraint eliminates is passed to the others.
    pub fn free_phase(&mut self, t: f64, q: &[f64], p: &[f64]) -> Phase {
        let n = self.free.len();
        let free = self.free_of(q);
        self.inputs.place(t, &free, &vec![0.0; n]);
        let mut slopes = vec![0.0; self.n * n];
        self.slopes.eval(self.inputs.all(), &mut slopes);
        let pulled: Vec<f64> = (0..n).map(|j| (0..self.n).map(|i| slopes[i * n + j] * p[i]).sum()).collect();
        Phase::new(t, &free, &pulled)
    }

    /// The energy, if it differs from H of the free coordinates.
    pub fn energy(&mut self, t: f64, q: &[f64], v: &[f64]) -> Option<f64> {
        let kernel = self.energy.as_ref()?;
        self.inputs.place(t, q, v);
        let mut energy = [0.0];
        kernel.eval(self.inputs.all(), &mut energy);
        Some(energy[0])
    }

    /// True if the energy differs from H of the free coordinates.
    pub fn has_energy(&self) -> bool {
        self.energy.is_some()
    }

    /// g of every section.
    pub fn sections(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        self.inputs.place(t, q, v);
        self.sections.eval(self.inputs.all(), &mut self.crossings);
        &self.crossings
    }

    /// True if an output contains the normal force of a wall.
    pub fn wants_forces(&self) -> bool {
        !self.walls.is_empty()
    }

    /// Sets the normal forces of the walls that hold the motion; those of the other walls are zero.
    pub fn set_forces(&mut self, holding: &[usize], forces: &[f64]) {
        for (wall, force) in self.walls.iter().zip(&mut self.forces) {
            let place = holding.iter().position(|held| held == wall);
            *force = place.map_or(0.0, |place| forces.get(place).copied().unwrap_or(f64::NAN));
        }
    }

    /// Writes the state in all coordinates; NaN if the velocities are not given.
    pub fn node(&mut self, t: f64, q: &[f64], v: Option<&[f64]>, node: &mut Node) {
        match v {
            Some(v) => {
                self.inputs.place(t, q, v);
                let mut inputs = self.inputs.all();
                if !self.forces.is_empty() {
                    self.loaded.clear();
                    self.loaded.extend_from_slice(inputs);
                    self.loaded.extend_from_slice(&self.forces);
                    inputs = &self.loaded;
                }
                self.state.eval(inputs, &mut self.values);
            }
            None => self.values.fill(f64::NAN),
        }
        node.t = t;
        let (q, rest) = self.values.split_at(self.n);
        let (v, rest) = rest.split_at(self.n);
        let (p, outputs) = rest.split_at(self.n);
        for (to, from) in [(&mut node.q, q), (&mut node.v, v), (&mut node.p, p), (&mut node.outputs, outputs)] {
            to.clear();
            to.extend_from_slice(from);
        }
        node.lambda.clear();
        node.force.clear();
    }
}

/// The energy if there are driven coordinates: T + V, or v·L_v − L over all coordinates if L is not given in parts. None
/// without driven coordinates, since the energy is then H.
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

/// The power F·v of all forces; and the power of the drives, which is −L_t minus the power of forces on driven coordinates.
/// Both are expressions of (t, q, v).
pub fn powers(system: &System, mechanics: &Mechanics) -> [Expr; 2] {
    let (mut all, mut driven) = (Expr::constant(0.0), Expr::constant(0.0));
    for (c, &force) in system.coordinates.iter().zip(&system.forces) {
        all = all + force * c.v;
        if c.prescribed.is_some() {
            driven = driven + force * c.v;
        }
    }
    let driven_forces = system.drive(&[all, driven]);
    [driven_forces[0], -mechanics.l.diff(time()) - driven_forces[1]]
}
