//! Solution of the stage equations of a collocation step, on vector lanes.

use super::combine::{columns, combine, product};
use super::roundoff::is_roundoff;
use super::stages::{MOST_COORDINATES, Stages};
use super::vector::{Buffer, Registers, Vector, Work};
use crate::limits::{NEWTON_BEGINS, NOTHING, SLOPES_LAST, STAGES_STAGNATE};
use crate::phase::Phase;
use crate::solve::NoSolution;

/// The largest number of fixed-point iterations.
const MAX_ROUNDS: usize = 60;
/// The largest number of Newton iterations, and of fixed-point iterations inside each.
const MAX_NEWTON: usize = 12;
/// The fixed-point iteration checks at most this often whether its changes are roundoff.
const MAX_LOOKS: usize = 2;
/// Iterations inside each of the first Newton iterations before any step has been made.
const FIRST_ROUNDS: [usize; 3] = [3, 4, 4];

/// Solves the stage equations for the rates F of all stages to roundoff:
///
/// ```text
/// F = f(Z),   Z = z0 + h·A·F
/// ```
///
/// Far from the solution it uses the fixed-point iteration F ← f(Z). Near the solution, if ∂f/∂z is available at each stage, it
/// uses Newton's method F ← F + D. The linear equation D = f(Z) − F + ∂f/∂z·h·A·D is itself solved by a fixed-point iteration,
/// which needs only products and no evaluations of f. Two Newton iterations then replace ten fixed-point iterations.
///
/// A change of F is measured by how far it moves each component of the state in the step, relative to the size of that component,
/// |zᵢ| + h|Fᵢ|: components have different units. [`is_roundoff`] tells components that are roundoff of other terms.
#[derive(Clone)]
pub(super) struct Iteration {
    registers: Registers,
    c: Vec<f64>,
    /// A by columns of the lane width; lanes beyond s repeat the first stage.
    a: Buffer,
    /// The weights b; zero beyond s.
    b: Buffer,
    pub(super) field: Stages,
    /// F: component i of stage k at i·width + k.
    pub(super) rates: Buffer,
    /// f and the entries of ∂f/∂z at the stages.
    pub(super) values: Buffer,
    /// f − F
    pub(super) residual: Buffer,
    /// D
    pub(super) change: Buffer,
    /// h/(|zᵢ| + h|Fᵢ|) over the number of components and stages: the weight of a change of F.
    weights: Buffer,
    /// How many iterations inside the first, second and third Newton iteration were enough in the last step.
    rounds: [usize; 3],
}

impl Iteration {
    /// The equations of a Runge–Kutta method with the matrix `a` by rows, weights b and nodes c.
    pub(super) fn new(field: Stages, size: usize, a: &[f64], b: &[f64], c: &[f64]) -> Iteration {
        let (s, width) = (c.len(), field.width);
        let (mut columns, mut weights) = (Buffer::zeros(width * width), Buffer::zeros(width));
        for (j, column) in columns.chunks_mut(width).take(s).enumerate() {
            column.iter_mut().enumerate().for_each(|(k, x)| *x = a[if k < s { k * s + j } else { j }]);
        }
        weights[..s].copy_from_slice(b);
        let room = || Buffer::zeros(size * width);
        Iteration {
            registers: Registers::detect(),
            c: c.to_vec(),
            a: columns,
            b: weights,
            rates: room(),
            values: Buffer::zeros(field.values()),
            residual: room(),
            change: room(),
            weights: room(),
            rounds: FIRST_ROUNDS,
            field,
        }
    }

    /// Forgets the steps so far.
    pub(super) fn forget(&mut self) {
        self.field.forget();
        self.rounds = FIRST_ROUNDS;
    }

    /// Sets F = f(z0) at every stage.
    pub(super) fn begin(&mut self, z0: &Phase) -> Result<(), NoSolution> {
        let width = self.field.width;
        self.field.set_times(z0.t, &self.c, 0.0);
        self.field.states_mut().chunks_mut(width).zip(&z0.z).for_each(|(lanes, z)| lanes.fill(*z));
        self.field.rates(&mut self.rates)
    }

    /// Replaces F by M·F.
    pub(super) fn transform(&mut self, m: &[f64]) {
        self.registers.run(self.field.width, Transform { m, iteration: self });
    }

    /// Solves from the guess in F, and writes the end of the step to z1. `is_near` is true if the guess is better than f(z0).
    pub(super) fn solve(&mut self, z0: &Phase, h: f64, is_near: bool, z1: &mut Phase) -> Result<(), NoSolution> {
        self.registers.run(self.field.width, Solve { iteration: self, z0, h, is_near, z1 })
    }

    /// Computes the times and states of the stages from F.
    pub(super) fn place_states(&mut self, z0: &Phase, h: f64) {
        self.field.set_times(z0.t, &self.c, h);
        self.registers.run(self.field.width, Place { iteration: self, z0, h });
    }

    /// Computes the end of the step from F.
    pub(super) fn end(&self, z0: &Phase, h: f64, z1: &mut Phase) {
        self.registers.run(self.field.width, Finish { iteration: self, z0, h, z1 });
    }

    /// Computes Z from F.
    #[inline(always)]
    fn place<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64) {
        combine::<K, V>(&columns(&self.a, h), &self.rates, Some(&z0.z), self.field.states_mut());
    }

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64, is_near: bool) -> Result<(), NoSolution> {
        self.field.set_times(z0.t, &self.c, h);
        let has_slopes = self.field.has_slopes();
        if !(has_slopes && is_near) && self.approach::<K, V>(z0, h, has_slopes)? {
            return Ok(());
        }
        self.newton::<K, V>(z0, h)
    }

    /// Fixed-point iteration. Returns true if F is converged to roundoff, and false if F is near enough for Newton's method.
    #[inline(always)]
    fn approach<const K: usize, V: Vector<K>>(
        &mut self,
        z0: &Phase,
        h: f64,
        has_slopes: bool,
    ) -> Result<bool, NoSolution> {
        let (mut previous, mut looks) = (f64::INFINITY, 0);
        for _ in 0..MAX_ROUNDS {
            self.place::<K, V>(z0, h);
            self.field.rates(&mut self.values)?;
            let moved = self.replace::<K, V>(z0, h);
            // Stop if the changes no longer decrease (roundoff), or if the next change would be negligible.
            let next = if previous.is_finite() { moved * (moved / previous) } else { f64::INFINITY };
            let stagnates = moved >= previous && moved <= STAGES_STAGNATE;
            if moved <= 0.5 * f64::EPSILON || next <= 0.05 * f64::EPSILON || stagnates {
                return Ok(true);
            }
            if has_slopes && moved <= NEWTON_BEGINS {
                return Ok(false);
            }
            if !moved.is_finite() {
                break;
            }
            if moved >= previous && looks < MAX_LOOKS {
                looks += 1;
                if is_roundoff(self, z0, h)? {
                    return Ok(true);
                }
            }
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }

    /// Newton's method, with ∂f/∂z reused as long as it converges.
    #[inline(always)]
    fn newton<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64) -> Result<(), NoSolution> {
        let mut previous = f64::INFINITY;
        self.weigh::<K, V>(z0, h);
        for count in 0..MAX_NEWTON {
            self.place::<K, V>(z0, h);
            // The relative error of ∂f/∂z, which was evaluated at an earlier Z.
            let age = if previous <= SLOPES_LAST {
                self.field.rates(&mut self.values)?;
                previous
            } else {
                self.field.rates_and_slopes(&mut self.values)?;
                0.0
            };
            let Some(moved) = self.correct::<K, V>(h, age, count) else { break };
            // The remaining error is the correction times the error of ∂f/∂z.
            let stalls = moved >= 0.5 * previous;
            if moved * (moved + age) <= 0.1 * f64::EPSILON || (stalls && moved <= STAGES_STAGNATE) {
                return Ok(());
            }
            if stalls && is_roundoff(self, z0, h)? {
                return Ok(());
            }
            if moved > previous {
                break;
            }
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }

    /// Makes the correction F ← F + D of a Newton iteration. Returns the relative change of the state.
    #[inline(always)]
    fn correct<const K: usize, V: Vector<K>>(&mut self, h: f64, age: f64, count: usize) -> Option<f64> {
        let first = self.subtract::<K, V>();
        // What remains after the correction is of that size anyway.
        let enough = (0.5 * first * (first + age)).max(0.1 * f64::EPSILON);
        let is_solved = match self.change.len() / K {
            2 => self.repeat::<K, V, 2>(h, first, enough, count),
            4 => self.repeat::<K, V, 4>(h, first, enough, count),
            _ => self.repeat::<K, V, { 2 * MOST_COORDINATES }>(h, first, enough, count),
        };
        if is_solved { Some(self.add::<K, V>()) } else { None }
    }

    /// The size of each component at each stage, |zᵢ| + h|Fᵢ|. It is not zero.
    #[inline(always)]
    fn size<const K: usize, V: Vector<K>>(z: f64, h: f64, rates: V) -> V {
        rates.abs().mul_add(V::splat(h.abs()), V::splat(z.abs() + NOTHING))
    }

    /// h over the number of components and stages.
    fn share(&self, h: f64) -> f64 {
        h.abs() * self.field.width as f64 / (self.rates.len() * self.c.len()) as f64
    }

    /// Computes the weights from F.
    #[inline(always)]
    fn weigh<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64) {
        let share = V::splat(self.share(h));
        let rates = self.rates.as_chunks::<K>().0.iter().zip(&z0.z);
        for (weight, (rates, z)) in self.weights.as_chunks_mut::<K>().0.iter_mut().zip(rates) {
            share.div(Self::size::<K, V>(*z, h, V::load(rates))).store(weight);
        }
    }

    /// D ← f − F, F ← f. Returns the weighted sum Σ|D|, with the weights for both. A sum, unlike a maximum, propagates NaN.
    #[inline(always)]
    fn replace<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64) -> f64 {
        let (mut sum, share) = (V::splat(0.0), V::splat(self.share(h)));
        let fs = self.values.as_chunks::<K>().0.iter().zip(&z0.z);
        let rates = self.rates.as_chunks_mut::<K>().0.iter_mut().zip(self.change.as_chunks_mut::<K>().0);
        for ((rate, change), (f, z)) in rates.zip(fs) {
            let (old, new) = (V::load(rate), V::load(f));
            let d = new.sub(old);
            let size = Self::size::<K, V>(*z, h, new.abs().add(old.abs()));
            sum = share.mul(d.abs()).div(size).add(sum);
            d.store(change);
            new.store(rate);
        }
        sum.sum()
    }

    /// Fixed-point iteration for D, whose weighted sum is `first`, until the next change would be at most `enough`. The changes are
    /// first looked at after as many rounds as were enough in this Newton iteration of the last step. N is the length of a state.
    #[inline(always)]
    fn repeat<const K: usize, V: Vector<K>, const N: usize>(
        &mut self,
        h: f64,
        first: f64,
        enough: f64,
        count: usize,
    ) -> bool {
        let shifts = columns::<K, V>(&self.a, h);
        let slot = count.min(self.rounds.len() - 1);
        let expected = self.rounds[slot];
        for _ in 2..expected {
            self.round::<K, V, N>(&shifts);
        }
        let mut previous = if expected > 1 { self.round::<K, V, N>(&shifts) } else { first };
        for rounds in expected..MAX_ROUNDS {
            let moved = self.round::<K, V, N>(&shifts);
            // The next change is at most moved²/previous: changes decrease faster and faster.
            if moved * moved <= enough * previous {
                // Without this round the next change would have been `moved`.
                self.rounds[slot] = if moved <= enough { (rounds - 1).max(1) } else { rounds };
                return true;
            }
            if !moved.is_finite() || moved > 10.0 * previous.min(first) {
                break;
            }
            previous = moved;
        }
        false
    }

    /// Sets D and the residual to f − F. Returns the weighted sum Σ|D|.
    #[inline(always)]
    fn subtract<const K: usize, V: Vector<K>>(&mut self) -> f64 {
        let mut sum = V::splat(0.0);
        let (fs, rates) = (self.values.as_chunks::<K>().0, self.rates.as_chunks::<K>().0);
        let residuals = self.residual.as_chunks_mut::<K>().0.iter_mut();
        let changes = self.change.as_chunks_mut::<K>().0.iter_mut().zip(self.weights.as_chunks::<K>().0);
        for (((residual, (change, weight)), f), rate) in residuals.zip(changes).zip(fs).zip(rates) {
            let d = V::load(f).sub(V::load(rate));
            d.store(residual);
            d.store(change);
            sum = d.abs().mul_add(V::load(weight), sum);
        }
        sum.sum()
    }

    /// D ← f − F + ∂f/∂z·(h·A)·D. Returns the weighted sum of the absolute changes.
    #[inline(always)]
    fn round<const K: usize, V: Vector<K>, const N: usize>(&mut self, shifts: &[V; K]) -> f64 {
        let (change, residual) = (self.change.as_chunks_mut::<K>().0, self.residual.as_chunks::<K>().0);
        let slopes = self.values.as_chunks::<K>().0[N..].as_chunks::<N>().0;
        let weights = self.weights.as_chunks::<K>().0.first_chunk::<N>();
        let (Some(change), Some(residual), Some(weights)) =
            (change.first_chunk_mut::<N>(), residual.first_chunk::<N>(), weights)
        else {
            return f64::NAN;
        };
        V::reload();
        // Two independent sums for each component, because each product would wait for the one before it.
        let (mut ds, mut others) = ([V::splat(0.0); N], [V::splat(0.0); N]);
        for i in 0..N {
            ds[i] = V::load(&residual[i]);
        }
        let mut columns = slopes.iter().zip(&self.field.columns);
        while let Some((slopes, component)) = columns.next() {
            let shift = product(shifts, &change[*component % N]);
            for i in 0..N {
                ds[i] = V::load(&slopes[i]).mul_add(shift, ds[i]);
            }
            if let Some((slopes, component)) = columns.next() {
                let shift = product(shifts, &change[*component % N]);
                for i in 0..N {
                    others[i] = V::load(&slopes[i]).mul_add(shift, others[i]);
                }
            }
        }
        for i in 0..N {
            ds[i] = ds[i].add(others[i]);
        }
        let mut sum = V::splat(0.0);
        for i in 0..N {
            sum = ds[i].sub(V::load(&change[i])).abs().mul_add(V::load(&weights[i]), sum);
            ds[i].store(&mut change[i]);
        }
        sum.sum()
    }

    /// F ← F + D. Returns the weighted sum Σ|D|.
    #[inline(always)]
    fn add<const K: usize, V: Vector<K>>(&mut self) -> f64 {
        let mut sum = V::splat(0.0);
        let changes = self.change.as_chunks::<K>().0.iter().zip(self.weights.as_chunks::<K>().0);
        for (rate, (change, weight)) in self.rates.as_chunks_mut::<K>().0.iter_mut().zip(changes) {
            let d = V::load(change);
            sum = d.abs().mul_add(V::load(weight), sum);
            V::load(rate).add(d).store(rate);
        }
        sum.sum()
    }

    /// z1 = z0 + h·Σ bᵢFᵢ.
    #[inline(always)]
    fn finish<const K: usize, V: Vector<K>>(&self, z0: &Phase, h: f64, z1: &mut Phase) {
        let Some(b) = self.b.first_chunk::<K>() else { return };
        let (b, zero) = (V::load(b), V::splat(0.0));
        for (rates, (z, start)) in self.rates.as_chunks::<K>().0.iter().zip(z1.z.iter_mut().zip(&z0.z)) {
            *z = start + h * V::load(rates).mul_add(b, zero).sum();
        }
        z1.t = z0.t + h;
    }
}

struct Solve<'a> {
    iteration: &'a mut Iteration,
    z0: &'a Phase,
    h: f64,
    is_near: bool,
    z1: &'a mut Phase,
}

impl Work for Solve<'_> {
    type Outcome = Result<(), NoSolution>;

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) -> Result<(), NoSolution> {
        let Solve { iteration, z0, h, is_near, z1 } = self;
        iteration.run::<K, V>(z0, h, is_near)?;
        iteration.finish::<K, V>(z0, h, z1);
        Ok(())
    }
}

struct Place<'a> {
    iteration: &'a mut Iteration,
    z0: &'a Phase,
    h: f64,
}

impl Work for Place<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        self.iteration.place::<K, V>(self.z0, self.h);
    }
}

struct Finish<'a> {
    iteration: &'a Iteration,
    z0: &'a Phase,
    h: f64,
    z1: &'a mut Phase,
}

impl Work for Finish<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        self.iteration.finish::<K, V>(self.z0, self.h, self.z1);
    }
}

struct Transform<'a> {
    m: &'a [f64],
    iteration: &'a mut Iteration,
}

impl Work for Transform<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let Iteration { rates, change, .. } = self.iteration;
        combine::<K, V>(&columns(self.m, 1.0), rates, None, change);
        std::mem::swap(rates, change);
    }
}
