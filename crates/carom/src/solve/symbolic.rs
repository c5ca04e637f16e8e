//! Linear equations between expressions.

use crate::expr::Expr;

/// x with A·x = b, by elimination without pivoting, which is stable where A is symmetric and positive definite.
pub fn eliminate(mut a: Vec<Vec<Expr>>, mut b: Vec<Expr>) -> Vec<Expr> {
    let n = b.len();
    for k in 0..n {
        let pivot = a[k].clone();
        for i in k + 1..n {
            let factor = a[i][k] / pivot[k];
            for (x, &y) in a[i].iter_mut().zip(&pivot).skip(k + 1) {
                *x = *x - factor * y;
            }
            b[i] = b[i] - factor * b[k];
        }
    }
    for i in (0..n).rev() {
        let known: Expr = (i + 1..n).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    b
}
