//! Sobol points, by their index.

/// For each dimension after the first: the degree s of its polynomial, its inner coefficients a as bits, and m₁ … m_s. [Joe & Kuo 2008,
/// `new-joe-kuo-6`]
#[rustfmt::skip]
const NUMBERS: [(u32, u64, &[u64]); 39] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
    (7, 7, &[1, 1, 3, 13, 7, 35, 63]),
    (7, 8, &[1, 3, 5, 9, 1, 25, 53]),
    (7, 14, &[1, 3, 1, 13, 9, 35, 107]),
    (7, 19, &[1, 3, 1, 5, 27, 61, 31]),
    (7, 21, &[1, 1, 5, 11, 19, 41, 61]),
    (7, 28, &[1, 3, 5, 3, 3, 13, 69]),
    (7, 31, &[1, 1, 7, 13, 1, 19, 1]),
    (7, 32, &[1, 3, 7, 5, 13, 19, 59]),
    (7, 37, &[1, 1, 3, 9, 25, 29, 41]),
    (7, 41, &[1, 3, 5, 13, 23, 1, 55]),
    (7, 42, &[1, 3, 7, 3, 13, 59, 17]),
    (7, 50, &[1, 3, 1, 3, 5, 53, 69]),
    (7, 55, &[1, 1, 5, 5, 23, 33, 13]),
    (7, 56, &[1, 1, 7, 7, 1, 61, 123]),
    (7, 59, &[1, 1, 7, 9, 13, 61, 49]),
    (7, 62, &[1, 3, 3, 5, 3, 55, 33]),
    (8, 14, &[1, 3, 1, 15, 31, 13, 49, 245]),
    (8, 21, &[1, 3, 5, 15, 31, 59, 63, 97]),
    (8, 22, &[1, 3, 1, 11, 11, 11, 77, 249]),
];

/// The number of dimensions.
pub(super) const DIMENSIONS: usize = NUMBERS.len() + 1;

/// The direction numbers of one dimension, as fractions of 2⁶⁴.
#[derive(Clone, Debug)]
pub(super) struct Directions([u64; 64]);

impl Directions {
    /// Of the dimension with this number, which is less than [`DIMENSIONS`].
    pub(super) fn new(dimension: usize) -> Directions {
        let mut v = [0_u64; 64];
        let Some((degree, a, m)) = dimension.checked_sub(1).map(|d| NUMBERS[d]) else {
            v.iter_mut().enumerate().for_each(|(k, v)| *v = 1 << (63 - k));
            return Directions(v);
        };
        let s = degree as usize;
        for k in 0..64 {
            v[k] = match m.get(k) {
                Some(m) => m << (63 - k),
                None => {
                    let terms = (1..s).filter(|j| (a >> (s - 1 - j)) & 1 == 1).map(|j| v[k - j]);
                    terms.fold(v[k - s] ^ (v[k - s] >> s), |sum, term| sum ^ term)
                }
            };
        }
        Directions(v)
    }

    /// The point with this index, in the order of Gray codes. The first 2ᵐ points are the same as in the order of the index.
    pub(super) fn point(&self, index: u64) -> u64 {
        let gray = index ^ (index >> 1);
        self.0.iter().enumerate().filter(|(k, _)| (gray >> k) & 1 == 1).fold(0, |sum, (_, v)| sum ^ v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of `scipy.stats.qmc.Sobol(d, scramble=False, bits=62)`.
    #[test]
    fn points_are_those_of_others() {
        let known = [
            (0, 1, 0.5),
            (0, 5, 0.875),
            (1, 1, 0.5),
            (1, 7, 0.625),
            (2, 3, 0.75),
            (5, 100, 0.7421875),
            (12, 1000, 0.1611328125),
            (20, 777, 0.2373046875),
            (39, 2047, 0.67626953125),
            (39, 33, 0.953125),
        ];
        for (dimension, index, expected) in known {
            let found = Directions::new(dimension).point(index) as f64 / 2_f64.powi(64);
            assert!((found - expected).abs() < 1e-15, "dimension {dimension}, point {index}: {found}, not {expected}");
        }
    }

    /// In each dimension the first 2¹⁰ points have one in each interval of length 2⁻¹⁰.
    #[test]
    fn each_dimension_is_stratified() {
        for dimension in 0..DIMENSIONS {
            let directions = Directions::new(dimension);
            let mut seen = vec![false; 1024];
            (0..1024).for_each(|index| seen[(directions.point(index) >> 54) as usize] = true);
            assert!(seen.iter().all(|seen| *seen), "dimension {dimension}");
        }
    }
}
