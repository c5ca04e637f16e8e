//! Eigenvalues of small real matrices, and least-squares solutions.

/// The largest number of QR steps for one eigenvalue.
const MOST_STEPS: usize = 60;

/// The eigenvalues (re, im) of an n×n matrix by rows: reduction to Hessenberg form, then QR steps with double shifts. [Golub & Van
/// Loan, *Matrix Computations*, 7.5] None if the steps do not converge or an entry is not finite.
pub fn eigenvalues(matrix: &[f64], n: usize) -> Option<Vec<(f64, f64)>> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut a: Vec<Vec<f64>> = matrix.chunks(n.max(1)).map(<[f64]>::to_vec).collect();
    hessenberg(&mut a);
    let (mut found, mut end) = (vec![(0.0, 0.0); n], n);
    while end > 0 {
        let mut converged = false;
        for step in 0..MOST_STEPS {
            let start = block(&a, end);
            if start + 1 == end {
                found[end - 1] = (a[end - 1][end - 1], 0.0);
                (end, converged) = (end - 1, true);
                break;
            }
            if start + 2 == end {
                let pair = pair(&a, end);
                (found[end - 2], found[end - 1]) = (pair[0], pair[1]);
                (end, converged) = (end - 2, true);
                break;
            }
            francis(&mut a, start, end, step % 10 == 9);
        }
        if !converged {
            return None;
        }
    }
    Some(found)
}

/// Zeros below the first subdiagonal, by reflections.
fn hessenberg(a: &mut [Vec<f64>]) {
    let n = a.len();
    for k in 1..n.saturating_sub(1) {
        let x: Vec<f64> = (k..n).map(|i| a[i][k - 1]).collect();
        if let Some(v) = reflector(&x) {
            reflect_rows(a, &v, k, 0);
            reflect_columns(a, &v, k, n);
        }
    }
}

/// v with (1 − 2vvᵀ)x along the first axis; none if x is along it already.
fn reflector(x: &[f64]) -> Option<Vec<f64>> {
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    if x[1..].iter().all(|x| *x == 0.0) || norm == 0.0 {
        return None;
    }
    let mut v = x.to_vec();
    v[0] += norm.copysign(x[0]);
    let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.iter_mut().for_each(|x| *x /= size);
    Some(v)
}

fn reflect_rows(a: &mut [Vec<f64>], v: &[f64], first: usize, from: usize) {
    for j in from..a.len() {
        let sum: f64 = v.iter().enumerate().map(|(i, v)| v * a[first + i][j]).sum();
        v.iter().enumerate().for_each(|(i, v)| a[first + i][j] -= 2.0 * sum * v);
    }
}

fn reflect_columns(a: &mut [Vec<f64>], v: &[f64], first: usize, to: usize) {
    for row in &mut a[..to] {
        let sum: f64 = v.iter().enumerate().map(|(i, v)| v * row[first + i]).sum();
        v.iter().enumerate().for_each(|(i, v)| row[first + i] -= 2.0 * sum * v);
    }
}

/// Where the last block begins that does not fall apart.
fn block(a: &[Vec<f64>], end: usize) -> usize {
    let mut start = end - 1;
    while start > 0 {
        let size = a[start - 1][start - 1].abs() + a[start][start].abs();
        if a[start][start - 1].abs() <= f64::EPSILON * if size > 0.0 { size } else { 1.0 } {
            break;
        }
        start -= 1;
    }
    start
}

/// The eigenvalues of the last 2×2 block.
fn pair(a: &[Vec<f64>], end: usize) -> [(f64, f64); 2] {
    let (p, q) = (end - 2, end - 1);
    let half = 0.5 * (a[p][p] + a[q][q]);
    let difference = 0.5 * (a[p][p] - a[q][q]);
    let square = difference * difference + a[p][q] * a[q][p];
    let root = square.abs().sqrt();
    if square < 0.0 {
        return [(half, root), (half, -root)];
    }
    // The larger one without cancellation, the other from the determinant.
    let large = half + root.copysign(half);
    let determinant = a[p][p] * a[q][q] - a[p][q] * a[q][p];
    let small = if large == 0.0 { 0.0 } else { determinant / large };
    [(large, 0.0), (small, 0.0)]
}

/// One QR step with two shifts at once on rows and columns start..end.
fn francis(a: &mut [Vec<f64>], start: usize, end: usize, exceptional: bool) {
    let (p, q) = (end - 2, end - 1);
    let (mut trace, mut determinant) = (a[p][p] + a[q][q], a[p][p] * a[q][q] - a[p][q] * a[q][p]);
    if exceptional {
        let size = a[q][p].abs() + a[p][end.saturating_sub(3)].abs();
        (trace, determinant) = (1.5 * size, size * size);
    }
    let s = start;
    let mut x = vec![
        a[s][s] * a[s][s] + a[s][s + 1] * a[s + 1][s] - trace * a[s][s] + determinant,
        a[s + 1][s] * (a[s][s] + a[s + 1][s + 1] - trace),
        a[s + 1][s] * a[s + 2][s + 1],
    ];
    for k in s..end - 1 {
        let size = (end - k).min(3);
        x.truncate(size);
        if let Some(v) = reflector(&x) {
            reflect_rows(a, &v, k, 0);
            let to = a.len();
            reflect_columns(a, &v, k, to);
        }
        if k + 1 < end {
            x = (k + 1..end.min(k + 4)).map(|i| a[i][k]).collect();
        }
    }
}

/// The shortest x that minimises |A x − b|, for an m×n matrix by rows. Singular values below `tolerance` times the largest count as
/// zero. By rotations of the columns (one-sided Jacobi). [Golub & Van Loan, 8.6]
pub fn least_squares(matrix: &[f64], n: usize, b: &[f64], tolerance: f64) -> Vec<f64> {
    let m = b.len();
    let mut u: Vec<Vec<f64>> = (0..n).map(|j| (0..m).map(|i| matrix[i * n + j]).collect()).collect();
    let mut v: Vec<Vec<f64>> = (0..n).map(|j| (0..n).map(|i| f64::from(i == j)).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for _ in 0..MOST_STEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (alpha, beta, gamma) = (dot(&u[p], &u[p]), dot(&u[q], &u[q]), dot(&u[p], &u[q]));
                if gamma.abs() <= f64::EPSILON * (alpha * beta).sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let t = 1f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                for columns in [&mut u, &mut v] {
                    let (left, right) = columns.split_at_mut(q);
                    for (x, y) in left[p].iter_mut().zip(&mut right[0]) {
                        (*x, *y) = (c * *x - c * t * *y, c * t * *x + c * *y);
                    }
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let squares: Vec<f64> = u.iter().map(|column| dot(column, column)).collect();
    let largest = squares.iter().fold(0.0, |a: f64, b| a.max(*b)).sqrt();
    let mut x = vec![0.0; n];
    for ((u, v), square) in u.iter().zip(&v).zip(&squares) {
        if square.sqrt() > tolerance * largest {
            let part = dot(u, b) / square;
            x.iter_mut().zip(v).for_each(|(x, v)| *x += part * v);
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_a_companion_matrix_are_the_roots() {
        // (x − 1)(x + 2)(x² − x + 1)(x − 0.5)
        let roots = [(1.0, 0.0), (-2.0, 0.0), (0.5, 0.75f64.sqrt()), (0.5, -(0.75f64.sqrt())), (0.5, 0.0)];
        let mut polynomial = vec![(1.0, 0.0)];
        for (re, im) in roots {
            let mut next = vec![(0.0, 0.0); polynomial.len() + 1];
            for (k, &(a, b)) in polynomial.iter().enumerate() {
                next[k + 1] = (next[k + 1].0 + a, next[k + 1].1 + b);
                next[k] = (next[k].0 - (a * re - b * im), next[k].1 - (a * im + b * re));
            }
            polynomial = next;
        }
        let n = roots.len();
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            matrix[i * n + n - 1] = -polynomial[i].0;
            if i > 0 {
                matrix[i * n + i - 1] = 1.0;
            }
        }
        let found = eigenvalues(&matrix, n).expect("it converges");
        for root in roots {
            let near = found.iter().map(|x| (x.0 - root.0).hypot(x.1 - root.1)).fold(f64::INFINITY, f64::min);
            assert!(near < 1e-12, "{root:?}: {found:?}");
        }
    }

    #[test]
    fn the_shortest_of_many_solutions_is_found() {
        let x = least_squares(&[1.0, 1.0, 2.0, 2.0], 2, &[2.0, 4.0], 1e-12);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14, "{x:?}");
        let x = least_squares(&[2.0, 1.0, 1.0, 3.0], 2, &[5.0, 10.0], 1e-12);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 3.0).abs() < 1e-14, "{x:?}");
    }
}
