//! Symbolic linear algebra for small matrices: inverses by cofactors, block by block.

use crate::expr::Expr;

/// Blocks larger than this are left in matrix form.
const LARGEST_BLOCK: usize = 3;

/// The inverse of a symmetric matrix with small blocks. None if a block is large or singular.
pub fn inverse(m: &[Vec<Expr>], tidy: &impl Fn(Expr) -> Expr) -> Option<Vec<Vec<Expr>>> {
    let n = m.len();
    let mut inverse = vec![vec![Expr::constant(0.0); n]; n];
    for block in blocks(m) {
        if block.len() > LARGEST_BLOCK {
            return None;
        }
        let part: Vec<Vec<Expr>> = block.iter().map(|&i| block.iter().map(|&j| m[i][j]).collect()).collect();
        let det = tidy(determinant(&part));
        if det.is_zero() {
            return None;
        }
        for (a, &i) in block.iter().enumerate() {
            for (b, &j) in block.iter().enumerate() {
                let sign = if (a + b) % 2 == 0 { 1.0 } else { -1.0 };
                inverse[i][j] = tidy(sign * determinant(&minor(&part, b, a)) / det);
            }
        }
    }
    Some(inverse)
}

/// The sets of coupled rows.
fn blocks(m: &[Vec<Expr>]) -> Vec<Vec<usize>> {
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for (i, row) in m.iter().enumerate() {
        let coupled = |block: &Vec<usize>| block.iter().any(|&j| !row[j].is_zero() || !m[j][i].is_zero());
        let (joined, mut apart): (Vec<_>, Vec<_>) = blocks.into_iter().partition(coupled);
        let mut block = joined.concat();
        block.push(i);
        apart.push(block);
        blocks = apart;
    }
    blocks
}

fn minor(m: &[Vec<Expr>], row: usize, column: usize) -> Vec<Vec<Expr>> {
    let keep = |skip: usize| (0..m.len()).filter(move |&k| k != skip);
    keep(row).map(|i| keep(column).map(|j| m[i][j]).collect()).collect()
}

/// The determinant, expanded along the first row.
fn determinant(m: &[Vec<Expr>]) -> Expr {
    match m {
        [] => Expr::constant(1.0),
        [row] => row[0],
        _ => {
            let term = |j: usize| {
                let sign = if j.is_multiple_of(2) { 1.0 } else { -1.0 };
                sign * m[0][j] * determinant(&minor(m, 0, j))
            };
            (0..m.len()).filter(|&j| !m[0][j].is_zero()).map(term).sum()
        }
    }
}

/// Σ aᵢ bᵢ.
pub fn dot(a: &[Expr], b: &[Expr]) -> Expr {
    a.iter().zip(b).map(|(&x, &y)| x * y).sum()
}

/// The product of a matrix and a vector.
pub fn apply(m: &[Vec<Expr>], v: &[Expr]) -> Vec<Expr> {
    m.iter().map(|row| dot(row, v)).collect()
}
