//! First guesses from the last steps.

use crate::phase::Phase;

/// The most solutions that are extrapolated.
const MOST: usize = 8;
/// How many solutions there is room for; when it is used up, the last ones move to the other end.
const ROOM: usize = 8 * MOST;
/// A guess after which Newton's method takes more iterations than this was a bad one.
const BAD: usize = 4;

/// Extrapolation through the last m solutions, all one step apart, newest first: (−1)ʲ·binomial(m, j + 1).
///
/// Its error is the m-th difference, about (ωh)ᵐ for a motion of frequency ω: at ωh = 0.05 five solutions give a guess
/// as good as 10⁻⁶, eight one that is 10⁻⁹ or better, after which one iteration is enough. Roundoff is amplified by
/// 2ᵐ, which is no matter in a guess.
const WEIGHTS: [[f64; MOST]; MOST + 1] = weights();

const fn weights() -> [[f64; MOST]; MOST + 1] {
    let mut all = [[0.0; MOST]; MOST + 1];
    let mut m = 1;
    while m <= MOST {
        let (mut j, mut binomial) = (0, 1.0);
        while j < m {
            // binomial(m, j + 1), with its sign
            binomial *= (m - j) as f64 / (j + 1) as f64;
            all[m][j] = if j % 2 == 0 { binomial } else { -binomial };
            j += 1;
        }
        m += 1;
    }
    all
}

/// True if two steps, as differences of the times of nodes, are the same up to roundoff: near enough for a guess.
pub(super) fn is_same_step(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

/// True if two times are the same up to roundoff.
pub(super) fn is_same_time(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * b.abs()
}

/// The last steps, as long as each began where the one before it ended.
#[derive(Clone, Debug)]
pub(super) struct Past {
    t: f64,
    h: f64,
    /// The end (q, p) of the last step.
    end: Vec<f64>,
    /// For each unknown a row of its values in the last steps, newest first, from number `first` on.
    solutions: Vec<f64>,
    first: usize,
    /// How many of them are used.
    count: usize,
}

impl Past {
    /// Nothing yet, of steps with n degrees of freedom.
    pub(super) fn new(n: usize, unknowns: usize) -> Past {
        let solutions = vec![0.0; ROOM * unknowns];
        Past { t: f64::NAN, h: 0.0, end: vec![0.0; 2 * n], solutions, first: ROOM - MOST, count: 0 }
    }

    /// True if the last step ended in z0.
    pub(super) fn ends_in(&self, z0: &Phase) -> bool {
        is_same_time(self.t, z0.t) && self.end == z0.z
    }

    /// Writes a guess for the step of length h that follows; false if there are not enough of that length.
    pub(super) fn extrapolate(&self, h: f64, x: &mut [f64]) -> bool {
        if !is_same_step(self.h, h) || self.count < 2 {
            return false;
        }
        let weights = &WEIGHTS[self.count];
        for (x, row) in x.iter_mut().zip(self.solutions.chunks_exact(ROOM)) {
            let Some(values) = row[self.first..].first_chunk::<MOST>() else { return false };
            // The oldest first: the newest was just computed and may still be on its way.
            *x = weights.iter().zip(values).rev().fold(0.0, |sum, (weight, value)| sum + weight * value);
        }
        true
    }

    /// What follows does not begin where a step has ended.
    pub(super) fn forget(&mut self) {
        self.count = 0;
        self.t = f64::NAN;
    }

    /// Adds the solution of the step of length h that ended in z1 after so many iterations. After a bad guess only the
    /// last steps count.
    pub(super) fn remember(&mut self, solution: &[f64], h: f64, z1: &Phase, iterations: usize) {
        if self.first == 0 {
            self.first = ROOM - MOST;
            for row in self.solutions.chunks_exact_mut(ROOM) {
                row.copy_within(..MOST, ROOM - MOST);
            }
        }
        self.first -= 1;
        for (row, &x) in self.solutions.chunks_exact_mut(ROOM).zip(solution) {
            row[self.first] = x;
        }
        let most = if iterations > BAD { 2 } else { MOST };
        self.count = if is_same_step(self.h, h) { (self.count + 1).min(most) } else { 1 };
        (self.t, self.h) = (z1.t, h);
        self.end.copy_from_slice(&z1.z);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// m solutions are extrapolated exactly along a polynomial of degree m − 1, also after the room is used up.
    #[test]
    fn polynomials_are_extrapolated_exactly() {
        for degree in [1, 3, 7] {
            let motion = |k: usize| [(0.01 * k as f64).powi(degree), 1.0 - 0.02 * k as f64];
            let mut past = Past::new(1, 2);
            let mut x = [0.0; 2];
            for k in 0..100 {
                let z = Phase::new(k as f64, &[motion(k)[0]], &[0.0]);
                past.remember(&motion(k), 1.0, &z, 1);
                let has_guess = past.ends_in(&z) && past.extrapolate(1.0, &mut x);
                assert_eq!(has_guess, k > 0);
                if k >= degree as usize {
                    let error = (x[0] - motion(k + 1)[0]).abs() + (x[1] - motion(k + 1)[1]).abs();
                    assert!(error < 1e-12, "degree {degree}, after {k} steps: {error:e}");
                }
            }
        }
    }

    #[test]
    fn another_start_or_step_begins_anew() {
        let z = Phase::new(0.0, &[1.0], &[2.0]);
        let mut past = Past::new(1, 1);
        (0..3).for_each(|_| past.remember(&[1.0], 0.1, &z, 1));
        let mut x = [0.0];
        assert!(past.ends_in(&z) && past.extrapolate(0.1, &mut x));
        assert!(!past.extrapolate(0.2, &mut x), "another step");
        assert!(!past.ends_in(&Phase::new(0.1, &[1.0], &[2.0])), "another time");
        assert!(!past.ends_in(&Phase::new(0.0, &[1.0], &[2.1])), "another momentum");
        past.remember(&[1.0], 0.2, &z, 1);
        assert!(!past.extrapolate(0.2, &mut x), "only one of that length");
    }
}
