//! What the user writes of the whole state: forces by name, outputs and sections.

use super::code::{Places, interpreted};
use super::machine::{Machine, Memory};
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::Kernel;
use crate::system::{System, normal_force, time};
use crate::tree::{Pose, Surroundings};

/// Kernels of (parameters, t, q and q̇ of all coordinates, the places of all points, the normal forces).
#[derive(Clone)]
pub(super) struct Outputs {
    /// → the force of the user on each coordinate, without the dampers of the joints.
    forces: Option<Kernel>,
    outputs: Kernel,
    sections: Kernel,
    /// The numbers of coordinates, outputs and sections.
    coordinates: usize,
    counts: [usize; 2],
    /// True if a force of the user depends explicitly on the time.
    pub(super) has_timed_forces: bool,
    /// The walls whose normal forces the outputs contain.
    pub(super) walls: Vec<usize>,
}

impl Outputs {
    pub(super) fn new(
        system: &System,
        parameters: &[Expr],
        places: &Places,
        outputs: &[Expr],
        sections: &[Expr],
    ) -> Result<Outputs> {
        let used: Vec<Expr> = outputs.iter().flat_map(|output| output.symbols()).collect();
        let walls: Vec<usize> = (0..system.walls.len()).filter(|&wall| used.contains(&normal_force(wall))).collect();
        let forces: Vec<Expr> = walls.iter().map(|&wall| normal_force(wall)).collect();
        let points: Vec<Expr> = places.symbols.iter().flatten().copied().collect();
        let inputs = [parameters, &[time()], &system.q(), &system.v(), &points, &forces].concat();
        let compile = |of: &[Expr]| interpreted(&inputs, &places.replace(of));
        let of_user = forces_of_user(system);
        let has_forces = of_user.iter().any(|force| !force.is_zero());
        Ok(Outputs {
            forces: has_forces.then(|| compile(&of_user)).transpose()?,
            outputs: compile(outputs)?,
            sections: compile(sections)?,
            coordinates: system.coordinates.len(),
            counts: [outputs.len(), sections.len()],
            has_timed_forces: of_user.iter().any(|force| force.depends_on(&[time()])),
            walls,
        })
    }

    pub(super) fn has_forces(&self) -> bool {
        self.forces.is_some()
    }

    /// Writes the inputs; q̇ of the free coordinates is in the memory. Normal forces may be appended.
    pub(super) fn write_inputs(
        &self,
        machine: &Machine,
        memory: &mut Memory,
        around: &Surroundings,
        t: f64,
        q: &[f64],
        pose: &Pose,
    ) {
        let (first, n) = (machine.parameters.len() + 1, self.coordinates);
        memory.inputs.clear();
        memory.inputs.extend(machine.parameters.iter().chain([&t]));
        memory.inputs.resize(first + 2 * n, 0.0);
        let (all_q, all_v) = memory.inputs[first..].split_at_mut(n);
        machine.spread(around, q, &memory.q_dot, [all_q, all_v]);
        machine.points.iter().for_each(|point| memory.inputs.extend(point.place(pose).array()));
        memory.inputs.resize(memory.inputs.len() + self.walls.len(), 0.0);
    }

    /// The forces of the user on all coordinates, for the inputs in the memory.
    pub(super) fn forces<'a>(&self, memory: &'a mut Memory) -> &'a [f64] {
        evaluate(self.forces.as_ref(), self.coordinates, memory)
    }

    /// The outputs, with these normal forces.
    pub(super) fn outputs<'a>(&self, memory: &'a mut Memory, forces: &[f64]) -> &'a [f64] {
        let first = memory.inputs.len() - forces.len();
        memory.inputs[first..].copy_from_slice(forces);
        evaluate(Some(&self.outputs), self.counts[0], memory)
    }

    /// g of the sections.
    pub(super) fn sections<'a>(&self, memory: &'a mut Memory) -> &'a [f64] {
        evaluate(Some(&self.sections), self.counts[1], memory)
    }
}

fn evaluate<'a>(kernel: Option<&Kernel>, count: usize, memory: &'a mut Memory) -> &'a [f64] {
    memory.outputs.clear();
    memory.outputs.resize(count, 0.0);
    kernel.iter().for_each(|kernel| kernel.eval(&memory.inputs, &mut memory.outputs));
    &memory.outputs
}

/// The forces without the dampers of the joints, which the tree has.
fn forces_of_user(system: &System) -> Vec<Expr> {
    let mut forces = system.forces.clone();
    for link in system.mechanism.iter().flat_map(|mechanism| &mechanism.links) {
        let (force, v) = (&mut forces[link.coordinate], system.coordinates[link.coordinate].v);
        let damper = link.damping * v;
        *force = if *force == -damper { Expr::constant(0.0) } else { *force + damper };
    }
    forces
}
