//! The equations of a collocation step, solved on lanes.

use super::combine::{columns, combine, product, replace};
use super::stages::{MOST_COORDINATES, Stages};
use super::vector::{Buffer, Registers, Vector, Work};
use crate::limits::{NEWTON_BEGINS, NOTHING, SLOPES_LAST, STAGES_STAGNATE};
use crate::phase::Phase;
use crate::solve::NoSolution;

/// What has not converged after so many rounds of the fixed-point iteration does not converge.
const MAX_ROUNDS: usize = 60;
/// The same of Newton's method, and of the iteration within it.
const MAX_NEWTON: usize = 12;

/// The stage equations for the rates F of all stages, to roundoff:
///
/// ```text
/// F = f(Z),   Z = z0 + h·A·F
/// ```
///
/// From afar by the fixed-point iteration F ← f(Z). Near the solution, where ∂f/∂z is known at each stage, by Newton's method
/// F ← F + D, whose linear equation D = f(Z) − F + ∂f/∂z·h·A·D is solved by the fixed-point iteration in its turn: it needs no
/// functions, only products. Two rounds of Newton's method then do what ten fixed-point rounds do.
#[derive(Clone)]
pub(super) struct Iteration {
    registers: Registers,
    c: Vec<f64>,
    /// A by columns, each as wide as the lanes; lanes beyond s repeat the first stage.
    a: Buffer,
    /// The weights, zero beyond s.
    b: Buffer,
    pub(super) field: Stages,
    /// F: component i of stage k at i·width + k.
    pub(super) rates: Buffer,
    /// f and the entries of ∂f/∂z.
    values: Buffer,
    /// f − F
    residual: Buffer,
    /// D
    change: Buffer,
}

impl Iteration {
    /// The equations of a method with the matrix `a` by rows, weights b and nodes c.
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
            field,
        }
    }

    /// F becomes f(z0) at every stage.
    pub(super) fn begin(&mut self, z0: &Phase) -> Result<(), NoSolution> {
        let width = self.field.width;
        self.field.set_times(z0.t, &self.c, 0.0);
        self.field.states_mut().chunks_mut(width).zip(&z0.z).for_each(|(lanes, z)| lanes.fill(*z));
        self.field.rates(&mut self.rates)
    }

    /// F becomes M·F.
    pub(super) fn transform(&mut self, m: &[f64]) {
        self.registers.run(self.field.width, Transform { m, iteration: self });
    }

    /// Solves from the guess in F; z1 becomes the end of the step. `is_near` says that the guess is better than f(z0).
    pub(super) fn solve(&mut self, z0: &Phase, h: f64, is_near: bool, z1: &mut Phase) -> Result<(), NoSolution> {
        self.registers.run(self.field.width, Solve { iteration: self, z0, h, is_near, z1 })
    }

    /// Sets the times and states of the stages from F.
    pub(super) fn place_states(&mut self, z0: &Phase, h: f64) {
        self.field.set_times(z0.t, &self.c, h);
        self.registers.run(self.field.width, Place { iteration: self, z0, h });
    }

    /// The end of the step that F describes.
    pub(super) fn end(&mut self, z0: &Phase, h: f64, z1: &mut Phase) {
        self.registers.run(self.field.width, Finish { iteration: self, z0, h, z1 });
    }

    /// Z from F.
    #[inline(always)]
    fn place<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64) {
        combine::<K, V>(&columns(&self.a, h), &self.rates, Some(&z0.z), self.field.states_mut());
    }

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64, is_near: bool) -> Result<(), NoSolution> {
        self.field.set_times(z0.t, &self.c, h);
        // Also at rest in the origin, where only the rates say what is small.
        let rise: f64 = self.rates.iter().map(|x| x.abs()).sum::<f64>() / self.field.width as f64;
        let size: f64 = z0.z.iter().map(|x| x.abs()).sum::<f64>() + h.abs() * rise;
        let scale = h.abs() / (size.max(NOTHING) * self.c.len() as f64);
        let has_slopes = self.field.has_slopes();
        if !(has_slopes && is_near) && self.approach::<K, V>(z0, h, scale, has_slopes)? {
            return Ok(());
        }
        self.newton::<K, V>(z0, h, scale)
    }

    /// Fixed-point iteration until F stands still at roundoff (then true), or, with slopes, is near.
    #[inline(always)]
    fn approach<const K: usize, V: Vector<K>>(
        &mut self,
        z0: &Phase,
        h: f64,
        scale: f64,
        has_slopes: bool,
    ) -> Result<bool, NoSolution> {
        let mut previous = f64::INFINITY;
        for _ in 0..MAX_ROUNDS {
            self.place::<K, V>(z0, h);
            self.field.rates(&mut self.values)?;
            let moved = scale * replace::<K, V>(&mut self.rates, &self.values);
            // At roundoff the changes stop to shrink; before that, the next one would be too small to matter.
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
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }

    /// Newton's method.
    #[inline(always)]
    fn newton<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64, scale: f64) -> Result<(), NoSolution> {
        let mut previous = f64::INFINITY;
        for _ in 0..MAX_NEWTON {
            self.place::<K, V>(z0, h);
            // How far the slopes are from those at Z.
            let age = if previous <= SLOPES_LAST {
                self.field.rates(&mut self.values)?;
                previous
            } else {
                self.field.rates_and_slopes(&mut self.values)?;
                0.0
            };
            let Some(moved) = self.correct::<K, V>(h, scale, age) else { break };
            // The error that is left is the product of the correction and what the slopes were wrong by.
            let stagnates = moved >= 0.5 * previous && moved <= STAGES_STAGNATE;
            if moved * (moved + age) <= 0.1 * f64::EPSILON || stagnates {
                return Ok(());
            }
            if moved > previous {
                break;
            }
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }

    /// One correction F ← F + D. Returns by how much the state moves, relative to it.
    #[inline(always)]
    fn correct<const K: usize, V: Vector<K>>(&mut self, h: f64, scale: f64, age: f64) -> Option<f64> {
        let first = scale * self.subtract::<K, V>();
        let enough = (0.05 * first * (first + age)).max(0.1 * f64::EPSILON);
        let is_solved = match self.change.len() / K {
            2 => self.rounds::<K, V, 2>(h, first / scale, enough / scale),
            4 => self.rounds::<K, V, 4>(h, first / scale, enough / scale),
            _ => self.rounds::<K, V, { 2 * MOST_COORDINATES }>(h, first / scale, enough / scale),
        };
        if is_solved { Some(scale * self.add::<K, V>()) } else { None }
    }

    /// Fixed-point iteration for D, whose size is `first`, until its next change would be at most `enough`; N is the size of a
    /// state.
    #[inline(always)]
    fn rounds<const K: usize, V: Vector<K>, const N: usize>(&mut self, h: f64, first: f64, enough: f64) -> bool {
        let shifts = columns::<K, V>(&self.a, h);
        let mut previous = first;
        for _ in 0..MAX_ROUNDS / 2 {
            self.round::<K, V, N>(&shifts);
            let moved = self.round::<K, V, N>(&shifts);
            // Two rounds shrink the changes by moved/previous, one by its root: the next change is moved·√(moved/previous).
            if moved * moved * moved <= enough * enough * previous {
                return true;
            }
            if !moved.is_finite() || moved > 10.0 * previous {
                break;
            }
            previous = moved;
        }
        false
    }

    /// D and the residual become f − F; returns Σ|D|.
    #[inline(always)]
    fn subtract<const K: usize, V: Vector<K>>(&mut self) -> f64 {
        let mut sum = V::splat(0.0);
        let (fs, rates) = (self.values.as_chunks::<K>().0, self.rates.as_chunks::<K>().0);
        let residuals = self.residual.as_chunks_mut::<K>().0.iter_mut();
        for (((residual, change), f), rate) in residuals.zip(self.change.as_chunks_mut::<K>().0).zip(fs).zip(rates) {
            let d = V::load(f).sub(V::load(rate));
            d.store(residual);
            d.store(change);
            sum = sum.add(d.abs());
        }
        sum.sum()
    }

    /// D ← f − F + ∂f/∂z·(h·A)·D; returns Σ of its changes.
    #[inline(always)]
    fn round<const K: usize, V: Vector<K>, const N: usize>(&mut self, shifts: &[V; K]) -> f64 {
        let (change, residual) = (self.change.as_chunks_mut::<K>().0, self.residual.as_chunks::<K>().0);
        let slopes = &self.values.as_chunks::<K>().0[N..N + N * N];
        let (Some(change), Some(residual)) = (change.first_chunk_mut::<N>(), residual.first_chunk::<N>()) else {
            return f64::NAN;
        };
        let mut shift = [V::splat(0.0); N];
        for i in 0..N {
            shift[i] = product(shifts, &change[i]);
        }
        let mut sum = V::splat(0.0);
        for i in 0..N {
            // Two sums, which do not wait for each other.
            let mut ds = [V::load(&residual[i]), V::splat(0.0)];
            for j in 0..N {
                ds[j % 2] = V::load(&slopes[i * N + j]).mul_add(shift[j], ds[j % 2]);
            }
            let d = ds[0].add(ds[1]);
            sum = sum.add(d.sub(V::load(&change[i])).abs());
            d.store(&mut change[i]);
        }
        sum.sum()
    }

    /// F ← F + D; returns Σ|D|.
    #[inline(always)]
    fn add<const K: usize, V: Vector<K>>(&mut self) -> f64 {
        let mut sum = V::splat(0.0);
        for (rate, change) in self.rates.as_chunks_mut::<K>().0.iter_mut().zip(self.change.as_chunks::<K>().0) {
            let d = V::load(change);
            sum = sum.add(d.abs());
            V::load(rate).add(d).store(rate);
        }
        sum.sum()
    }

    /// z1 = z0 + h·Σ bᵢFᵢ, and Z from F.
    #[inline(always)]
    fn finish<const K: usize, V: Vector<K>>(&mut self, z0: &Phase, h: f64, z1: &mut Phase) {
        self.place::<K, V>(z0, h);
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
    iteration: &'a mut Iteration,
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
