//! The coefficients of Gauss collocation.

use super::vector::{Registers, Vector, Work};
pub(crate) use crate::discrete::quadrature::legendre;
use crate::discrete::quadrature::{Quadrature, lagrange};

/// Nodes c, weights b and matrix a of the Gauss method with s stages, on [0, 1]. [Hairer, Lubich & Wanner, II.1.3]
///
/// ```text
/// aᵢⱼ = ∫₀^cᵢ ℓⱼ,   bⱼ = ∫₀¹ ℓⱼ,   ℓⱼ(cₖ) = δⱼₖ
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Collocation {
    pub(crate) c: Vec<f64>,
    pub(crate) b: Vec<f64>,
    /// The matrix a, by rows.
    pub(crate) a: Vec<f64>,
    /// wⱼ = 1/Π(cⱼ − cₘ) over m ≠ j.
    w: Vec<f64>,
    /// The coefficients of ∫₀ˣ ℓⱼ/x in powers of x, s for each j.
    powers: Vec<f64>,
    registers: Registers,
}

impl Collocation {
    pub(crate) fn gauss(s: usize) -> Collocation {
        let Quadrature { c, b } = Quadrature::gauss(s);
        let others = |j: usize| (0..s).filter(move |&m| m != j);
        let w = (0..s).map(|j| 1.0 / others(j).map(|m| c[j] - c[m]).product::<f64>()).collect();
        let registers = Registers::detect();
        let mut rule = Collocation { c, b, a: Vec::new(), w, powers: Vec::new(), registers };
        rule.powers = (0..s).flat_map(|j| rule.powers_of(j)).collect();
        rule.a = (0..s).flat_map(|i| rule.integrals(rule.c[i])).collect();
        rule
    }

    /// ∫₀^x ℓⱼ for each j, by a Gauss quadrature that is exact for this degree.
    pub(crate) fn integrals(&self, x: f64) -> Vec<f64> {
        let s = self.c.len();
        let integral = |j: usize| x * (0..s).map(|k| self.b[k] * lagrange(&self.c, j, x * self.c[k])).sum::<f64>();
        (0..s).map(integral).collect()
    }

    /// The coefficients of ∫₀ˣ ℓⱼ/x in powers of x.
    fn powers_of(&self, j: usize) -> Vec<f64> {
        let mut powers = vec![self.w[j]];
        for (_, c) in self.c.iter().enumerate().filter(|(m, _)| *m != j) {
            // times x − c
            powers.push(0.0);
            for k in (0..powers.len()).rev() {
                powers[k] = if k > 0 { powers[k - 1] } else { 0.0 } - c * powers[k];
            }
        }
        powers.iter_mut().enumerate().for_each(|(k, x)| *x /= (k + 1) as f64);
        powers
    }

    /// Writes ∫₀ˣ ℓⱼ for each j. Powers lose some digits of large numbers of stages: accurate enough to look at a motion.
    pub(super) fn weights(&self, x: f64, into: &mut [f64]) {
        let s = self.c.len();
        for (weight, powers) in into.iter_mut().zip(self.powers.chunks(s)) {
            *weight = x * powers.iter().rev().fold(0.0, |sum, power| sum * x + power);
        }
    }

    /// Writes ℓⱼ(start + cᵢ·ratio) by columns j of the given width; rows beyond the stages repeat the first.
    pub(super) fn interpolation(&self, start: f64, ratio: f64, width: usize, matrix: &mut [f64]) {
        self.registers.run(width, Interpolate { rule: self, start, ratio, matrix });
    }

    /// ℓⱼ(start + cᵢ·ratio) by columns j; rows beyond the stages repeat the first, columns beyond them are zero.
    ///
    /// ```text
    /// ℓⱼ = wⱼ · (product of x − cₘ over m < j) · (product over m > j)
    /// ```
    #[inline(always)]
    pub(super) fn columns<const K: usize, V: Vector<K>>(&self, start: f64, ratio: f64) -> [V; K] {
        let s = self.c.len().min(K);
        let mut nodes = [self.c[0]; K];
        nodes[..s].copy_from_slice(&self.c[..s]);
        let x = V::load(&nodes).mul_add(V::splat(ratio), V::splat(start));
        let (mut columns, mut above) = ([V::splat(0.0); K], [V::splat(1.0); K]);
        for j in (1..s).rev() {
            above[j - 1] = above[j].mul(x.sub(V::splat(self.c[j])));
        }
        let mut below = V::splat(1.0);
        for j in 0..s {
            columns[j] = V::splat(self.w[j]).mul(below).mul(above[j]);
            below = below.mul(x.sub(V::splat(self.c[j])));
        }
        columns
    }
}

struct Interpolate<'a> {
    rule: &'a Collocation,
    start: f64,
    ratio: f64,
    matrix: &'a mut [f64],
}

impl Work for Interpolate<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let columns = self.rule.columns::<K, V>(self.start, self.ratio);
        for (column, to) in columns.iter().zip(self.matrix.as_chunks_mut::<K>().0) {
            column.store(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simplifying assumptions B(2s) and C(s), and the condition of symplecticity.
    #[test]
    fn the_order_conditions_hold_to_roundoff() {
        for s in 1..=8 {
            let rule = Collocation::gauss(s);
            for x in [0.0, 0.3, 1.0] {
                let mut weights = vec![0.0; s];
                rule.weights(x, &mut weights);
                for (weight, due) in weights.iter().zip(rule.integrals(x)) {
                    assert!((weight - due).abs() < 1e-10, "{s} stages at {x}: {weight}, not {due}");
                }
            }
            let Collocation { c, b, a, .. } = rule;
            for k in 1..=2 * s {
                let sum: f64 = (0..s).map(|i| b[i] * c[i].powi(k as i32 - 1)).sum();
                assert!((sum - 1.0 / k as f64).abs() < 4e-16, "B({k}) for {s} stages: {:e}", sum - 1.0 / k as f64);
            }
            for i in 0..s {
                for k in 1..=s {
                    let sum: f64 = (0..s).map(|j| a[i * s + j] * c[j].powi(k as i32 - 1)).sum();
                    let exact = c[i].powi(k as i32) / k as f64;
                    assert!((sum - exact).abs() < 4e-16, "C({k}) for {s} stages: {:e}", sum - exact);
                }
                for j in 0..s {
                    let defect = b[i] * a[i * s + j] + b[j] * a[j * s + i] - b[i] * b[j];
                    assert!(defect.abs() < 2e-16, "symplecticity for {s} stages: {defect:e}");
                }
            }
        }
    }
}
