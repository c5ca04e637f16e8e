//! The motion of a step, from the Legendre coefficients of its accelerations.

use super::tables::{S, integrals};
use super::{Last, OnePass};
use crate::phase::Phase;
use crate::solve::{NoSolution, Solved};

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
        let n = self.last.v.len();
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
        for (i, [once, twice]) in stages.swept.iter().enumerate().take(v.len()) {
            to_v[i] = v[i] + *h * once;
            to_q[i] = begin.z[i] + *h * (v[i] + *h * twice);
            z1.z[i] = to_q[i];
        }
        code.momenta.eval(inputs.all(), z1.p_mut());
        // A sum propagates what is not finite.
        if (z1.z.iter().sum::<f64>() * 0.0).is_nan() { Err(NoSolution::NotFinite) } else { Ok(()) }
    }
}
