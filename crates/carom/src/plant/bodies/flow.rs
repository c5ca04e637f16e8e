//! `midpoint` on a tree of bodies, as a flow.

use std::sync::Arc;

use super::code::Code;
use super::machine::{Machine, Memory, Rows};
use crate::flow::Past;
use crate::phase::{Discrete, Flow, Impulses, Phase};
use crate::solve::{NoSolution, Solved};
use crate::tree::{At, Equations, Midpoint, Over, Solver, Surroundings, Tangent, move_by};

/// Parts of the way h v, from which Newton's method starts where the extrapolated guess fails.
const GUESSES: [f64; 3] = [1.0, 0.5, 0.0];

/// A solution this far from an extrapolated guess, in radians, may be another one than that of the motion.
const FAR: f64 = 0.1;

/// One step of the midpoint rule, with the constraints and the walls that hold the motion. See `tree/midpoint/`.
#[derive(Clone)]
pub(super) struct Steps {
    machine: Machine,
    walls: Vec<usize>,
    memory: [Memory; 2],
    solver: Solver<Midpoint>,
    tangent: Tangent,
    past: Past,
    /// The surroundings at the start, the middle and the end of the step.
    around: [Surroundings; 3],
    /// u, then λ.
    unknowns: Vec<f64>,
    /// The momenta of the freedoms at the start and the end, and the rates.
    p0: Vec<f64>,
    p1: Vec<f64>,
    v: Vec<f64>,
    impulses: Impulses,
    h: f64,
}

impl Steps {
    pub(super) fn new(code: &Arc<Code>, walls: &[usize]) -> Steps {
        let machine = Machine::new(code);
        let (n, count) = (machine.tree.freedoms, code.constraints.len() + walls.len());
        let around = machine.nowhere();
        Steps {
            solver: Solver::new(Midpoint::new(&machine.tree), &machine.tree, count),
            tangent: Tangent::new(&machine.tree, count),
            past: Past::new(code.facts.n, n + count),
            around: [around.clone(), around.clone(), around],
            unknowns: vec![0.0; n + count],
            p0: vec![0.0; n],
            p1: vec![0.0; n],
            v: vec![0.0; n],
            impulses: Impulses::new(code.facts.is_one_point.clone(), code.facts.is_one_point.len()),
            memory: Default::default(),
            walls: walls.to_vec(),
            h: 0.0,
            machine,
        }
    }

    /// Solves from the guess in the unknowns. Returns the number of corrections.
    fn solve(&mut self, z0: &Phase, h: f64) -> Solved<usize> {
        let Steps { machine, walls, memory: [of_rows, of_load], solver, around, unknowns, p0, .. } = self;
        let mut rows = Rows { machine, walls, work: &mut of_rows.work };
        let (u, lambda) = unknowns.split_at_mut(machine.tree.freedoms);
        let over = Over { q: z0.q(), p: p0, h, t: z0.t, around: around.each_ref() };
        let mut load = |at: At, into: &mut [f64]| machine.load(of_load, &at, into);
        solver.solve(&machine.tree, over, &mut rows, &mut load, u, lambda)
    }

    /// Guesses that the motion goes on along its velocity, by this part of the way.
    fn guess(&mut self, z0: &Phase, h: f64, part: f64) -> Solved<()> {
        let Steps { machine, walls, memory, tangent, around, p0, p1, v, unknowns, .. } = self;
        let mut rows = Rows { machine, walls, work: &mut memory[0].work };
        tangent.set(&machine.tree, &around[0], &mut rows, z0.q(), z0.t)?;
        p1.copy_from_slice(p0);
        tangent.project(&machine.tree, p1, v);
        unknowns.fill(0.0);
        unknowns.iter_mut().zip(v).for_each(|(u, v)| *u = part * h * *v);
        Ok(())
    }

    fn find(&mut self, z0: &Phase, h: f64) -> Solved<usize> {
        if self.past.ends_in(z0) && self.past.extrapolate(h, &mut self.unknowns) {
            let n = self.v.len();
            self.v.copy_from_slice(&self.unknowns[..n]);
            let solved = self.solve(z0, h);
            if solved.is_ok() && self.unknowns.iter().zip(&self.v).all(|(u, guess)| (u - guess).abs() <= FAR) {
                return solved;
            }
        }
        self.past.forget();
        let mut failed = NoSolution::Diverged;
        for part in GUESSES {
            self.guess(z0, h, part)?;
            match self.solve(z0, h) {
                Ok(count) => return Ok(count),
                Err(why) => failed = why,
            }
        }
        Err(failed)
    }

    /// Writes the end of the step, with p1 on the tangent space.
    fn finish(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Solved<()> {
        let Steps { machine, walls, memory, solver, tangent, around, p1, v, unknowns, impulses, .. } = self;
        let (u, lambda) = unknowns.split_at(machine.tree.freedoms);
        let (q1, momenta) = z1.z.split_at_mut(machine.code.facts.n);
        move_by(&machine.tree, z0.q(), u, q1);
        solver.momenta(&machine.tree, h, u, p1);
        z1.t = z0.t + h;
        if !lambda.is_empty() {
            let mut rows = Rows { machine, walls, work: &mut memory[0].work };
            tangent.set(&machine.tree, &around[2], &mut rows, q1, z1.t)?;
            tangent.project(&machine.tree, p1, v);
            let count = machine.code.constraints.len();
            impulses.note(&lambda[..count], &tangent.nu[..count]);
        }
        machine.to_coordinates(q1, p1, 2.0, momenta);
        Ok(())
    }
}

impl Flow for Steps {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Solved<()> {
        if h == 0.0 {
            z1.copy_from(z0);
            return Ok(());
        }
        if self.machine.code.is_timed || self.h == 0.0 {
            for (around, part) in self.around.iter_mut().zip([0.0, 0.5, 1.0]) {
                self.machine.surround(z0.t + part * h, around, &mut self.memory[0]);
            }
        }
        self.h = h;
        self.machine.to_freedoms(z0.q(), z0.p(), 0.5, &mut self.p0);
        let count = self.find(z0, h)?;
        self.finish(z0, h, z1)?;
        self.past.remember(&self.unknowns, h, z1, count);
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        if self.machine.set_parameters(parameters) {
            self.forget();
            self.h = 0.0;
        }
    }

    fn forget(&mut self) {
        self.past.forget();
    }

    /// For a Lagrangian that contains the time, −D₃L_d has parts that are not computed.
    fn discrete(&mut self) -> Option<Discrete> {
        if self.machine.code.facts.sources.time || self.machine.code.potential.is_some() {
            return None;
        }
        let over = Over { q: &[], p: &[], h: self.h, t: 0.0, around: self.around.each_ref() };
        let (action, energy) = self.solver.step.discrete(&self.machine.tree, over);
        Some(Discrete { action, energy })
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.impulses)
    }

    fn order(&self) -> usize {
        2
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}
