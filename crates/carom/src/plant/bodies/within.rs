//! Guesses for the parts of a composition from the parts before them in the same step.
//!
//! The mean rate of the part γ of a step of length h, whose middle is at the part m of the step, is that of the motion and the error of
//! the rule:
//!
//! ```text
//! u/(γh) = v(mh) + (γh)² c + …,   v(mh) = v₀ + mh v₀′ + (mh)² v₀″/2 + …
//! ```
//!
//! It is a sum of those of the earlier parts with weights that are exact for the first of the functions 1, m, γ², m², mγ², m³.
//! Of all such weights they have the least squares, because the parts of a composition go back and forth, so that their middles may be
//! close together. The rate at the start counts as a part with γ = m = 0.

/// A weight beyond this amplifies what the functions leave out.
const LARGEST: f64 = 8.0;
/// A function of which the others leave less than this part is left out.
const DEPENDENT: f64 = 0.05;

/// The rates of the parts of a step that were made so far.
#[derive(Clone)]
pub(super) struct Within {
    parts: &'static [f64],
    /// For each part the weights of the start and of the parts before it.
    weights: Vec<Vec<f64>>,
    /// The rates at the start and of the parts, one after another.
    rates: Vec<f64>,
    freedoms: usize,
    known: usize,
}

impl Within {
    /// Memory for a composition of a rule for steps of that many freedoms.
    pub(super) fn new(parts: &'static [f64], freedoms: usize) -> Within {
        let places = places(parts);
        let weights = (1..places.len()).map(|k| weights(&places[..k], places[k])).collect();
        Within { parts, weights, rates: vec![0.0; places.len() * freedoms], freedoms, known: 0 }
    }

    /// Forgets the parts before.
    pub(super) fn forget(&mut self) {
        self.known = 0;
    }

    /// True for the part that ends a step.
    pub(super) fn is_last(&self, k: usize) -> bool {
        k + 1 == self.parts.len()
    }

    /// Takes the rates at the start of a step.
    pub(super) fn start(&mut self, v: &[f64]) {
        self.rates[..self.freedoms].copy_from_slice(v);
        self.known = 1;
    }

    /// Takes the solution u of the part k of length h. The parts before it must be known.
    pub(super) fn note(&mut self, k: usize, h: f64, u: &[f64]) {
        if self.known == k + 1 && self.known < self.parts.len() {
            let at = self.known * self.freedoms;
            self.rates[at..at + self.freedoms].iter_mut().zip(u).for_each(|(rate, u)| *rate = u / h);
            self.known += 1;
        }
    }

    /// Writes a guess for the part k > 0 of length h. Returns false if the parts before it are not known.
    pub(super) fn extrapolate(&self, k: usize, h: f64, u: &mut [f64]) -> bool {
        if k == 0 || self.known != k + 1 {
            return false;
        }
        u.fill(0.0);
        for (weight, rates) in self.weights[k].iter().zip(self.rates.chunks_exact(self.freedoms)) {
            u.iter_mut().zip(rates).for_each(|(u, rate)| *u += h * weight * rate);
        }
        true
    }
}

/// (m, γ) of the start and of each part.
fn places(parts: &[f64]) -> Vec<(f64, f64)> {
    let mut begin = 0.0;
    let place = |&part: &f64| {
        let middle = begin + 0.5 * part;
        begin += part;
        (middle, part)
    };
    std::iter::once((0.0, 0.0)).chain(parts.iter().map(place)).collect()
}

/// The weights of the rates at `known` for that at the place `wanted`: Σ wⱼ f(mⱼ, γⱼ) = f(m, γ) with the least Σ wⱼ².
///
/// The rows f(mⱼ, γⱼ) are made orthonormal, and w is a sum of them.
fn weights(known: &[(f64, f64)], wanted: (f64, f64)) -> Vec<f64> {
    let functions: [fn((f64, f64)) -> f64; 6] =
        [|_| 1.0, |(m, _)| m, |(_, g)| g * g, |(m, _)| m * m, |(m, g)| m * g * g, |(m, _)| m * m * m];
    let mut weights = vec![0.0; known.len()];
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for f in functions.iter().take(known.len()) {
        let mut row: Vec<f64> = known.iter().map(|&place| f(place)).collect();
        let (whole, reached) = (dot(&row, &row).sqrt(), dot(&row, &weights));
        for known in &rows {
            let along = dot(&row, known);
            row.iter_mut().zip(known).for_each(|(x, e)| *x -= along * e);
        }
        let rest = dot(&row, &row).sqrt();
        if rest <= DEPENDENT * whole {
            continue;
        }
        row.iter_mut().for_each(|x| *x /= rest);
        let more = (f(wanted) - reached) / rest;
        if more.abs() > LARGEST {
            continue;
        }
        weights.iter_mut().zip(&row).for_each(|(weight, e)| *weight += more * e);
        rows.push(row);
    }
    weights
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p, p, 1 − 4p, p, p
    const SUZUKI: [f64; 5] =
        [0.4144907717943757, 0.4144907717943757, -0.6579630871775028, 0.4144907717943757, 0.4144907717943757];

    /// Mean rates v₀ + m a + γ² c are extrapolated exactly from the third part on, and a constant rate from the second.
    #[test]
    fn rates_of_parts_follow_from_those_before() {
        let h = 0.1;
        let mut within = Within::new(&SUZUKI, 2);
        let rate = |(m, g): (f64, f64)| [1.0 + 0.7 * m + 0.3 * g * g, 2.0];
        let mut guess = [0.0; 2];
        assert!(!within.extrapolate(1, h, &mut guess), "nothing is known");
        within.start(&rate((0.0, 0.0)));
        for (k, &place) in places(&SUZUKI)[1..].iter().enumerate() {
            let u = rate(place).map(|rate| place.1 * h * rate);
            assert_eq!(within.extrapolate(k, place.1 * h, &mut guess), k > 0, "part {k}");
            let off = [guess[0] - u[0], guess[1] - u[1]];
            assert!(k < 1 || off[1].abs() < 1e-15, "part {k}: {off:?}");
            assert!(k < 2 || off[0].abs() < 1e-15, "part {k}: {off:?}");
            within.note(k, place.1 * h, &u);
        }
    }
}
