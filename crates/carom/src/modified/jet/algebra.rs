//! Arithmetic of truncated polynomials.

use rustc_hash::FxHashMap;

/// Truncated polynomials in several variables.
///
/// A jet is a slice of coefficients, one for each monomial x^α, ordered by |α|, so a jet of lower degree is a prefix. All
/// operations take the degree up to which they compute.
#[derive(Clone, Debug)]
pub struct Algebra {
    degree: usize,
    /// The number of monomials up to each degree.
    sizes: Vec<usize>,
    /// For each monomial γ, the pairs (α, β) with α + β = γ; the first is (0, γ).
    pairs: Vec<(u32, u32)>,
    /// The start of each monomial's pairs, and the total number.
    starts: Vec<usize>,
    /// For each variable v and monomial α below the top degree: the index of α + e_v, and α_v + 1.
    raised: Vec<Vec<(u32, f64)>>,
}

impl Algebra {
    /// Builds the tables for this number of variables and this degree.
    pub fn new(variables: usize, degree: usize) -> Algebra {
        let (monomials, sizes) = monomials(variables, degree);
        let index: FxHashMap<&[u8], u32> = monomials.iter().map(Vec::as_slice).zip(0..).collect();
        let (mut pairs, mut starts) = (Vec::new(), vec![0]);
        for gamma in &monomials {
            for_each_divisor(gamma, |alpha, beta| pairs.push((index[alpha], index[beta])));
            starts.push(pairs.len());
        }
        let raise = |v: usize, alpha: &[u8]| {
            let mut raised = alpha.to_vec();
            raised[v] += 1;
            index.get(raised.as_slice()).map(|&number| (number, f64::from(raised[v])))
        };
        let raised = (0..variables).map(|v| monomials.iter().map_while(|alpha| raise(v, alpha)).collect()).collect();
        Algebra { degree, sizes, pairs, starts, raised }
    }

    /// The highest degree.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The number of coefficients of a jet of this degree.
    pub fn size(&self, degree: usize) -> usize {
        self.sizes[degree]
    }

    /// The index of the coefficient of x_v.
    pub fn variable(&self, v: usize) -> usize {
        1 + v
    }

    /// The indices of the coefficients of exactly this degree.
    pub fn layer(&self, degree: usize) -> std::ops::Range<usize> {
        if degree == 0 { 0..1 } else { self.sizes[degree - 1]..self.sizes[degree] }
    }

    /// out = a·b.
    pub fn mul(&self, a: &[f64], b: &[f64], out: &mut [f64], degree: usize) {
        for (out, range) in out[..self.sizes[degree]].iter_mut().zip(self.starts.windows(2)) {
            let pairs = &self.pairs[range[0]..range[1]];
            *out = pairs.iter().map(|&(i, j)| a[i as usize] * b[j as usize]).sum();
        }
    }

    /// out += factor·a·b.
    pub fn add_product(&self, factor: f64, a: &[f64], b: &[f64], out: &mut [f64], degree: usize) {
        for (out, range) in out[..self.sizes[degree]].iter_mut().zip(self.starts.windows(2)) {
            let pairs = &self.pairs[range[0]..range[1]];
            *out += factor * pairs.iter().map(|&(i, j)| a[i as usize] * b[j as usize]).sum::<f64>();
        }
    }

    /// out = a/b, coefficient by coefficient: b₀ out_γ = a_γ − Σ b_α out_β over the other pairs.
    pub fn div(&self, a: &[f64], b: &[f64], out: &mut [f64], degree: usize) {
        for k in 0..self.sizes[degree] {
            let pairs = &self.pairs[self.starts[k] + 1..self.starts[k + 1]];
            let known: f64 = pairs.iter().map(|&(i, j)| b[i as usize] * out[j as usize]).sum();
            out[k] = (a[k] - known) / b[0];
        }
    }

    /// out = ∂a/∂x_v up to `degree`; needs a up to `degree` + 1.
    pub fn derivative(&self, a: &[f64], v: usize, out: &mut [f64], degree: usize) {
        for (out, &(number, factor)) in out[..self.sizes[degree]].iter_mut().zip(&self.raised[v]) {
            *out = factor * a[number as usize];
        }
    }

    /// out = f(x), where c has the Taylor coefficients of f at x₀. Uses Horner's rule in x − x₀; each product needs one degree
    /// more than the one before.
    pub fn compose(&self, c: &[f64], x: &[f64], out: &mut [f64], scratch: &mut [f64], degree: usize) {
        out[..self.sizes[degree]].fill(0.0);
        out[0] = c[degree];
        for k in (0..degree).rev() {
            let carried = degree - k;
            scratch[..self.sizes[carried]].copy_from_slice(&out[..self.sizes[carried]]);
            for (out, range) in out[..self.sizes[carried]].iter_mut().zip(self.starts.windows(2)) {
                let pairs = &self.pairs[range[0] + 1..range[1]];
                *out = pairs.iter().map(|&(i, j)| x[i as usize] * scratch[j as usize]).sum();
            }
            out[0] = c[k];
        }
    }
}

/// Visits all (α, β) with α + β = γ, starting with (0, γ). α counts up, with each digit α_v from 0 to γ_v.
fn for_each_divisor(gamma: &[u8], mut found: impl FnMut(&[u8], &[u8])) {
    let (mut alpha, mut beta) = (vec![0; gamma.len()], gamma.to_vec());
    loop {
        found(&alpha, &beta);
        let Some(v) = beta.iter().position(|&b| b > 0) else { return };
        alpha[v] += 1;
        beta[v] -= 1;
        alpha[..v].fill(0);
        beta[..v].copy_from_slice(&gamma[..v]);
    }
}

/// The exponents of all monomials, by degree, and the number of monomials up to each degree.
fn monomials(variables: usize, degree: usize) -> (Vec<Vec<u8>>, Vec<usize>) {
    let mut all = vec![vec![0; variables]];
    let mut sizes = vec![1];
    for d in 0..degree {
        let last = if d == 0 { 0 } else { sizes[d - 1] };
        for number in last..sizes[d] {
            // Generate each monomial once: raise no variable before the last one that occurs.
            let first = all[number].iter().rposition(|&a| a > 0).unwrap_or(0);
            for v in first..variables {
                let mut next = all[number].clone();
                next[v] += 1;
                all.push(next);
            }
        }
        sizes.push(all.len());
    }
    (all, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x + 1 and y + 2 up to degree 3.
    fn x_and_y() -> (Algebra, Vec<f64>, Vec<f64>) {
        let algebra = Algebra::new(2, 3);
        let (mut x, mut y) = (vec![0.0; algebra.size(3)], vec![0.0; algebra.size(3)]);
        (x[0], x[1], y[0], y[2]) = (1.0, 1.0, 2.0, 1.0);
        (algebra, x, y)
    }

    #[test]
    fn there_are_as_many_monomials_as_there_should_be() {
        let algebra = Algebra::new(4, 4);
        assert_eq!((algebra.size(4), algebra.pairs.len()), (70, 495));
        assert_eq!(algebra.layer(1), 1..5);
    }

    #[test]
    fn a_quotient_times_its_divisor_is_the_dividend() {
        let (algebra, x, y) = x_and_y();
        let (mut quotient, mut product) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        algebra.div(&x, &y, &mut quotient, 3);
        algebra.mul(&quotient, &y, &mut product, 3);
        assert_eq!(product, x);
    }

    #[test]
    fn the_derivative_of_a_product() {
        let (algebra, x, y) = x_and_y();
        let (mut square, mut cube, mut slope) = (x.clone(), x.clone(), x.clone());
        algebra.mul(&x, &x, &mut square, 3);
        algebra.mul(&square, &y, &mut cube, 3);
        algebra.derivative(&cube, 0, &mut slope, 2);
        let mut expected = x.clone();
        algebra.mul(&x, &y, &mut expected, 2);
        expected.iter_mut().for_each(|c| *c *= 2.0);
        assert_eq!(slope[..algebra.size(2)], expected[..algebra.size(2)], "∂(x²y)/∂x = 2xy");
    }

    #[test]
    fn composition_with_a_polynomial_is_exact() {
        let (algebra, x, _) = x_and_y();
        let (mut out, mut scratch, mut square) = (x.clone(), x.clone(), x.clone());
        algebra.compose(&[1.0, 2.0, 1.0, 0.0], &x, &mut out, &mut scratch, 3);
        algebra.mul(&x, &x, &mut square, 3);
        assert_eq!(out, square);
    }
}
