//! The equations of a step whose end is known, compiled as a whole.

use super::{Slopes, momenta_and_rates};
use crate::expr::{Expr, jacobian};
use crate::flow::SampleCode;
use crate::kernel::Kernel;
use crate::mechanics::numbered;
use crate::solve::matrix::Matrix;
use crate::system::time;

/// Steps with more unknowns are assembled sample by sample: the code of the whole would be long.
const MOST_UNKNOWNS: usize = 6;

/// The equations R(x; a) = 0 of a step on no rows, p1, and the derivatives of both by the unknowns x = U and by
/// a = (q0, p0, t, h, θ), in one kernel (`tangent/part.rs`):
///
/// ```text
/// R = p0 + Σ b(hα ṗ + β L_v),   at q = q0 + h ΣαU, v = ΣβU, t + c h
/// ```
pub(crate) struct WholeStep {
    kernel: Kernel,
}

/// Where the kernel writes: K, (R_a, R), p1, its derivatives by x and by a.
pub(crate) struct Places<'a> {
    pub(crate) k: &'a mut Matrix,
    pub(crate) a: &'a mut Matrix,
    pub(crate) p1: &'a mut [f64],
    pub(crate) p_x: &'a mut Matrix,
    pub(crate) p_a: &'a mut Matrix,
}

impl WholeStep {
    /// The step with these samples, which have weights for q0 and each of the unknown points. None if it has too many unknowns.
    pub(crate) fn new(slopes: &Slopes, samples: &[SampleCode]) -> Option<WholeStep> {
        let (n, mechanics) = (slopes.n, &slopes.mechanics);
        let last = samples.first()?.alpha.len() - 1;
        if n * last > MOST_UNKNOWNS {
            return None;
        }
        let (x, p0, h) = (numbered("U", n * last), numbered("p0", n), Expr::symbol("h#"));
        let functions = momenta_and_rates(mechanics);
        let mut sums: Vec<Expr> = p0.clone();
        sums.resize(n * (last + 1), Expr::constant(0.0));
        for sample in samples {
            let sum = |weights: &[f64], i: usize| -> Expr {
                (0..last).map(|k| Expr::constant(weights[k + 1]) * x[k * n + i]).sum()
            };
            let q: Vec<Expr> = (0..n).map(|i| mechanics.q[i] + h * sum(&sample.alpha, i)).collect();
            let v: Vec<Expr> = (0..n).map(|i| sum(&sample.beta, i)).collect();
            let at = mechanics.at(&functions, &q, &v, time() + Expr::constant(sample.c) * h);
            for (e, to) in sums.chunks_mut(n).enumerate() {
                let (alpha, beta) = (sample.b * sample.alpha[e], sample.b * sample.beta[e]);
                for (i, to) in to.iter_mut().enumerate() {
                    *to = *to + Expr::constant(alpha) * h * at[n + i] + Expr::constant(beta) * at[i];
                }
            }
        }
        let a: Vec<Expr> = [&mechanics.q[..], &p0, &[time(), h], &slopes.symbols()].concat();
        let [by_x, by_a] = [&x, &a].map(|by| jacobian(&sums, by));
        let (rows, ends) = (0..n * last, n * last..n * (last + 1));
        let mut outputs = by_x[rows.clone()].concat();
        outputs.extend(rows.flat_map(|i| by_a[i].iter().copied().chain([sums[i]])));
        outputs.extend(&sums[ends.clone()]);
        outputs.extend(by_x[ends.clone()].concat().into_iter().chain(by_a[ends].concat()));
        let inputs = [&[time()][..], &mechanics.q, &p0, &[h], &x].concat();
        Some(WholeStep { kernel: mechanics.kernel(&inputs, &outputs).ok()? })
    }

    /// Evaluates at the inputs (parameters, t, q0, p0, h, U).
    pub(crate) fn eval(&self, inputs: &[f64], room: &mut Vec<f64>, to: Places) {
        let parts = [&mut to.k.data[..], &mut to.a.data, to.p1, &mut to.p_x.data, &mut to.p_a.data];
        room.resize(parts.iter().map(|part| part.len()).sum(), 0.0);
        self.kernel.eval(inputs, room);
        let mut from = &room[..];
        for part in parts {
            let (values, rest) = from.split_at(part.len());
            part.copy_from_slice(values);
            from = rest;
        }
    }
}
