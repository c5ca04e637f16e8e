//! The units of a matrix.

/// Above this ratio |aᵢⱼ|/√|aᵢᵢaⱼⱼ|, a diagonal entry is not treated as a mass: elimination would amplify roundoff by this factor.
const FAR: f64 = 1024.0;

/// Factors for the rows and columns of a matrix that make its entries comparable in any units.
///
/// In the equations of mechanics, unknown j and residual j are conjugate: their product has the unit of an energy or an action. In
/// other units, the matrix A becomes e·DAD with a diagonal D. The factors of the columns follow such a change:
///
/// ```text
/// cⱼ ≈ 1/√|aⱼⱼ|,   or, where aⱼⱼ = 0 (multipliers of constraints),   cⱼ ≈ 1/maxᵢ |aⱼᵢ|cᵢ
/// ```
///
/// A diagonal entry that is far too small for the others, |aᵢⱼ| ≫ √|aᵢᵢaⱼⱼ|, is no mass: constraints determine that unknown, as they do
/// the length of a quaternion, and what is left of its entry may be roundoff. Its factor follows from the other unknowns instead.
/// Those of the rows make the largest entry of each row about 1: rᵢ ≈ 1/maxⱼ |aᵢⱼ|cⱼ. All are powers of two, which round nothing.
#[derive(Clone, Debug)]
pub(super) struct Equilibrium {
    pub(super) rows: Vec<f64>,
    pub(super) columns: Vec<f64>,
    unknowns: Vec<Unknown>,
}

/// What tells whether the diagonal entry of an unknown is a mass.
#[derive(Clone, Copy, Debug, Default)]
struct Unknown {
    has_mass: bool,
    /// With how many others it disagrees.
    disagrees: usize,
    /// The largest entry of its row, if it is a multiplier.
    largest: f64,
    /// Its part in a constraint: at most 1.
    part: f64,
}

impl Equilibrium {
    pub(super) fn new(n: usize) -> Equilibrium {
        Equilibrium { rows: vec![1.0; n], columns: vec![1.0; n], unknowns: vec![Unknown::default(); n] }
    }

    /// Computes the factors of a matrix with these entries: row, column, value. Returns false if an entry is not finite, or if a row
    /// is zero.
    pub(super) fn set(&mut self, entries: impl Iterator<Item = (usize, usize, f64)> + Clone) -> bool {
        self.columns.fill(0.0);
        let mut is_finite = true;
        for (i, j, x) in entries.clone() {
            is_finite &= x.is_finite();
            if i == j && x != 0.0 {
                self.columns[j] = root(x);
            }
        }
        self.set_multipliers(entries.clone());
        self.set_rows(entries.clone());
        self.finish(is_finite, entries)
    }

    /// Like [`Equilibrium::set`], for a matrix with at least one row that is given by rows: whole rows at a time, which is several
    /// times faster.
    pub(super) fn set_dense(&mut self, matrix: &[f64]) -> bool {
        let n = self.columns.len();
        let entries = matrix.chunks_exact(n).enumerate();
        let entries = entries.flat_map(|(i, row)| row.iter().enumerate().map(move |(j, x)| (i, j, *x)));
        let Equilibrium { rows, columns, .. } = self;
        let diagonal = || matrix.iter().step_by(n + 1);
        columns.iter_mut().zip(diagonal()).for_each(|(c, &x)| *c = if x == 0.0 { 0.0 } else { root(x) });
        // All of them, which takes less time than looking for the first that is not.
        let is_finite = matrix.iter().fold(true, |all, x| all & x.is_finite());
        for (row, (size, matrix)) in rows.iter_mut().zip(matrix.chunks_exact(n)).enumerate() {
            *size = if columns[row] == 0.0 { largest(matrix, columns) } else { 0.0 };
        }
        columns.iter_mut().zip(&*rows).filter(|(_, size)| **size > 0.0).for_each(|(c, size)| *c = inverse(*size));
        // What acts on no unknown with a diagonal entry is rare.
        if columns.contains(&0.0) {
            columns.iter_mut().zip(diagonal()).filter(|(_, x)| **x == 0.0).for_each(|(c, _)| *c = 0.0);
            self.set_multipliers(entries.clone());
        }
        let Equilibrium { rows, columns, .. } = self;
        rows.iter_mut().zip(matrix.chunks_exact(n)).for_each(|(size, row)| *size = largest(row, columns));
        self.finish(is_finite, entries)
    }

    /// Corrects the factors of columns where a diagonal entry is no mass, and turns the sizes of rows into factors.
    fn finish(&mut self, is_finite: bool, entries: impl Iterator<Item = (usize, usize, f64)> + Clone) -> bool {
        if is_finite && self.rows.iter().zip(&self.columns).any(|(r, c)| r * c > FAR) {
            self.correct(entries.clone());
            self.set_multipliers(entries.clone());
            self.set_rows(entries);
        }
        let Equilibrium { rows, columns, .. } = self;
        let is_regular = is_finite && columns.iter().all(|c| *c > 0.0) && rows.iter().all(|r| *r > 0.0);
        rows.iter_mut().for_each(|r| *r = inverse(*r));
        is_regular
    }

    /// Computes the factors of unknowns without a diagonal entry, which are zero, from those on which they act.
    fn set_multipliers(&mut self, entries: impl Iterator<Item = (usize, usize, f64)> + Clone) {
        let Equilibrium { rows, columns, .. } = self;
        // A second round is for what depends on multipliers alone.
        for _ in 0..2 {
            if columns.iter().all(|c| *c > 0.0) {
                return;
            }
            rows.fill(0.0);
            let known = entries.clone().filter(|&(i, j, _)| columns[i] == 0.0 && columns[j] > 0.0);
            known.for_each(|(i, j, x)| rows[i] = rows[i].max(x.abs() * columns[j]));
            columns.iter_mut().zip(&*rows).filter(|(_, size)| **size > 0.0).for_each(|(c, size)| *c = inverse(*size));
        }
        if columns.contains(&0.0) {
            rows.fill(0.0);
            entries.for_each(|(_, j, x)| rows[j] = rows[j].max(x.abs()));
            let unknown = columns.iter_mut().zip(&*rows).filter(|(c, size)| **c == 0.0 && **size > 0.0);
            unknown.for_each(|(c, size)| *c = inverse(*size));
        }
    }

    /// Writes the largest |aᵢⱼ|cⱼ of each row.
    fn set_rows(&mut self, entries: impl Iterator<Item = (usize, usize, f64)>) {
        let Equilibrium { rows, columns, .. } = self;
        rows.fill(0.0);
        entries.for_each(|(i, j, x)| rows[i] = rows[i].max(x.abs() * columns[j]));
    }

    /// Computes the factors of unknowns whose diagonal entry is no mass, and leaves those of multipliers at zero. Of two that do not
    /// agree it is the one that has the larger part in a constraint; else the one that disagrees with more of the others.
    #[cold]
    fn correct(&mut self, entries: impl Iterator<Item = (usize, usize, f64)> + Clone) {
        let Equilibrium { columns, unknowns, .. } = self;
        unknowns.fill(Unknown::default());
        entries.clone().for_each(|(i, j, x)| unknowns[i].has_mass |= i == j && x != 0.0);
        columns.iter_mut().zip(&*unknowns).filter(|(_, unknown)| !unknown.has_mass).for_each(|(c, _)| *c = 0.0);
        for _ in 0..columns.len() {
            for unknown in &mut *unknowns {
                *unknown = Unknown { has_mass: unknown.has_mass, ..Unknown::default() };
            }
            for (i, j, x) in entries.clone().filter(|&(i, j, _)| i != j) {
                match (unknowns[i].has_mass, unknowns[j].has_mass) {
                    (true, true) if x.abs() * columns[i] * columns[j] > FAR => {
                        unknowns[i].disagrees += 1;
                        unknowns[j].disagrees += 1;
                    }
                    (false, true) => unknowns[i].largest = f64::max(unknowns[i].largest, x.abs() * columns[j]),
                    _ => {}
                }
            }
            for (i, j, x) in entries.clone() {
                if !unknowns[i].has_mass && unknowns[j].has_mass {
                    unknowns[j].part = f64::max(unknowns[j].part, x.abs() * columns[j] / unknowns[i].largest);
                }
            }
            let key = |unknown: &Unknown| (unknown.part > 0.5, unknown.disagrees);
            let worst = unknowns.iter().enumerate().filter(|(_, unknown)| unknown.disagrees > 0);
            let worst = worst.max_by(|(_, a), (_, b)| key(a).cmp(&key(b)).then(a.part.total_cmp(&b.part)));
            let Some((worst, _)) = worst else { break };
            let is_other = |i: usize, j: usize| i != j && (i == worst || j == worst);
            let masses = entries.clone().filter(|&(i, j, _)| unknowns[i].has_mass && unknowns[j].has_mass);
            let others = masses.filter(|&(i, j, _)| is_other(i, j));
            let size = others.map(|(i, j, x)| x.abs() * columns[if i == worst { j } else { i }]).fold(0.0, f64::max);
            columns[worst] = inverse(size);
        }
    }
}

/// The largest |xⱼ|cⱼ of a row, as four maxima that do not wait for each other. NaN does not count.
fn largest(row: &[f64], columns: &[f64]) -> f64 {
    let larger = |most: f64, size: f64| if size > most { size } else { most };
    let (xs, x) = row.as_chunks::<4>();
    let (cs, c) = columns.as_chunks::<4>();
    let mut most = [0.0; 4];
    for (x, c) in xs.iter().zip(cs) {
        most = std::array::from_fn(|k| larger(most[k], x[k].abs() * c[k]));
    }
    let rest = x.iter().zip(c).fold(0.0, |most, (x, c)| larger(most, x.abs() * c));
    most.into_iter().fold(rest, larger)
}

/// About 1/√|x|.
fn root(x: f64) -> f64 {
    power_of_two(-(exponent(x) >> 1))
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

    /// Two masses and the length of a quaternion, which a constraint determines: the roundoff in its place on the diagonal must
    /// not become its mass.
    #[test]
    fn a_diagonal_of_roundoff_is_no_mass() {
        let factors = |tiny: f64| {
            let matrix = [2.0, 0.5, 1e-2, 0.0, 0.5, 3.0, 2e-2, 0.0, 1e-2, 2e-2, tiny, 2.0, 0.0, 0.0, 2.0, 0.0];
            let mut equilibrium = Equilibrium::new(4);
            assert!(equilibrium.set((0..16).map(|k| (k / 4, k % 4, matrix[k]))));
            equilibrium.columns
        };
        for tiny in [1e-19, -1e-22, 1e-30] {
            let columns = factors(tiny);
            assert_eq!(columns[..2], factors(1e-4)[..2], "{tiny}: {columns:?}");
            assert!((16.0..=128.0).contains(&columns[2]), "{tiny}: {columns:?}");
        }
    }

    /// Matrices with zeros on the diagonal, entries of roundoff, multipliers that act on multipliers only, and what is not finite.
    #[test]
    fn dense_matrices_have_the_factors_of_their_entries() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / (1_u64 << 31) as f64
        };
        let special = [0.0, 1e-20, 1e-150, 1e150, f64::INFINITY, f64::NAN];
        for case in 0..20_000 {
            let n = 1 + case % 11;
            let zeros = random();
            let mut entry = |_| match random() {
                x if x < zeros => 0.0,
                x if x > 0.99 => special[(6.0 * random()) as usize],
                _ => (2.0 * random() - 1.0) * 2f64.powi((40.0 * random()) as i32 - 20),
            };
            let matrix: Vec<f64> = (0..n * n).map(&mut entry).collect();
            let (mut dense, mut sparse) = (Equilibrium::new(n), Equilibrium::new(n));
            let is_regular = sparse.set((0..n * n).map(|k| (k / n, k % n, matrix[k])));
            assert_eq!(dense.set_dense(&matrix), is_regular, "{matrix:?}");
            if is_regular {
                assert_eq!((dense.rows, dense.columns), (sparse.rows, sparse.columns), "{matrix:?}");
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
