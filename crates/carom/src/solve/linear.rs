use super::{Lu, MarkowitzLu, SparseLu};

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
    /// The sequence of pivots of earlier matrices, the matrix and the positions of its entries, and room for a right-hand side.
    Kept {
        lu: Box<MarkowitzLu>,
        matrix: Vec<f64>,
        places: Vec<usize>,
        right: Vec<f64>,
    },
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

    /// Like [`Linear::new`], but keeps the sequence of pivots from one matrix to the next until [`Linear::forget`]: several times faster
    /// for matrices that are not small.
    pub(crate) fn keeping_pivots(n: usize, entries: &[(usize, usize)]) -> Linear {
        if n <= MAX_DENSE {
            return Linear::new(n, entries);
        }
        let places: Vec<usize> = entries.iter().map(|&(row, column)| row * n + column).collect();
        let lu = Box::new(MarkowitzLu::new(n, places.clone()));
        Linear::Kept { lu, matrix: vec![0.0; n * n], places, right: vec![0.0; n] }
    }

    /// Forgets the sequence of pivots.
    pub(crate) fn forget(&mut self) {
        if let Linear::Kept { lu, .. } = self {
            lu.forget();
        }
    }

    /// Factors the matrix with these entries. Returns false if it is singular.
    pub(crate) fn factor(&mut self, entries: &[f64]) -> bool {
        match self {
            Linear::Dense { lu, matrix, places } => {
                places.iter().zip(entries).for_each(|(&place, &entry)| matrix[place] = entry);
                lu.factor(matrix)
            }
            Linear::Sparse(lu) => lu.factor(entries),
            Linear::Kept { lu, matrix, places, .. } => {
                places.iter().zip(entries).for_each(|(&place, &entry)| matrix[place] = entry);
                lu.factor(matrix)
            }
        }
    }

    /// Solves A·x = b.
    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        match self {
            Linear::Dense { lu, .. } => lu.solve(b, x),
            Linear::Sparse(lu) => lu.solve(b, x),
            Linear::Kept { lu, right, .. } => {
                right.copy_from_slice(b);
                lu.solve(right, x);
            }
        }
    }
}
