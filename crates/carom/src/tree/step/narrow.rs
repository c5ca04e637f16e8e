//! The elimination of `elimination.rs` for trees in the plane: at most one freedom for each body, and y has three rows.

use super::plane::Flat;
use crate::solve::{NoSolution, Solved};

/// The equation of a body: row i is αᵀy_i + βᵀx_i + E δ_i = ρ_i, and N adds to y_i.
pub(super) struct Equation<const C: usize> {
    /// N
    pub(super) block: [[f64; C]; 3],
    /// α
    pub(super) alpha: [f64; 3],
    /// β
    pub(super) beta: [f64; C],
    /// B
    pub(super) way: [f64; C],
    /// E
    pub(super) e: f64,
}

/// What `solve` needs of a body.
#[derive(Clone, Copy, Debug)]
struct Factors<const C: usize> {
    alpha: [f64; 3],
    gamma: [f64; 3],
    /// D⁻¹ b
    b: [f64; C],
    way: [f64; C],
    /// D⁻¹
    pivot: f64,
}

/// Memory and factors.
#[derive(Clone, Debug)]
pub(super) struct Narrow<const C: usize> {
    factors: Vec<Factors<C>>,
    /// Σ M and Σ y over the children that do not follow a body. Zero between sweeps.
    sums: Vec<[[f64; C]; 3]>,
    y: Vec<[f64; 3]>,
    /// x of bodies with such children.
    x: Vec<[f64; C]>,
}

impl<const C: usize> Narrow<C> {
    pub(super) fn new(bodies: usize) -> Narrow<C> {
        let nothing = Factors { alpha: [0.0; 3], gamma: [0.0; 3], b: [0.0; C], way: [0.0; C], pivot: 0.0 };
        Narrow {
            factors: vec![nothing; bodies],
            sums: vec![[[0.0; C]; 3]; bodies],
            y: vec![[0.0; 3]; bodies],
            x: vec![[0.0; C]; bodies],
        }
    }

    /// Eliminates from the leaves to the roots.
    #[inline(always)]
    pub(super) fn factor(&mut self, bodies: &[Flat], equation: impl Fn(usize) -> Equation<C>) -> Solved<()> {
        let mut carried = [[0.0; C]; 3];
        for (i, body) in bodies.iter().enumerate().rev() {
            let Equation { mut block, alpha, beta, way, e } = equation(i);
            for r in 0..3 {
                add(&mut block[r], &carried[r], 1.0);
            }
            if body.gathers {
                let sum = std::mem::replace(&mut self.sums[i], [[0.0; C]; 3]);
                block.iter_mut().zip(&sum).for_each(|(row, sum)| add(row, sum, 1.0));
            }
            if body.v.is_some() {
                let (mut gamma, mut b) = ([0.0; 3], beta);
                for r in 0..3 {
                    gamma[r] = dot(&block[r], &way);
                    add(&mut b, &block[r], alpha[r]);
                }
                let pivot = 1.0 / (dot(&alpha, &gamma) + dot(&beta, &way) + e);
                if !pivot.is_finite() {
                    self.sums.fill([[0.0; C]; 3]);
                    return Err(NoSolution::Singular);
                }
                b.iter_mut().for_each(|b| *b *= pivot);
                for r in 0..3 {
                    add(&mut block[r], &b, -gamma[r]);
                }
                self.factors[i] = Factors { alpha, gamma, b, way, pivot };
            }
            carried = [[0.0; C]; 3];
            match body.parent {
                Some(_) if body.follows => carried = block,
                Some(parent) => {
                    self.sums[parent].iter_mut().zip(&block).for_each(|(sum, row)| add(sum, row, 1.0));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// ρ ← δ.
    #[inline(always)]
    pub(super) fn solve(&mut self, bodies: &[Flat], rho: &mut [f64]) {
        let mut carried = [0.0; 3];
        for (i, (body, factors)) in bodies.iter().zip(&self.factors).enumerate().rev() {
            let mut y = carried;
            if body.gathers {
                add(&mut y, &std::mem::replace(&mut self.y[i], [0.0; 3]), 1.0);
            }
            if let Some(v) = body.v {
                let s = factors.pivot * (rho[v] - dot(&factors.alpha, &y));
                rho[v] = s;
                add(&mut y, &factors.gamma, s);
            }
            carried = [0.0; 3];
            match body.parent {
                Some(_) if body.follows => carried = y,
                Some(parent) => add(&mut self.y[parent], &y, 1.0),
                None => {}
            }
        }
        let mut x = [0.0; C];
        for (i, (body, factors)) in bodies.iter().zip(&self.factors).enumerate() {
            if !body.follows {
                x = body.parent.map_or([0.0; C], |parent| self.x[parent]);
            }
            if let Some(v) = body.v {
                let delta = rho[v] - dot(&factors.b, &x);
                rho[v] = delta;
                add(&mut x, &factors.way, delta);
            }
            if body.gathers {
                self.x[i] = x;
            }
        }
    }
}

#[inline(always)]
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    // Two sums, so that a product does not wait for all before it.
    let mut sums = [0.0; 2];
    for k in 0..N {
        sums[k % 2] += a[k] * b[k];
    }
    sums[0] + sums[1]
}

#[inline(always)]
fn add<const N: usize>(sum: &mut [f64; N], a: &[f64; N], factor: f64) {
    for k in 0..N {
        sum[k] += a[k] * factor;
    }
}
