//! Elimination of the unknowns of a step, on vector lanes.

use crate::flow::vector::Vector;
use crate::solve::matrix::NO_PIVOT;

/// The number of entries of a row that are handled at once.
pub(super) const LANES: usize = 8;

/// Linear equations K·x + A·a = 0 and, below them, linear forms f = F_x·x + F_a·a, by rows in chunks of [`LANES`]. Each row has one
/// chunk of unknowns for each group of `used` of them, then the entries of a; lanes that are not used are zero.
#[derive(Clone)]
pub(super) struct Rows {
    chunks: Vec<[f64; LANES]>,
    /// The number of chunks in a row.
    width: usize,
    groups: usize,
    used: usize,
}

impl Rows {
    /// Zeros: equations for `groups` groups of `used` unknowns each, this number of forms, and a of length `columns`.
    pub(super) fn zeros(groups: usize, used: usize, forms: usize, columns: usize) -> Rows {
        let width = groups + columns.div_ceil(LANES);
        Rows { chunks: vec![[0.0; LANES]; (groups * used + forms) * width], width, groups, used }
    }

    pub(super) fn clear(&mut self) {
        self.chunks.as_flattened_mut().fill(0.0);
    }

    /// The chunks of the unknowns in row i, and its entries of a.
    #[inline(always)]
    pub(super) fn row_mut(&mut self, i: usize) -> (&mut [[f64; LANES]], &mut [f64]) {
        let (by_x, by_a) = self.chunks[i * self.width..(i + 1) * self.width].split_at_mut(self.groups);
        (by_x, by_a.as_flattened_mut())
    }

    /// The entries of a of form i. After the elimination these are ∂f/∂a.
    pub(super) fn form(&self, i: usize) -> &[f64] {
        let row = self.groups * self.used + i;
        self.chunks[row * self.width + self.groups..(row + 1) * self.width].as_flattened()
    }

    /// Eliminates the unknowns with row pivoting: the forms become F_a − F_x·K⁻¹·A. Returns false if K is singular.
    #[inline(always)]
    pub(super) fn eliminate<V: Vector<LANES>>(&mut self) -> bool {
        let (width, unknowns) = (self.width, self.groups * self.used);
        // Equations of about the same size, by powers of two.
        for row in self.chunks.chunks_exact_mut(width).take(unknowns) {
            let mut largest = V::splat(0.0);
            for chunk in &row[..self.groups] {
                largest = V::load(chunk).abs().max(largest);
            }
            let mut lanes = [0.0; LANES];
            largest.store(&mut lanes);
            let mut size: f64 = 0.0;
            for x in lanes {
                size = size.max(x);
            }
            if !(size > f64::MIN_POSITIVE && size.is_finite()) {
                return false;
            }
            let scale = V::splat(f64::from_bits((2046 - (size.to_bits() >> 52)).max(1) << 52));
            for chunk in row {
                V::load(chunk).mul(scale).store(chunk);
            }
        }
        for k in 0..unknowns {
            let (group, lane) = (k / self.used, k % self.used);
            let (mut pivot, mut largest) = (k, 0.0);
            for i in k..unknowns {
                let size = self.chunks[i * width + group][lane].abs();
                // A NaN is taken, and then refused.
                if size > largest || size.is_nan() {
                    (pivot, largest) = (i, size);
                }
            }
            if !(largest > NO_PIVOT && largest.is_finite()) {
                return false;
            }
            if pivot != k {
                let (above, below) = self.chunks.split_at_mut(pivot * width);
                above[k * width..(k + 1) * width].swap_with_slice(&mut below[..width]);
            }
            let (above, below) = self.chunks.split_at_mut((k + 1) * width);
            let top = &above[k * width + group..];
            let inverse = -1.0 / top[0][lane];
            for row in below.chunks_exact_mut(width) {
                let row = &mut row[group..];
                let factor = row[0][lane] * inverse;
                if factor == 0.0 {
                    continue;
                }
                let factor = V::splat(factor);
                for (x, top) in row.iter_mut().zip(top) {
                    V::load(top).mul_add(factor, V::load(x)).store(x);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::vector::{EightLanes, Registers};
    use crate::solve::matrix::{Matrix, dot, solve};

    struct Eliminate<'a>(&'a mut Rows);

    impl EightLanes for Eliminate<'_> {
        type Outcome = bool;

        fn run<V: Vector<LANES>>(self) -> bool {
            self.0.eliminate::<V>()
        }
    }

    /// Three groups of five unknowns: the forms are those of the solution, with every kind of register.
    #[test]
    fn forms_are_those_of_the_solution() {
        let (groups, used, forms, columns) = (3, 5, 2, 11);
        let size = groups * used;
        // The first pivots are zero, and the rows have different sizes.
        let entry = |i: usize, j: usize| {
            if i == j { 0.0 } else { 10f64.powi(i as i32 - 7) * (0.7 + (i * i + 3 * j) as f64).sin() }
        };
        let right = |i: usize, j: usize| 10f64.powi(i as i32 - 7) * (0.3 + (2 * i + j * j) as f64).cos();
        for registers in [Registers::detect(), Registers::Any] {
            let mut rows = Rows::zeros(groups, used, forms, columns);
            for i in 0..size + forms {
                let (by_x, by_a) = rows.row_mut(i);
                (0..size).for_each(|j| by_x[j / used][j % used] = entry(i, j));
                (0..columns).for_each(|j| by_a[j] = right(i, j));
            }
            assert!(registers.run_eight(Eliminate(&mut rows)));
            let matrix = |rows: std::ops::Range<usize>, columns: usize, of: &dyn Fn(usize, usize) -> f64| {
                let data = rows.flat_map(|i| (0..columns).map(move |j| of(i, j))).collect();
                Matrix { columns, data }
            };
            let mut x = matrix(0..size, columns, &right);
            assert!(solve(&mut matrix(0..size, size, &entry), &mut x));
            for form in 0..forms {
                let by_x: Vec<f64> = (0..size).map(|j| entry(size + form, j)).collect();
                for j in 0..columns {
                    let column: Vec<f64> = (0..size).map(|i| x.at(i, j)).collect();
                    let (found, due) = (rows.form(form)[j], right(size + form, j) - dot(&by_x, &column));
                    let terms: f64 = by_x.iter().zip(&column).map(|(a, b)| (a * b).abs()).sum();
                    assert!(
                        (found - due).abs() <= 1e-11 * terms,
                        "{registers:?}: form {form}, {j}: {found}, not {due}"
                    );
                }
            }
        }
        let mut singular = Rows::zeros(1, 2, 1, 1);
        (0..2).for_each(|i| singular.row_mut(i).0[0][..2].copy_from_slice(&[1.0, 2.0]));
        assert!(!Registers::detect().run_eight(Eliminate(&mut singular)));
    }
}
