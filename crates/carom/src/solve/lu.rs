//! LU decomposition with row pivoting.

use super::equilibrate::Equilibrium;
use crate::limits::SINGULAR;

/// P·R·A·C = L·U of a square matrix, stored by rows, where R and C make its entries comparable (`Equilibrium`).
#[derive(Clone, Debug)]
pub struct Lu {
    n: usize,
    /// A
    matrix: Vec<f64>,
    /// True if `matrix` has been factored.
    known: bool,
    units: Equilibrium,
    a: Vec<f64>,
    rows: Vec<usize>,
}

impl Lu {
    /// Memory for n×n matrices.
    pub fn new(n: usize) -> Lu {
        let (matrix, a, units) = (vec![0.0; n * n], vec![0.0; n * n], Equilibrium::new(n));
        Lu { n, matrix, known: false, units, a, rows: (0..n).collect() }
    }

    /// Factors `a`, given by rows. Returns false if it is singular to working precision or not finite. Reuses the factors if
    /// `a` is equal to the last matrix, as for a motion at rest.
    pub fn factor(&mut self, a: &[f64]) -> bool {
        if self.known && self.matrix == a {
            return true;
        }
        self.matrix.copy_from_slice(a);
        self.known = self.scale() && self.eliminate();
        self.known
    }

    /// Copies the matrix, with its factors, to the place of L and U.
    fn scale(&mut self) -> bool {
        let Lu { n, matrix, units, a, .. } = self;
        if *n == 0 {
            return true;
        }
        let is_regular = units.set_dense(matrix);
        for ((a, matrix), row) in a.chunks_exact_mut(*n).zip(matrix.chunks_exact(*n)).zip(&units.rows) {
            a.iter_mut().zip(matrix).zip(&units.columns).for_each(|((a, x), column)| *a = row * x * column);
        }
        is_regular
    }

    fn eliminate(&mut self) -> bool {
        let n = self.n;
        self.rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| self.a[i * n + k].abs().total_cmp(&self.a[j * n + k].abs()));
            let pivot = pivot.unwrap_or(k);
            if self.a[pivot * n + k].abs() <= SINGULAR || !self.a[pivot * n + k].is_finite() {
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
        let factor = |i: usize| self.a[i * self.n + i] / (self.units.rows[i] * self.units.columns[i]);
        let mut product: f64 = (0..self.n).map(factor).product();
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
            let (row, from) = (&self.a[i * n..i * n + i], self.rows[i]);
            x[i] = row.iter().zip(&*x).fold(self.units.rows[from] * b[from], |sum, (a, x)| sum - a * x);
        }
        for i in (0..n).rev() {
            let row = &self.a[i * n + i..(i + 1) * n];
            let sum = row[1..].iter().zip(&x[i + 1..]).fold(x[i], |sum, (a, x)| sum - a * x);
            x[i] = sum / row[0];
        }
        x.iter_mut().zip(&self.units.columns).for_each(|(x, column)| *x *= column);
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

    /// M = diag(1, 2) with the constraint x + 2y, whose unknowns and equations are in several units.
    #[test]
    fn units_change_no_bit() {
        let (matrix, right) = ([1.0, 0.1, 1.0, 0.1, 2.0, 2.0, 1.0, 2.0, 0.0], [0.3, 0.7, -0.2]);
        let solve = |d: [f64; 3]| {
            let (mut lu, mut x) = (Lu::new(3), [0.0; 3]);
            let entry = |k: usize| d[k / 3] * d[k % 3] * matrix[k];
            assert!(lu.factor(&(0..9).map(entry).collect::<Vec<f64>>()), "{d:?}");
            lu.solve(&[0, 1, 2].map(|i| d[i] * right[i]), &mut x);
            [0, 1, 2].map(|i| x[i] * d[i])
        };
        let s = 2f64.powi(60);
        for d in [[s, 1.0, 1.0], [1.0, 1.0 / s, 1.0], [1.0, 1.0, s], [1.0 / s, s, s * s]] {
            assert_eq!(solve(d), solve([1.0; 3]), "{d:?}");
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        assert!(!Lu::new(2).factor(&[1.0, 2.0, 2.0, 4.0]));
        assert!(!Lu::new(2).factor(&[f64::NAN, 2.0, 2.0, 4.0]));
    }
}
