//! A state of a tree, with what follows from it: velocities, accelerations, the forces of constraints and walls.

use super::machine::{Machine, Memory, Rows, functions};
use crate::phase::Phase;
use crate::solve::Solved;
use crate::tree::{At, Pose, Surroundings, TangentSpace, Vec3};

/// The last state that was looked at.
#[derive(Clone)]
pub(super) struct Instant {
    /// The walls that hold the motion.
    pub(super) walls: Vec<usize>,
    z: Phase,
    pub(super) memory: Memory,
    pub(super) around: Surroundings,
    /// The rate of gravity.
    pub(super) gravity_rate: Vec3,
    pub(super) tangent: TangentSpace,
    /// The pose with the velocities of the motion.
    pub(super) pose: Pose,
    /// The momenta and the rates of the freedoms, and q̇ of the coordinates.
    pub(super) p: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) q_dot: Vec<f64>,
    /// The accelerations of the freedoms, M a, and the multipliers, if they are known.
    pub(super) a: Vec<f64>,
    pub(super) inertia: Vec<f64>,
    /// Q − c: what the accelerations are made up of.
    loads: Vec<f64>,
    response: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    demand: Vec<f64>,
    force: Vec<f64>,
    has_forces: bool,
}

impl Instant {
    pub(super) fn new(machine: &Machine, walls: &[usize]) -> Instant {
        let (n, freedoms) = (machine.code.facts.n, machine.tree.freedoms);
        let count = machine.code.constraints.len() + walls.len();
        Instant {
            walls: walls.to_vec(),
            z: Phase { t: f64::NAN, z: vec![f64::NAN; 2 * n] },
            memory: Memory::default(),
            around: machine.nowhere(),
            gravity_rate: Vec3::ZERO,
            tangent: TangentSpace::new(&machine.tree, count),
            pose: Pose::new(&machine.tree),
            p: vec![0.0; freedoms],
            v: vec![0.0; freedoms],
            q_dot: vec![0.0; n],
            a: vec![0.0; freedoms],
            inertia: vec![0.0; freedoms],
            loads: vec![0.0; freedoms],
            response: vec![0.0; freedoms],
            lambda: vec![0.0; count],
            demand: vec![0.0; count],
            force: vec![0.0; freedoms],
            has_forces: false,
        }
    }

    /// Forgets the last state.
    pub(super) fn forget(&mut self) {
        self.z.t = f64::NAN;
    }

    /// Places the tree at a state with the velocities v = M⁻¹p on the tangent space.
    pub(super) fn look(&mut self, machine: &Machine, z: &Phase) -> Solved<()> {
        if self.z == *z {
            return Ok(());
        }
        // Impulses change momenta only: the pose, the rows and the factors of M stay.
        let is_there = self.z.t == z.t && self.z.q() == z.q();
        self.forget();
        if is_there {
            self.has_forces = false;
        } else {
            self.put(machine, z.t, z.q())?;
        }
        machine.tree.to_freedoms(z.q(), z.p(), 0.5, &mut self.p);
        self.tangent.project(&machine.tree, &mut self.p, &mut self.v);
        self.set_moving(machine, z.q());
        self.z.copy_from(z);
        Ok(())
    }

    /// Places the tree at q with the rates q̇, which are on the tangent space.
    pub(super) fn look_at(&mut self, machine: &Machine, t: f64, q: &[f64], q_dot: &[f64]) -> Solved<()> {
        self.forget();
        self.put(machine, t, q)?;
        machine.tree.to_freedoms(q, q_dot, 2.0, &mut self.v);
        self.set_moving(machine, q);
        Ok(())
    }

    fn put(&mut self, machine: &Machine, t: f64, q: &[f64]) -> Solved<()> {
        self.has_forces = false;
        self.gravity_rate = machine.surround(t, &mut self.around, &mut self.memory);
        let mut rows = Rows { machine, walls: &self.walls, work: &mut self.memory.work };
        self.tangent.set(&machine.tree, &self.around, &mut rows, q, t)
    }

    fn set_moving(&mut self, machine: &Machine, q: &[f64]) {
        self.pose.place(&machine.tree, &self.around, q, &self.v);
        machine.tree.to_coordinates(q, &self.v, 0.5, &mut self.q_dot);
    }

    /// Solves for the accelerations and the multipliers, after `look` or `look_at`:
    ///
    /// ```text
    /// M a + Gᵀλ = Q − c,   G a = −(d²g/dt² without acceleration)
    /// ```
    pub(super) fn react(&mut self, machine: &Machine, t: f64, q: &[f64]) {
        if self.has_forces {
            return;
        }
        let tree = &machine.tree;
        let moment = At { pose: &self.pose, around: &self.around, t, q, v: &self.v };
        self.force.fill(0.0);
        machine.load(&mut self.memory, &moment, &mut self.force);
        let Instant { tangent, pose, around, v, a, inertia, loads, force, demand, lambda, .. } = self;
        tangent.mass.balance(tree, pose, around, (q, v), force, inertia);
        loads.copy_from_slice(inertia);
        a.copy_from_slice(inertia);
        tangent.mass.solve(tree, &tangent.pose, a);
        let n = tree.freedoms;
        for (k, function) in functions(&machine.code, &self.walls).enumerate() {
            let work = &mut self.memory.work;
            function.evaluate(machine, work, pose, q, t);
            let moment = At { pose, around, t, q, v };
            let drift = function.drift(machine, work, &mut tangent.mass, &moment, &self.q_dot);
            demand[k] = drift + dot(&tangent.rows[k * n..][..n], a);
        }
        tangent.solve(demand, lambda);
        for (k, lambda) in lambda.iter().enumerate() {
            let (row, column) = (&tangent.rows[k * n..][..n], &tangent.w[k * n..][..n]);
            inertia.iter_mut().zip(row).for_each(|(f, g)| *f -= lambda * g);
            a.iter_mut().zip(column).for_each(|(a, w)| *a -= lambda * w);
        }
        self.has_forces = true;
    }

    /// φ and φ̇ of a wall, after `look` or `look_at`.
    pub(super) fn gap_and_rate(&mut self, machine: &Machine, wall: usize, t: f64, q: &[f64]) -> (f64, f64) {
        let (function, work) = (&machine.code.walls[wall], &mut self.memory.work);
        function.evaluate(machine, work, &self.pose, q, t);
        (work.value(), function.rate(machine, work, &self.pose, &self.q_dot))
    }

    /// The gradient of a wall by the freedoms, after `gap_and_rate`.
    pub(super) fn add_gradient(&mut self, machine: &Machine, wall: usize, q: &[f64], into: &mut [f64]) {
        machine.code.walls[wall].add_gradient(machine, &self.memory.work, &self.pose, q, 1.0, into);
    }

    /// d²φ/dt² of a wall for the accelerations, and the sum of absolute terms in it, after `react`: those of ∇φ·a, and those of the
    /// loads Q − c that make up a, w·(Q − c) with w = M⁻¹∇φ on the constraints. In free fall the latter cancel.
    pub(super) fn acceleration_of(&mut self, machine: &Machine, wall: usize, t: f64, q: &[f64]) -> (f64, f64) {
        self.gap_and_rate(machine, wall, t, q);
        let mut row = std::mem::take(&mut self.force);
        row.fill(0.0);
        self.add_gradient(machine, wall, q, &mut row);
        let moment = At { pose: &self.pose, around: &self.around, t, q, v: &self.v };
        let (work, mass) = (&mut self.memory.work, &mut self.tangent.mass);
        let drift = machine.code.walls[wall].drift(machine, work, mass, &moment, &self.q_dot);
        let Instant { tangent, response, loads, a, .. } = self;
        let terms = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x * y).abs()).sum::<f64>();
        let acceleration = dot(&row, a) + drift;
        tangent.respond(&machine.tree, &row, response);
        let size = terms(&row, a) + terms(response, loads);
        self.force = row;
        (acceleration, size)
    }

    /// −Gᵀλ of the constraints of the model on the coordinates, after `react`.
    pub(super) fn write_reaction(&mut self, machine: &Machine, q: &[f64], into: &mut [f64]) {
        let n = machine.tree.freedoms;
        self.force.fill(0.0);
        for (k, lambda) in self.lambda.iter().take(machine.code.constraints.len()).enumerate() {
            let row = &self.tangent.rows[k * n..][..n];
            self.force.iter_mut().zip(row).for_each(|(f, g)| *f -= lambda * g);
        }
        machine.tree.to_coordinates(q, &self.force, 2.0, into);
    }

    /// λ·∂g/∂t of all rows, after `react`.
    pub(super) fn power_of_rows(&self) -> f64 {
        dot(&self.lambda, &self.tangent.g_t)
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
