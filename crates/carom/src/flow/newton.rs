//! Newton's method for the stage equations of a collocation step, on vector lanes.

use super::combine::{columns, product};
use super::iteration::Iteration;
use super::roundoff::is_roundoff;
use super::vector::Vector;
use crate::limits::{NOTHING, SLOPES_LAST, STAGES_STAGNATE};
use crate::phase::Phase;
use crate::solve::NoSolution;

/// The largest number of iterations.
const MAX_NEWTON: usize = 12;
/// The largest number of rounds inside each.
const MAX_ROUNDS: usize = 60;

/// The stage equations F = f(z0 + h·A·F) of a state with N components: F is corrected by the solution of
///
/// ```text
/// D = f(Z) − F + ∂f/∂z·h·A·D
/// ```
///
/// which repeated products give ([`Newton::round`]). ∂f/∂z is evaluated again only if the stages have moved.
pub(super) struct Newton<'a, V, const K: usize, const N: usize> {
    iteration: &'a mut Iteration,
    z0: &'a Phase,
    h: f64,
    /// The columns of h·A.
    shifts: [V; K],
    /// h/(|zᵢ| + h|Fᵢ|) over the number of components and stages: the weight of a change of F.
    weights: [V; N],
}

impl<'a, V: Vector<K>, const K: usize, const N: usize> Newton<'a, V, K, N> {
    /// Solves from the guess in F.
    #[inline(always)]
    pub(super) fn solve(iteration: &'a mut Iteration, z0: &'a Phase, h: f64) -> Result<(), NoSolution> {
        let (shifts, weights) = (columns(&iteration.a, h), [V::splat(0.0); N]);
        let mut newton = Newton { iteration, z0, h, shifts, weights };
        newton.weigh();
        newton.iterate()
    }

    #[inline(always)]
    fn iterate(&mut self) -> Result<(), NoSolution> {
        let mut previous = f64::INFINITY;
        for count in 0..MAX_NEWTON {
            self.place();
            let Iteration { field, values, age, .. } = &mut *self.iteration;
            if *age <= SLOPES_LAST {
                field.rates(values)?;
            } else {
                field.rates_and_slopes(values)?;
                *age = 0.0;
            }
            // The relative error of ∂f/∂z, which may belong to earlier stages.
            let age = *age;
            let Some(moved) = self.correct(age, count) else { break };
            self.iteration.age += moved;
            // The remaining error is the correction times the error of ∂f/∂z.
            let stalls = moved >= 0.5 * previous;
            if moved * (moved + age) <= 0.1 * f64::EPSILON || (stalls && moved <= STAGES_STAGNATE) {
                return Ok(());
            }
            if stalls && is_roundoff(self.iteration, self.z0, self.h)? {
                return Ok(());
            }
            if moved > previous {
                break;
            }
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }

    /// Z = z0 + h·A·F.
    #[inline(always)]
    fn place(&mut self) {
        let Iteration { field, rates, .. } = &mut *self.iteration;
        let (rates, states) = (rows::<K, N>(rates), rows_mut::<K, N>(field.states_mut()));
        for i in 0..N {
            product(&self.shifts, &rates[i]).add(V::splat(self.z0.z[i])).store(&mut states[i]);
        }
    }

    /// Computes the weights from F.
    #[inline(always)]
    fn weigh(&mut self) {
        let (rates, h) = (rows::<K, N>(&self.iteration.rates), V::splat(self.h.abs()));
        let share = V::splat(self.iteration.share(self.h));
        for i in 0..N {
            let size = V::load(&rates[i]).abs().mul_add(h, V::splat(self.z0.z[i].abs() + NOTHING));
            self.weights[i] = share.div(size);
        }
    }

    /// Makes the correction F ← F + D. Returns its weighted sum Σ|D|; none if the rounds do not converge.
    #[inline(always)]
    fn correct(&mut self, age: f64, count: usize) -> Option<f64> {
        let first = self.subtract();
        // What remains after the correction is of that size anyway.
        let enough = (0.5 * first * (first + age)).max(0.1 * f64::EPSILON);
        if !self.repeat(first, enough, count) {
            return None;
        }
        let Iteration { rates, change, .. } = &mut *self.iteration;
        let (rates, change) = (rows_mut::<K, N>(rates), rows::<K, N>(change));
        let mut sum = V::splat(0.0);
        for i in 0..N {
            let d = V::load(&change[i]);
            sum = d.abs().mul_add(self.weights[i], sum);
            V::load(&rates[i]).add(d).store(&mut rates[i]);
        }
        Some(sum.sum())
    }

    /// Sets D and the residual to f − F. Returns the weighted sum Σ|D|; a sum, unlike a maximum, propagates NaN.
    #[inline(always)]
    fn subtract(&mut self) -> f64 {
        let Iteration { rates, values, residual, change, .. } = &mut *self.iteration;
        let (f, rates) = (rows::<K, N>(values), rows::<K, N>(rates));
        let (residual, change) = (rows_mut::<K, N>(residual), rows_mut::<K, N>(change));
        let mut sum = V::splat(0.0);
        for i in 0..N {
            let d = V::load(&f[i]).sub(V::load(&rates[i]));
            d.store(&mut residual[i]);
            d.store(&mut change[i]);
            sum = d.abs().mul_add(self.weights[i], sum);
        }
        sum.sum()
    }

    /// Makes rounds for D, whose weighted sum is `first`, until the next change would be at most `enough`. The changes are first looked
    /// at after as many rounds as were enough in this iteration of the last step.
    #[inline(always)]
    fn repeat(&mut self, first: f64, enough: f64, count: usize) -> bool {
        let slot = count.min(self.iteration.rounds.len() - 1);
        let expected = self.iteration.rounds[slot];
        let mut previous = if expected > 1 { f64::NAN } else { first };
        for rounds in 1..MAX_ROUNDS {
            let looks = rounds + 1 >= expected;
            let moved = self.round(looks);
            if !looks {
                continue;
            }
            // The next change is at most moved²/previous: changes decrease faster and faster.
            if moved * moved <= enough * previous {
                // Without this round the next change would have been `moved`.
                self.iteration.rounds[slot] = if moved <= enough { (rounds - 1).max(1) } else { rounds };
                return true;
            }
            if !moved.is_finite() || moved > 10.0 * previous.min(first) {
                break;
            }
            previous = moved;
        }
        false
    }

    /// D ← f − F + ∂f/∂z·h·A·D. Returns the weighted sum of the absolute changes if it `looks`.
    #[inline(always)]
    fn round(&mut self, looks: bool) -> f64 {
        let Iteration { field, values, residual, change, .. } = &mut *self.iteration;
        let (change, residual) = (rows_mut::<K, N>(change), rows::<K, N>(residual));
        let slopes = values.as_chunks::<K>().0[N..].as_chunks::<N>().0;
        V::reload();
        // Two independent sums for each component, because each product would wait for the one before it.
        let (mut ds, mut others) = ([V::splat(0.0); N], [V::splat(0.0); N]);
        for i in 0..N {
            ds[i] = V::load(&residual[i]);
        }
        let mut columns = slopes.iter().zip(&field.columns);
        while let Some((slopes, component)) = columns.next() {
            let shift = product(&self.shifts, &change[*component % N]);
            for i in 0..N {
                ds[i] = V::load(&slopes[i]).mul_add(shift, ds[i]);
            }
            if let Some((slopes, component)) = columns.next() {
                let shift = product(&self.shifts, &change[*component % N]);
                for i in 0..N {
                    others[i] = V::load(&slopes[i]).mul_add(shift, others[i]);
                }
            }
        }
        let mut moved = V::splat(0.0);
        for i in 0..N {
            let d = ds[i].add(others[i]);
            if looks {
                moved = d.sub(V::load(&change[i])).abs().mul_add(self.weights[i], moved);
            }
            d.store(&mut change[i]);
        }
        if looks { moved.sum() } else { 0.0 }
    }
}

/// The first N components of all stages.
#[inline(always)]
fn rows<const K: usize, const N: usize>(x: &[f64]) -> &[[f64; K]; N] {
    match x.as_chunks::<K>().0.first_chunk() {
        Some(rows) => rows,
        None => unreachable!("the buffers have the size of the system"),
    }
}

/// The first N components of all stages, writable.
#[inline(always)]
fn rows_mut<const K: usize, const N: usize>(x: &mut [f64]) -> &mut [[f64; K]; N] {
    match x.as_chunks_mut::<K>().0.first_chunk_mut() {
        Some(rows) => rows,
        None => unreachable!("the buffers have the size of the system"),
    }
}
