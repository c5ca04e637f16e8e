//! An iterate and its measures.

use crate::optimize::nlp::{Nlp, NlpDerivatives, Structure};

/// A start is pushed inside its bounds by this part of their size or distance.
const PUSH: f64 = 1e-2;

/// The multipliers of the bounds stay within this factor of μ over the distance. [Wächter & Biegler 2006, eq. 16]
const NEAR_CENTRE: f64 = 1e10;

/// x with the multipliers of the rows and the bounds, and the values there.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// The multipliers of the lower and the upper bounds; 0 where there is none.
    pub(super) zl: Vec<f64>,
    pub(super) zu: Vec<f64>,
    pub(super) f: f64,
    pub(super) c: Vec<f64>,
}

/// The parts of the optimality error. [Wächter & Biegler 2006, eq. 5]
#[derive(Clone, Copy, Debug)]
pub(super) struct Errors {
    pub(super) dual: f64,
    pub(super) primal: f64,
    pub(super) complementarity: f64,
}

impl Errors {
    pub(super) fn largest(&self) -> f64 {
        self.dual.max(self.primal).max(self.complementarity)
    }
}

impl Point {
    /// x, moved inside its bounds.
    pub(super) fn inside(structure: &Structure, x: &[f64]) -> Vec<f64> {
        Point::inside_by(structure, x, PUSH)
    }

    /// x, moved inside its bounds by this part.
    pub(super) fn inside_by(structure: &Structure, x: &[f64], push: f64) -> Vec<f64> {
        let bounds = structure.lower.iter().zip(&structure.upper);
        let moved = |(&x, (&l, &u)): (&f64, (&f64, &f64))| {
            let distance = push * (u - l);
            let below = (l + (push * l.abs().max(1.0)).min(distance)).min(u);
            let above = (u - (push * u.abs().max(1.0)).min(distance)).max(l);
            match (l.is_finite(), u.is_finite()) {
                (false, false) => x,
                (true, false) => x.max(below),
                (false, true) => x.min(above),
                (true, true) => x.max(below).min(above),
            }
        };
        x.iter().zip(bounds).map(moved).collect()
    }

    /// The point x with unit multipliers of the bounds.
    pub(super) fn new(nlp: &mut dyn Nlp, structure: &Structure, x: Vec<f64>) -> Point {
        let mut c = vec![0.0; structure.rows];
        let f = nlp.values(&x, &mut c);
        let unit = |bounds: &[f64]| bounds.iter().map(|b| f64::from(b.is_finite())).collect();
        Point { x, y: vec![0.0; structure.rows], zl: unit(&structure.lower), zu: unit(&structure.upper), f, c }
    }

    pub(super) fn is_defined(&self) -> bool {
        self.f.is_finite() && self.c.iter().all(|c| c.is_finite())
    }

    /// θ = |c|₁.
    pub(super) fn violation(&self) -> f64 {
        self.c.iter().map(|c| c.abs()).sum()
    }

    pub(super) fn largest_violation(&self) -> f64 {
        self.c.iter().fold(0.0, |all, c| all.max(c.abs()))
    }

    /// φ_μ.
    pub(super) fn barrier(&self, structure: &Structure, mu: f64) -> f64 {
        barrier(structure, &self.x, self.f, mu)
    }

    /// Multipliers of the bounds μ/d.
    pub(super) fn reset_multipliers(&mut self, structure: &Structure, mu: f64) {
        for (i, [low, up]) in distances(structure, &self.x).enumerate() {
            self.zl[i] = if low.is_finite() { mu / low } else { 0.0 };
            self.zu[i] = if up.is_finite() { mu / up } else { 0.0 };
        }
    }

    /// Keeps the multipliers near μ/d.
    pub(super) fn clip_multipliers(&mut self, structure: &Structure, mu: f64) {
        for (i, [low, up]) in distances(structure, &self.x).enumerate() {
            for (z, d) in [(&mut self.zl[i], low), (&mut self.zu[i], up)] {
                if d.is_finite() {
                    *z = z.min(NEAR_CENTRE * mu / d).max(mu / (NEAR_CENTRE * d));
                }
            }
        }
    }

    /// Σ = z_l/(x − l) + z_b/(b − x).
    pub(super) fn sigma(&self, structure: &Structure) -> Vec<f64> {
        distances(structure, &self.x).enumerate().map(|(i, [low, up])| self.zl[i] / low + self.zu[i] / up).collect()
    }

    /// ∇φ_μ = ∇f − μ/(x − l) + μ/(b − x).
    pub(super) fn barrier_gradient(&self, structure: &Structure, gradient: &[f64], mu: f64) -> Vec<f64> {
        gradient.iter().zip(distances(structure, &self.x)).map(|(g, [low, up])| g - mu / low + mu / up).collect()
    }

    /// −(∇φ_μ + Jᵀy, c).
    pub(super) fn right_hand_side(&self, structure: &Structure, derivatives: &NlpDerivatives, mu: f64) -> Vec<f64> {
        let mut rhs = self.barrier_gradient(structure, &derivatives.gradient, mu);
        derivatives.add_transposed(structure, &self.y, &mut rhs);
        rhs.extend_from_slice(&self.c);
        rhs.iter_mut().for_each(|entry| *entry = -*entry);
        rhs
    }

    pub(super) fn errors(&self, structure: &Structure, derivatives: &NlpDerivatives, mu: f64) -> Errors {
        let mut dual = derivatives.gradient.clone();
        derivatives.add_transposed(structure, &self.y, &mut dual);
        let mut complementarity = 0.0f64;
        for (i, [low, up]) in distances(structure, &self.x).enumerate() {
            dual[i] += self.zu[i] - self.zl[i];
            for (z, d) in [(self.zl[i], low), (self.zu[i], up)] {
                if d.is_finite() {
                    complementarity = complementarity.max((z * d - mu).abs());
                }
            }
        }
        let size = |all: &[f64]| all.iter().map(|x| x.abs()).sum::<f64>();
        let of_bounds = size(&self.zl) + size(&self.zu);
        let mean = |sum: f64, count: usize| (sum / count.max(1) as f64).max(100.0) / 100.0;
        let count = self.zl.len() + self.zu.len();
        let (sd, sc) = (mean(size(&self.y) + of_bounds, self.y.len() + count), mean(of_bounds, count));
        let largest = dual.iter().fold(0.0f64, |all, x| all.max(x.abs()));
        Errors { dual: largest / sd, primal: self.largest_violation(), complementarity: complementarity / sc }
    }
}

/// The distances of each variable to its lower and upper bounds; ∞ where there is none.
pub(super) fn distances<'a>(structure: &'a Structure, x: &'a [f64]) -> impl Iterator<Item = [f64; 2]> + 'a {
    x.iter().zip(structure.lower.iter().zip(&structure.upper)).map(|(x, (l, u))| [x - l, u - x])
}

/// φ_μ = f − μ Σ ln(x − l) − μ Σ ln(b − x).
pub(super) fn barrier(structure: &Structure, x: &[f64], f: f64, mu: f64) -> f64 {
    let log = |d: f64| if d.is_finite() { d.ln() } else { 0.0 };
    f - mu * distances(structure, x).map(|[low, up]| log(low) + log(up)).sum::<f64>()
}
