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

/// The number of products that the elimination of a symmetric matrix takes, by the places of its zeros.
pub fn work(a: &[Vec<Expr>]) -> usize {
    let n = a.len();
    let mut is_zero: Vec<Vec<bool>> = a.iter().map(|row| row.iter().map(|x| x.is_zero()).collect()).collect();
    let mut products = 0;
    for k in 0..n {
        let below: Vec<usize> = (k + 1..n).filter(|&i| !is_zero[i][k]).collect();
        products += below.len() * below.len();
        for &i in &below {
            below.iter().for_each(|&j| is_zero[i][j] = false);
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_save_work() {
        let matrix = |is_zero: &dyn Fn(usize, usize) -> bool| -> Vec<Vec<Expr>> {
            let entry = |i, j| if is_zero(i, j) { Expr::constant(0.0) } else { Expr::symbol("a") };
            (0..10).map(|i| (0..10).map(|j| entry(i, j)).collect()).collect()
        };
        assert_eq!(work(&matrix(&|i, j| i != j)), 0, "diagonal");
        assert_eq!(work(&matrix(&|i, j| i.abs_diff(j) > 1)), 9, "tridiagonal");
        assert_eq!(work(&matrix(&|_, _| false)), (1..10).map(|k| k * k).sum(), "full");
        assert_eq!(work(&matrix(&|i, j| i != j && i * j != 0)), (1..10).map(|k| k * k).sum(), "an arrow fills up");
    }
}
