//! One pass: Gauss collocation on accelerations, solved to a tolerance, with a step that is controlled while the run goes on.

mod polynomial;
mod solve;
mod tables;

use std::sync::Arc;

use super::vector::Buffer;
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::{Backend, Kernel, LaneKernel, Lanes, Tape};
use crate::limits::{FIRST_QUICK, NOTHING, PREDICTS, ROUNDOFF};
use crate::mechanics::{Field, Inputs, Mechanics};
use crate::phase::{Discrete, Flow, Goal, Moments, Phase, Polynomial, Predicted, Quick};
use crate::solve::NoSolution;
use solve::{MOST_COORDINATES, Stages, Step};
use tables::{S, Tables};

/// The longest tape of a and its slopes.
const MOST_WORK: usize = 4000;
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
    sizes: Vec<f64>,
    last: Last,
}

struct Code {
    tables: Tables,
    /// (t, q, v) at all stages, and the parameters → a, ∂a/∂q, ∂a/∂v.
    kernel: LaneKernel,
    /// (t, q, v) at all stages, and the parameters → a.
    plain: LaneKernel,
    /// (parameters, t, q, v) → p = L_v.
    momenta: Kernel,
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
        let (symbols, outputs) = (mechanics.state_symbols(), mechanics.acceleration());
        let all = [&symbols[..], &mechanics.parameters].concat();
        if Tape::new(&all, &outputs).map_or(usize::MAX, |tape| tape.len()) > MOST_WORK {
            return Ok(None);
        }
        let compile = |outputs: &[Expr]| {
            LaneKernel::with_backend(&symbols, &mechanics.parameters, outputs, Lanes::Eight, Backend::Jit)
        };
        let (Ok(kernel), Ok(plain)) = (compile(&outputs), compile(&outputs[..n])) else { return Ok(None) };
        let momenta = mechanics.kernel(&symbols, &mechanics.momenta())?;
        let code = Code { tables: Tables::new(), kernel, plain, momenta };
        Ok(Some(OnePass::of(Arc::new(code), Field::new(mechanics, parameters)?, parameters, n)))
    }

    fn of(code: Arc<Code>, field: Field, parameters: &[f64], n: usize) -> OnePass {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; 2 * n] };
        let last = Last { begin: nowhere, v: vec![0.0; n], h: 0.0, legendre: Buffer::zeros(S * n), is_known: false };
        OnePass {
            code,
            parameters: parameters.to_vec(),
            field,
            inputs: Inputs::new(parameters, n),
            stages: Stages::new(n),
            matrix: Buffer::zeros(S * S),
            sizes: vec![0.0; n],
            last,
        }
    }

    /// Solves the stages from the accelerations that are guessed. Returns the size of the first correction.
    fn solve(&mut self, z0: &Phase, h: f64, root: f64) -> std::result::Result<f64, NoSolution> {
        self.last.begin.copy_from(z0);
        (self.last.h, self.last.is_known) = (h, false);
        let OnePass { code, parameters, stages, sizes, last, .. } = self;
        let step = Step {
            tables: &code.tables,
            kernel: &code.kernel,
            plain: &code.plain,
            parameters,
            t: z0.t,
            q: z0.q(),
            v: &last.v,
            h,
            sizes,
            root,
        };
        stages.solve(&step)
    }

    /// Guesses the accelerations from the state at the start alone.
    fn guess_from_start(&mut self, z0: &Phase, h: f64) {
        let OnePass { code, parameters, stages, sizes, last, .. } = self;
        let Code { tables, kernel, plain, .. } = &**code;
        let step = Step { tables, kernel, plain, parameters, t: z0.t, q: z0.q(), v: &last.v, h, sizes, root: 0.0 };
        stages.begin(&step);
    }

    /// Guesses the accelerations from a polynomial: at `start` in it begins a step that is longer by `ratio`.
    fn guess_from(&mut self, a: Option<&[f64]>, start: f64, ratio: f64) {
        let OnePass { code, matrix, stages, .. } = self;
        let known = if start == 1.0 { code.tables.ahead(ratio) } else { None };
        let matrix = known.unwrap_or_else(|| {
            code.tables.rule.interpolation(start, ratio, S, matrix);
            matrix
        });
        match a {
            Some(a) => stages.predict(matrix, a),
            None => {
                let own = stages.a.clone();
                stages.predict(matrix, &own);
            }
        }
    }

    /// The sizes of the velocities: speeds σ√(M⁻¹)ᵢᵢ, where σ is that of the motion or of what the accelerations add in a step; at
    /// least the roundoff of the coordinates.
    fn measure(&mut self, z0: &Phase, h: f64, sigma: f64, roots: &[f64]) {
        let OnePass { stages, sizes, .. } = self;
        let mut most = sigma;
        for (a, root) in stages.a.as_chunks::<S>().0.iter().zip(roots).filter(|(_, root)| **root > 0.0) {
            // Two sums at once.
            let mut sums = [0.0; 2];
            for k in 0..S / 2 {
                sums[0] += a[2 * k].abs();
                sums[1] += a[2 * k + 1].abs();
            }
            most = most.max(h.abs() * (sums[0] + sums[1]) / (S as f64 * root));
        }
        for ((size, root), q) in sizes.iter_mut().zip(roots).zip(z0.q()) {
            *size = most * root + ROUNDOFF * q.abs() / h.abs() + NOTHING;
        }
    }

    /// Takes the start of a step.
    fn take_start(&mut self, z0: &Phase) -> std::result::Result<(), NoSolution> {
        self.last.v.copy_from_slice(self.field.velocity(z0.t, &z0.z)?);
        Ok(())
    }

    /// True if the last step began in z0.
    fn began_in(&self, z0: &Phase) -> bool {
        self.last.begin == *z0
    }

    /// Makes a step to roundoff, from the polynomial of the last step if that began in z0 and is not shorter.
    fn step_within(&mut self, z0: &Phase, h: f64, z1: &mut Phase, depth: usize) -> std::result::Result<(), NoSolution> {
        let is_inside = self.began_in(z0) && h > 0.0 && h <= self.last.h;
        self.take_start(z0)?;
        if is_inside {
            self.guess_from(None, 0.0, h / self.last.h);
        } else {
            self.guess_from_start(z0, h);
        }
        let roots = self.roots(z0)?;
        let speed = z0.p().iter().zip(&self.last.v).map(|(p, v)| p * v).sum::<f64>().abs().sqrt();
        self.measure(z0, h, speed, &roots);
        match self.solve(z0, h, ROOT_OF_ROUNDOFF) {
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
    fn roots(&mut self, z0: &Phase) -> std::result::Result<Vec<f64>, NoSolution> {
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
    fn attempt(
        &mut self,
        (z0, v0): (&Phase, &[f64]),
        h: f64,
        goal: Goal,
        past: &Polynomial,
        z1: &mut Phase,
    ) -> std::result::Result<Predicted, NoSolution> {
        self.last.v.copy_from_slice(v0);
        let ratio = h / past.h;
        let is_near = past.h > 0.0 && ratio <= PREDICTS;
        if is_near {
            self.guess_from(Some(&past.rates), 1.0, ratio);
        } else {
            self.guess_from_start(z0, h);
        }
        self.measure(z0, h, goal.speed, goal.roots);
        let first = self.solve(z0, h, goal.root)?;
        self.end(z1)?;
        Ok(Predicted { this: is_near.then_some(first), next: self.decay() })
    }

    fn shorten(&mut self, z0: &Phase, h: f64, goal: Goal, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        if !self.began_in(z0) {
            return self.step(z0, h, z1);
        }
        let ratio = h / self.last.h;
        self.guess_from(None, 0.0, ratio);
        self.measure(z0, h, goal.speed, goal.roots);
        self.solve(z0, h, goal.root)?;
        self.end(z1)
    }

    fn forget_last(&mut self) {
        self.last.begin.t = f64::NAN;
        self.stages.forget();
    }

    fn first_step(&mut self, z0: &Phase, goal: Goal) -> std::result::Result<f64, NoSolution> {
        self.take_start(z0)?;
        self.guess_from_start(z0, 0.0);
        let n = self.sizes.len();
        // ω² ‖∂a/∂q‖ and ω = ‖∂a/∂v‖ in the metric of the kinetic energy; |a| against the speed.
        let slope = |k: usize| self.stages.values[k * S].abs();
        let ratio = |i: usize, j: usize| if goal.roots[i] > 0.0 { goal.roots[j] / goal.roots[i] } else { 0.0 };
        let row = |i: usize, first: usize| (0..n).map(|j| slope(first + i * n + j) * ratio(i, j)).sum::<f64>();
        let most = |first: usize| (0..n).map(|i| row(i, first)).fold(0.0, f64::max);
        let omega = most(n).sqrt() + most(n + n * n);
        let power = 2.0 / (2 * S + 1) as f64;
        Ok(if omega > 0.0 { FIRST_QUICK * goal.root.powf(power) / omega } else { f64::MAX })
    }
}

impl Flow for OnePass {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
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

    fn write_moments(&self, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
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

    fn glance(&mut self, z0: &Phase, tau: f64, z: &mut Phase) -> std::result::Result<(), NoSolution> {
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
        let n = self.sizes.len();
        Box::new(OnePass::of(self.code.clone(), self.field.clone(), &self.parameters, n))
    }
}
