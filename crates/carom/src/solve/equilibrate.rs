//! The units of a matrix.

/// Factors for the rows and columns of a matrix that make its entries comparable in any units.
///
/// In the equations of mechanics, unknown j and residual j are conjugate: their product has the unit of an energy or an action. In
/// other units, the matrix A becomes e·DAD with a diagonal D. The factors of the columns follow such a change:
///
/// ```text
/// cⱼ ≈ 1/√|aⱼⱼ|,   or, where aⱼⱼ = 0 (multipliers of constraints),   cⱼ ≈ 1/maxᵢ |aⱼᵢ|cᵢ
/// ```
///
/// Those of the rows make the largest entry of each row about 1: rᵢ ≈ 1/maxⱼ |aᵢⱼ|cⱼ. All are powers of two, which round nothing.
#[derive(Clone, Debug)]
pub(super) struct Equilibrium {
    pub(super) rows: Vec<f64>,
    pub(super) columns: Vec<f64>,
}

impl Equilibrium {
    pub(super) fn new(n: usize) -> Equilibrium {
        Equilibrium { rows: vec![1.0; n], columns: vec![1.0; n] }
    }

    /// Computes the factors of a matrix with these entries: row, column, value. Returns false if an entry is not finite, or if a row
    /// is zero.
    pub(super) fn set(&mut self, entries: impl Iterator<Item = (usize, usize, f64)> + Clone) -> bool {
        let Equilibrium { rows, columns } = self;
        columns.fill(0.0);
        let mut is_finite = true;
        for (i, j, x) in entries.clone() {
            is_finite &= x.is_finite();
            if i == j && x != 0.0 {
                columns[j] = power_of_two(-(exponent(x) >> 1));
            }
        }
        // Multipliers follow from the unknowns on which they act; a second round is for what depends on multipliers alone.
        for _ in 0..2 {
            if columns.iter().all(|c| *c > 0.0) {
                break;
            }
            rows.fill(0.0);
            let known = entries.clone().filter(|&(i, j, _)| columns[i] == 0.0 && columns[j] > 0.0);
            known.for_each(|(i, j, x)| rows[i] = rows[i].max(x.abs() * columns[j]));
            columns.iter_mut().zip(&*rows).filter(|(_, size)| **size > 0.0).for_each(|(c, size)| *c = inverse(*size));
        }
        if columns.contains(&0.0) {
            rows.fill(0.0);
            entries.clone().for_each(|(_, j, x)| rows[j] = rows[j].max(x.abs()));
            let unknown = columns.iter_mut().zip(&*rows).filter(|(c, size)| **c == 0.0 && **size > 0.0);
            unknown.for_each(|(c, size)| *c = inverse(*size));
        }
        rows.fill(0.0);
        entries.for_each(|(i, j, x)| rows[i] = rows[i].max(x.abs() * columns[j]));
        let is_regular = is_finite && columns.iter().all(|c| *c > 0.0) && rows.iter().all(|r| *r > 0.0);
        rows.iter_mut().for_each(|r| *r = inverse(*r));
        is_regular
    }
}

/// The exponent e of |x| = 2ᵉ·m, 1 ≤ m < 2.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// About 1/x.
fn inverse(x: f64) -> f64 {
    power_of_two(-exponent(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_follow_a_change_of_units() {
        // A mass matrix of two coordinates, bordered by one constraint.
        let matrix = [2.0, 0.5, 1.0, 0.5, 3.0, -0.7, 1.0, -0.7, 0.0];
        let factors = |d: [f64; 3], e: f64| {
            let mut equilibrium = Equilibrium::new(3);
            let entries = (0..9).map(|k| (k / 3, k % 3, e * d[k / 3] * d[k % 3] * matrix[k]));
            assert!(equilibrium.set(entries));
            (equilibrium.rows, equilibrium.columns)
        };
        let plain = factors([1.0; 3], 1.0);
        for d in [[2f64.powi(30), 1.0, 1.0], [1.0, 2f64.powi(-31), 1.0], [1.0, 1.0, 2f64.powi(29)]] {
            let (rows, columns) = factors(d, 4.0);
            for i in 0..3 {
                assert_eq!((rows[i] * d[i] * 2.0, columns[i] * d[i] * 2.0), (plain.0[i], plain.1[i]), "{d:?}");
            }
        }
    }

    #[test]
    fn a_matrix_without_a_diagonal_has_factors() {
        let mut equilibrium = Equilibrium::new(2);
        assert!(equilibrium.set([(0, 1, 8.0), (1, 0, 1.0)].into_iter()));
        assert!(!equilibrium.set([(0, 1, 8.0), (0, 0, 1.0)].into_iter()), "a row is zero");
        assert!(!equilibrium.set([(0, 1, f64::NAN), (1, 0, 1.0)].into_iter()));
    }
}
