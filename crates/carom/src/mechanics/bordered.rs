//! Linear systems with the mass matrix, bordered by constraint gradients.

use super::local::{Local, Row};
use crate::solve::MarkowitzLu;

/// The linear system of a motion on a set of rows g = 0:
///
/// ```text
/// | M  Gᵀ | | x |   | b |
/// | G  0  | | μ | = | c |
/// ```
///
/// M itself may be singular, as long as it is nonsingular on the tangent space of the rows.
#[derive(Clone, Debug)]
pub(crate) struct Bordered {
    pub(crate) n: usize,
    /// The indices of the rows in `LocalCode`.
    pub(crate) rows: Vec<usize>,
    lu: MarkowitzLu,
    matrix: Vec<f64>,
    /// The positions of the entries of M in the matrix.
    mass: Vec<usize>,
    /// b, c
    right: Vec<f64>,
    /// x, μ
    solution: Vec<f64>,
    /// The solution for a right-hand side of another kind.
    response: Vec<f64>,
}

impl Bordered {
    pub(crate) fn new(local: &Local, rows: &[usize]) -> Bordered {
        let (n, size) = (local.code.n, local.code.n + rows.len());
        let mass: Vec<usize> = local.code.entries[0].iter().map(|(i, j)| i * size + j).collect();
        let mut entries = mass.clone();
        for (k, &row) in rows.iter().enumerate() {
            entries.extend(local.code.support(row).iter().flat_map(|&i| [i * size + n + k, (n + k) * size + i]));
        }
        let zeros = vec![0.0; size];
        Bordered {
            n,
            rows: rows.to_vec(),
            lu: MarkowitzLu::new(size, entries),
            matrix: vec![0.0; size * size],
            mass,
            right: zeros.clone(),
            response: zeros.clone(),
            solution: zeros,
        }
    }

    pub(crate) fn forget(&mut self) {
        self.lu.forget();
    }

    /// Sets M from its entries.
    pub(crate) fn set_mass(&mut self, values: &[f64]) {
        self.mass.iter().zip(values).for_each(|(&at, x)| self.matrix[at] = *x);
    }

    /// The entries of M.
    pub(crate) fn mass(&self) -> impl Iterator<Item = f64> {
        self.mass.iter().map(|&at| self.matrix[at])
    }

    /// Sets row k of G.
    pub(crate) fn set_row(&mut self, k: usize, row: &Row) {
        let (n, size) = (self.n, self.right.len());
        row.support.iter().zip(row.grad).for_each(|(&i, x)| self.matrix[(n + k) * size + i] = *x);
    }

    /// Sets column k of Gᵀ.
    pub(crate) fn set_column(&mut self, k: usize, row: &Row) {
        let (n, size) = (self.n, self.right.len());
        row.support.iter().zip(row.grad).for_each(|(&i, x)| self.matrix[i * size + n + k] = *x);
    }

    /// Entry i of row k of G.
    pub(crate) fn slope(&self, k: usize, i: usize) -> f64 {
        self.matrix[(self.n + k) * self.right.len() + i]
    }

    /// Mutable access to b and c.
    pub(crate) fn right(&mut self) -> (&mut [f64], &mut [f64]) {
        self.right.split_at_mut(self.n)
    }

    /// Solves the system. Returns None if the matrix is singular. Overwrites the right-hand side.
    pub(crate) fn solve(&mut self) -> Option<(&[f64], &[f64])> {
        if !self.lu.factor(&self.matrix) {
            return None;
        }
        self.lu.solve(&mut self.right, &mut self.solution);
        Some(self.solution.split_at(self.n))
    }

    /// The solution for b = ∇φ of a row and c = 0, with the matrix of the last solution, which stays as it is.
    pub(crate) fn respond(&mut self, row: &Row) -> &[f64] {
        self.right.fill(0.0);
        row.add_to(1.0, &mut self.right[..self.n]);
        self.lu.solve(&mut self.right, &mut self.response);
        &self.response
    }

    /// x and μ of the last solution.
    pub(crate) fn solution(&self) -> (&[f64], &[f64]) {
        self.solution.split_at(self.n)
    }
}
