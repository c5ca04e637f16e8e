//! One step of a rule on a tree of bodies: guesses for Newton's method, and what to do where it fails.

use std::sync::Arc;

use super::code::Code;
use super::machine::{Machine, Memory, Rows};
use super::within::Within;
use crate::flow::Past;
use crate::phase::{Discrete, Impulses, Phase};
use crate::solve::{NoSolution, Solved};
use crate::tree::{At, Equations, Over, Solver, Surroundings, TangentSpace, Tree, move_by};

/// A solution this far from an extrapolated guess, in radians or sizes of the mechanism, may be another one than that of the motion.
const FAR: f64 = 0.1;
/// The shortest advance of a continuation, as a part of the step.
const SHORTEST: f64 = 1.0 / 512.0;
/// The equations of a step are solved at most so often.
const MOST: usize = 100;
/// Solutions this far from each other, in radians or sizes of the mechanism, are two.
const TWO: f64 = 1e-6;

/// One step, with its memory.
#[derive(Clone)]
pub(super) struct Single<E> {
    machine: Machine,
    walls: Vec<usize>,
    memory: [Memory; 2],
    solver: Solver<E>,
    tangent: TangentSpace,
    /// The surroundings at the start, the middle and the end of the step.
    around: [Surroundings; 3],
    is_surrounded: bool,
    /// u, then λ.
    pub(super) unknowns: Vec<f64>,
    /// The momenta of the freedoms at the start and the end, and the rates.
    p0: Vec<f64>,
    p1: Vec<f64>,
    v: Vec<f64>,
    pub(super) impulses: Impulses,
    h: f64,
    /// Solutions of shorter steps: their lengths, as parts of the step, and unknowns; the newest first.
    shorter: [(f64, Vec<f64>); 3],
}

impl<E: Equations> Single<E> {
    pub(super) fn new(code: &Arc<Code>, walls: &[usize], rule: fn(&Tree) -> E) -> Single<E> {
        let machine = Machine::new(code);
        let (n, count) = (machine.tree.freedoms, code.constraints.len() + walls.len());
        let (around, unknowns) = (machine.nowhere(), vec![0.0; n + count]);
        let nothing = (0.0, unknowns.clone());
        let mut solver = Solver::new(rule(&machine.tree), &machine.tree, count);
        solver.set_loaded(code.is_loaded());
        Single {
            solver,
            tangent: TangentSpace::new(&machine.tree, count),
            around: [around.clone(), around.clone(), around],
            is_surrounded: false,
            unknowns,
            p0: vec![0.0; n],
            p1: vec![0.0; n],
            v: vec![0.0; n],
            impulses: Impulses::new(code.facts.is_one_point.clone(), code.facts.is_one_point.len()),
            memory: Default::default(),
            walls: walls.to_vec(),
            h: 0.0,
            shorter: [nothing.clone(), nothing.clone(), nothing],
            machine,
        }
    }

    /// Makes a step of length h, the part k of a composition. `past` has the solutions of earlier steps of its kind, `within` those of
    /// the parts before it.
    pub(super) fn step(
        &mut self,
        z0: &Phase,
        h: f64,
        z1: &mut Phase,
        past: &mut Past,
        (within, k): (&mut Within, usize),
    ) -> Solved<()> {
        self.surround(z0.t, h);
        self.machine.tree.to_freedoms(z0.q(), z0.p(), 0.5, &mut self.p0);
        let count = self.find(z0, h, past, (within, k))?;
        within.note(k, h, &self.unknowns);
        self.finish(z0, h, z1, within.is_last(k))?;
        past.remember(&self.unknowns, h, z1, count);
        Ok(())
    }

    /// The number of unknowns of a free step.
    pub(super) fn freedoms(&self) -> usize {
        self.v.len()
    }

    /// Takes the parameters. Returns false if they have not changed.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) -> bool {
        let is_new = self.machine.set_parameters(parameters);
        if is_new {
            self.solver.step.set_constants(&self.machine.tree);
            self.is_surrounded = false;
        }
        is_new
    }

    /// True if −D₃L_d of a step has parts that are not computed.
    pub(super) fn is_timed_or_loaded(&self) -> bool {
        self.machine.code.facts.sources.time || self.machine.code.potential.is_some()
    }

    /// L_d and −D₃L_d of the last step.
    pub(super) fn discrete(&self) -> Discrete {
        let over = Over { q: &[], p: &[], h: self.h, t: 0.0, around: self.around.each_ref() };
        let (action, energy) = self.solver.step.discrete(&self.machine.tree, over);
        Discrete { action, energy }
    }

    /// Sets the surroundings of a step of length h.
    fn surround(&mut self, t: f64, h: f64) {
        self.h = h;
        if self.is_surrounded && !self.machine.code.is_timed {
            return;
        }
        for (around, part) in self.around.iter_mut().zip([0.0, 0.5, 1.0]) {
            self.machine.surround(t + part * h, around, &mut self.memory[0]);
        }
        self.is_surrounded = true;
    }

    /// Solves from the guess in the unknowns. Returns the number of corrections.
    fn solve(&mut self, z0: &Phase, h: f64) -> Solved<usize> {
        let Single { machine, walls, memory: [of_rows, of_load], solver, around, unknowns, p0, .. } = self;
        let mut rows = Rows { machine, walls, work: &mut of_rows.work };
        let (u, lambda) = unknowns.split_at_mut(machine.tree.freedoms);
        let over = Over { q: z0.q(), p: p0, h, t: z0.t, around: around.each_ref() };
        let mut load = |at: At, into: &mut [f64]| machine.load(of_load, &at, into);
        solver.solve(&machine.tree, over, &mut rows, &mut load, u, lambda)
    }

    /// Solves from the extrapolated solutions of the last steps, or of the parts before this one; where that fails, from the velocity at
    /// the start.
    fn find(&mut self, z0: &Phase, h: f64, past: &mut Past, (within, k): (&mut Within, usize)) -> Solved<usize> {
        if past.extrapolate(h, &mut self.unknowns) {
            if let Some(count) = self.solve_near(z0, h) {
                return Ok(count);
            }
            past.forget();
        }
        self.solver.forget();
        let (u, lambda) = self.unknowns.split_at_mut(self.v.len());
        if within.extrapolate(k, h, u) {
            lambda.fill(0.0);
            if let Some(count) = self.solve_near(z0, h) {
                return Ok(count);
            }
        }
        let count = self.follow(z0, h)?;
        if k == 0 {
            within.start(&self.v);
        }
        Ok(count)
    }

    /// Solves from the guess in the unknowns. Returns None if there is no solution near it.
    fn solve_near(&mut self, z0: &Phase, h: f64) -> Option<usize> {
        let n = self.v.len();
        self.v.copy_from_slice(&self.unknowns[..n]);
        let count = self.solve(z0, h).ok()?;
        (self.solver.distance(&self.unknowns[..n], &self.v) <= FAR).then_some(count)
    }

    /// Continuation in the length of the step: its solutions form a curve that begins with u = 0, du/dh = v. Where Newton's method
    /// finds none from the end of this tangent, it goes along the curve in shorter advances.
    fn follow(&mut self, z0: &Phase, h: f64) -> Solved<usize> {
        self.set_velocity(z0)?;
        let (mut advance, mut known, mut failed): (f64, usize, NoSolution) = (1.0, 0, NoSolution::Diverged);
        for _ in 0..MOST {
            let reached = if known == 0 { 0.0 } else { self.shorter[0].0 };
            let part = (reached + advance).min(1.0);
            self.guess(known, part, h);
            self.surround(z0.t, part * h);
            match self.solve(z0, part * h) {
                Ok(count) if part == 1.0 => return Ok(count),
                Ok(count) => {
                    self.shorter.rotate_right(1);
                    self.shorter[0].0 = part;
                    self.shorter[0].1.copy_from_slice(&self.unknowns);
                    known = (known + 1).min(self.shorter.len());
                    advance *= if count > 6 { 1.0 } else { 2.0 };
                }
                Err(why) => {
                    failed = why;
                    advance *= 0.25;
                    if advance < SHORTEST {
                        break;
                    }
                }
            }
        }
        let turns_back = known > 0 && self.turns_back(z0, h, known);
        self.surround(z0.t, h);
        Err(if turns_back { NoSolution::TurnsBack(self.shorter[0].0) } else { failed })
    }

    /// True if the curve of solutions turns back right after its last point. Before such a length h* there are two solutions, and
    /// none beyond it:
    ///
    /// ```text
    /// u = u* ± a√(h* − h) + …
    /// ```
    ///
    /// A simple fold. [Keller 1977] The second solution is looked for beyond the last point of the curve, for two shorter steps; it
    /// must be nearer to the first in the longer one of them.
    fn turns_back(&mut self, z0: &Phase, h: f64, known: usize) -> bool {
        let last = self.shorter[0].0;
        if known == 1 {
            self.shorter[1].1.fill(0.0);
        }
        // The way from the last point but one to the last.
        let [(_, end), (_, way), _] = &mut self.shorter;
        way.iter_mut().zip(end).for_each(|(way, end)| *way = *end - *way);
        let mut before = 0.0;
        for length in [last - 2.0 * SHORTEST, last - 6.0 * SHORTEST] {
            let apart = if length > 0.0 { self.second_solution(z0, h, length) } else { None };
            match apart {
                Some(apart) if apart > before => before = apart,
                _ => return false,
            }
        }
        true
    }

    /// How far a second solution for this part of the step is from that on the curve, if there is one beyond the last point.
    fn second_solution(&mut self, z0: &Phase, h: f64, part: f64) -> Option<f64> {
        let n = self.v.len();
        // From before the last point, at which the equations may be singular.
        let along = self.shorter[0].1.iter().zip(&self.shorter[1].1);
        self.unknowns.iter_mut().zip(along).for_each(|(u, (last, way))| *u = last - 0.5 * way);
        if !self.solves(z0, h, part) {
            return None;
        }
        self.shorter[2].1.copy_from_slice(&self.unknowns);
        for reach in [0.5, 1.0, 2.0, 4.0, 8.0] {
            let beyond = self.shorter[0].1.iter().zip(&self.shorter[1].1);
            self.unknowns.iter_mut().zip(beyond).for_each(|(u, (last, way))| *u = last + reach * way);
            if self.solves(z0, h, part) {
                let apart = self.solver.distance(&self.unknowns[..n], &self.shorter[2].1[..n]);
                if apart > TWO {
                    return Some(apart);
                }
            }
        }
        None
    }

    /// Solves for this part of the step from the guess in the unknowns.
    fn solves(&mut self, z0: &Phase, h: f64, part: f64) -> bool {
        self.surround(z0.t, part * h);
        self.solve(z0, part * h).is_ok()
    }

    /// Writes a guess for this part of the step: along the velocity, or through the solutions of shorter steps.
    fn guess(&mut self, known: usize, part: f64, h: f64) {
        self.unknowns.fill(0.0);
        if known == 0 {
            self.unknowns.iter_mut().zip(&self.v).for_each(|(u, v)| *u = part * h * v);
            return;
        }
        // Lagrange's polynomial through u = 0 at the start and the last solutions.
        let known = &self.shorter[..known];
        for (i, (at, solution)) in known.iter().enumerate() {
            let others = known.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, (other, _))| *other);
            let weight: f64 = others.chain([0.0]).map(|other| (part - other) / (at - other)).product();
            self.unknowns.iter_mut().zip(solution).for_each(|(u, solution)| *u += weight * solution);
        }
    }

    /// Computes the rates at the start.
    fn set_velocity(&mut self, z0: &Phase) -> Solved<()> {
        let Single { machine, walls, memory, tangent, around, p0, p1, v, .. } = self;
        let mut rows = Rows { machine, walls, work: &mut memory[0].work };
        tangent.set(&machine.tree, &around[0], &mut rows, z0.q(), z0.t)?;
        p1.copy_from_slice(p0);
        tangent.project(&machine.tree, p1, v);
        Ok(())
    }

    /// Writes the end of the step, with p1 on the tangent space. Between the parts of a composition p1 may be off it by a sum of
    /// gradients of the constraints, which changes λ of the next part only.
    fn finish(&mut self, z0: &Phase, h: f64, z1: &mut Phase, is_last: bool) -> Solved<()> {
        let Single { machine, walls, memory, solver, tangent, around, p1, v, unknowns, impulses, .. } = self;
        let (u, lambda) = unknowns.split_at(machine.tree.freedoms);
        let (q1, momenta) = z1.z.split_at_mut(machine.code.facts.n);
        move_by(&machine.tree, z0.q(), u, q1);
        solver.momenta(&machine.tree, h, u, p1);
        z1.t = z0.t + h;
        if !lambda.is_empty() {
            if is_last {
                let mut rows = Rows { machine, walls, work: &mut memory[0].work };
                tangent.set(&machine.tree, &around[2], &mut rows, q1, z1.t)?;
                tangent.project(&machine.tree, p1, v);
            } else {
                tangent.nu.fill(0.0);
            }
            let count = machine.code.constraints.len();
            impulses.note(&lambda[..count], &tangent.nu[..count]);
        }
        machine.tree.to_coordinates(q1, p1, 2.0, momenta);
        Ok(())
    }
}
