use super::{Lu, SparseLu};

/// The largest number of unknowns for dense elimination.
const MAX_DENSE: usize = 32;

/// Linear equations whose matrix has a fixed pattern of zeros.
#[derive(Clone, Debug)]
pub(crate) enum Linear {
    /// All entries by rows, and the positions of those that may be nonzero.
    Dense {
        lu: Lu,
        matrix: Vec<f64>,
        places: Vec<usize>,
    },
    Sparse(SparseLu),
}

impl Linear {
    /// For n×n matrices with entries at these rows and columns.
    pub(crate) fn new(n: usize, entries: &[(usize, usize)]) -> Linear {
        if n > MAX_DENSE {
            return Linear::Sparse(SparseLu::new(n, entries));
        }
        let places = entries.iter().map(|&(row, column)| row * n + column).collect();
        Linear::Dense { lu: Lu::new(n), matrix: vec![0.0; n * n], places }
    }

    /// Factors the matrix with these entries. Returns false if it is singular.
    pub(crate) fn factor(&mut self, entries: &[f64]) -> bool {
        match self {
            Linear::Dense { lu, matrix, places } => {
                places.iter().zip(entries).for_each(|(&place, &entry)| matrix[place] = entry);
                lu.factor(matrix)
            }
            Linear::Sparse(lu) => lu.factor(entries),
        }
    }

    /// Solves A·x = b.
    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        match self {
            Linear::Dense { lu, .. } => lu.solve(b, x),
            Linear::Sparse(lu) => lu.solve(b, x),
        }
    }
}
