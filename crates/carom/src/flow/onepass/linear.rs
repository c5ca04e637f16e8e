//! The linear equation of a correction of Newton's method, on vector lanes.

use super::super::vector::Vector;
use super::tables::{Aligned, S};

/// The largest number of rounds.
const MAX_ROUNDS: usize = 60;
/// A change this much smaller than necessary is worth a round less.
const LESS_ROUNDS: f64 = 0.1;

/// The equation for the corrections D of N accelerations at all stages:
///
/// ```text
/// D = r + h ∂a/∂v·(A D) + h² ∂a/∂q·(A² D)
/// ```
///
/// It is solved by repeated products, which converge faster and faster, because A integrates.
pub(super) struct Linear<'a, V, const N: usize> {
    /// A and A².
    integrals: &'a [[[f64; S]; S]; 2],
    /// h ∂a/∂v and h² ∂a/∂q.
    slopes: [[[V; N]; N]; 2],
    residual: [V; N],
    /// The weights of the norm Σ w|D|.
    weights: [f64; N],
    change: Aligned<[[f64; S]; N]>,
}

impl<'a, V: Vector<S>, const N: usize> Linear<'a, V, N> {
    #[inline(always)]
    pub(super) fn new(integrals: &'a [[[f64; S]; S]; 2], weights: [f64; N]) -> Self {
        let zero = V::splat(0.0);
        let change = Aligned([[0.0; S]; N]);
        Linear { integrals, slopes: [[[zero; N]; N]; 2], residual: [zero; N], weights, change }
    }

    /// Sets an entry of h ∂a/∂v and of h² ∂a/∂q.
    #[inline(always)]
    pub(super) fn set_slopes(&mut self, i: usize, j: usize, [by_v, by_q]: [V; 2]) {
        (self.slopes[0][i][j], self.slopes[1][i][j]) = (by_v, by_q);
    }

    /// Sets r, from which D begins, and returns its norm.
    #[inline(always)]
    pub(super) fn begin(&mut self, residual: [V; N]) -> f64 {
        let mut norm = V::splat(0.0);
        for i in 0..N {
            norm = residual[i].abs().mul_add(V::splat(self.weights[i]), norm);
            residual[i].store(&mut self.change.0[i]);
        }
        self.residual = residual;
        norm.sum()
    }

    /// Makes rounds until the next change of D would have at most the norm `enough`; `first` is the norm of r. About as many `rounds` as
    /// the last time are made before the first look. Returns D and its norm; none if they do not converge.
    #[inline(always)]
    pub(super) fn solve(&mut self, first: f64, enough: f64, rounds: &mut usize) -> Option<([V; N], f64)> {
        let mut previous = if *rounds > 1 { f64::NAN } else { first };
        for count in 1..MAX_ROUNDS {
            let looks = count + 1 >= *rounds;
            let (d, moved) = self.round(looks);
            if !looks {
                continue;
            }
            // The next change is at most moved²/previous.
            if moved * moved <= enough * previous {
                // Without this round the next change would have been `moved`.
                *rounds = if moved <= LESS_ROUNDS * enough { (count - 1).max(1) } else { count };
                let mut norm = V::splat(0.0);
                for i in 0..N {
                    norm = d[i].abs().mul_add(V::splat(self.weights[i]), norm);
                }
                return Some((d, norm.sum()));
            }
            if !moved.is_finite() || moved > 10.0 * previous.min(first) {
                break;
            }
            previous = moved;
        }
        None
    }

    /// One round for D. Returns it and, if it `looks`, the norm of its change.
    #[inline(always)]
    fn round(&mut self, looks: bool) -> ([V; N], f64) {
        V::reload();
        let shifts = products::<V, N>(self.integrals, &self.change.0);
        let (mut d, mut moved) = (self.residual, V::splat(0.0));
        for i in 0..N {
            let mut other = V::splat(0.0);
            for j in 0..N {
                other = self.slopes[0][i][j].mul_add(shifts[0][j], other);
                d[i] = self.slopes[1][i][j].mul_add(shifts[1][j], d[i]);
            }
            d[i] = d[i].add(other);
            if looks {
                let change = d[i].sub(V::load(&self.change.0[i])).abs();
                moved = change.mul_add(V::splat(self.weights[i]), moved);
            }
            d[i].store(&mut self.change.0[i]);
        }
        (d, if looks { moved.sum() } else { 0.0 })
    }
}

/// A·x and A²·x of each component. The matrices do not fit into registers: each column is loaded once for all components. A single
/// component has two independent sums.
#[inline(always)]
pub(super) fn products<V: Vector<S>, const N: usize>(integrals: &[[[f64; S]; S]; 2], x: &[[f64; S]; N]) -> [[V; N]; 2] {
    let zero = V::splat(0.0);
    let (mut even, mut odd) = ([[zero; N]; 2], [[zero; N]; 2]);
    for k in 0..S {
        let columns = [V::load(&integrals[0][k]), V::load(&integrals[1][k])];
        for i in 0..N {
            let x = V::splat(x[i][k]);
            for m in 0..2 {
                let sum = if N == 1 && k % 2 == 1 { &mut odd[m][i] } else { &mut even[m][i] };
                *sum = columns[m].mul_add(x, *sum);
            }
        }
    }
    if N == 1 {
        for m in 0..2 {
            even[m][0] = even[m][0].add(odd[m][0]);
        }
    }
    even
}
