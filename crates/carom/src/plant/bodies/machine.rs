//! A tree of bodies with the numbers of one run: what flows, evaluators and contacts of one thread have in common.

use std::sync::Arc;

use super::code::{Code, OF_GRAVITY};
use super::function::{Function, Work};
use crate::linkage::{OF_LINK, read_body};
use crate::tree::{At, BodyPoint, Drive, Pose, Quaternion, RelationValues, Relations, Surroundings, Tree, Vec3};

/// The tree, its points, and the parameters they were computed from.
#[derive(Clone)]
pub(super) struct Machine {
    pub(super) code: Arc<Code>,
    pub(super) parameters: Vec<f64>,
    pub(super) tree: Tree,
    pub(super) points: Vec<BodyPoint>,
}

impl Machine {
    pub(super) fn new(code: &Arc<Code>) -> Machine {
        let parameters = vec![0.0; code.facts.parameters];
        let tree = Tree::new(code.bodies.clone());
        let mut machine = Machine {
            points: code.carriers.iter().map(|&body| BodyPoint { body, at: Vec3::ZERO }).collect(),
            tree,
            parameters: Vec::new(),
            code: code.clone(),
        };
        machine.read_constants(&parameters);
        machine
    }

    /// Takes the parameters. Returns false if they have not changed.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) -> bool {
        if self.parameters == parameters {
            return false;
        }
        self.read_constants(parameters);
        true
    }

    fn read_constants(&mut self, parameters: &[f64]) {
        self.parameters = parameters.to_vec();
        let mut numbers = vec![0.0; OF_LINK * self.tree.links.len() + 3 * self.points.len()];
        self.code.constants.eval(parameters, &mut numbers);
        let (links, points) = numbers.split_at(OF_LINK * self.tree.links.len());
        self.tree.set(|i, body| read_body(&links[OF_LINK * i..], body));
        self.points.iter_mut().zip(points.chunks_exact(3)).for_each(|(point, at)| point.at = Vec3::read(at));
    }

    /// Memory for surroundings.
    pub(super) fn nowhere(&self) -> Surroundings {
        Surroundings { gravity: Vec3::ZERO, drives: vec![Drive::default(); self.tree.drives] }
    }

    /// Writes the surroundings at a time. Returns the rate of gravity.
    pub(super) fn surround(&self, t: f64, around: &mut Surroundings, memory: &mut Memory) -> Vec3 {
        memory.inputs.clear();
        memory.inputs.extend(self.parameters.iter().chain([&t]));
        memory.outputs.resize(OF_GRAVITY + 3 * self.tree.drives, 0.0);
        self.code.surroundings.eval(&memory.inputs, &mut memory.outputs);
        let outputs = &memory.outputs;
        around.gravity = Vec3::read(outputs);
        for (drive, numbers) in around.drives.iter_mut().zip(outputs[OF_GRAVITY..].chunks_exact(3)) {
            *drive = Drive { q: numbers[0], v: numbers[1], a: numbers[2] };
        }
        Vec3::read(&outputs[3..])
    }

    /// Adds the forces of the user at a pose with the rates v of the freedoms: forces by name, and potentials.
    pub(super) fn load(&self, memory: &mut Memory, at: &At, into: &mut [f64]) {
        let At { pose, around, t, q, v } = *at;
        if let Some(potential) = &self.code.potential {
            potential.evaluate(self, &mut memory.work, pose, q, t);
            potential.add_gradient(self, &memory.work, pose, q, 1.0, into);
        }
        if !self.code.outputs.has_forces() {
            return;
        }
        memory.q_dot.resize(q.len(), 0.0);
        self.tree.to_coordinates(q, v, 0.5, &mut memory.q_dot);
        self.code.outputs.write_inputs(self, memory, around, t, q, pose);
        let forces = self.code.outputs.forces(memory);
        for (&(link, k), &i) in self.code.owners.iter().zip(&self.code.free) {
            let link = &self.tree.links[link];
            if link.freedoms == 1 {
                into[link.v] += forces[i];
            } else if k == 0 {
                let turned = Quaternion::read(&q[link.q..]).body(Quaternion::read(&forces[i..]), 0.5).array();
                into[link.v..link.v + 3].iter_mut().zip(turned).for_each(|(sum, part)| *sum += part);
            }
        }
    }

    /// Puts the free coordinates and their rates, and those of the drives, in the order of all.
    pub(super) fn spread(&self, around: &Surroundings, q: &[f64], q_dot: &[f64], [all_q, all_v]: [&mut [f64]; 2]) {
        for (k, &i) in self.code.free.iter().enumerate() {
            (all_q[i], all_v[i]) = (q[k], q_dot[k]);
        }
        for (drive, &i) in around.drives.iter().zip(&self.code.driven) {
            (all_q[i], all_v[i]) = (drive.q, drive.v);
        }
    }
}

/// Working memory of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) inputs: Vec<f64>,
    pub(super) outputs: Vec<f64>,
    /// q̇ of the free coordinates.
    pub(super) q_dot: Vec<f64>,
    pub(super) work: Work,
}

/// The constraints of the model, then the walls that hold the motion, as functions that stay zero.
pub(super) struct Rows<'a> {
    pub(super) machine: &'a Machine,
    pub(super) walls: &'a [usize],
    pub(super) work: &'a mut Work,
}

/// The constraints of the model, then these walls.
pub(super) fn functions<'a>(code: &'a Code, walls: &'a [usize]) -> impl Iterator<Item = &'a Function> {
    code.constraints.iter().chain(walls.iter().map(|&wall| &code.walls[wall]))
}

impl Relations for Rows<'_> {
    fn count(&self) -> usize {
        self.machine.code.constraints.len() + self.walls.len()
    }

    fn evaluate(&mut self, tree: &Tree, pose: &Pose, q: &[f64], t: f64, values: RelationValues) {
        let Rows { machine, walls, work } = self;
        values.rows.fill(0.0);
        for (k, function) in functions(&machine.code, walls).enumerate() {
            function.evaluate(machine, work, pose, q, t);
            values.g[k] = work.value();
            values.g_t[k] = work.by_time() + function.by_places(machine, work, pose);
            let row = &mut values.rows[k * tree.freedoms..][..tree.freedoms];
            function.add_gradient(machine, work, pose, q, 1.0, row);
        }
    }
}
