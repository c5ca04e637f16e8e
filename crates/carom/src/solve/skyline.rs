//! LDLᵀ of a symmetric matrix inside its envelope.

/// A symmetric matrix whose row i has entries from column `first[i]` to the diagonal. Elimination without pivoting fills nothing
/// outside of this envelope: rows in the order of time make a band, and rows that reach far back a border at its end.
#[derive(Clone, Debug)]
pub struct Skyline {
    first: Vec<usize>,
    /// Where row i would have its column 0 in `values`.
    start: Vec<isize>,
    values: Vec<f64>,
    pivots: Vec<f64>,
}

/// How many pivots of each sign an elimination found: by Sylvester's law, the signs of the eigenvalues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PivotSigns {
    /// Positive ones.
    pub positive: usize,
    /// Negative ones.
    pub negative: usize,
    /// Those that are zero, or no numbers.
    pub zero: usize,
}

impl Skyline {
    /// A zero matrix with this envelope; `first[i]` is at most i.
    pub fn new(first: Vec<usize>) -> Skyline {
        let (mut start, mut length) = (Vec::with_capacity(first.len()), 0);
        for (i, &from) in first.iter().enumerate() {
            start.push(length as isize - from as isize);
            length += i - from + 1;
        }
        Skyline { pivots: vec![0.0; first.len()], first, start, values: vec![0.0; length] }
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.first.len()
    }

    /// The place of an entry in [`Skyline::values`]; i ≥ j, inside the envelope.
    pub fn place(&self, i: usize, j: usize) -> usize {
        (self.start[i] + j as isize) as usize
    }

    /// The entries, by rows.
    pub fn values(&mut self) -> &mut [f64] {
        &mut self.values
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[self.place(i, self.first[i])..=self.place(i, i)]
    }

    /// Replaces the matrix by its factors, and counts the signs of the pivots.
    pub fn factor(&mut self) -> PivotSigns {
        let mut inertia = PivotSigns::default();
        for i in 0..self.size() {
            let from = self.first[i];
            let begin = self.place(i, from);
            let (above, rest) = self.values.split_at_mut(begin);
            let row = &mut rest[..=i - from];
            // w_ij = a_ij − Σ_k w_ik L_jk, with w = L D.
            for j in from..i {
                let both = from.max(self.first[j]);
                let theirs = (self.start[j] + both as isize) as usize;
                let other = &above[theirs..theirs + (j - both)];
                row[j - from] -= dot(&row[both - from..j - from], other);
            }
            let mut pivot = row[i - from];
            for j in from..i {
                let w = row[j - from];
                row[j - from] = w / self.pivots[j];
                pivot -= w * row[j - from];
            }
            match pivot {
                p if p > 0.0 => inertia.positive += 1,
                p if p < 0.0 => inertia.negative += 1,
                _ => inertia.zero += 1,
            }
            self.pivots[i] = pivot;
        }
        inertia
    }

    /// Solves with the factors, in place.
    pub fn solve(&self, x: &mut [f64]) {
        for i in 0..self.size() {
            let (row, from) = (self.row(i), self.first[i]);
            x[i] -= dot(&row[..i - from], &x[from..i]);
        }
        for (x, pivot) in x.iter_mut().zip(&self.pivots) {
            *x /= pivot;
        }
        for i in (0..self.size()).rev() {
            let (row, from, value) = (self.row(i), self.first[i], x[i]);
            x[from..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * value);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (quads_a, rest_a) = a.as_chunks::<4>();
    let (quads_b, rest_b) = b.as_chunks::<4>();
    for (a, b) in quads_a.iter().zip(quads_b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An arrow with a band: the solution is found and the inertia counted.
    #[test]
    fn factors_solve_and_count_signs() {
        let n = 9;
        let dense = |i: usize, j: usize| match i.abs_diff(j) {
            0 => {
                if i % 3 == 2 {
                    -3.0
                } else {
                    4.0 + i as f64
                }
            }
            1 => 0.5,
            _ if i.max(j) == n - 1 => 0.25,
            _ => 0.0,
        };
        let first = (0..n).map(|i| if i == n - 1 { 0 } else { i.saturating_sub(1) }).collect();
        let mut matrix = Skyline::new(first);
        for i in 0..n {
            for j in matrix.first[i]..=i {
                let place = matrix.place(i, j);
                matrix.values()[place] = dense(i, j);
            }
        }
        let wanted: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * i as f64).collect();
        let mut x: Vec<f64> = (0..n).map(|i| (0..n).map(|j| dense(i, j) * wanted[j]).sum()).collect();
        assert_eq!(matrix.factor(), PivotSigns { positive: 6, negative: 3, zero: 0 });
        matrix.solve(&mut x);
        for (x, wanted) in x.iter().zip(&wanted) {
            assert!((x - wanted).abs() < 1e-13, "{x}, not {wanted}");
        }
    }
}
