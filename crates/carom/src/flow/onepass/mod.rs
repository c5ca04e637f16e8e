//! One pass: Gauss collocation on accelerations, solved to a tolerance, with a step that is controlled while the run goes on.

mod flight;
mod linear;
mod polynomial;
mod rows;
mod solve;
mod tables;

use std::sync::Arc;

use super::vector::Buffer;
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::{Backend, Kernel, LaneKernel, Lanes, Tape};
use crate::limits::{FIRST_QUICK, PREDICTS};
use crate::mechanics::{Field, Inputs, Mechanics, gap_and_rate};
use crate::phase::{Discrete, Flight, Flow, Gaps, Goal, Moments, Phase, Polynomial, Predicted, Quick};
use crate::solve::Solved;
use solve::{Corrected, Guess, MOST_COORDINATES, Stages, Step};
use tables::{S, Tables};

/// The longest tape of a and its slopes.
const MOST_WORK: usize = 4000;
/// The largest number of walls whose gaps are computed with the accelerations.
const MOST_WALLS: usize = 8;
/// Where Newton's method does not converge, a step is made in two halves, nested at most to this depth.
const MOST_HALVINGS: usize = 8;

/// Gauss collocation with eight stages, which are the lanes of one vector. The unknowns are the accelerations at the stages:
///
/// ```text
/// V = v0 + h A a,   Q = q0 + c h v0 + h² A² a,   a = M(Q)⁻¹ g(t + c h, Q, V)
/// v1 = v0 + h Σ bᵢaᵢ,   q1 = q0 + h v0 + h² Σ bᵢ(1 − cᵢ)aᵢ
/// ```
///
/// Newton's method begins with the polynomial a(t) of the last step, continued. The size of its first correction is the error of
/// that prediction and goes as h⁹; the end of a step has the order 16. The map is symmetric. It is not symplectic: p = M(q)v is not
/// linear in q, so that Gauss collocation on (q, v) is another map than on (q, p).
pub(crate) struct OnePass {
    code: Arc<Code>,
    parameters: Vec<f64>,
    field: Field,
    inputs: Inputs,
    stages: Stages,
    /// ℓⱼ at the stages of another step.
    matrix: Buffer,
    last: Last,
}

struct Code {
    tables: Tables,
    /// (t, q, v) at all stages, and the parameters → a; φ, φ̇ of each wall; ∂a/∂q, ∂a/∂v.
    kernel: LaneKernel,
    /// (t, q, v) at all stages, and the parameters → a; φ, φ̇ of each wall.
    plain: LaneKernel,
    /// (parameters, t, q, v) → p = L_v.
    momenta: Kernel,
    /// (t, q, v) at the ends of several steps, and the parameters → p, H, p·v.
    ends: LaneKernel,
    /// The number of walls in the kernels; none if there are too many.
    walls: Option<usize>,
}

impl Code {
    fn step<'a>(&'a self, parameters: &'a [f64], z0: &'a Phase, v: &'a [f64], h: f64, goal: Goal<'a>) -> Step<'a> {
        let Code { tables, kernel, plain, .. } = self;
        let Goal { root, speed, roots, .. } = goal;
        Step { tables, kernel, plain, parameters, t: z0.t, q: z0.q(), v, h, speed, roots, root }
    }
}

/// Where the first accelerations of Newton's method come from.
enum Source<'a> {
    /// The state at the start alone.
    Start,
    /// The polynomial of the step before.
    Past(&'a Polynomial),
    /// The polynomial of the last step, which began in the same state.
    Last,
}

/// The step to which the stages belong.
#[derive(Clone)]
struct Last {
    begin: Phase,
    v: Vec<f64>,
    h: f64,
    /// The Legendre coefficients of a, S for each coordinate.
    legendre: Buffer,
    /// True if they are those of the stages.
    is_known: bool,
}

impl OnePass {
    /// Compiles the equations of a system. None if it has constraints or too many coordinates, or if vectors are not native.
    pub(crate) fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Option<OnePass>> {
        let n = mechanics.n();
        if !mechanics.constraints.is_empty() || n == 0 || n > MOST_COORDINATES {
            return Ok(None);
        }
        let (symbols, motion) = (mechanics.state_symbols(), mechanics.acceleration());
        let (a, slopes) = motion.split_at(n);
        let walls = Some(mechanics.walls.len()).filter(|&count| count <= MOST_WALLS);
        let gaps: Vec<Expr> = match walls {
            Some(_) => mechanics.walls.iter().flat_map(|&phi| gap_and_rate(mechanics, phi)).collect(),
            None => Vec::new(),
        };
        let outputs = [a, &gaps, slopes].concat();
        let all = [&symbols[..], &mechanics.parameters].concat();
        if Tape::new(&all, &outputs).map_or(usize::MAX, |tape| tape.len()) > MOST_WORK {
            return Ok(None);
        }
        let compile = |outputs: &[Expr]| {
            LaneKernel::contracted(&symbols, &mechanics.parameters, outputs, Lanes::Eight, Backend::Jit)
        };
        let p = mechanics.momenta();
        let power: Expr = p.iter().zip(&mechanics.v).map(|(&p, &v)| p * v).sum();
        let at_ends = [&p[..], &[power - mechanics.l, power]].concat();
        let made = (compile(&outputs), compile(&outputs[..n + gaps.len()]), compile(&at_ends));
        let (Ok(kernel), Ok(plain), Ok(ends)) = made else { return Ok(None) };
        let code = Code { tables: Tables::new(), kernel, plain, momenta: mechanics.kernel(&symbols, &p)?, ends, walls };
        Ok(Some(OnePass::of(Arc::new(code), Field::new(mechanics, parameters)?, parameters, n)))
    }

    fn of(code: Arc<Code>, field: Field, parameters: &[f64], n: usize) -> OnePass {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; 2 * n] };
        let last = Last { begin: nowhere, v: vec![0.0; n], h: 0.0, legendre: Buffer::zeros(S * n), is_known: false };
        OnePass {
            stages: Stages::new(n, code.walls.unwrap_or(0)),
            code,
            parameters: parameters.to_vec(),
            field,
            inputs: Inputs::new(parameters, n),
            matrix: Buffer::zeros(S * S),
            last,
        }
    }

    /// Solves the stages of a step from z0, where the velocities are those of `last`.
    fn solve(&mut self, z0: &Phase, h: f64, source: Source, goal: Goal) -> Solved<Corrected> {
        let OnePass { code, parameters, stages, matrix, last, .. } = self;
        let guess = match source {
            Source::Start => Guess::Start,
            Source::Past(past) => Guess::Ahead { m: code.tables.ahead(h / past.h, matrix), a: &past.rates },
            Source::Last => {
                code.tables.rule.interpolation(0.0, h / last.h, S, matrix);
                Guess::Within { m: matrix }
            }
        };
        last.begin.copy_from(z0);
        (last.h, last.is_known) = (h, false);
        stages.solve(guess, &code.step(parameters, z0, &last.v, h, goal))
    }

    /// Takes the start of a step.
    fn take_start(&mut self, z0: &Phase) -> Solved<()> {
        self.last.v.copy_from_slice(self.field.velocity(z0.t, &z0.z)?);
        Ok(())
    }

    /// True if the last step began in z0.
    fn began_in(&self, z0: &Phase) -> bool {
        self.last.begin == *z0
    }

    /// Makes a step to roundoff, from the polynomial of the last step if that began in z0 and is not shorter.
    fn step_within(&mut self, z0: &Phase, h: f64, z1: &mut Phase, depth: usize) -> Solved<()> {
        let is_inside = self.began_in(z0) && h > 0.0 && h <= self.last.h;
        // The number of rounds shows in the last bits, which are to depend on this step alone.
        self.stages.forget();
        self.take_start(z0)?;
        let roots = self.roots(z0)?;
        let speed = z0.p().iter().zip(&self.last.v).map(|(p, v)| p * v).sum::<f64>().abs().sqrt();
        let goal = Goal { root: ROOT_OF_ROUNDOFF, prediction: f64::INFINITY, speed, roots: &roots };
        match self.solve(z0, h, if is_inside { Source::Last } else { Source::Start }, goal) {
            Ok(_) => self.end(z1),
            Err(e) if depth == 0 => Err(e),
            Err(_) => {
                self.forget_last();
                let mut middle = z0.clone();
                self.step_within(z0, 0.5 * h, &mut middle, depth - 1)?;
                self.step_within(&middle, 0.5 * h, z1, depth - 1)?;
                self.last.begin.t = f64::NAN;
                Ok(())
            }
        }
    }

    /// √(M⁻¹)ᵢᵢ in a state.
    fn roots(&mut self, z0: &Phase) -> Solved<Vec<f64>> {
        let mut moved = z0.clone();
        (0..z0.q().len())
            .map(|i| {
                let change = Some(z0.p()[i].abs()).filter(|p| *p > 0.0).unwrap_or(1.0);
                moved.copy_from(z0);
                moved.p_mut()[i] += change;
                let v = self.field.velocity(moved.t, &moved.z)?[i];
                Ok(((v - self.last.v[i]) / change).max(0.0).sqrt())
            })
            .collect()
    }
}

/// After a correction as small as this, the next is roundoff.
const ROOT_OF_ROUNDOFF: f64 = 1e-8;

impl Quick for OnePass {
    fn attempt(&mut self, (z0, v0): (&Phase, &[f64]), h: f64, goal: Goal, past: &Polynomial) -> Solved<Predicted> {
        self.last.v.copy_from_slice(v0);
        let is_near = past.h > 0.0 && h / past.h <= PREDICTS;
        let source = if is_near { Source::Past(past) } else { Source::Start };
        let Corrected { first, next } = self.solve(z0, h, source, goal)?;
        Ok(Predicted { this: is_near.then_some(first), next })
    }

    fn finish(&mut self, _z0: &Phase, _h: f64, z1: &mut Phase) -> Solved<()> {
        self.end(z1)
    }

    fn shorten(&mut self, z0: &Phase, h: f64, goal: Goal, z1: &mut Phase) -> Solved<()> {
        if self.began_in(z0) && self.solve(z0, h, Source::Last, goal).is_ok() {
            return self.end(z1);
        }
        // A step whose forces are stiff may be that long only because they do not change in it.
        self.forget_last();
        self.step(z0, h, z1)
    }

    fn forget_last(&mut self) {
        self.last.begin.t = f64::NAN;
        self.stages.forget();
    }

    fn first_step(&mut self, z0: &Phase, goal: Goal) -> Solved<f64> {
        self.take_start(z0)?;
        let OnePass { code, parameters, stages, last, .. } = self;
        stages.begin(&code.step(parameters, z0, &last.v, 0.0, goal));
        let (n, slopes) = (z0.q().len(), self.stages.slopes());
        // ω² ‖∂a/∂q‖ and ω = ‖∂a/∂v‖ in the metric of the kinetic energy; |a| against the speed.
        let slope = |k: usize| self.stages.values[k * S].abs();
        let ratio = |i: usize, j: usize| if goal.roots[i] > 0.0 { goal.roots[j] / goal.roots[i] } else { 0.0 };
        let row = |i: usize, first: usize| (0..n).map(|j| slope(first + i * n + j) * ratio(i, j)).sum::<f64>();
        let most = |first: usize| (0..n).map(|i| row(i, first)).fold(0.0, f64::max);
        let omega = most(slopes).sqrt() + most(slopes + n * n);
        let power = 2.0 / (2 * S + 1) as f64;
        Ok(if omega > 0.0 { FIRST_QUICK * goal.root.powf(power) / omega } else { f64::MAX })
    }

    fn gaps(&mut self) -> Option<Gaps<'_>> {
        self.code.walls?;
        Some(Gaps { c: self.code.tables.c.first_chunk()?, of_walls: self.stages.gaps() })
    }

    fn take_off(&mut self, start: (&Phase, &[f64]), past: &Polynomial) -> bool {
        self.begin_flight(start, past)
    }

    fn fly(&mut self, h: f64, goal: Goal, flight: &Flight) -> Option<Predicted> {
        self.next_of_flight(h, goal, flight)
    }

    fn keep_flying(&mut self, t: f64, flight: &mut Flight) {
        self.advance(t, flight);
    }

    fn land(&mut self, flight: &mut Flight) {
        self.end_flight(flight);
    }
}

impl Flow for OnePass {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Solved<()> {
        self.step_within(z0, h, z1, MOST_HALVINGS)
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.parameters.copy_from_slice(parameters);
        self.field.set_parameters(parameters);
        self.inputs.set_parameters(parameters);
        self.forget_last();
    }

    fn forget(&mut self) {
        self.field.forget();
        self.forget_last();
    }

    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn order(&self) -> usize {
        2 * S
    }

    fn moments(&self) -> usize {
        S
    }

    fn write_moments(&mut self, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
        if !self.began_in(z0) || self.last.h != h {
            return false;
        }
        moments.count = S;
        for (k, c) in self.code.tables.c.iter().enumerate() {
            moments.tau[k] = c * h;
        }
        // The stages before the last correction, which is below the tolerance of a search.
        moments.lanes[..self.stages.inputs.len()].copy_from_slice(&self.stages.inputs);
        true
    }

    fn glance(&mut self, z0: &Phase, tau: f64, z: &mut Phase) -> Solved<()> {
        if !self.began_in(z0) {
            return self.step(z0, tau, z);
        }
        self.evaluate(tau / self.last.h, z);
        z.t = z0.t + tau;
        Ok(())
    }

    fn write_polynomial(&self, z0: &Phase, h: f64, polynomial: &mut Polynomial) -> bool {
        if !self.began_in(z0) || self.last.h != h {
            return false;
        }
        polynomial.h = h;
        polynomial.rates.clear();
        polynomial.rates.extend_from_slice(&self.stages.a);
        true
    }

    fn read(&mut self, z0: &Phase, polynomial: &Polynomial, tau: f64, z: &mut Phase) -> bool {
        let is_loaded = self.began_in(z0) && self.last.h == polynomial.h && self.stages.a[..] == polynomial.rates[..];
        if !is_loaded {
            if polynomial.rates.len() != self.stages.a.len() || self.take_start(z0).is_err() {
                return false;
            }
            self.stages.a.copy_from_slice(&polynomial.rates);
            self.last.begin.copy_from(z0);
            (self.last.h, self.last.is_known) = (polynomial.h, false);
        }
        self.evaluate(tau / polynomial.h, z);
        z.t = z0.t + tau;
        true
    }

    fn quick(&mut self) -> Option<&mut dyn Quick> {
        Some(self)
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        let n = self.last.v.len();
        Box::new(OnePass::of(self.code.clone(), self.field.clone(), &self.parameters, n))
    }
}
