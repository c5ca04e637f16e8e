//! LU decomposition of small sparse matrices with a fixed pattern.

use super::equilibrate::Equilibrium;
use crate::limits::{GOOD_PIVOT, KEPT_PIVOT, SINGULAR};

/// A = P·L·U·Q of a square matrix by rows, of which only the listed entries may be nonzero.
///
/// The first matrix determines the pivots: from the column with the fewest entries, the row with the fewest entries among those
/// whose entry is large enough [Markowitz 1957; Duff, Erisman & Reid 1986, ch. 7]. Later matrices use the same sequence.
#[derive(Clone, Debug)]
pub struct MarkowitzLu {
    n: usize,
    /// The rows and columns of the entries of A, their positions, and their last values.
    places: Vec<(usize, usize)>,
    entries: Vec<usize>,
    matrix: Vec<f64>,
    is_factored: bool,
    /// L and U, in the place of A.
    a: Vec<f64>,
    /// The factors of the matrix for which the pivots were chosen.
    units: Equilibrium,
    /// For each row, the sum of the absolute terms that add up to its pivot.
    size: Vec<f64>,
    pivots: Vec<Pivot>,
    /// The column of the pivot of each row.
    pivot_column: Vec<usize>,
    /// The rows and columns of all pivots, concatenated.
    lists: Vec<usize>,
    /// The fill-in: positions at which A is zero and the factors are not.
    fill: Vec<usize>,
}

/// One step of the elimination.
#[derive(Clone, Debug)]
struct Pivot {
    row: usize,
    column: usize,
    /// The start in `lists` of the rows from which this pivot's row is subtracted, then of its columns, and the end.
    rows: usize,
    columns: usize,
    end: usize,
}

impl MarkowitzLu {
    /// Memory for n×n matrices with these entries, each at row·n + column.
    pub fn new(n: usize, mut entries: Vec<usize>) -> MarkowitzLu {
        entries.sort_unstable();
        entries.dedup();
        MarkowitzLu {
            n,
            matrix: vec![f64::NAN; entries.len()],
            places: entries.iter().map(|at| (at / n, at % n)).collect(),
            entries,
            is_factored: false,
            a: vec![0.0; n * n],
            units: Equilibrium::new(n),
            size: vec![0.0; n],
            pivots: Vec::new(),
            pivot_column: vec![0; n],
            lists: Vec::new(),
            fill: Vec::new(),
        }
    }

    /// Forgets the sequence of pivots.
    pub fn forget(&mut self) {
        self.pivots.clear();
        self.is_factored = false;
    }

    /// Sets the entries of `a` that may be nonzero to zero.
    pub fn clear(&self, a: &mut [f64]) {
        self.entries.iter().for_each(|&at| a[at] = 0.0);
    }

    /// Calls f with the row, the column and the value of each entry of `a` that may be nonzero.
    pub fn for_each(&self, a: &[f64], mut f: impl FnMut(usize, usize, f64)) {
        self.places.iter().zip(&self.entries).for_each(|(&(i, j), &at)| f(i, j, a[at]));
    }

    /// Factors `a`. Returns false if it is singular to working precision or not finite. Reuses the factors if `a` is equal to
    /// the last matrix, as for a motion at rest.
    pub fn factor(&mut self, a: &[f64]) -> bool {
        if self.is_factored && self.entries.iter().zip(&self.matrix).all(|(&at, known)| a[at] == *known) {
            return true;
        }
        let mut is_finite = true;
        for (known, &at) in self.matrix.iter_mut().zip(&self.entries) {
            *known = a[at];
            is_finite &= known.is_finite();
        }
        if !is_finite {
            self.forget();
            return false;
        }
        self.is_factored = self.eliminate() || (self.choose_pivots() && self.eliminate());
        self.is_factored
    }

    /// Copies the matrix to the place of the factors.
    fn place(&mut self) {
        self.entries.iter().zip(&self.matrix).for_each(|(&at, &x)| self.a[at] = x);
        self.fill.iter().for_each(|&at| self.a[at] = 0.0);
    }

    /// Eliminates with the stored pivot sequence. Returns false if there is none, or if a pivot is too small.
    fn eliminate(&mut self) -> bool {
        if self.pivots.len() < self.n {
            return false;
        }
        self.place();
        let n = self.n;
        for pivot in &self.pivots {
            self.size[pivot.row] = self.a[pivot.row * n + pivot.column].abs();
        }
        for &Pivot { row, column, rows, columns, end } in &self.pivots {
            let (rows, columns) = (&self.lists[rows..columns], &self.lists[columns..end]);
            let x = self.a[row * n + column];
            let mut most = 0.0;
            for &i in rows {
                let below = self.a[i * n + column];
                most = f64::max(most, self.units.rows[i] * below.abs());
                let factor = below / x;
                self.a[i * n + column] = factor;
                self.size[i] += (factor * self.a[row * n + self.pivot_column[i]]).abs();
                if factor != 0.0 {
                    let [from, to] = two_rows(&mut self.a, n, row, i);
                    columns.iter().for_each(|&j| to[j] -= factor * from[j]);
                }
            }
            // Compare with the terms whose sum is the pivot, so that units do not matter.
            if x.abs() <= SINGULAR * self.size[row] || self.units.rows[row] * x.abs() < KEPT_PIVOT * most {
                return false;
            }
        }
        true
    }

    /// Determines the pivot sequence for the matrix. Returns false if it is singular.
    fn choose_pivots(&mut self) -> bool {
        let n = self.n;
        let all = self.places.iter().zip(&self.matrix).map(|(&(i, j), &x)| (i, j, x));
        let is_regular = self.units.set(all);
        self.place();
        self.pivots.clear();
        self.lists.clear();
        self.fill.clear();
        if !is_regular {
            return false;
        }
        let mut search = Search::new(n, &self.entries);
        for _ in 0..n {
            let Some((row, column)) = search.next_pivot(&self.a, &self.units.rows) else { return false };
            let (rows, columns) = search.take(row, column);
            for &i in &rows {
                let factor = self.a[i * n + column] / self.a[row * n + column];
                for &j in &columns {
                    if search.add(i, j) {
                        self.fill.push(i * n + j);
                    }
                    self.a[i * n + j] -= factor * self.a[row * n + j];
                }
            }
            let begin = self.lists.len();
            self.lists.extend(rows.iter().chain(&columns));
            self.pivots.push(Pivot { row, column, rows: begin, columns: begin + rows.len(), end: self.lists.len() });
            self.pivot_column[row] = column;
        }
        true
    }

    /// Solves A·x = b; overwrites `b`.
    pub fn solve(&self, b: &mut [f64], x: &mut [f64]) {
        let n = self.n;
        for pivot in &self.pivots {
            let y = b[pivot.row];
            self.lists[pivot.rows..pivot.columns].iter().for_each(|&i| b[i] -= self.a[i * n + pivot.column] * y);
        }
        for pivot in self.pivots.iter().rev() {
            let row = &self.a[pivot.row * n..][..n];
            let others = &self.lists[pivot.columns..pivot.end];
            let sum = others.iter().fold(b[pivot.row], |sum, &j| sum - row[j] * x[j]);
            x[pivot.column] = sum / row[pivot.column];
        }
    }
}

/// Two rows of a matrix.
fn two_rows(a: &mut [f64], n: usize, from: usize, to: usize) -> [&mut [f64]; 2] {
    let (low, high) = a.split_at_mut(from.max(to) * n);
    let (low, high) = (&mut low[from.min(to) * n..][..n], &mut high[..n]);
    if from < to { [low, high] } else { [high, low] }
}

/// The remaining matrix during the choice of pivots.
struct Search {
    n: usize,
    may_differ: Vec<bool>,
    is_row_left: Vec<bool>,
    is_column_left: Vec<bool>,
    /// The number of entries of each row and column.
    in_row: Vec<usize>,
    in_column: Vec<usize>,
}

impl Search {
    fn new(n: usize, entries: &[usize]) -> Search {
        let none = vec![0; n];
        let mut search = Search {
            n,
            may_differ: vec![false; n * n],
            is_row_left: vec![true; n],
            is_column_left: vec![true; n],
            in_row: none.clone(),
            in_column: none,
        };
        for &at in entries {
            search.add(at / n, at % n);
        }
        search
    }

    /// Adds an entry. Returns true if it is new.
    fn add(&mut self, i: usize, j: usize) -> bool {
        let is_new = !std::mem::replace(&mut self.may_differ[i * self.n + j], true);
        self.in_row[i] += usize::from(is_new);
        self.in_column[j] += usize::from(is_new);
        is_new
    }

    /// The best pivot in the column with the fewest entries; if all its entries are zero, in the next column.
    fn next_pivot(&self, a: &[f64], scale: &[f64]) -> Option<(usize, usize)> {
        let mut tried = vec![false; self.n];
        loop {
            let left = (0..self.n).filter(|&j| self.is_column_left[j] && !tried[j]);
            let j = left.min_by_key(|&j| self.in_column[j])?;
            tried[j] = true;
            let size = |i: usize| scale[i] * a[i * self.n + j].abs();
            let most = self.rows_of(j).map(size).fold(0.0, f64::max);
            let large = self.rows_of(j).filter(|&i| most > 0.0 && size(i) >= GOOD_PIVOT * most);
            if let Some(i) = large.min_by_key(|&i| self.in_row[i]) {
                return Some((i, j));
            }
        }
    }

    fn rows_of(&self, column: usize) -> impl Iterator<Item = usize> {
        (0..self.n).filter(move |&i| self.is_row_left[i] && self.may_differ[i * self.n + column])
    }

    /// Removes a row and a column. Returns the other rows and columns in which they have entries.
    fn take(&mut self, row: usize, column: usize) -> (Vec<usize>, Vec<usize>) {
        (self.is_row_left[row], self.is_column_left[column]) = (false, false);
        let rows: Vec<usize> = self.rows_of(column).collect();
        let of_row = (0..self.n).filter(|&j| self.is_column_left[j] && self.may_differ[row * self.n + j]);
        let columns: Vec<usize> = of_row.collect();
        rows.iter().for_each(|&i| self.in_row[i] -= 1);
        columns.iter().for_each(|&j| self.in_column[j] -= 1);
        (rows, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::Lu;

    /// Random sparse matrices with a border, as for constraints: the solutions agree with those of dense factors.
    #[test]
    fn solutions_are_those_of_dense_factors() {
        let mut seed = 7u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for case in 0..200 {
            let (n, m) = (1 + case % 12, case % 4);
            let size = n + m.min(n);
            let mut entries: Vec<usize> = (0..n).map(|i| i * size + i).collect();
            (0..2 * n).for_each(|_| {
                let [i, j] = [0, 1].map(|_| ((random() + 0.5) * n as f64) as usize);
                entries.push(i * size + j);
            });
            for k in n..size {
                for j in (k - n..n).step_by(1 + case % 3) {
                    entries.extend([k * size + j, j * size + k]);
                }
            }
            let (mut sparse, mut dense) = (MarkowitzLu::new(size, entries.clone()), Lu::new(size));
            for round in 0..3 {
                let mut a = vec![0.0; size * size];
                entries.iter().for_each(|&at| a[at] = random() * 10f64.powi((case % 7) as i32));
                let b: Vec<f64> = (0..size).map(|_| random()).collect();
                let (mut due, mut x) = (vec![0.0; size], vec![0.0; size]);
                assert_eq!(dense.factor(&a), sparse.factor(&a), "case {case}, {round}");
                dense.solve(&b, &mut due);
                sparse.solve(&mut b.clone(), &mut x);
                let residual: f64 = (0..size)
                    .map(|i| (0..size).map(|j| a[i * size + j] * x[j]).sum::<f64>() - b[i])
                    .map(f64::abs)
                    .sum();
                let scale: f64 =
                    1.0 + a.iter().map(|a| a.abs()).sum::<f64>() * due.iter().map(|x| x.abs()).sum::<f64>();
                assert!(residual <= 1e-13 * scale, "case {case}, {round}: {residual:e} of {scale:e}");
            }
        }
    }

    #[test]
    fn singular_matrices_are_told_in_any_unit() {
        for unit in [1e-12, 1.0, 1e12] {
            let entries = vec![0, 1, 2, 3];
            let mut lu = MarkowitzLu::new(2, entries);
            assert!(!lu.factor(&[unit * 0.1, unit * 0.3, 0.2, 0.6]), "{unit:e}");
            assert!(lu.factor(&[unit * 0.1, unit * 0.3, 0.2, -0.6]), "{unit:e}");
            assert!(!lu.factor(&[unit * 0.1, f64::NAN, 0.2, -0.6]), "{unit:e}");
        }
    }
}
