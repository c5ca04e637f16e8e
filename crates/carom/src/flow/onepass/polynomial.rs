//! The motion of a step, from the Legendre coefficients of its accelerations.

use super::tables::{S, integrals};
use super::{Last, OnePass};
use crate::phase::Phase;
use crate::solve::{NoSolution, Solved};

/// P₈(3).
const EXTRAPOLATED: f64 = 2.6e5;

impl OnePass {
    /// Computes the Legendre coefficients of the accelerations.
    pub(super) fn expand(&mut self) {
        if self.last.is_known {
            return;
        }
        self.stages.transform(&self.code.tables.legendre, &mut self.last.legendre);
        self.last.is_known = true;
    }

    /// Writes the state at x of the last step, in units of its length.
    pub(super) fn evaluate(&mut self, x: f64, z: &mut Phase) {
        self.expand();
        let n = self.sizes.len();
        let Last { begin, v, h, legendre, .. } = &self.last;
        let [first, second] = integrals(x);
        z.t = begin.t + x * h;
        let (to_q, to_v) = self.inputs.state_mut(z.t);
        for i in 0..n {
            let l = &legendre[i * S..(i + 1) * S];
            let (mut once, mut twice) = (0.0, 0.0);
            for m in 0..S {
                once += l[m] * first[m];
                twice += l[m] * second[m];
            }
            to_v[i] = v[i] + h * once;
            to_q[i] = begin.z[i] + h * (x * v[i] + h * twice);
            z.z[i] = to_q[i];
        }
        self.code.momenta.eval(self.inputs.all(), z.p_mut());
    }

    /// The end of the last step: v1 = v0 + h Σ bᵢaᵢ, q1 = q0 + h v0 + h² Σ bᵢ(1 − cᵢ)aᵢ.
    pub(super) fn end(&mut self, z1: &mut Phase) -> Solved<()> {
        let OnePass { code, stages, inputs, last: Last { begin, v, h, .. }, .. } = self;
        z1.t = begin.t + *h;
        let (to_q, to_v) = inputs.state_mut(z1.t);
        let [once, twice] = &code.tables.end;
        for (i, a) in stages.a.as_chunks::<S>().0.iter().enumerate() {
            // Two sums at once.
            let (mut by_v, mut by_q) = ([0.0; 2], [0.0; 2]);
            for k in 0..S / 2 {
                for odd in 0..2 {
                    by_v[odd] += once[2 * k + odd] * a[2 * k + odd];
                    by_q[odd] += twice[2 * k + odd] * a[2 * k + odd];
                }
            }
            to_v[i] = v[i] + *h * (by_v[0] + by_v[1]);
            to_q[i] = begin.z[i] + *h * (v[i] + *h * (by_q[0] + by_q[1]));
            z1.z[i] = to_q[i];
        }
        code.momenta.eval(inputs.all(), z1.p_mut());
        // A sum propagates what is not finite.
        if (z1.z.iter().sum::<f64>() * 0.0).is_nan() { Err(NoSolution::NotFinite) } else { Ok(()) }
    }

    /// The error that a prediction for a step of the same length would have, from the decay of the Legendre coefficients:
    /// the first that is missing, l₈, grows to l₈ P₈(3) at the end of the next step.
    pub(super) fn decay(&mut self) -> f64 {
        self.expand();
        let h = self.last.h.abs();
        let mut pairs = [0.0_f64; 2];
        for (l, size) in self.last.legendre.chunks(S).zip(&self.sizes) {
            for (pair, m) in pairs.iter_mut().zip([S - 1, S - 3]) {
                // Those of a symmetric motion vanish in turn.
                *pair = pair.max(h * l[m].abs().max(l[m - 1].abs()) / size);
            }
        }
        let [last, before] = pairs;
        if last == 0.0 { 0.0 } else { EXTRAPOLATED * last * (last / before).sqrt().min(1.0) }
    }
}
