//! The coefficients of Gauss collocation.

/// Nodes c, weights b and matrix a of the Gauss method with s stages, on [0, 1]. [Hairer, Lubich & Wanner, II.1.3]
///
/// ```text
/// aᵢⱼ = ∫₀^cᵢ ℓⱼ,   bⱼ = ∫₀¹ ℓⱼ,   ℓⱼ(cₖ) = δⱼₖ
/// ```
#[derive(Clone, Debug)]
pub(super) struct Collocation {
    pub(super) c: Vec<f64>,
    pub(super) b: Vec<f64>,
    /// By rows.
    pub(super) a: Vec<f64>,
    /// 1 over the product of cⱼ − cₘ over m ≠ j.
    w: Vec<f64>,
}

impl Collocation {
    pub(super) fn gauss(s: usize) -> Collocation {
        let nodes: Vec<(f64, f64)> = (0..s).map(|i| legendre_root(s, i)).collect();
        // From [−1, 1] to [0, 1]. Roundoff in the sum of the weights would act as another step: it is taken out.
        let c: Vec<f64> = nodes.iter().map(|(x, _)| 0.5 * (1.0 + x)).collect();
        let b: Vec<f64> = nodes.iter().map(|(x, slope)| 1.0 / ((1.0 - x * x) * slope * slope)).collect();
        let sum: f64 = b.iter().sum();
        let b: Vec<f64> = b.iter().map(|b| b / sum).collect();
        let others = |j: usize| (0..s).filter(move |&m| m != j);
        let w = (0..s).map(|j| 1.0 / others(j).map(|m| c[j] - c[m]).product::<f64>()).collect();
        let mut rule = Collocation { c, b, a: Vec::new(), w };
        rule.a = (0..s).flat_map(|i| rule.integrals(rule.c[i])).collect();
        rule
    }

    /// ∫₀^x ℓⱼ for each j, by a Gauss quadrature, which is exact for their degree.
    fn integrals(&self, x: f64) -> Vec<f64> {
        let s = self.c.len();
        let integral = |j: usize| x * (0..s).map(|k| self.b[k] * lagrange(&self.c, j, x * self.c[k])).sum::<f64>();
        (0..s).map(integral).collect()
    }

    /// ℓⱼ(start + cᵢ·ratio) by columns j of the given width; rows beyond the stages repeat the first.
    pub(super) fn interpolation(&self, start: f64, ratio: f64, width: usize, matrix: &mut [f64]) {
        match width {
            2 => self.lagrange_lanes::<2>(start, ratio, matrix),
            4 => self.lagrange_lanes::<4>(start, ratio, matrix),
            _ => self.lagrange_lanes::<8>(start, ratio, matrix),
        }
    }

    fn lagrange_lanes<const K: usize>(&self, start: f64, ratio: f64, matrix: &mut [f64]) {
        let s = self.c.len();
        let x: [f64; K] = std::array::from_fn(|i| start + self.c[if i < s { i } else { 0 }] * ratio);
        let columns = matrix.as_chunks_mut::<K>().0;
        // ℓⱼ = wⱼ · (product of x − cₘ over m < j) · (product over m > j)
        let mut below = [1.0; K];
        for ((column, c), w) in columns.iter_mut().zip(&self.c).zip(&self.w) {
            for i in 0..K {
                column[i] = w * below[i];
                below[i] *= x[i] - c;
            }
        }
        let mut above = [1.0; K];
        for (column, c) in columns.iter_mut().zip(&self.c).rev() {
            for i in 0..K {
                column[i] *= above[i];
                above[i] *= x[i] - c;
            }
        }
    }
}

/// The polynomial that is 1 at node j and 0 at the others.
fn lagrange(c: &[f64], j: usize, x: f64) -> f64 {
    let others = (0..c.len()).filter(|&m| m != j);
    others.map(|m| (x - c[m]) / (c[j] - c[m])).product()
}

/// Root number i of the Legendre polynomial P_s, in ascending order, and P_s′ there.
fn legendre_root(s: usize, i: usize) -> (f64, f64) {
    let mut x = -((4 * i + 3) as f64 / (4 * s + 2) as f64 * std::f64::consts::PI).cos();
    let mut slope = 1.0;
    for _ in 0..20 {
        let (mut p0, mut p1) = (1.0, x);
        for k in 2..=s {
            let k = k as f64;
            (p0, p1) = (p1, ((2.0 * k - 1.0) * x * p1 - (k - 1.0) * p0) / k);
        }
        slope = s as f64 * (x * p1 - p0) / (x * x - 1.0);
        x -= p1 / slope;
    }
    (x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simplifying assumptions B(2s) and C(s), and the condition of symplecticity.
    #[test]
    fn the_order_conditions_hold_to_roundoff() {
        for s in 1..=8 {
            let Collocation { c, b, a, .. } = Collocation::gauss(s);
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
                    assert!(defect.abs() < 1e-16, "symplecticity for {s} stages: {defect:e}");
                }
            }
        }
    }
}
