//! A force that is a function, and its slopes.

use crate::system::ForceFunction;

/// Evaluates a force F(t, q, v) that is a function, with working memory for one thread.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    law: ForceFunction,
    /// q, then v.
    state: Vec<f64>,
    force: Vec<f64>,
    moved: Vec<f64>,
}

impl Function {
    /// For n coordinates.
    pub(crate) fn new(law: &ForceFunction, n: usize) -> Function {
        Function { law: law.clone(), state: vec![0.0; 2 * n], force: vec![0.0; n], moved: vec![0.0; n] }
    }

    /// F at (t, q, v).
    pub(crate) fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        self.force.fill(0.0);
        self.law.at(t, q, v, &mut self.force);
        &self.force
    }

    /// Writes F_q and F_v at (t, q, v) by rows, each n×n, and returns F. One-sided differences:
    ///
    /// ```text
    /// ∂F/∂x ≈ [F(x + δ) − F(x)]/δ,   δ = √ε max(|x|, 1)
    /// ```
    ///
    /// Newton's method takes its matrix from these, and its residuals from F alone: they change the number of iterations, not the
    /// solution.
    pub(super) fn slopes(&mut self, t: f64, q: &[f64], v: &[f64], into: &mut [f64]) -> &[f64] {
        let n = q.len();
        self.at(t, q, v);
        self.state[..n].copy_from_slice(q);
        self.state[n..].copy_from_slice(v);
        for j in 0..2 * n {
            let x = self.state[j];
            self.state[j] = x + f64::EPSILON.sqrt() * x.abs().max(1.0);
            let delta = self.state[j] - x;
            self.moved.fill(0.0);
            let (q, v) = self.state.split_at(n);
            self.law.at(t, q, v, &mut self.moved);
            self.state[j] = x;
            let column = j / n * n * n + j % n;
            let slopes = self.moved.iter().zip(&self.force).map(|(moved, force)| (moved - force) / delta);
            into[column..].iter_mut().step_by(n).zip(slopes).for_each(|(entry, slope)| *entry = slope);
        }
        &self.force
    }
}
