//! Stage equations for which the fixed-point iteration diverges: long steps and stiff systems.

use super::iteration::Iteration;
use super::roundoff::{PROBES, SAFETY, disturb, largest, own};
use crate::limits::STAGES_STAGNATE;
use crate::phase::Phase;
use crate::solve::{Lu, NoSolution};

/// The largest number of Newton iterations.
const MAX_ITERATIONS: usize = 50;
/// A coordinate smaller than this, relative to how far each momentum alone carries it in the step, is what is left after larger terms
/// have cancelled: differences over √ε times its value would have less than four correct digits.
const CANCELLED: f64 = 1e-4;

/// Newton's method on all stages at once, with finite differences for ∂f/∂z at each stage and a dense solution of
///
/// ```text
/// Dᵢ − ∂f/∂z(Zᵢ)·h Σⱼ aᵢⱼDⱼ = f(Zᵢ) − Fᵢ,   F ← F + D     [Hairer & Wanner, IV.8]
/// ```
///
/// The differences have about seven correct digits, so each iteration gains about as many; the converged solution is correct to
/// roundoff. Each component is divided by its own size, max |Zᵢ|: they have different units.
#[derive(Clone)]
pub(super) struct Stiff {
    s: usize,
    size: usize,
    lu: Lu,
    matrix: Vec<f64>,
    residual: Vec<f64>,
    change: Vec<f64>,
    /// The correction for the roundoff of f.
    effect: Vec<f64>,
    /// The size of each component.
    sizes: Vec<f64>,
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
            effect: vec![0.0; count],
            sizes: vec![0.0; size],
            values: [vec![0.0; size * width], vec![0.0; size * width]],
            slopes: vec![0.0; size * size * width],
        }
    }

    /// Solves for the rates F of the stages; `a` is the matrix of the method by rows.
    pub(super) fn solve(&mut self, iteration: &mut Iteration, a: &[f64], z0: &Phase, h: f64) -> Result<(), NoSolution> {
        let mut previous = f64::INFINITY;
        // Start with all stages at z0: a stiff motion does not follow its initial tangent.
        iteration.rates.fill(0.0);
        for _ in 0..MAX_ITERATIONS {
            iteration.place_states(z0, h);
            self.differentiate(iteration, z0, h)?;
            self.assemble(iteration, a, h);
            if !self.lu.factor(&self.matrix) {
                return Err(NoSolution::Singular);
            }
            self.lu.solve(&self.residual, &mut self.change);
            let moved = h.abs() * self.add(iteration);
            if moved <= 0.5 * f64::EPSILON {
                return Ok(());
            }
            if !moved.is_finite() {
                break;
            }
            if moved >= 0.5 * previous && (moved <= STAGES_STAGNATE || self.is_roundoff(iteration, z0, h)?) {
                return Ok(());
            }
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }

    /// Computes f and, by finite differences, ∂f/∂z at the stages.
    fn differentiate(&mut self, iteration: &mut Iteration, z0: &Phase, h: f64) -> Result<(), NoSolution> {
        let (size, width) = (self.size, iteration.field.width);
        let [values, moved] = &mut self.values;
        iteration.field.rates(values)?;
        for (i, own) in self.sizes.iter_mut().enumerate() {
            let lanes = i * width..(i + 1) * width;
            *own = largest(&iteration.field.states()[lanes.clone()]).max(z0.z[i].abs());
            if *own == 0.0 {
                // At rest in the origin: as far as the rates lead from there.
                *own = h.abs() * largest(&values[lanes]);
            }
        }
        self.slopes.fill(0.0);
        // Momenta first: they tell how far coordinates may move.
        for m in (0..size).rev() {
            if m < size / 2 {
                let carried = |k: usize| -> f64 {
                    (size / 2..size).map(|j| (self.slopes[(m * size + j) * width + k] * self.sizes[j]).abs()).sum()
                };
                let reach = h.abs() * (0..width).map(carried).fold(0.0, f64::max);
                if self.sizes[m] < CANCELLED * reach && reach.is_finite() {
                    self.sizes[m] = reach;
                }
            }
            // A component that neither is nor moves anywhere has no size yet, and needs no slopes.
            if self.sizes[m] == 0.0 {
                continue;
            }
            let lanes = m * width..(m + 1) * width;
            let shift = f64::EPSILON.sqrt() * self.sizes[m];
            iteration.field.states_mut()[lanes.clone()].iter_mut().for_each(|x| *x += shift);
            iteration.field.rates(moved)?;
            iteration.field.states_mut()[lanes].iter_mut().for_each(|x| *x -= shift);
            for i in 0..size {
                for k in 0..width {
                    let slope = (moved[i * width + k] - values[i * width + k]) / shift;
                    self.slopes[(i * size + m) * width + k] = slope;
                }
            }
        }
        self.sizes.iter_mut().filter(|own| **own == 0.0).for_each(|own| *own = 1.0);
        Ok(())
    }

    /// True if the last correction is roundoff: no more than a few times the correction for the roundoff of f.
    fn is_roundoff(&mut self, iteration: &mut Iteration, z0: &Phase, h: f64) -> Result<bool, NoSolution> {
        let (s, size, width) = (self.s, self.size, iteration.field.width);
        let mut roundoff = own(iteration, z0, h);
        for probe in 0..PROBES {
            disturb(iteration, z0, h, probe)?;
            for (row, residual) in self.residual.iter_mut().enumerate() {
                let (k, i) = (row / size, row % size);
                *residual = iteration.residual[i * width + k] / self.sizes[i];
            }
            self.lu.solve(&self.residual, &mut self.effect);
            for (i, roundoff) in roundoff.iter_mut().enumerate() {
                let most = (0..s).map(|k| self.effect[k * size + i].abs()).fold(0.0, f64::max);
                *roundoff = roundoff.max(SAFETY * self.sizes[i] * most);
            }
        }
        Ok(iteration.change.chunks(width).zip(&roundoff).all(|(change, roundoff)| largest(change) <= *roundoff))
    }

    /// Assembles the matrix and the right-hand side, relative to the sizes.
    fn assemble(&mut self, iteration: &Iteration, a: &[f64], h: f64) {
        let (s, size, width) = (self.s, self.size, iteration.field.width);
        for k in 0..s {
            for i in 0..size {
                let row = k * size + i;
                self.residual[row] = (self.values[0][i * width + k] - iteration.rates[i * width + k]) / self.sizes[i];
                for j in 0..s {
                    for m in 0..size {
                        let unit = f64::from(j == k && i == m);
                        let slope = self.slopes[(i * size + m) * width + k] * (self.sizes[m] / self.sizes[i]);
                        self.matrix[row * s * size + j * size + m] = unit - h * a[k * s + j] * slope;
                    }
                }
            }
        }
    }

    /// F ← F + D; lanes beyond the stages repeat the first. Returns the mean of |Dᵢ| relative to the sizes; a sum propagates NaN.
    fn add(&self, iteration: &mut Iteration) -> f64 {
        let (s, size, width) = (self.s, self.size, iteration.field.width);
        for i in 0..size {
            let lanes = i * width..(i + 1) * width;
            let (rates, change) = (&mut iteration.rates[lanes.clone()], &mut iteration.change[lanes]);
            for k in 0..width {
                change[k] = self.sizes[i] * self.change[if k < s { k } else { 0 } * size + i];
                rates[k] += change[k];
            }
        }
        self.change.iter().map(|d| d.abs()).sum::<f64>() / self.change.len() as f64
    }
}
