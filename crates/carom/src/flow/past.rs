//! Initial guesses extrapolated from the last steps.

use crate::phase::Phase;

/// The largest number of solutions that are extrapolated.
const MOST: usize = 8;
/// The buffer holds this many solutions. When it is full, the most recent ones move to its other end. A larger one would not fit into
/// the cache beside the rest of a large mechanism.
const ROOM: usize = 2 * MOST;
/// A guess was bad if Newton's method needs more iterations than this.
const BAD: usize = 4;

/// Weights of the extrapolation through the last m equidistant solutions, newest first: (−1)ʲ·binomial(m, j + 1).
///
/// The error is the m-th difference, about (ωh)ᵐ for a motion of frequency ω. At ωh = 0.05, five solutions give a guess with an
/// error of 10⁻⁶, and eight give 10⁻⁹ or better, after which one iteration suffices. Roundoff is amplified by 2ᵐ, which is
/// acceptable in a guess.
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

/// True if two steps, computed as differences of node times, are equal up to roundoff.
pub(crate) fn is_same_step(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

/// True if two times are equal up to roundoff.
pub(super) fn is_same_time(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * b.abs()
}

/// True if two states differ by a few units of roundoff at most.
pub(super) fn is_near(a: &[f64], b: &[f64]) -> bool {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 4.0 * f64::EPSILON * a.abs().max(b.abs());
    a.iter().zip(b).all(is_near)
}

/// The solutions of consecutive steps, each of which began at the end of the step before.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    t: f64,
    h: f64,
    /// The end (q, p) of the last step.
    end: Vec<f64>,
    /// One row per unknown: its values in the last steps, newest first, starting at index `first`.
    solutions: Vec<f64>,
    first: usize,
    /// The number of stored solutions in use.
    count: usize,
}

impl Past {
    /// An empty history, for steps with n degrees of freedom.
    pub(crate) fn new(n: usize, unknowns: usize) -> Past {
        let solutions = vec![0.0; ROOM * unknowns];
        Past { t: f64::NAN, h: 0.0, end: vec![0.0; 2 * n], solutions, first: ROOM - MOST, count: 0 }
    }

    /// True if the last step ended in z0.
    pub(crate) fn ends_in(&self, z0: &Phase) -> bool {
        is_same_time(self.t, z0.t) && self.end == z0.z
    }

    /// True if the last step ended in z0 up to roundoff, as where its end was disturbed: it may still be extrapolated.
    pub(crate) fn ends_near(&self, z0: &Phase) -> bool {
        is_same_time(self.t, z0.t) && is_near(&self.end, &z0.z)
    }

    /// Writes a guess for the next step of length h. Returns false if there are too few steps of that length.
    pub(crate) fn extrapolate(&self, h: f64, x: &mut [f64]) -> bool {
        if !is_same_step(self.h, h) || self.count < 2 {
            return false;
        }
        let weights = &WEIGHTS[self.count];
        for (x, row) in x.iter_mut().zip(self.solutions.chunks_exact(ROOM)) {
            let Some(values) = row[self.first..].first_chunk::<MOST>() else { return false };
            // Sum the oldest first: the newest value was just computed and may not be available yet (latency).
            *x = weights.iter().zip(values).rev().fold(0.0, |sum, (weight, value)| sum + weight * value);
        }
        true
    }

    /// Clears the history, because the next step does not begin at the end of the last one.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
        self.t = f64::NAN;
    }

    /// Adds the solution of the step of length h that ended in z1 after `iterations` iterations. After a bad guess, only the
    /// most recent steps are kept.
    pub(crate) fn remember(&mut self, solution: &[f64], h: f64, z1: &Phase, iterations: usize) {
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

    /// Extrapolating m solutions is exact for polynomials of degree m − 1, also after the buffer has wrapped.
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
        let disturbed = Phase::new(0.0, &[1.0 + f64::EPSILON], &[2.0]);
        assert!(past.ends_near(&disturbed) && !past.ends_in(&disturbed), "one unit of roundoff");
        assert!(!past.ends_near(&Phase::new(0.0, &[1.0], &[2.0 + 1e-14])), "more than roundoff");
        past.remember(&[1.0], 0.2, &z, 1);
        assert!(!past.extrapolate(0.2, &mut x), "only one of that length");
    }
}
