//! Dense matrices by rows.

/// A dense matrix by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// The number of columns.
    pub columns: usize,
    /// The entries.
    pub data: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { columns, data: vec![0.0; rows * columns] }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.data.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// Row i, writable.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// The entry in row i and column j.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.columns + j]
    }

    /// Sets all entries to zero.
    pub fn clear(&mut self) {
        self.data.fill(0.0);
    }

    /// Sets the first columns to the unit matrix and the others to zero.
    pub fn set_unit(&mut self) {
        self.clear();
        let columns = self.columns;
        self.data.iter_mut().step_by(columns + 1).for_each(|x| *x = 1.0);
    }

    /// Takes the shape and the entries of `other`; allocates only if this matrix is smaller.
    pub fn copy_from(&mut self, other: &Matrix) {
        self.columns = other.columns;
        self.data.clone_from(&other.data);
    }
}

/// y ← y + a·x.
pub fn add(y: &mut [f64], a: f64, x: &[f64]) {
    if a != 0.0 {
        y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
    }
}

/// x·y.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// A pivot at most this large, relative to the largest entry of its row, is zero.
pub(crate) const NO_PIVOT: f64 = 1e-15;

/// Solves A·X = B by elimination with row pivoting: `b` becomes X, and `a` is overwritten. Returns false if A is singular.
pub fn solve(a: &mut Matrix, b: &mut Matrix) -> bool {
    let (n, m) = (a.columns, b.columns);
    // Rows of about the same size, by powers of two.
    for (row, right) in a.data.chunks_exact_mut(n.max(1)).zip(b.data.chunks_exact_mut(m)) {
        let size = row.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        if !(size > f64::MIN_POSITIVE && size.is_finite()) {
            return false;
        }
        let scale = f64::from_bits((2046 - (size.to_bits() >> 52)).max(1) << 52);
        row.iter_mut().chain(right).for_each(|x| *x *= scale);
    }
    for k in 0..n {
        let part = |i: usize| a.data[i * n + k].abs();
        let pivot = (k..n).fold(k, |best, i| if part(i) > part(best) { i } else { best });
        if part(pivot).is_nan() || part(pivot) <= NO_PIVOT {
            return false;
        }
        if pivot != k {
            (k..n).for_each(|j| a.data.swap(pivot * n + j, k * n + j));
            (0..m).for_each(|j| b.data.swap(pivot * m + j, k * m + j));
        }
        let (above, below) = a.data.split_at_mut((k + 1) * n);
        let (b_above, b_below) = b.data.split_at_mut((k + 1) * m);
        let (top, b_top) = (&above[k * n + k..], &b_above[k * m..]);
        for (row, right) in below.chunks_exact_mut(n).zip(b_below.chunks_exact_mut(m)) {
            let factor = row[k] / top[0];
            if factor != 0.0 {
                add(&mut row[k + 1..], -factor, &top[1..]);
                add(right, -factor, b_top);
            }
        }
    }
    for k in (0..n).rev() {
        let (b_above, b_below) = b.data.split_at_mut((k + 1) * m);
        let x = &mut b_above[k * m..];
        for (j, solved) in (k + 1..n).zip(b_below.chunks_exact(m)) {
            add(x, -a.data[k * n + j], solved);
        }
        let scale = 1.0 / a.data[k * n + k];
        x.iter_mut().for_each(|x| *x *= scale);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_right_hand_sides_are_solved_at_once() {
        let mut a = Matrix { columns: 3, data: vec![0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 4.0, 0.0, -1.0] };
        let mut b = Matrix { columns: 2, data: vec![7.0, 2.0, 6.0, 1.0, 1.0, 0.0] };
        assert!(solve(&mut a, &mut b));
        for (x, expected) in b.data.iter().zip([1.0, 0.0, 2.0, 1.0, 3.0, 0.0]) {
            assert!((x - expected).abs() < 1e-14, "{b:?}");
        }
        let mut singular = Matrix { columns: 2, data: vec![1.0, 2.0, 2.0, 4.0] };
        assert!(!solve(&mut singular, &mut Matrix::zeros(2, 1)));
    }
}
