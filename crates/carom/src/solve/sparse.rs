//! LU decomposition of large sparse matrices.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::equilibrate::Equilibrium;
use crate::limits::SINGULAR;

/// P·R·A·C·Q = L·U of a square matrix with a fixed pattern of nonzero entries, where R and C make its entries
/// comparable (`Equilibrium`).
///
/// The columns are ordered by the algorithm of Cuthill and McKee [1969] on the graph of rows and columns, and the rows by their
/// first entries, so that the entries of each row are close together. Elimination and row exchanges stay inside these spans;
/// entries outside remain zero.
#[derive(Debug)]
pub struct SparseLu {
    shape: Arc<Shape>,
    /// The entries of the last matrix, and whether it has been factored.
    entries: Vec<f64>,
    known: bool,
    units: Equilibrium,
    /// L and U by rows, zero outside the spans.
    a: Vec<f64>,
    spans: Vec<Range<usize>>,
    /// For each row of L·U, the corresponding row of A.
    rows: Vec<usize>,
    x: Vec<f64>,
}

/// The structure, which does not depend on the numbers.
#[derive(Debug)]
struct Shape {
    n: usize,
    /// The row and the column of each entry of A, and its position in `a`.
    entries: Vec<(usize, usize)>,
    places: Vec<usize>,
    /// The rows and columns of A in their new order.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// For each reordered row, the range of its entries.
    spans: Vec<Range<usize>>,
    /// For each column, the number of rows whose first entry is there or earlier.
    begun: Vec<usize>,
}

impl SparseLu {
    /// For n×n matrices with entries at these rows and columns, each listed once.
    pub fn new(n: usize, entries: &[(usize, usize)]) -> SparseLu {
        SparseLu::of(Arc::new(Shape::of(n, entries)))
    }

    fn of(shape: Arc<Shape>) -> SparseLu {
        let n = shape.n;
        SparseLu {
            entries: vec![0.0; shape.places.len()],
            known: false,
            units: Equilibrium::new(n),
            a: vec![0.0; n * n],
            spans: shape.spans.clone(),
            rows: shape.rows.clone(),
            x: vec![0.0; n],
            shape,
        }
    }

    /// Factors the matrix with these entries. Returns false if it is singular to working precision or not finite. Reuses the
    /// factors if the entries are equal to the last ones.
    pub fn factor(&mut self, entries: &[f64]) -> bool {
        if self.known && self.entries == entries {
            return true;
        }
        self.entries.copy_from_slice(entries);
        let n = self.shape.n;
        self.spans.iter().enumerate().for_each(|(i, span)| self.a[i * n..][span.clone()].fill(0.0));
        let all = self.shape.entries.iter().zip(entries).map(|(&(i, j), &x)| (i, j, x));
        let is_regular = self.units.set(all.clone());
        for (&place, (i, j, x)) in self.shape.places.iter().zip(all) {
            self.a[place] = self.units.rows[i] * x * self.units.columns[j];
        }
        self.spans.clone_from(&self.shape.spans);
        self.rows.clone_from(&self.shape.rows);
        self.known = is_regular && self.eliminate();
        self.known
    }

    fn eliminate(&mut self) -> bool {
        let n = self.shape.n;
        for k in 0..n {
            let begun = self.shape.begun[k];
            let size = |i: usize| self.a[i * n + k].abs();
            let Some(pivot) = (k..begun).max_by(|&i, &j| size(i).total_cmp(&size(j))) else { return false };
            if size(pivot) <= SINGULAR || !size(pivot).is_finite() {
                return false;
            }
            self.exchange(k, pivot);
            let (above, below) = self.a.split_at_mut((k + 1) * n);
            let end = self.spans[k].end;
            let above = &above[k * n..][k..end];
            let rows = below.chunks_exact_mut(n).zip(&mut self.spans[k + 1..begun]);
            for (row, span) in rows.filter(|(row, _)| row[k] != 0.0) {
                span.end = span.end.max(end);
                let row = &mut row[k..end];
                row[0] /= above[0];
                let factor = row[0];
                row[1..].iter_mut().zip(&above[1..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
        true
    }

    /// Exchanges rows k ≤ i.
    fn exchange(&mut self, k: usize, i: usize) {
        if k == i {
            return;
        }
        let n = self.shape.n;
        let both = self.spans[k].start.min(self.spans[i].start)..self.spans[k].end.max(self.spans[i].end);
        let (above, below) = self.a.split_at_mut(i * n);
        above[k * n..][both.clone()].swap_with_slice(&mut below[both]);
        self.spans.swap(k, i);
        self.rows.swap(k, i);
    }

    /// Solves A·x = b.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let n = self.shape.n;
        let y = &mut self.x;
        for i in 0..n {
            let span = self.spans[i].start..i.max(self.spans[i].start);
            let (row, from) = (&self.a[i * n..][span.clone()], self.rows[i]);
            y[i] = row.iter().zip(&y[span]).fold(self.units.rows[from] * b[from], |sum, (a, y)| sum - a * y);
        }
        for i in (0..n).rev() {
            let row = &self.a[i * n..][i..self.spans[i].end];
            let sum = row[1..].iter().zip(&y[i + 1..]).fold(y[i], |sum, (a, y)| sum - a * y);
            y[i] = sum / row[0];
            let column = self.shape.columns[i];
            x[column] = self.units.columns[column] * y[i];
        }
    }
}

/// A clone does not copy the factors, so most of its memory is not touched.
impl Clone for SparseLu {
    fn clone(&self) -> SparseLu {
        SparseLu::of(self.shape.clone())
    }
}

impl Shape {
    fn of(n: usize, entries: &[(usize, usize)]) -> Shape {
        let columns = column_order(n, entries);
        let place_of_column = inverse(&columns);
        let mut spans = vec![n..0; n];
        for &(row, column) in entries {
            let (span, at) = (&mut spans[row], place_of_column[column]);
            *span = span.start.min(at)..span.end.max(at + 1);
        }
        // A row without entries makes the matrix singular; give it an empty span.
        spans.iter_mut().for_each(|span| span.end = span.end.max(span.start));
        let mut rows: Vec<usize> = (0..n).collect();
        rows.sort_by_key(|&row| (spans[row].start, spans[row].end));
        let place_of_row = inverse(&rows);
        let spans: Vec<Range<usize>> = rows.iter().map(|&row| spans[row].clone()).collect();
        Shape {
            n,
            entries: entries.to_vec(),
            places: entries.iter().map(|&(row, column)| place_of_row[row] * n + place_of_column[column]).collect(),
            begun: (0..n).map(|k| spans.partition_point(|span| span.start <= k)).collect(),
            rows,
            columns,
            spans,
        }
    }
}

/// The inverse of a permutation.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &i)| places[i] = place);
    places
}

/// The columns in the order of a breadth-first search through rows and columns, which starts from a node at the far end of the
/// graph and visits neighbours of low degree first.
fn column_order(n: usize, entries: &[(usize, usize)]) -> Vec<usize> {
    // Nodes 0 … n − 1 are columns, nodes from n on are rows.
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); 2 * n];
    for &(row, column) in entries {
        neighbours[column].push(n + row);
        neighbours[n + row].push(column);
    }
    let degrees: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    neighbours.iter_mut().for_each(|list| list.sort_by_key(|&node| degrees[node]));
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; 2 * n];
    for column in 0..n {
        if !seen[column] {
            let far = *search(&neighbours, column, &mut seen.clone()).last().unwrap_or(&column);
            order.extend(search(&neighbours, far, &mut seen).into_iter().filter(|&node| node < n));
        }
    }
    order
}

/// The nodes reachable from `start` that are not yet `seen`, nearest first.
fn search(neighbours: &[Vec<usize>], start: usize, seen: &mut [bool]) -> Vec<usize> {
    seen[start] = true;
    let (mut order, mut queue) = (Vec::new(), VecDeque::from([start]));
    while let Some(node) = queue.pop_front() {
        order.push(node);
        for &next in &neighbours[node] {
            if !std::mem::replace(&mut seen[next], true) {
                queue.push_back(next);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::Lu;

    /// Band matrices of several widths with shuffled rows and columns, some with zeros in pivot positions.
    #[test]
    fn factors_solve_what_dense_factors_solve() {
        for (n, band) in [(1, 0), (7, 1), (40, 2), (60, 5), (90, 12), (30, 30)] {
            let shuffled = |i: usize, by: usize| (i * by + 3) % n;
            let near = |i: usize, j: usize| i.abs_diff(j) <= band && !(band > 0 && i == j && i.is_multiple_of(3));
            let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| near(i, j));
            let places: Vec<(usize, usize)> = pairs.map(|(i, j)| (shuffled(i, 11), shuffled(j, 13))).collect();
            let entry = |k: usize| ((k * 7919) % 101) as f64 / 50.0 - 1.0;
            let entries: Vec<f64> = (0..places.len()).map(entry).collect();
            let mut matrix = vec![0.0; n * n];
            places.iter().zip(&entries).for_each(|(&(i, j), &x)| matrix[i * n + j] = x);
            let b: Vec<f64> = (0..n).map(|i| entry(3 * i + 1)).collect();
            let (mut dense, mut sparse) = (Lu::new(n), SparseLu::new(n, &places));
            let (mut expected, mut x) = (vec![0.0; n], vec![0.0; n]);
            assert!(dense.factor(&matrix), "{n} rows, band {band}");
            dense.solve(&b, &mut expected);
            // The second time, the memory contains values of the first.
            for scale in [3.0, 1.0] {
                let scaled: Vec<f64> = entries.iter().map(|x| scale * x).collect();
                assert!(sparse.factor(&scaled), "{n} rows, band {band}");
            }
            sparse.solve(&b, &mut x);
            let size = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            let error = x.iter().zip(&expected).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / size;
            assert!(error < 1e-11, "{n} rows, band {band}: {error:e}");
        }
    }

    #[test]
    fn a_chain_stays_in_a_narrow_band() {
        let n = 500;
        let shuffled = |i: usize| (i * 177 + 5) % n;
        let near = (0..n).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)));
        let places: Vec<(usize, usize)> = near.map(|(i, j)| (shuffled(i), shuffled(j))).collect();
        let widest = Shape::of(n, &places).spans.into_iter().map(|span| span.len()).max();
        assert_eq!(widest, Some(3));
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert!(!SparseLu::new(2, &all).factor(&[1.0, 2.0, 2.0, 4.0]));
        assert!(!SparseLu::new(2, &all).factor(&[f64::NAN, 2.0, 2.0, 4.0]));
        assert!(!SparseLu::new(2, &[(0, 0), (0, 1)]).factor(&[1.0, 2.0]), "a row without entries");
        assert!(!SparseLu::new(2, &[(0, 0), (1, 0)]).factor(&[1.0, 2.0]), "a column without entries");
    }
}
