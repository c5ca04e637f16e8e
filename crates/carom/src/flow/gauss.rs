//! Gauss collocation.

use super::collocation::Collocation;
use super::iteration::{Guess, Iteration};
use super::past::{is_same_step, is_same_time};
use super::stages::Stages;
use super::stiff::Stiff;
use super::vector::Buffer;
use crate::error::Result;
use crate::mechanics::Mechanics;
use crate::modified::ModifiedHamiltonian;
use crate::phase::{Discrete, Flow, MOMENTS, Moments, Phase, Polynomial};
use crate::solve::NoSolution;

/// Gauss collocation with s stages on Hamilton's equations: order 2s, symplectic, symmetric. [Hairer, Lubich & Wanner, II.1]
///
/// ```text
/// Zᵢ = z0 + h Σⱼ aᵢⱼ f(t + cⱼh, Zⱼ),   z1 = z0 + h Σᵢ bᵢ f(t + cᵢh, Zᵢ)
/// ```
///
/// The stages are solved to roundoff, all at once on vector lanes (`iteration.rs`; if that diverges, `stiff.rs`). The initial
/// guess extrapolates the polynomial of the last step.
#[derive(Clone)]
pub struct Gauss {
    s: usize,
    /// 2n
    size: usize,
    rule: Collocation,
    /// ℓⱼ(1 + cᵢ) by columns: evaluates the polynomial of one step at the stages of the next.
    ahead: Buffer,
    /// ℓⱼ(1).
    at_end: Vec<f64>,
    iteration: Iteration,
    /// Created on first use.
    stiff: Option<Box<Stiff>>,
    /// H at the stages.
    energies: Vec<f64>,
    last: Last,
}

/// The step to which the stages belong.
#[derive(Clone)]
struct Last {
    h: f64,
    begin: Phase,
    end: Phase,
    /// True if the states of the stages have been computed from their rates.
    is_placed: bool,
}

impl Gauss {
    /// Compiles the equations of a system.
    pub fn new(mechanics: &Mechanics, stages: usize, parameters: &[f64]) -> Result<Gauss> {
        let field = Stages::new(mechanics, stages, parameters)?;
        Ok(Gauss::following(field, stages, 2 * mechanics.n()))
    }

    /// Integrates Hamilton's equations of a modified Hamiltonian; `size` is the length of a state.
    pub fn of_modified(ham_mod: Box<dyn ModifiedHamiltonian>, stages: usize, size: usize) -> Gauss {
        Gauss::following(Stages::of_modified(ham_mod, stages, size), stages, size)
    }

    fn following(field: Stages, s: usize, size: usize) -> Gauss {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; size] };
        let rule = Collocation::gauss(s);
        let width = field.width;
        let mut ahead = Buffer::zeros(width * width);
        rule.interpolation(1.0, 1.0, width, &mut ahead);
        let mut next = Buffer::zeros(width * width);
        rule.interpolation(1.0, 0.0, width, &mut next);
        let at_end = next.chunks(width).take(s).map(|column| column[0]).collect();
        Gauss {
            s,
            size,
            ahead,
            at_end,
            iteration: Iteration::new(field, size, &rule.a, &rule.b, &rule.c),
            rule,
            stiff: None,
            energies: vec![0.0; width],
            last: Last { h: 0.0, begin: nowhere.clone(), end: nowhere, is_placed: false },
        }
    }

    fn forget(&mut self) {
        self.last.begin.t = f64::NAN;
        self.last.end.t = f64::NAN;
    }

    /// Computes the states of the stages of the last step.
    fn place_states(&mut self) {
        if !self.last.is_placed {
            self.iteration.place_states(&self.last.begin, self.last.h);
            self.last.is_placed = true;
        }
    }

    /// Solves from the initial guess: the polynomial of the last step, if that begins or ends here; else that of degree 1 in z0, or
    /// f(z0). Returns whether that succeeded, and whether the guess was better than
    /// f(z0).
    fn attempt(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<[bool; 2], NoSolution> {
        let Gauss { rule, ahead, iteration, last, .. } = self;
        // Do not extrapolate a polynomial far beyond its own step.
        let ratio = h / last.h;
        let near = ratio.abs() <= 2.0;
        let guess = if near && is_same(z0, &last.end) {
            iteration.forget_slopes();
            match is_same_step(h, last.h) {
                true => Guess::Matrix(ahead),
                false => Guess::Polynomial { rule, start: 1.0, ratio },
            }
        } else if near && is_same(z0, &last.begin) {
            iteration.reuse_slopes((ratio - 1.0).abs());
            Guess::Polynomial { rule, start: 0.0, ratio }
        } else if iteration.begin_with_slopes(z0, h)? {
            Guess::Near
        } else {
            iteration.begin(z0)?;
            Guess::Far
        };
        let is_near = !matches!(guess, Guess::Far);
        Ok([iteration.solve(z0, h, guess, z1).is_ok(), is_near])
    }

    /// The last step with a length h that differs by roundoff of the time: its end moves with the rate there, which its stages know
    /// to their order.
    fn lengthen(&mut self, h: f64, z1: &mut Phase) {
        let Last { h: before, begin, end, .. } = &mut self.last;
        let rates = self.iteration.rates.chunks(self.iteration.field.width);
        for (z, rates) in end.z.iter_mut().zip(rates) {
            let rate: f64 = rates.iter().zip(&self.at_end).map(|(rate, weight)| rate * weight).sum();
            *z += (h - *before) * rate;
        }
        end.t = begin.t + h;
        *before = h;
        z1.copy_from(end);
    }

    /// Solves the stage equations, with fallbacks if the iteration does not converge.
    fn solve(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        let [is_solved, is_near] = self.attempt(z0, h, z1)?;
        if is_solved {
            return Ok(());
        }
        self.forget();
        if is_near {
            // Start from f(z0).
            self.iteration.begin(z0)?;
            if self.iteration.solve(z0, h, Guess::Far, z1).is_ok() {
                return Ok(());
            }
        }
        let (s, size, width) = (self.s, self.size, self.iteration.field.width);
        self.iteration.forget_slopes();
        let stiff = self.stiff.get_or_insert_with(|| Box::new(Stiff::new(s, size, width)));
        stiff.solve(&mut self.iteration, &self.rule.a, z0, h)?;
        self.iteration.end(z0, h, z1);
        Ok(())
    }
}

/// True if two states are equal, up to roundoff in the time.
fn is_same(a: &Phase, b: &Phase) -> bool {
    is_same_time(a.t, b.t) && a.z == b.z
}

impl Flow for Gauss {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        if h == self.last.h && *z0 == self.last.begin {
            z1.copy_from(&self.last.end);
            return Ok(());
        }
        if (h - self.last.h).abs() <= f64::EPSILON * (z0.t.abs() + h.abs()) && *z0 == self.last.begin {
            self.lengthen(h, z1);
            return Ok(());
        }
        self.solve(z0, h, z1)?;
        self.last.h = h;
        self.last.begin.copy_from(z0);
        self.last.end.copy_from(z1);
        self.last.is_placed = false;
        Ok(())
    }

    /// With p1 as the multiplier of q1 = q0 + h Σ bᵢVᵢ, and Lᵢ = Pᵢ·Vᵢ − Hᵢ:
    ///
    /// ```text
    /// L_d = h Σ bᵢLᵢ,   −D₃L_d = p1·Σ bᵢVᵢ − Σ bᵢLᵢ − h Σ bᵢ ṗᵢ·Σⱼ aᵢⱼVⱼ
    /// ```
    fn discrete(&mut self) -> Option<Discrete> {
        let (n, width) = (self.size / 2, self.iteration.field.width);
        self.place_states();
        let Last { h, begin, end, .. } = &self.last;
        self.iteration.field.energies(&mut self.energies)?;
        let (mut mean, mut energy) = (0.0, 0.0);
        for (k, (b, ham)) in self.rule.b.iter().zip(&self.energies).enumerate() {
            let rate = |i: usize| self.iteration.rates[i * width + k];
            let state = |i: usize| self.iteration.field.states()[i * width + k];
            let swept: f64 = (0..n).map(|i| state(n + i) * rate(i)).sum();
            // h Σⱼ aₖⱼVⱼ is the displacement of the stage from q0.
            let lifted: f64 = (0..n).map(|i| rate(n + i) * (state(i) - begin.z[i])).sum();
            mean += b * (swept - ham);
            energy += b * ((0..n).map(|i| end.p()[i] * rate(i)).sum::<f64>() - lifted);
        }
        Some(Discrete { action: h * mean, energy: energy - mean })
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.iteration.field.set_parameters(parameters);
        Gauss::forget(self);
    }

    fn forget(&mut self) {
        self.iteration.forget();
        Gauss::forget(self);
    }

    fn set_full_step(&mut self, full: f64) {
        if self.iteration.field.set_full_step(full) {
            self.forget();
        }
    }

    fn order(&self) -> usize {
        2 * self.s
    }

    fn moments(&self) -> usize {
        self.s
    }

    /// Writes the stages as moments of the step.
    fn write_moments(&mut self, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
        if self.last.h != h || self.last.begin != *z0 {
            return false;
        }
        self.place_states();
        let (n, width) = (self.size / 2, self.iteration.field.width);
        moments.count = self.s;
        for (k, c) in self.rule.c.iter().enumerate() {
            moments.tau[k] = c * h;
            moments.lanes[k] = z0.t + c * h;
        }
        let (q, v) = (&self.iteration.field.states()[..n * width], &self.iteration.rates[..n * width]);
        let (to_q, to_v) = moments.lanes[MOMENTS..].split_at_mut(n * MOMENTS);
        if width == MOMENTS {
            to_q.copy_from_slice(q);
            to_v.copy_from_slice(v);
            return true;
        }
        for (to, from) in [(to_q, q), (to_v, v)] {
            to.chunks_mut(MOMENTS).zip(from.chunks(width)).for_each(|(to, row)| to[..width].copy_from_slice(row));
        }
        true
    }

    fn write_polynomial(&self, z0: &Phase, h: f64, polynomial: &mut Polynomial) -> bool {
        if self.last.h != h || self.last.begin != *z0 {
            return false;
        }
        polynomial.h = h;
        polynomial.rates.clear();
        polynomial.rates.extend_from_slice(&self.iteration.rates);
        true
    }

    /// z(τ) = z0 + h Σⱼ Fⱼ ∫₀ˣ ℓⱼ with x = τ/h: of order s, and exact at the end of the step.
    fn read(&mut self, z0: &Phase, polynomial: &Polynomial, tau: f64, z: &mut Phase) -> bool {
        let width = self.iteration.field.width;
        let mut weights = [0.0; MOMENTS];
        self.rule.weights(tau / polynomial.h, &mut weights[..self.s]);
        z.t = z0.t + tau;
        for ((z, z0), rates) in z.z.iter_mut().zip(&z0.z).zip(polynomial.rates.chunks(width)) {
            *z = z0 + polynomial.h * rates.iter().zip(&weights).map(|(rate, weight)| rate * weight).sum::<f64>();
        }
        true
    }

    fn read_moments(&self, z0: &Phase, polynomial: &Polynomial, moments: &mut Moments) -> bool {
        let (n, s, width, h) = (self.size / 2, self.s, self.iteration.field.width, polynomial.h);
        if polynomial.rates.len() != self.size * width {
            return false;
        }
        moments.count = s;
        for (k, c) in self.rule.c.iter().enumerate() {
            moments.tau[k] = c * h;
            moments.lanes[k] = z0.t + c * h;
        }
        let (to_q, to_v) = moments.lanes[MOMENTS..].split_at_mut(n * MOMENTS);
        let stages = to_q.chunks_mut(MOMENTS).zip(to_v.chunks_mut(MOMENTS));
        for (((q, v), rates), q0) in stages.zip(polynomial.rates.chunks(width)).zip(z0.q()) {
            v[..s].copy_from_slice(&rates[..s]);
            for (q, a) in q.iter_mut().zip(self.rule.a.chunks(s)) {
                *q = q0 + h * a.iter().zip(rates).map(|(a, rate)| a * rate).sum::<f64>();
            }
        }
        true
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}
