//! LU decomposition with row pivoting.

use crate::limits::SINGULAR;

/// P·A = L·U of a square matrix, stored by rows.
#[derive(Clone, Debug)]
pub struct Lu {
    n: usize,
    /// A
    matrix: Vec<f64>,
    /// True if `matrix` has been factored.
    known: bool,
    a: Vec<f64>,
    rows: Vec<usize>,
}

impl Lu {
    /// Memory for n×n matrices.
    pub fn new(n: usize) -> Lu {
        Lu { n, matrix: vec![0.0; n * n], known: false, a: vec![0.0; n * n], rows: (0..n).collect() }
    }

    /// Factors `a`, given by rows. Returns false if it is singular to working precision or not finite. Reuses the factors if
    /// `a` is equal to the last matrix, as for a motion at rest.
    pub fn factor(&mut self, a: &[f64]) -> bool {
        if self.known && self.matrix == a {
            return true;
        }
        self.matrix.copy_from_slice(a);
        self.a.copy_from_slice(a);
        self.known = self.eliminate();
        self.known
    }

    fn eliminate(&mut self) -> bool {
        let n = self.n;
        self.rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
        let scale = self.a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| self.a[i * n + k].abs().total_cmp(&self.a[j * n + k].abs()));
            let pivot = pivot.unwrap_or(k);
            if self.a[pivot * n + k].abs() <= SINGULAR * scale || !self.a[pivot * n + k].is_finite() {
                return false;
            }
            if pivot != k {
                self.rows.swap(pivot, k);
                (0..n).for_each(|j| self.a.swap(pivot * n + j, k * n + j));
            }
            let (above, below) = self.a.split_at_mut((k + 1) * n);
            let above = &above[k * n + k..];
            // Matrices of steps have many zeros.
            for row in below.chunks_exact_mut(n).map(|row| &mut row[k..]).filter(|row| row[0] != 0.0) {
                row[0] /= above[0];
                let factor = row[0];
                row[1..].iter_mut().zip(&above[1..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
        true
    }

    /// det A.
    pub fn determinant(&self) -> f64 {
        let mut rows = self.rows.clone();
        let mut product: f64 = (0..self.n).map(|i| self.a[i * self.n + i]).product();
        // Each row exchange changes the sign.
        for i in 0..self.n {
            while rows[i] != i {
                let j = rows[i];
                rows.swap(i, j);
                product = -product;
            }
        }
        product
    }

    /// Solves A·x = b.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            let row = &self.a[i * n..i * n + i];
            x[i] = row.iter().zip(&*x).fold(b[self.rows[i]], |sum, (a, x)| sum - a * x);
        }
        for i in (0..n).rev() {
            let row = &self.a[i * n + i..(i + 1) * n];
            let sum = row[1..].iter().zip(&x[i + 1..]).fold(x[i], |sum, (a, x)| sum - a * x);
            x[i] = sum / row[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_needs_pivoting_is_solved() {
        let mut lu = Lu::new(3);
        assert!(lu.factor(&[0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 4.0, 0.0, -1.0]));
        let mut x = [0.0; 3];
        lu.solve(&[7.0, 6.0, 1.0], &mut x);
        for (xi, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((xi - expected).abs() < 1e-14, "{x:?}");
        }
    }

    #[test]
    fn determinants_know_their_sign() {
        let mut lu = Lu::new(3);
        assert!(lu.factor(&[0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 4.0, 0.0, -1.0]));
        assert!((lu.determinant() - 6.0).abs() < 1e-14, "{}", lu.determinant());
        assert!(lu.factor(&[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]));
        assert_eq!(lu.determinant(), 1.0);
    }

    #[test]
    fn factors_are_those_of_the_last_matrix() {
        let (mut lu, mut x) = (Lu::new(1), [0.0]);
        for a in [2.0, 2.0, 4.0, 2.0] {
            assert!(lu.factor(&[a]));
            lu.solve(&[1.0], &mut x);
            assert_eq!(x, [1.0 / a]);
        }
        assert!(!lu.factor(&[0.0]) && !lu.factor(&[0.0]));
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        assert!(!Lu::new(2).factor(&[1.0, 2.0, 2.0, 4.0]));
        assert!(!Lu::new(2).factor(&[f64::NAN, 2.0, 2.0, 4.0]));
    }
}
