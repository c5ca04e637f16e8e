//! Evaluation of a tree of bodies.

use std::sync::Arc;

use super::code::Code;
use super::instant::{Instant, dot};
use super::machine::Machine;
use crate::limits::SLOW;
use crate::mechanics::Node;
use crate::phase::{MOMENTS, Moments, Phase};
use crate::plant::{Evaluator, Forces, Power, Violated};
use crate::solve::{NoSolution, Solved, larger};
use crate::tree::{At, Force};

/// The evaluator of [`super::Bodies`].
pub(super) struct Evaluate {
    machine: Machine,
    now: Instant,
    restitution: Vec<f64>,
    /// φ and φ̇ of each wall at the ends of a step.
    ends: [Vec<(f64, f64)>; 2],
    moments: Moments,
    /// q and q̇ at a moment.
    moment: [Vec<f64>; 2],
    gradient: Vec<f64>,
    reaction: Vec<f64>,
    sums: Vec<Force>,
    /// The normal forces that the outputs contain.
    normal_forces: Vec<f64>,
}

impl Evaluate {
    pub(super) fn new(code: &Arc<Code>) -> Evaluate {
        let machine = Machine::new(code);
        let (n, walls) = (code.facts.n, code.facts.walls);
        let mut evaluate = Evaluate {
            now: Instant::new(&machine, &[]),
            restitution: vec![0.0; walls],
            ends: [vec![(0.0, 0.0); walls], vec![(0.0, 0.0); walls]],
            moments: Moments::new(n),
            moment: [vec![0.0; n], vec![0.0; n]],
            gradient: vec![0.0; machine.tree.freedoms],
            reaction: vec![0.0; n],
            sums: vec![Force::default(); machine.tree.links.len()],
            normal_forces: vec![0.0; code.outputs.walls.len()],
            machine,
        };
        evaluate.machine.code.restitution.eval(&evaluate.machine.parameters, &mut evaluate.restitution);
        evaluate
    }

    fn code(&self) -> &Code {
        &self.machine.code
    }

    /// Looks at a state, with the accelerations and the multipliers there.
    fn react(&mut self, z: &Phase) -> Solved<()> {
        self.now.look(&self.machine, z)?;
        self.now.react(&self.machine, z.t, z.q());
        Ok(())
    }

    fn kinetic_and_potential(&mut self, z: &Phase) -> Solved<(f64, f64)> {
        self.now.look(&self.machine, z)?;
        let Evaluate { machine, now, .. } = self;
        let mut potential = now.pose.potential(&machine.tree, &now.around) + machine.tree.spring_energy(z.q());
        if let Some(added) = &machine.code.potential {
            added.evaluate(machine, &mut now.memory.work, &now.pose, z.q(), z.t);
            potential -= now.memory.work.value();
        }
        Ok((now.pose.kinetic(), potential))
    }

    /// Writes the gradient of a wall by the freedoms, after its gap was computed.
    fn write_gradient(&mut self, wall: usize, q: &[f64]) {
        self.gradient.fill(0.0);
        self.now.add_gradient(&self.machine, wall, q, &mut self.gradient);
    }
}

/// NaN must not count as an open gap.
fn checked((gap, rate): (f64, f64)) -> Solved<(f64, f64)> {
    if gap.is_nan() || rate.is_nan() { Err(NoSolution::NoGap) } else { Ok((gap, rate)) }
}

impl Evaluator for Evaluate {
    fn set_parameters(&mut self, parameters: &[f64]) {
        if self.machine.set_parameters(parameters) {
            self.now.forget();
            self.machine.code.restitution.eval(parameters, &mut self.restitution);
        }
    }

    fn forget(&mut self) {
        self.now.forget();
    }

    /// What is computed from a state does not depend on earlier ones.
    fn remember_nothing(&mut self) {}

    fn restitution(&self) -> &[f64] {
        &self.restitution
    }

    fn velocity(&mut self, z: &Phase) -> Solved<&[f64]> {
        self.now.look(&self.machine, z)?;
        Ok(&self.now.q_dot)
    }

    fn roots_of_inverse_mass(&mut self, z: &Phase) -> Vec<f64> {
        let n = z.q().len();
        if self.now.look(&self.machine, z).is_err() {
            return vec![0.0; n];
        }
        let Evaluate { machine: Machine { tree, .. }, now: Instant { tangent, .. }, .. } = self;
        let (mut along, mut freedoms, mut moved) = (vec![0.0; n], vec![0.0; tree.freedoms], vec![0.0; n]);
        let root = |i: usize| {
            along.fill(0.0);
            along[i] = 1.0;
            tree.to_freedoms(z.q(), &along, 0.5, &mut freedoms);
            tangent.mass.solve(tree, &tangent.pose, &mut freedoms);
            tree.to_coordinates(z.q(), &freedoms, 0.5, &mut moved);
            moved[i].max(0.0).sqrt()
        };
        (0..n).map(root).collect()
    }

    fn hamiltonian(&mut self, z: &Phase) -> Solved<f64> {
        self.hamiltonian_and_power(z).map(|(hamiltonian, _)| hamiltonian)
    }

    fn hamiltonian_and_power(&mut self, z: &Phase) -> Solved<(f64, f64)> {
        let (t, v) = self.kinetic_and_potential(z)?;
        let power = dot(&self.now.p, &self.now.v);
        Ok((power - t + v, power))
    }

    fn energy(&mut self, z: &Phase) -> Solved<f64> {
        self.kinetic_and_potential(z).map(|(t, v)| t + v)
    }

    fn project(&mut self, z: &mut Phase) -> Solved<()> {
        self.now.look(&self.machine, z)?;
        let (q, p) = z.z.split_at_mut(self.machine.code.facts.n);
        self.machine.tree.to_coordinates(q, &self.now.p, 2.0, p);
        Ok(())
    }

    fn look_at_ends(&mut self, z0: &Phase, z1: &Phase) -> Solved<()> {
        self.moments.count = 0;
        for (end, z) in [z0, z1].into_iter().enumerate() {
            self.now.look(&self.machine, z)?;
            for wall in 0..self.ends[end].len() {
                self.ends[end][wall] = checked(self.now.gap_and_rate(&self.machine, wall, z.t, z.q()))?;
            }
        }
        Ok(())
    }

    fn ends(&self, wall: usize) -> [(f64, f64); 2] {
        [self.ends[0][wall], self.ends[1][wall]]
    }

    fn moments(&mut self) -> &mut Moments {
        &mut self.moments
    }

    fn write_moment(&mut self, k: usize, z0: &Phase, tau: f64, z: &Phase) -> Solved<()> {
        self.now.look(&self.machine, z)?;
        self.moments.set(k, z0, tau, z.q().iter().chain(&self.now.q_dot));
        Ok(())
    }

    fn inside(&mut self, wall: usize) -> Solved<[f64; 2 * MOMENTS]> {
        let mut gaps = [0.0; 2 * MOMENTS];
        let [q, q_dot] = &mut self.moment;
        for k in 0..self.moments.count {
            let mut lanes = self.moments.lanes.chunks(MOMENTS).map(|lanes| lanes[k]);
            let t = lanes.next().unwrap_or(f64::NAN);
            q.iter_mut().chain(&mut *q_dot).zip(lanes).for_each(|(x, lane)| *x = lane);
            self.now.look_at(&self.machine, t, q, q_dot)?;
            (gaps[k], gaps[MOMENTS + k]) = checked(self.now.gap_and_rate(&self.machine, wall, t, q))?;
        }
        Ok(gaps)
    }

    fn gap_and_rate(&mut self, wall: usize, z: &Phase) -> Solved<(f64, f64)> {
        self.now.look(&self.machine, z)?;
        checked(self.now.gap_and_rate(&self.machine, wall, z.t, z.q()))
    }

    fn size_of_rate(&mut self, wall: usize, z: &Phase) -> Solved<f64> {
        self.gap_and_rate(wall, z)?;
        self.write_gradient(wall, z.q());
        let swept: f64 = self.gradient.iter().zip(&self.now.v).map(|(slope, v)| (slope * v).abs()).sum();
        Ok(self.now.memory.work.by_time().abs() + swept)
    }

    fn size_of_gap(&mut self, wall: usize, z: &Phase, moved: &[f64]) -> Solved<f64> {
        self.gap_and_rate(wall, z)?;
        self.write_gradient(wall, z.q());
        let Evaluate { machine, now, gradient, reaction, .. } = self;
        machine.tree.to_coordinates(z.q(), gradient, 2.0, reaction);
        let pairs = reaction.iter().zip(z.q().iter().zip(moved));
        let by_q: f64 = pairs.map(|(slope, (q, moved))| slope.abs() * (q.abs() + moved.abs())).sum();
        let work = &now.memory.work;
        Ok(work.terms() + by_q + (work.by_time() * z.t).abs())
    }

    fn normal(&mut self, wall: usize, z: &Phase, gradient: &mut [f64]) -> f64 {
        if self.now.look(&self.machine, z).is_err() {
            gradient.fill(f64::NAN);
            return f64::NAN;
        }
        let (_, rate) = self.now.gap_and_rate(&self.machine, wall, z.t, z.q());
        self.write_gradient(wall, z.q());
        self.machine.tree.to_coordinates(z.q(), &self.gradient, 2.0, gradient);
        // Drives move points too.
        rate - dot(&self.gradient, &self.now.v)
    }

    fn accelerations(&mut self, z: &Phase, walls: &[usize], into: &mut Vec<f64>) -> Solved<f64> {
        self.react(z)?;
        let size = dot(&self.now.a, &self.now.inertia).max(0.0).sqrt();
        into.clear();
        for &wall in walls {
            let (acceleration, size) = self.now.acceleration_of(&self.machine, wall, z.t, z.q());
            into.push(if acceleration.abs() <= SLOW * size { 0.0 } else { acceleration });
        }
        Ok(size)
    }

    fn violation(&mut self, z: &Phase) -> Solved<Violated> {
        self.now.look(&self.machine, z)?;
        let (tangent, n) = (&self.now.tangent, self.machine.tree.freedoms);
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |sum, x| larger(sum, x.abs()));
        let rows = tangent.g_t.iter().zip(tangent.rows.chunks_exact(n));
        Ok(Violated {
            position: largest(&mut tangent.g.iter().copied()),
            rate: largest(&mut rows.map(|(g_t, row)| g_t + dot(row, &self.now.v))),
        })
    }

    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>> {
        self.react(z)?;
        self.now.write_reaction(&self.machine, z.q(), &mut self.reaction);
        Ok(Forces { multipliers: &self.now.lambda, force: &self.reaction })
    }

    /// The power of the dampers and of the forces of the user; and −L_t, where drives and gravity change L.
    fn power(&mut self, z: &Phase) -> Solved<Power> {
        self.now.look(&self.machine, z)?;
        let Evaluate { machine, now, gradient, sums, .. } = self;
        let tree = &machine.tree;
        gradient.fill(0.0);
        let moment = At { pose: &now.pose, around: &now.around, t: z.t, q: z.q(), v: &now.v };
        machine.load(&mut now.memory, &moment, gradient);
        let mut forces = dot(gradient, &now.v);
        let mut drives = 0.0;
        if let Some(added) = &machine.code.potential {
            added.evaluate(machine, &mut now.memory.work, &now.pose, z.q(), z.t);
            let whole = added.rate(machine, &now.memory.work, &now.pose, &now.q_dot);
            gradient.fill(0.0);
            added.add_gradient(machine, &now.memory.work, &now.pose, z.q(), 1.0, gradient);
            // A potential is part of L, not a force.
            let conservative = dot(gradient, &now.v);
            forces -= conservative;
            drives -= whole - conservative;
        }
        for link in tree.links.iter().filter(|link| link.freedoms == 1) {
            forces -= link.body.damping * now.v[link.v].powi(2);
        }
        let pose = &now.pose;
        for (link, placed) in tree.links.iter().zip(&pose.bodies) {
            drives -= link.body.mass * now.gravity_rate.dot(placed.p + placed.d);
        }
        if tree.drives > 0 {
            // L_t = Σ over drives of L_q q̇ + L_v q̈.
            pose.sum_up(tree, sums, |i| pose.bodies[i].momentum);
            for (i, link) in tree.links.iter().enumerate().filter(|(_, link)| link.freedoms == 0) {
                let (body, placed, drive) = (&link.body, &pose.bodies[i], now.around.drives[link.q]);
                let momentum = placed.project(body.joint, sums[i]).0;
                let centrifugal = placed.project(body.joint, -placed.carried.cross_force(sums[i])).0;
                drives -= (centrifugal - body.stiffness * (drive.q - body.rest)) * drive.v + momentum * drive.a;
                drives += body.damping * drive.v * drive.v;
                forces -= body.damping * drive.v * drive.v;
            }
            pose.sum_up(tree, sums, |i| pose.weight(tree, &now.around, i));
            for (i, link) in tree.links.iter().enumerate().filter(|(_, link)| link.freedoms == 0) {
                drives -= pose.bodies[i].project(link.body.joint, sums[i]).0 * now.around.drives[link.q].v;
            }
        }
        Ok(Power { forces, drives })
    }

    fn power_of_constraints(&mut self, z: &Phase) -> Solved<f64> {
        if !self.code().facts.sources.constraints {
            return Ok(0.0);
        }
        self.react(z)?;
        Ok(self.now.power_of_rows())
    }

    fn sections(&mut self, z: &Phase) -> Solved<&[f64]> {
        self.now.look(&self.machine, z)?;
        let Evaluate { machine, now, .. } = self;
        now.memory.q_dot.clone_from(&now.q_dot);
        machine.code.outputs.write_inputs(machine, &mut now.memory, &now.around, z.t, z.q(), &now.pose);
        Ok(machine.code.outputs.sections(&mut now.memory))
    }

    fn wants_forces(&self) -> bool {
        !self.code().outputs.walls.is_empty()
    }

    fn set_forces(&mut self, holding: &[usize], forces: &[f64]) {
        for (wall, force) in self.machine.code.outputs.walls.iter().zip(&mut self.normal_forces) {
            let place = holding.iter().position(|held| held == wall);
            *force = place.map_or(0.0, |place| forces.get(place).copied().unwrap_or(f64::NAN));
        }
    }

    fn node(&mut self, z: &Phase, node: &mut Node) {
        let is_known = self.now.look(&self.machine, z).is_ok();
        let Evaluate { machine, now, gradient, reaction, sums, normal_forces, .. } = self;
        let all = machine.code.free.len() + machine.code.driven.len();
        node.t = z.t;
        [&mut node.q, &mut node.v, &mut node.p].into_iter().for_each(|list| list.resize(all, 0.0));
        node.lambda.clear();
        node.force.clear();
        now.memory.q_dot.clone_from(&now.q_dot);
        machine.code.outputs.write_inputs(machine, &mut now.memory, &now.around, z.t, z.q(), &now.pose);
        let outputs = machine.code.outputs.outputs(&mut now.memory, normal_forces);
        node.outputs.clear();
        node.outputs.extend_from_slice(outputs);
        machine.spread(&now.around, z.q(), &now.q_dot, [&mut node.q, &mut node.v]);
        now.pose.momenta(&machine.tree, sums, gradient);
        machine.tree.to_coordinates(z.q(), gradient, 2.0, reaction);
        machine.code.free.iter().zip(&*reaction).for_each(|(&i, p)| node.p[i] = *p);
        let driven = machine.tree.links.iter().enumerate().filter(|(_, link)| link.freedoms == 0);
        for ((i, link), &at) in driven.zip(&machine.code.driven) {
            node.p[at] = now.pose.bodies[i].project(link.body.joint, sums[i]).0;
        }
        if !is_known {
            let lists = [&mut node.q, &mut node.v, &mut node.p, &mut node.outputs];
            lists.into_iter().for_each(|list| list.fill(f64::NAN));
        }
    }

    fn free_phase(&mut self, t: f64, q: &[f64], p: &[f64]) -> Phase {
        Phase::new(t, &self.free_of(q), &self.free_of(p))
    }

    fn free_of(&self, q: &[f64]) -> Vec<f64> {
        self.code().free.iter().map(|&i| q[i]).collect()
    }
}
