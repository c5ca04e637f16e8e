//! The tables of Gauss collocation with eight stages for accelerations.

use std::array::from_fn;

use super::super::collocation::Collocation;
use super::super::vector::Buffer;
use crate::discrete::quadrature::legendre;

/// The number of stages, which is the number of lanes.
pub(in super::super) const S: usize = 8;

/// The ratios of two steps with a table: 2^(m/4) for m from −3 to 2.
const RUNGS: std::ops::RangeInclusive<i32> = -3..=2;

/// Numbers aligned to cache lines: vectors that cross lines cost twice.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) T);

/// Matrices by columns of S lanes.
pub(super) struct Tables {
    pub(super) rule: Collocation,
    /// A and A², for V = v0 + h A a and Q = q0 + c h v0 + h² A² a.
    pub(super) integrals: Aligned<[[[f64; S]; S]; 2]>,
    pub(super) c: Buffer,
    /// By rows bᵢ and bᵢ(1 − cᵢ), for the end of a step; then the Legendre coefficients of degrees 4 to 7.
    pub(super) functionals: Buffer,
    /// Legendre coefficients from values at the stages: column j has (2m + 1) bⱼ Pₘ(2cⱼ − 1). [Gauss quadrature is exact for them]
    pub(super) legendre: Buffer,
    /// ℓⱼ(1 + cᵢ·ratio) for each ratio of the ladder.
    ladder: Vec<(f64, Buffer)>,
}

impl Tables {
    pub(super) fn new() -> Tables {
        let rule = Collocation::gauss(S);
        let a = |i: usize, j: usize| rule.a[i * S + j];
        let by_columns = |entry: &dyn Fn(usize, usize) -> f64| {
            let mut buffer = Buffer::zeros(S * S);
            (0..S * S).for_each(|at| buffer[at] = entry(at % S, at / S));
            buffer
        };
        let coefficient = |m: usize, j: usize| (2 * m + 1) as f64 * rule.b[j] * legendre(m, 2.0 * rule.c[j] - 1.0);
        let mut c = Buffer::zeros(S);
        c.copy_from_slice(&rule.c);
        let ladder = RUNGS.map(|rung| {
            let ratio = 2f64.powf(0.25 * f64::from(rung));
            let mut matrix = Buffer::zeros(S * S);
            rule.interpolation(1.0, ratio, S, &mut matrix);
            (ratio, matrix)
        });
        let twice = |i: usize, j: usize| (0..S).map(|k| a(i, k) * a(k, j)).sum::<f64>();
        let columns = |entry: &dyn Fn(usize, usize) -> f64| from_fn(|j| from_fn(|i| entry(i, j)));
        Tables {
            integrals: Aligned([columns(&a), columns(&twice)]),
            c,
            functionals: by_columns(&|row, j| match row {
                0 => rule.b[j],
                1 => rule.b[j] * (1.0 - rule.c[j]),
                2..6 => coefficient(row + 2, j),
                _ => 0.0,
            }),
            legendre: by_columns(&coefficient),
            ladder: ladder.collect(),
            rule,
        }
    }

    /// ℓⱼ(1 + cᵢ·ratio): from the ladder, else computed in `room`.
    pub(super) fn ahead<'a>(&'a self, ratio: f64, room: &'a mut Buffer) -> &'a [f64] {
        match self.ladder.iter().find(|(rung, _)| (rung - ratio).abs() <= 1e-12) {
            Some((_, matrix)) => matrix,
            None => {
                self.rule.interpolation(1.0, ratio, S, room);
                room
            }
        }
    }
}

/// (2m − 1)/m and (m − 1)/m of Bonnet's recursion; 1/(2(2m + 1)), 1/(2m + 3) and 1/(2m − 1) of the integrals.
const FACTORS: [[f64; 5]; S + 2] = factors();

const fn factors() -> [[f64; 5]; S + 2] {
    let mut all = [[0.0; 5]; S + 2];
    let mut m = 1;
    while m < S + 2 {
        let k = m as f64;
        all[m] = [
            (2.0 * k - 1.0) / k,
            (k - 1.0) / k,
            1.0 / (2.0 * (2.0 * k + 1.0)),
            1.0 / (2.0 * k + 3.0),
            1.0 / (2.0 * k - 1.0),
        ];
        m += 1;
    }
    all
}

/// ∫₀ˣ Pₘ and its integral, for the shifted Legendre polynomials of degree m < S at x:
///
/// ```text
/// Iₘ = (P_{m+1} − P_{m−1})/(2(2m + 1)),   Jₘ = [(P_{m+2} − Pₘ)/(2m + 3) − (Pₘ − P_{m−2})/(2m − 1)]/(4(2m + 1))
/// ```
///
/// They vanish at both ends but for m < 2, so that the ends of a step are exact.
#[inline]
pub(super) fn integrals(x: f64) -> [[f64; S]; 2] {
    let (mut p, xi) = ([1.0; S + 2], 2.0 * x - 1.0);
    p[1] = xi;
    for m in 2..S + 2 {
        p[m] = FACTORS[m][0] * xi * p[m - 1] - FACTORS[m][1] * p[m - 2];
    }
    let (mut first, mut second) = ([0.0; S], [0.0; S]);
    (first[0], second[0]) = (x, 0.5 * x * x);
    (first[1], second[1]) = (x * x - x, x * x * (x / 3.0 - 0.5));
    for m in 2..S {
        let [_, _, once, up, down] = FACTORS[m];
        first[m] = once * (p[m + 1] - p[m - 1]);
        second[m] = 0.5 * once * (up * (p[m + 2] - p[m]) - down * (p[m] - p[m - 2]));
    }
    [first, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A polynomial acceleration of degree 7 is represented and integrated exactly, and extrapolated to the next step.
    #[test]
    fn polynomials_are_exact() {
        let tables = Tables::new();
        for degree in 0..S as i32 {
            let a: Vec<f64> = tables.rule.c.iter().map(|c| c.powi(degree)).collect();
            let row = |matrix: &[f64], i: usize| (0..S).map(|j| matrix[j * S + i] * a[j]).sum::<f64>();
            let l: Vec<f64> = (0..S).map(|m| row(&tables.legendre, m)).collect();
            for x in [0.0_f64, 0.1, 0.5, 0.9, 1.0, 1.3] {
                let [first, second] = integrals(x);
                let (v, q): (f64, f64) =
                    ((0..S).map(|m| l[m] * first[m]).sum(), (0..S).map(|m| l[m] * second[m]).sum());
                let (k, x_k) = (f64::from(degree), x.powi(degree + 1));
                // Beyond the step, Legendre polynomials and with them roundoff grow: P₇(1.6) ≈ 300.
                let roundoff = if x > 1.0 { 1e-12 } else { 1e-14 };
                assert!((v - x_k / (k + 1.0)).abs() < roundoff, "degree {degree} at {x}: {v}");
                assert!((q - x * x_k / ((k + 1.0) * (k + 2.0))).abs() < roundoff, "degree {degree} at {x}: {q}");
            }
            for (i, c) in tables.rule.c.iter().enumerate() {
                // A ratio of the ladder, and one between.
                for ratio in [0.5_f64.sqrt(), 0.8] {
                    let ahead = row(tables.ahead(ratio, &mut Buffer::zeros(S * S)), i);
                    let due = (1.0 + c * ratio).powi(degree);
                    assert!((ahead - due).abs() < 1e-10, "degree {degree}, stage {i}, {ratio}: {ahead}, not {due}");
                }
                let v = (0..S).map(|j| tables.integrals.0[0][j][i] * a[j]).sum::<f64>();
                assert!((v - c.powi(degree + 1) / f64::from(degree + 1)).abs() < 1e-15, "degree {degree}, stage {i}");
            }
        }
    }
}
