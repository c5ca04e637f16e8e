//! Smooth motion in double-double arithmetic.

use super::field::{Field, State};
use crate::double_double::Dd;

/// The midpoint rule is extrapolated from 2, 4, … 2·COLUMNS substeps, to the order 2·COLUMNS.
const COLUMNS: usize = 8;
/// The local error of a step, relative to the size of the state.
const LOCAL_ERROR: f64 = 1e-26;

impl Field {
    /// The state after a time, and by what factor a step could be longer: below 1 if the state is not good enough.
    pub fn step(&self, state: &State, h: Dd) -> (State, f64) {
        if self.is_constant {
            return (self.flow(state, h), 2.0);
        }
        let (next, error) = self.extrapolate(state, h);
        let factor = (LOCAL_ERROR / error.max(1e-40)).powf(1.0 / (2.0 * COLUMNS as f64 - 1.0));
        (next, if error <= LOCAL_ERROR { factor.max(1.0) } else { 0.9 * factor })
    }

    /// The state after a time that is no longer than a good step.
    pub fn flow(&self, state: &State, tau: Dd) -> State {
        if !self.is_constant {
            return self.extrapolate(state, tau).0;
        }
        let a = self.acceleration(state);
        let half = Dd::from(0.5) * tau;
        let v: Vec<Dd> = state.v.iter().zip(&a).map(|(v, a)| *v + tau * *a).collect();
        let q = state.q.iter().zip(state.v.iter().zip(&v)).map(|(q, (v0, v1))| *q + half * (*v0 + *v1)).collect();
        State { q, v }
    }

    /// A step by extrapolation, and its local error relative to the state. [Hairer, Nørsett & Wanner II.9]
    ///
    /// ```text
    /// T_{j,k+1} = T_{j,k} + (T_{j,k} − T_{j−1,k})/((n_j/n_{j−k})² − 1)
    /// ```
    fn extrapolate(&self, state: &State, h: Dd) -> (State, f64) {
        let n = state.q.len();
        let mut above: Vec<Vec<Dd>> = Vec::new();
        for j in 1..=COLUMNS {
            let mut row = vec![self.midpoint(state, h, 2 * j)];
            for k in 1..j {
                let ratio = Dd::from(j as f64) / Dd::from((j - k) as f64);
                let divisor = ratio * ratio - Dd::from(1.0);
                let next = row[k - 1].iter().zip(&above[k - 1]).map(|(a, b)| *a + (*a - *b) / divisor);
                row.push(next.collect());
            }
            above = row;
        }
        let (best, second) = (&above[COLUMNS - 1], &above[COLUMNS - 2]);
        let size = |x: &[Dd]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs().to_f64()));
        let sizes = [size(&best[..n]), size(&best[n..])];
        let apart = best.iter().zip(second).enumerate().map(|(i, (a, b))| (*a - *b).abs().to_f64() / sizes[i / n]);
        let error = apart.fold(0.0, f64::max);
        (State { q: best[..n].to_vec(), v: best[n..].to_vec() }, error)
    }

    /// The explicit midpoint rule with `count` substeps, an even number; q, then q̇.
    fn midpoint(&self, state: &State, h: Dd, count: usize) -> Vec<Dd> {
        let n = state.q.len();
        let h = h / Dd::from(count as f64);
        let rates = |z: &[Dd]| {
            let state = State { q: z[..n].to_vec(), v: z[n..].to_vec() };
            [&state.v[..], &self.acceleration(&state)].concat()
        };
        let moved =
            |z: &[Dd], by: Dd, rates: &[Dd]| z.iter().zip(rates).map(|(z, f)| *z + by * *f).collect::<Vec<Dd>>();
        let mut before = [&state.q[..], &state.v].concat();
        let mut z = moved(&before, h, &rates(&before));
        for _ in 1..count {
            let next = moved(&before, h + h, &rates(&z));
            (before, z) = (z, next);
        }
        z
    }
}
