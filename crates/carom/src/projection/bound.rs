//! The bound on Λ, which determines the smallest admissible k.

use super::normal_form::NormalForm;
use super::region::Region;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::solve::Lu;

/// ‖Λ‖ counts as growing beyond the region if widening it by this factor, once or twice, increases ‖Λ‖ by more than a hundredth.
const WIDER: f64 = 4.0;

/// The largest ‖Λ‖ over a region, and with it k_c = a². [GP Lemma 1]
///
/// ```text
/// a = sup ‖Λ‖,   k_c = a²:   for k > k_c,  𝕀 − 2z¹/(1 + k(z¹)²)·Λ  is invertible everywhere
/// ```
///
/// DIFFERENCE: coordinates are measured in 1/√M_ii, ‖Λ‖ = ‖DΛD⁻¹‖ with D = diag √M_ii; otherwise a would depend on their units.
#[derive(Clone, Debug)]
pub struct LambdaBound {
    /// a.
    pub largest: f64,
    /// A configuration with ‖Λ‖ = a.
    pub at: Vec<f64>,
    /// k_c = a².
    pub k_crit: f64,
    /// The region that was searched.
    pub region: Region,
    /// The reason why a may not hold outside the region, if so.
    pub warning: Option<String>,
}

/// Evaluates Λ.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// The number n − 1 of rows.
    pub size: usize,
    parameters: Vec<f64>,
    kernel: Kernel,
    inputs: Vec<f64>,
    values: Vec<f64>,
    /// DΛD⁻¹.
    scaled: Vec<f64>,
    lu: Lu,
}

impl Lambda {
    /// Compiles Λ of a normal form.
    pub fn new(form: &NormalForm, mechanics: &Mechanics, parameters: &[f64]) -> Result<Lambda> {
        let size = form.others.len();
        let outputs = [form.jac_delta.concat(), form.masses.clone()].concat();
        let inputs = vec![0.0; parameters.len() + form.q.len()];
        let kernel = mechanics.interpreted().kernel(&form.q, &outputs)?;
        let (values, scaled) = (vec![0.0; outputs.len()], vec![0.0; size * size]);
        Ok(Lambda { size, parameters: parameters.to_vec(), kernel, inputs, values, scaled, lu: Lu::new(size) })
    }

    /// DΛD⁻¹ by rows at a configuration.
    fn at(&mut self, q: &[f64]) -> &[f64] {
        let (count, size) = (self.parameters.len(), self.size);
        self.inputs[..count].copy_from_slice(&self.parameters);
        self.inputs[count..].copy_from_slice(q);
        self.kernel.eval(&self.inputs, &mut self.values);
        let (lambda, masses) = self.values.split_at(size * size);
        for (k, (scaled, x)) in self.scaled.iter_mut().zip(lambda).enumerate() {
            *scaled = x * (masses[k / size] / masses[k % size]).sqrt();
        }
        &self.scaled
    }

    /// ‖Λ‖, the largest singular value.
    pub fn norm(&mut self, q: &[f64]) -> f64 {
        let size = self.size;
        let values = self.at(q).to_vec();
        largest_singular_value(values, size)
    }

    /// det(𝕀 + s·Λ).
    pub fn determinant(&mut self, q: &[f64], s: f64) -> f64 {
        let size = self.size;
        let mut matrix: Vec<f64> = self.at(q).iter().map(|x| s * x).collect();
        (0..size).for_each(|i| matrix[i * size + i] += 1.0);
        if self.lu.factor(&matrix) { self.lu.determinant() } else { 0.0 }
    }
}

impl LambdaBound {
    /// Finds the largest ‖Λ‖ over a region.
    pub fn new(lambda: &mut Lambda, region: &Region) -> LambdaBound {
        let mut search = |region: &Region| region.maximize(&mut |q: &[f64]| lambda.norm(q));
        let (at, largest) = search(region);
        let warning = if !largest.is_finite() {
            Some(format!("Λ is not bounded: it is not a number at q = {at:?}"))
        } else if region.is_partial() {
            let wide = search(&region.widened(WIDER)).1;
            let wider = search(&region.widened(WIDER * WIDER)).1;
            let grows = !(wide <= 1.01 * largest && wider <= 1.01 * wide);
            grows.then(|| {
                let factor = WIDER * WIDER;
                format!("Λ seems to be unbounded: |Λ| is at most {largest:.6} where the motion goes, and {wider:.6} over a region {factor} times as wide")
            })
        } else {
            None
        };
        LambdaBound { largest, at, k_crit: largest * largest, region: region.clone(), warning }
    }
}

/// One-sided Jacobi method: rotates pairs of columns until all are orthogonal.
fn largest_singular_value(mut a: Vec<f64>, n: usize) -> f64 {
    let column = |a: &[f64], i: usize, j: usize| (0..n).map(|k| a[k * n + i] * a[k * n + j]).sum::<f64>();
    for _ in 0..30 {
        let mut off = 0.0;
        for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
            let (aa, bb, ab) = (column(&a, i, i), column(&a, j, j), column(&a, i, j));
            if ab == 0.0 {
                continue;
            }
            off += ab.abs() / (aa * bb).sqrt();
            let theta = 0.5 * (2.0 * ab).atan2(aa - bb);
            let (c, s) = (theta.cos(), theta.sin());
            for k in 0..n {
                let (x, y) = (a[k * n + i], a[k * n + j]);
                (a[k * n + i], a[k * n + j]) = (c * x + s * y, c * y - s * x);
            }
        }
        if off < 1e-15 {
            break;
        }
    }
    // A maximum would lose NaN; this sum propagates it.
    let squares: Vec<f64> = (0..n).map(|i| column(&a, i, i)).collect();
    let finite = squares.iter().sum::<f64>();
    if finite.is_finite() { squares.into_iter().fold(0.0, f64::max).sqrt() } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_values() {
        assert_eq!(largest_singular_value(vec![], 0), 0.0);
        assert_eq!(largest_singular_value(vec![-3.0], 1), 3.0);
        // A shear, whose largest singular value is the golden ratio.
        let golden = 0.5 * (1.0 + 5f64.sqrt());
        assert!((largest_singular_value(vec![1.0, 1.0, 0.0, 1.0], 2) - golden).abs() < 1e-14);
        let found = largest_singular_value(vec![2.0, 0.0, 0.0, 0.0, 0.0, -7.0, 1.0, 0.0, 0.0], 3);
        assert!((found - 7.0).abs() < 1e-14, "{found}");
        assert!(largest_singular_value(vec![f64::NAN, 0.0, 0.0, 1.0], 2).is_nan());
    }
}
