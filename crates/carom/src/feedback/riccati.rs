//! The recursion of Riccati.

use crate::tangent::{Matrix, add, solve};

/// The derivatives of a step: z1 by z0, by the controls, by the time of its beginning and by its length.
#[derive(Clone, Debug)]
pub struct StepDerivatives {
    /// A = ∂z1/∂z0.
    pub a: Matrix,
    /// B = ∂z1/∂u.
    pub b: Matrix,
    /// ∂z1/∂t.
    pub by_t: Vec<f64>,
    /// ∂z1/∂h.
    pub by_h: Vec<f64>,
}

/// X·Y.
pub fn product(x: &Matrix, y: &Matrix) -> Matrix {
    let mut z = Matrix::zeros(x.rows(), y.columns);
    for i in 0..x.rows() {
        for (j, &factor) in x.row(i).iter().enumerate() {
            add(z.row_mut(i), factor, y.row(j));
        }
    }
    z
}

/// Xᵀ.
pub fn transposed(x: &Matrix) -> Matrix {
    let rows = x.rows();
    let data = (0..x.columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| x.at(i, j)).collect();
    Matrix { columns: rows, data }
}

/// X·y.
pub fn apply(x: &Matrix, y: &[f64]) -> Vec<f64> {
    (0..x.rows()).map(|i| crate::tangent::dot(x.row(i), y)).collect()
}

/// K of a step after which the cost is δzᵀPδz, and P before it:
///
/// ```text
/// K = (R + BᵀPB)⁻¹ BᵀPA,   P ← Q + AᵀP(A − BK)
/// ```
///
/// R is positive definite.
pub fn gain(step: &StepDerivatives, q: &Matrix, r: &Matrix, p: &mut Matrix) -> Matrix {
    let StepDerivatives { a, b, .. } = step;
    let pb = product(p, b);
    let mut left = product(&transposed(b), &pb);
    left.data.iter_mut().zip(&r.data).for_each(|(x, r)| *x += r);
    let mut k = product(&transposed(&pb), a);
    solve(&mut left, &mut k);
    let mut closed = a.clone();
    let bk = product(b, &k);
    closed.data.iter_mut().zip(&bk.data).for_each(|(x, bk)| *x -= bk);
    let next = product(&transposed(a), &product(p, &closed));
    // The mean with the transposed, so that roundoff leaves it symmetric.
    for i in 0..next.rows() {
        for j in 0..next.columns {
            p.row_mut(i)[j] = q.at(i, j) + 0.5 * (next.at(i, j) + next.at(j, i));
        }
    }
    k
}
