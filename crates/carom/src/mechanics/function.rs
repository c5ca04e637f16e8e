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

    /// Writes F_q and F_v at (t, q, v) by rows, each n×n, and returns F. One-sided differences, whose lengths follow from what a
    /// step h changes, in the units of each coordinate:
    ///
    /// ```text
    /// ∂F/∂x ≈ [F(x + δ) − F(x)]/δ,   δ = √ε max(|x|, w),
    /// w = v_h for a velocity, h·v_h for a coordinate,   v_h = √(E/|M_jj|),   E = Σ |v_i M_ij v_j| + h² Σ (L_q + F)_i²/|M_ii|
    /// ```
    ///
    /// Newton's method takes its matrix from these, and its residuals from F alone: they change the number of iterations, not the
    /// solution. Where nothing moves and no force acts, a slope is zero.
    pub(super) fn slopes(&mut self, (t, q, v): (f64, &[f64], &[f64]), pace: &Pace, into: &mut [f64]) -> &[f64] {
        let n = q.len();
        self.at(t, q, v);
        self.state[..n].copy_from_slice(q);
        self.state[n..].copy_from_slice(v);
        let energy = pace.energy(v, &self.force);
        for j in 0..2 * n {
            let x = self.state[j];
            let way = (energy / pace.mass(j % n)).sqrt() * if j < n { pace.h.abs() } else { 1.0 };
            // A mass that is zero or not finite gives no scale.
            let scale = if way.is_finite() { x.abs().max(way) } else { x.abs() };
            self.state[j] = x + f64::EPSILON.sqrt() * scale;
            let delta = self.state[j] - x;
            let column = j / n * n * n + j % n;
            let column = into[column..].iter_mut().step_by(n).take(n);
            if delta == 0.0 {
                column.for_each(|entry| *entry = 0.0);
                continue;
            }
            self.moved.fill(0.0);
            let (q, v) = self.state.split_at(n);
            self.law.at(t, q, v, &mut self.moved);
            self.state[j] = x;
            let slopes = self.moved.iter().zip(&self.force).map(|(moved, force)| (moved - force) / delta);
            column.zip(slopes).for_each(|(entry, slope)| *entry = slope);
        }
        &self.force
    }
}

/// What sets the lengths of differences: the step, and the mechanics without the function.
pub(super) struct Pace<'a> {
    /// The step.
    pub(super) h: f64,
    /// ṗ without the function.
    pub(super) rates: &'a [f64],
    /// Positions and values of the entries of M = L_vv.
    pub(super) mass: (&'a [(usize, usize)], &'a [f64]),
}

impl Pace<'_> {
    fn entries(&self) -> impl Iterator<Item = ((usize, usize), f64)> {
        self.mass.0.iter().copied().zip(self.mass.1.iter().copied())
    }

    /// |M_jj|.
    fn mass(&self, j: usize) -> f64 {
        self.entries().find(|&(at, _)| at == (j, j)).map_or(0.0, |(_, m)| m.abs())
    }

    /// Twice the kinetic energy, and what the forces may add in a step.
    fn energy(&self, v: &[f64], force: &[f64]) -> f64 {
        let moving: f64 = self.entries().map(|((i, j), m)| (v[i] * m * v[j]).abs()).sum();
        let pulls = self.rates.iter().zip(force).enumerate();
        let gains = pulls.map(|(i, (rate, force))| (self.h * (rate + force)).powi(2) / self.mass(i));
        moving + gains.filter(|gain| gain.is_finite()).sum::<f64>()
    }
}
