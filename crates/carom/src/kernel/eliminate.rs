//! Small linear systems for compiled Newton iterations: elimination with row pivoting.

use super::calls::callable;
use crate::limits::SINGULAR;

/// The largest number of unknowns.
pub(super) const MOST: usize = 8;

/// Two equations are solved by determinants if the determinant exceeds this fraction of the larger product. It has then lost
/// at most six digits, which leaves ten digits of a correction.
pub(super) const CLEARLY_REGULAR: f64 = 1e-6;
/// The determinant must lie in this range, so that its products neither overflow nor underflow.
pub(super) const MODERATE: [f64; 2] = [1e-280, 1e280];

/// A·x = b, as compiled code writes it to its frame. The solution replaces b.
#[repr(C)]
pub(super) struct Equations<const N: usize> {
    a: [[f64; N]; N],
    b: [f64; N],
}

/// The address of the function that solves n equations: it takes the [`Equations`] and a mask of the rows whose entry on the
/// diagonal is always zero. It returns 1 if A is singular in any units, as [`crate::solve::Lu::factor`] says, otherwise 0.
///
/// # Panics
///
/// If n is not from 1 to [`MOST`].
pub(super) fn address(n: usize) -> usize {
    macro_rules! table {
        ($($n:literal)*) => {
            match n {
                $($n => solve::<$n> as *const () as usize,)*
                _ => panic!("{n} equations, not 1 to {MOST}"),
            }
        };
    }
    table!(1 2 3 4 5 6 7 8)
}

callable! {
    solve<const N: usize>(equations: &mut Equations<N>, bordered: u32) -> u32 {
        let is_bordered = std::array::from_fn(|i| bordered >> i & 1 == 1);
        match eliminate(&equations.a, &equations.b, is_bordered) {
            Some(x) => {
                equations.b = x;
                0
            }
            None => 1,
        }
    }
}

/// A row of A, its right-hand side, and the weight by which it is multiplied in all comparisons.
#[derive(Clone, Copy)]
struct Row<const N: usize> {
    a: [f64; N],
    b: f64,
    weight: f64,
}

/// Row i and column i are multiplied by the weight wᵢ in all comparisons.
fn eliminate<const N: usize>(a: &[[f64; N]; N], b: &[f64; N], is_bordered: [bool; N]) -> Option<[f64; N]> {
    let columns = weights(a, is_bordered);
    let mut rows: [Row<N>; N] = std::array::from_fn(|i| Row { a: a[i], b: b[i], weight: columns[i] });
    let mut inverses = [0.0; N];
    for k in 0..N {
        for i in k + 1..N {
            let [size, other] = [k, i].map(|row| rows[row].a[k].abs() * rows[row].weight);
            // A NaN moves up, where it is found.
            if size < other || size.is_nan() || other.is_nan() {
                rows.swap(k, i);
            }
        }
        let pivot = rows[k];
        let size = pivot.a[k].abs() * (pivot.weight * columns[k]);
        if !(size > SINGULAR && size < f64::INFINITY) {
            return None;
        }
        inverses[k] = 1.0 / pivot.a[k];
        for row in &mut rows[k + 1..] {
            let factor = row.a[k] * inverses[k];
            for (x, y) in row.a[k + 1..].iter_mut().zip(&pivot.a[k + 1..]) {
                *x -= factor * y;
            }
            row.b -= factor * pivot.b;
        }
    }
    let mut x = *b;
    for i in (0..N).rev() {
        let sum = (i + 1..N).fold(rows[i].b, |sum, j| sum - rows[i].a[j] * x[j]);
        x[i] = sum * inverses[i];
    }
    Some(x)
}

/// The powers of two wᵢ that make rows and columns comparable in any units: wᵢ ≈ 1/√|aᵢᵢ|, or, where aᵢᵢ = 0,
/// wᵢ ≈ 1/maxⱼ |aᵢⱼ|wⱼ, as in `solve/equilibrate.rs`.
fn weights<const N: usize>(a: &[[f64; N]; N], is_bordered: [bool; N]) -> [f64; N] {
    let mut weights: [f64; N] = std::array::from_fn(|i| if is_bordered[i] { 1.0 } else { power_of_two(a[i][i], 1) });
    for i in (0..N).filter(|&i| is_bordered[i]) {
        let sizes = (0..N).filter(|&j| !is_bordered[j]).map(|j| (a[i][j] * weights[j]).abs());
        // The second if one is NaN.
        let size = sizes.reduce(|most, size| if size < most { most } else { size });
        weights[i] = size.map_or(1.0, |size| power_of_two(size, 0));
    }
    weights
}

/// About |x|⁻¹, or |x|^(−1/2) if `halving` is 1, by its exponent.
fn power_of_two(x: f64, halving: u32) -> f64 {
    let biased = (x.to_bits() >> 52 & 0x7ff) as i64;
    let inverse = 1023 - ((biased - 1023) >> halving);
    f64::from_bits((inverse.max(1) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_exchanged_and_scales_do_not_matter() {
        for scale in [1.0, 1e-120, 1e120] {
            let a = [[0.0, 2.0, 1.0], [1.0, 1e-9, 0.0], [3.0, 1.0, 1.0]].map(|row| row.map(|x| x * scale));
            let b = [7.0, 1.0 + 2e-9, 8.0].map(|x| x * scale);
            let x = eliminate(&a, &b, [true, false, false]).expect("it is regular");
            for (x, exact) in x.iter().zip([1.0, 2.0, 3.0]) {
                assert!((x - exact).abs() < 1e-14, "{x}, not {exact}, times {scale}");
            }
        }
    }

    #[test]
    fn singular_matrices_and_what_is_no_number_are_found() {
        for a in [[[1.0, 2.0], [2.0, 4.0]], [[0.0; 2]; 2], [[1.0, 0.0], [f64::NAN, 1.0]], [[f64::INFINITY; 2]; 2]] {
            assert_eq!(eliminate(&a, &[1.0; 2], [false; 2]), None, "{a:?}");
        }
    }
}
