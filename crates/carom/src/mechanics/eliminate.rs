//! Symbolic solution of linear equations.

use crate::expr::Expr;

/// Solves A·x = b by elimination without pivoting.
pub fn eliminate(a: Vec<Vec<Expr>>, b: Vec<Expr>) -> Vec<Expr> {
    eliminate_columns(a, vec![b]).swap_remove(0)
}

/// Solves A·x = b for several right-hand sides b by elimination without pivoting, which is stable if A is symmetric positive
/// definite.
pub fn eliminate_columns(mut a: Vec<Vec<Expr>>, mut columns: Vec<Vec<Expr>>) -> Vec<Vec<Expr>> {
    let n = a.len();
    for k in 0..n {
        let pivot = a[k].clone();
        for i in k + 1..n {
            let factor = a[i][k] / pivot[k];
            for (x, &y) in a[i].iter_mut().zip(&pivot).skip(k + 1) {
                *x = *x - factor * y;
            }
            columns.iter_mut().for_each(|x| x[i] = x[i] - factor * x[k]);
        }
    }
    for x in &mut columns {
        for i in (0..n).rev() {
            let known: Expr = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
            x[i] = (x[i] - known) / a[i][i];
        }
    }
    columns
}
