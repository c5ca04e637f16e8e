//! Stage equations for which the fixed-point iteration diverges: long steps and stiff systems.

use super::iteration::Iteration;
use crate::limits::STAGES_STAGNATE;
use crate::phase::Phase;
use crate::solve::{Lu, NoSolution};

/// The largest number of Newton iterations.
const MAX_ITERATIONS: usize = 50;

/// Newton's method on all stages at once, with finite differences for ∂f/∂z at each stage and a dense solution of
///
/// ```text
/// Dᵢ − ∂f/∂z(Zᵢ)·h Σⱼ aᵢⱼDⱼ = f(Zᵢ) − Fᵢ,   F ← F + D     [Hairer & Wanner, IV.8]
/// ```
///
/// The differences have about seven correct digits, so each iteration gains about as many; the converged solution is correct to
/// roundoff.
#[derive(Clone)]
pub(super) struct Stiff {
    s: usize,
    size: usize,
    lu: Lu,
    matrix: Vec<f64>,
    residual: Vec<f64>,
    change: Vec<f64>,
    /// f at the stages, and at the perturbed stages.
    values: [Vec<f64>; 2],
    /// ∂fᵢ/∂zₘ of stage k at (i·size + m)·width + k.
    slopes: Vec<f64>,
}

impl Stiff {
    pub(super) fn new(s: usize, size: usize, width: usize) -> Stiff {
        let count = s * size;
        Stiff {
            s,
            size,
            lu: Lu::new(count),
            matrix: vec![0.0; count * count],
            residual: vec![0.0; count],
            change: vec![0.0; count],
            values: [vec![0.0; size * width], vec![0.0; size * width]],
            slopes: vec![0.0; size * size * width],
        }
    }

    /// Solves for the rates F of the stages; `a` is the matrix of the method by rows.
    pub(super) fn solve(&mut self, iteration: &mut Iteration, a: &[f64], z0: &Phase, h: f64) -> Result<(), NoSolution> {
        let size: f64 = z0.z.iter().map(|x| x.abs()).sum();
        let scale = h.abs() / (size * self.s as f64);
        let mut previous = f64::INFINITY;
        // Start with all stages at z0: a stiff motion does not follow its initial tangent.
        iteration.rates.fill(0.0);
        for _ in 0..MAX_ITERATIONS {
            iteration.place_states(z0, h);
            let stiffness = self.differentiate(iteration)? * h.abs();
            self.assemble(iteration, a, h);
            if !self.lu.factor(&self.matrix) {
                return Err(NoSolution::Singular);
            }
            self.lu.solve(&self.residual, &mut self.change);
            let moved = scale * self.add(iteration);
            let stagnates = moved >= 0.5 * previous && moved <= STAGES_STAGNATE * stiffness.max(1.0);
            if moved <= 0.5 * f64::EPSILON || stagnates {
                return Ok(());
            }
            if !moved.is_finite() {
                break;
            }
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }

    /// Computes f and, by finite differences, ∂f/∂z at the stages. Returns the largest |∂fᵢ/∂zₘ|.
    fn differentiate(&mut self, iteration: &mut Iteration) -> Result<f64, NoSolution> {
        let (size, width) = (self.size, iteration.field.width);
        let [values, moved] = &mut self.values;
        iteration.field.rates(values)?;
        let mut norm = 0.0f64;
        for m in 0..size {
            let lanes = m * width..(m + 1) * width;
            let states = &mut iteration.field.states_mut()[lanes.clone()];
            let largest = states.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
            let shift = f64::EPSILON.sqrt() * largest;
            states.iter_mut().for_each(|x| *x += shift);
            iteration.field.rates(moved)?;
            iteration.field.states_mut()[lanes].iter_mut().for_each(|x| *x -= shift);
            for i in 0..size {
                for k in 0..width {
                    let slope = (moved[i * width + k] - values[i * width + k]) / shift;
                    self.slopes[(i * size + m) * width + k] = slope;
                    norm = norm.max(slope.abs());
                }
            }
        }
        Ok(norm)
    }

    /// Assembles the matrix and the right-hand side.
    fn assemble(&mut self, iteration: &Iteration, a: &[f64], h: f64) {
        let (s, size, width) = (self.s, self.size, iteration.field.width);
        for k in 0..s {
            for i in 0..size {
                let row = k * size + i;
                self.residual[row] = self.values[0][i * width + k] - iteration.rates[i * width + k];
                for j in 0..s {
                    for m in 0..size {
                        let unit = f64::from(j == k && i == m);
                        let slope = self.slopes[(i * size + m) * width + k];
                        self.matrix[row * s * size + j * size + m] = unit - h * a[k * s + j] * slope;
                    }
                }
            }
        }
    }

    /// F ← F + D; lanes beyond the stages repeat the first. Returns Σ|D|, which propagates NaN.
    fn add(&self, iteration: &mut Iteration) -> f64 {
        let (s, size, width) = (self.s, self.size, iteration.field.width);
        for i in 0..size {
            let lanes = &mut iteration.rates[i * width..(i + 1) * width];
            (0..s).for_each(|k| lanes[k] += self.change[k * size + i]);
            let first = lanes[0];
            lanes[s..].fill(first);
        }
        self.change.iter().map(|d| d.abs()).sum()
    }
}
