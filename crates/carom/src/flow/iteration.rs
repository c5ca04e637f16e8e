//! Solution of the stage equations of a collocation step, on vector lanes.

use super::collocation::Collocation;
use super::combine::{columns, combine, product};
use super::newton::Newton;
use super::roundoff::is_roundoff;
use super::stages::{MOST_COORDINATES, Stages};
use super::vector::{Buffer, Registers, Vector, Work};
use crate::limits::{NEWTON_BEGINS, NOTHING, STAGES_STAGNATE};
use crate::phase::Phase;
use crate::solve::NoSolution;

/// The largest number of fixed-point iterations.
const MAX_ROUNDS: usize = 60;
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
    /// The nodes c; lanes beyond s repeat the first.
    c: Buffer,
    s: usize,
    /// A by columns of the lane width; lanes beyond s repeat the first stage.
    pub(super) a: Buffer,
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
    /// How many iterations inside the first, second and third Newton iteration were enough in the last step.
    pub(super) rounds: [usize; 3],
    /// How far the states have moved since ∂f/∂z was evaluated, relative to their sizes; infinite if it was not.
    pub(super) age: f64,
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
        let mut nodes = Buffer::zeros(width);
        nodes.iter_mut().enumerate().for_each(|(k, x)| *x = c[if k < s { k } else { 0 }]);
        let room = || Buffer::zeros(size * width);
        Iteration {
            registers: Registers::detect(),
            c: nodes,
            s,
            a: columns,
            b: weights,
            rates: room(),
            values: Buffer::zeros(field.values()),
            residual: room(),
            change: room(),
            rounds: FIRST_ROUNDS,
            age: f64::INFINITY,
            field,
        }
    }

    /// Forgets the steps so far.
    pub(super) fn forget(&mut self) {
        self.field.forget();
        self.rounds = FIRST_ROUNDS;
        self.age = f64::INFINITY;
    }

    /// Sets F = f(z0) at every stage.
    pub(super) fn begin(&mut self, z0: &Phase) -> Result<(), NoSolution> {
        self.fill_states(z0);
        self.field.set_times(z0.t, &self.c, 0.0);
        self.field.rates(&mut self.rates)
    }

    /// Sets F = f + ch ∂f/∂z·f in the state z0, at the time of each stage. Returns false if ∂f/∂z is not available.
    pub(super) fn begin_with_slopes(&mut self, z0: &Phase, h: f64) -> Result<bool, NoSolution> {
        if !self.field.has_slopes() {
            return Ok(false);
        }
        self.fill_states(z0);
        self.field.set_times(z0.t, &self.c, h);
        self.field.rates_and_slopes(&mut self.values)?;
        self.age = f64::INFINITY;
        self.registers.run(self.field.width, Extrapolate { iteration: self, h });
        Ok(true)
    }

    /// Sets the states of all stages to z0.
    fn fill_states(&mut self, z0: &Phase) {
        let width = self.field.width;
        self.field.states_mut().chunks_mut(width).zip(&z0.z).for_each(|(lanes, z)| lanes.fill(*z));
    }

    /// Says that the next step begins where the last one did, and is longer by this part of it.
    pub(super) fn reuse_slopes(&mut self, change: f64) {
        self.age += change;
    }

    /// Says that the next step is another than the last.
    pub(super) fn forget_slopes(&mut self) {
        self.age = f64::INFINITY;
    }

    /// Solves from a guess, and writes the end of the step to z1.
    pub(super) fn solve(&mut self, z0: &Phase, h: f64, guess: Guess, z1: &mut Phase) -> Result<(), NoSolution> {
        self.registers.run(self.field.width, Solve { iteration: self, z0, h, guess, z1 })
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
        match self.rates.len() / K {
            2 => Newton::<V, K, 2>::solve(self, z0, h),
            4 => Newton::<V, K, 4>::solve(self, z0, h),
            _ => Newton::<V, K, { 2 * MOST_COORDINATES }>::solve(self, z0, h),
        }
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

    /// The size of each component at each stage, |zᵢ| + h|Fᵢ|. It is not zero.
    #[inline(always)]
    fn size<const K: usize, V: Vector<K>>(z: f64, h: f64, rates: V) -> V {
        rates.abs().mul_add(V::splat(h.abs()), V::splat(z.abs() + NOTHING))
    }

    /// h over the number of components and stages.
    pub(super) fn share(&self, h: f64) -> f64 {
        h.abs() * self.field.width as f64 / (self.rates.len() * self.s) as f64
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

/// The rates from which an iteration begins.
pub(super) enum Guess<'a> {
    /// Those in F, which are f(z0).
    Far,
    /// Those in F, which are better.
    Near,
    /// M·F.
    Matrix(&'a [f64]),
    /// The polynomial of F at the stages of a step that begins at `start` and is longer by `ratio`.
    Polynomial { rule: &'a Collocation, start: f64, ratio: f64 },
}

struct Solve<'a> {
    iteration: &'a mut Iteration,
    z0: &'a Phase,
    h: f64,
    guess: Guess<'a>,
    z1: &'a mut Phase,
}

impl Work for Solve<'_> {
    type Outcome = Result<(), NoSolution>;

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) -> Result<(), NoSolution> {
        let Solve { iteration, z0, h, guess, z1 } = self;
        match guess {
            Guess::Far | Guess::Near => {}
            Guess::Matrix(m) => replace(&columns::<K, V>(m, 1.0), &mut iteration.rates),
            Guess::Polynomial { rule, start, ratio } => {
                replace(&rule.columns::<K, V>(start, ratio), &mut iteration.rates);
            }
        }
        iteration.run::<K, V>(z0, h, !matches!(guess, Guess::Far))?;
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

/// F = f + ch ∂f/∂z·f, where f and ∂f/∂z are those of one state in all lanes.
struct Extrapolate<'a> {
    iteration: &'a mut Iteration,
    h: f64,
}

impl Work for Extrapolate<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let Iteration { field, rates, values, c, .. } = self.iteration;
        let size = rates.len() / K;
        let (f, slopes) = values.as_chunks::<K>().0.split_at(size);
        let Some(c) = c.first_chunk::<K>() else { return };
        let ch = V::load(c).mul(V::splat(self.h));
        for (i, rate) in rates.as_chunks_mut::<K>().0.iter_mut().enumerate() {
            let mut turn = V::splat(0.0);
            for (column, j) in slopes.chunks_exact(size).zip(&field.columns) {
                turn = V::load(&column[i]).mul_add(V::load(&f[*j]), turn);
            }
            ch.mul_add(turn, V::load(&f[i])).store(rate);
        }
    }
}

/// F ← M·F.
#[inline(always)]
fn replace<const K: usize, V: Vector<K>>(m: &[V; K], rates: &mut [f64]) {
    for row in rates.as_chunks_mut::<K>().0 {
        product(m, row).store(row);
    }
}
