//! Programs in which rows may be violated, at a cost.

use std::cell::Cell;
use std::rc::Rc;

use crate::optimize::nlp::{Nlp, NlpDerivatives, Structure};

/// The cost of a unit of violation.
const COST: f64 = 1000.0;

/// Some rows of a program may be violated: [Wächter & Biegler 2006, §3.3]
///
/// ```text
/// min ρ Σ(p + n) + ½ζ |D(x − x_R)|²   subject to c(x) − p + n = 0,   p, n ≥ 0
/// ```
///
/// The objective of the program itself does not count.
pub struct Elastic<'a> {
    inner: &'a mut dyn Nlp,
    structure: Structure,
    /// The rows that may be violated.
    relaxed: Vec<usize>,
    cost: f64,
    anchor: Vec<f64>,
    /// ζ D² of each variable.
    pull: Vec<f64>,
    /// f and θ of the program at the last point.
    last: Rc<Cell<[f64; 2]>>,
    scratch: NlpDerivatives,
}

impl<'a> Elastic<'a> {
    /// Relaxes all rows, near x.
    pub(super) fn around(inner: &'a mut dyn Nlp, x: &[f64], mu: f64) -> Elastic<'a> {
        let all = (0..inner.structure().rows).collect();
        Elastic::new(inner, x, all, mu.sqrt(), COST)
    }

    /// Relaxes these rows, for points near x; `pull` is ζ.
    pub fn new(inner: &'a mut dyn Nlp, x: &[f64], relaxed: Vec<usize>, pull: f64, cost: f64) -> Elastic<'a> {
        let mut structure = inner.structure().clone();
        let n = structure.variables();
        for (k, &row) in relaxed.iter().enumerate() {
            for part in 0..2 {
                structure.lower.push(0.0);
                structure.upper.push(f64::INFINITY);
                structure.order_of_variables.push(structure.order_of_rows[row]);
                structure.jacobian.push((row, n + 2 * k + part));
            }
        }
        structure.hessian.extend((0..n).map(|i| (i, i)));
        let scratch = NlpDerivatives::new(inner.structure());
        let pull = x.iter().map(|x| pull / x.abs().max(1.0).powi(2)).collect();
        Elastic { inner, structure, relaxed, cost, anchor: x.to_vec(), pull, last: Rc::default(), scratch }
    }

    /// f and θ of the program at the last point that was evaluated.
    pub(super) fn last(&self) -> Rc<Cell<[f64; 2]>> {
        self.last.clone()
    }

    /// A start at x, where the rows are c, with p and n that are best for the barrier parameter μ.
    pub fn start(&self, x: &[f64], c: &[f64], mu: f64) -> Vec<f64> {
        let mut start = x.to_vec();
        for &row in &self.relaxed {
            let half = (mu - self.cost * c[row]) / (2.0 * self.cost);
            let n = half + (half * half + mu * c[row] / (2.0 * self.cost)).max(0.0).sqrt();
            start.extend([(c[row] + n).max(1e-12), n.max(1e-12)]);
        }
        start
    }

    /// p − n of each relaxed row at a point: how far it is off.
    pub fn misfit(&self, x: &[f64]) -> Vec<f64> {
        let (pairs, _) = x[self.anchor.len()..].as_chunks::<2>();
        pairs.iter().map(|[p, n]| p - n).collect()
    }
}

impl Nlp for Elastic<'_> {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn values(&mut self, x: &[f64], c: &mut [f64]) -> f64 {
        let (inside, parts) = x.split_at(self.anchor.len());
        let f = self.inner.values(inside, c);
        self.last.set([f, c.iter().map(|c| c.abs()).sum()]);
        let (pairs, _) = parts.as_chunks::<2>();
        for (&row, [p, n]) in self.relaxed.iter().zip(pairs) {
            c[row] += n - p;
        }
        let away = inside.iter().zip(&self.anchor).zip(&self.pull).map(|((x, a), pull)| 0.5 * pull * (x - a).powi(2));
        self.cost * parts.iter().sum::<f64>() + away.sum::<f64>()
    }

    fn derivatives(&mut self, x: &[f64], sigma: f64, y: &[f64], into: &mut NlpDerivatives) {
        let n = self.anchor.len();
        self.inner.derivatives(&x[..n], 0.0, y, &mut self.scratch);
        let (jacobian, hessian) = (self.scratch.jacobian.len(), self.scratch.hessian.len());
        into.jacobian[..jacobian].copy_from_slice(&self.scratch.jacobian);
        let (pairs, _) = into.jacobian[jacobian..].as_chunks_mut::<2>();
        pairs.iter_mut().for_each(|pair| *pair = [-1.0, 1.0]);
        into.hessian[..hessian].copy_from_slice(&self.scratch.hessian);
        for i in 0..n {
            into.gradient[i] = self.pull[i] * (x[i] - self.anchor[i]);
            into.hessian[hessian + i] = sigma * self.pull[i];
        }
        into.gradient[n..].fill(self.cost);
    }
}
