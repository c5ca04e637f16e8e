//! Control of the length of steps.

use crate::flow::legendre;
use crate::limits::{
    COEFFICIENT_ROUNDOFF, CONTROL_FLOOR, LEAST_SHRINK, LEAST_SOLUTION, MOST_GROWTH, MOST_SHRINK, MOST_SOLUTION,
    NOTHING, PREDICTION, STEP_SAFETY,
};
use crate::phase::{Goal, MOMENTS, Moments, Phase, Polynomial};
use crate::solve::larger;

/// The state of a step-size control: steps are as long as their local error allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// The local error allowed in each step, relative to the size of the motion.
    pub tolerance: f64,
    /// The longest step allowed.
    pub longest: f64,
    /// The next step; 0 if it is not known yet.
    pub h: f64,
    /// The least and the largest value of each coordinate so far.
    pub extent: Vec<[f64; 2]>,
    /// √(M⁻¹)ᵢᵢ of each coordinate at the start.
    pub roots: Vec<f64>,
    /// The largest p·v at a node so far: twice the kinetic energy if T is quadratic in v.
    pub twice_kinetic: f64,
    /// The polynomial of the last step, if it ended here and is to predict the next.
    pub past: Polynomial,
    /// What the time of the state lacks: the sum of many intervals would lose the roundoff of each.
    pub late: f64,
}

impl Control {
    /// A control for a motion that starts at z.
    pub fn new(tolerance: f64, longest: f64, z: &Phase, roots: Vec<f64>, twice_kinetic: f64) -> Control {
        let extent = z.q().iter().map(|&q| [q, q]).collect();
        let past = Polynomial::default();
        Control { tolerance, longest, h: 0.0, extent, roots, twice_kinetic: twice_kinetic.abs(), past, late: 0.0 }
    }

    /// How exactly a step is solved and predicted. It cannot be solved below roundoff, but its length follows the tolerance further:
    /// the error of a step with a kink inside depends on its length alone.
    pub(super) fn goal(&self) -> Goal<'_> {
        let root = self.tolerance.min(MOST_SOLUTION).sqrt();
        let (least, prediction) = (LEAST_SOLUTION.sqrt(), PREDICTION * root);
        Goal { root: root.max(least), prediction, speed: self.twice_kinetic.sqrt(), roots: &self.roots }
    }

    /// Copies `other` without allocating.
    pub(super) fn copy_from(&mut self, other: &Control) {
        (self.tolerance, self.longest, self.h) = (other.tolerance, other.longest, other.h);
        (self.twice_kinetic, self.late) = (other.twice_kinetic, other.late);
        self.past.copy_from(&other.past);
        self.extent.clone_from(&other.extent);
        self.roots.clone_from(&other.roots);
    }

    /// The time after an interval dτ from t, to the last bit: what is rounded off is kept.
    pub(super) fn after(&mut self, t: f64, dtau: f64) -> f64 {
        let (t, late) = after([t, self.late], dtau);
        self.late = late;
        t
    }

    /// Includes the end of a step in the size of the motion.
    pub(super) fn see(&mut self, z: &Phase, twice_kinetic: f64) {
        for ([low, high], q) in self.extent.iter_mut().zip(z.q()) {
            (*low, *high) = (low.min(*q), high.max(*q));
        }
        self.twice_kinetic = self.twice_kinetic.max(twice_kinetic.abs());
    }

    /// The size of the motion of coordinate i for a step of length h that reaches from `low` to `high`: its extent so far, the
    /// way of a step with the largest kinetic energy, and what roundoff leaves of a tolerance.
    fn scale(&self, i: usize, h: f64, low: f64, high: f64) -> f64 {
        let [least, largest] = self.extent[i];
        let (low, high) = (low.min(least), high.max(largest));
        let by_energy = h * self.twice_kinetic.sqrt() * self.roots[i];
        let by_roundoff = CONTROL_FLOOR * low.abs().max(high.abs()) / self.tolerance;
        (high - low).max(by_energy).max(by_roundoff)
    }

    /// The factor by which a step with this error may be longer, or has to be shorter; `order` is that of the flow.
    pub(super) fn factor(&self, error: f64, order: usize) -> f64 {
        let factor = STEP_SAFETY * (self.tolerance / error).powf(1.0 / (order + 1) as f64);
        if factor.is_nan() { MOST_SHRINK } else { factor.clamp(MOST_SHRINK, MOST_GROWTH) }
    }

    /// The factor for a step that is repeated.
    pub(super) fn shrink(&self, error: f64, order: usize) -> f64 {
        self.factor(error, order).min(LEAST_SHRINK)
    }
}

/// The time after an interval dτ from t, and what is rounded off.
pub(super) fn after([t, late]: [f64; 2], dtau: f64) -> (f64, f64) {
    let sum = two_sum(t, dtau);
    two_sum(sum.0, sum.1 + late)
}

/// a + b, and what is rounded off. [Møller 1965; Knuth 1969]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// Estimates the local error of a step of order r from the velocities at its k moments.
///
/// With v(τ) = Σ aₘPₘ, Pₘ the Legendre polynomials on the step, the coefficients of a smooth motion decrease geometrically. The
/// quadrature behind the step integrates P₁ to P_{r−1} exactly, so its error is that of the first term it misses:
///
/// ```text
/// error ≈ h |a_r| ≈ h |a_{k−1}| ρ^{r+1−k},   ρ² = max(|a_{k−1}|, |a_{k−2}|)/max(|a_{k−3}|, |a_{k−4}|)
/// ```
///
/// Two neighbouring coefficients are taken together because those of a symmetric motion vanish in turn.
#[derive(Clone, Debug)]
pub(super) struct Spectrum {
    pub(super) moments: Moments,
    /// The moments as fractions of the step, for which `inverse` was computed.
    nodes: [f64; MOMENTS],
    count: usize,
    /// aₘ = Σ_j inverse[m][j]·v_j.
    inverse: [[f64; MOMENTS]; MOMENTS],
}

impl Spectrum {
    /// Memory for a system with n coordinates.
    pub(super) fn new(n: usize) -> Spectrum {
        let inverse = [[0.0; MOMENTS]; MOMENTS];
        Spectrum { moments: Moments::new(n), nodes: [0.0; MOMENTS], count: 0, inverse }
    }

    /// Forgets the inverse matrix: it differs in its last bits between runs that begin with other steps.
    pub(super) fn forget(&mut self) {
        self.count = 0;
    }

    /// The error of the step of length h whose moments have been written, relative to the size of the motion.
    pub(super) fn error(&mut self, h: f64, order: usize, control: &Control) -> f64 {
        let count = self.moments.count;
        let n = control.extent.len();
        self.prepare(h);
        let mut sizes = [0.0_f64; MOMENTS];
        for i in 0..n {
            let q = &self.moments.lanes[(1 + i) * MOMENTS..][..count];
            let v = &self.moments.lanes[(1 + n + i) * MOMENTS..][..count];
            let (low, high) =
                q.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), q| (low.min(*q), high.max(*q)));
            let scale = control.scale(i, h, low, high);
            let most = v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            // Denormal numbers have fewer digits.
            let roundoff = (COEFFICIENT_ROUNDOFF * most).max(NOTHING);
            for (size, row) in sizes.iter_mut().zip(&self.inverse).take(count) {
                let coefficient: f64 = row.iter().zip(v).map(|(weight, v)| weight * v).sum();
                // A coefficient that is not a number must not pass for roundoff.
                if coefficient.is_nan() || coefficient.abs() > roundoff {
                    *size = larger(*size, h * coefficient.abs() / scale);
                }
            }
        }
        decay(&sizes[..count], order)
    }

    /// Computes the inverse matrix of the Legendre polynomials at the moments, unless it is known.
    fn prepare(&mut self, h: f64) {
        let count = self.moments.count;
        let near = |(node, tau): (&f64, &f64)| (node - tau / h).abs() <= 1e-6;
        if self.count == count && self.nodes.iter().zip(&self.moments.tau).take(count).all(near) {
            return;
        }
        self.count = count;
        let mut rows = [[0.0; 2 * MOMENTS]; MOMENTS];
        for (j, row) in rows.iter_mut().enumerate().take(count) {
            self.nodes[j] = self.moments.tau[j] / h;
            row[..count].iter_mut().enumerate().for_each(|(m, x)| *x = legendre(m, 2.0 * self.nodes[j] - 1.0));
            row[MOMENTS + j] = 1.0;
        }
        // Gauss–Jordan elimination with pivoting.
        for column in 0..count {
            let pivot = (column..count)
                .fold(column, |best, row| if rows[row][column].abs() > rows[best][column].abs() { row } else { best });
            rows.swap(column, pivot);
            let scale = 1.0 / rows[column][column];
            rows[column].iter_mut().for_each(|x| *x *= scale);
            let lead = rows[column];
            for row in (0..count).filter(|&row| row != column) {
                let factor = rows[row][column];
                rows[row].iter_mut().zip(&lead).for_each(|(x, lead)| *x -= factor * lead);
            }
        }
        for (to, row) in self.inverse.iter_mut().zip(&rows) {
            to.copy_from_slice(&row[MOMENTS..]);
        }
    }
}

/// The coefficient number `order`, extrapolated from those that are known.
fn decay(sizes: &[f64], order: usize) -> f64 {
    let k = sizes.len();
    let pair = |m: usize| if m == 0 { sizes[0] } else { sizes[m].max(sizes[m - 1]) };
    if k < 3 || sizes.iter().any(|size| size.is_nan()) {
        return f64::NAN;
    }
    let (last, before) = (pair(k - 1), pair(k - 3));
    if last == 0.0 {
        return 0.0;
    }
    let ratio = (last / before).sqrt().min(1.0);
    last * ratio.powi((order + 1).saturating_sub(k) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e^{ωτ} has Legendre coefficients that decrease geometrically: the estimate follows the coefficient that it stands for.
    #[test]
    fn the_estimate_follows_the_decay_of_the_coefficients() {
        use crate::discrete::quadrature::Quadrature;
        let z = Phase::new(0.0, &[0.0], &[0.0]);
        let control = Control::new(1e-9, 1.0, &z, vec![1.0], 1.0);
        let mut last = f64::INFINITY;
        for halvings in 0..3 {
            let (h, s) = (0.5_f64.powi(halvings), 6);
            let mut spectrum = Spectrum::new(1);
            let c = Quadrature::gauss(s).c;
            for (k, c) in c.iter().enumerate() {
                let x = (2.0 * c * h).exp();
                spectrum.moments.set(k, &z, c * h, [0.0, x].iter());
            }
            spectrum.moments.count = s;
            let error = spectrum.error(h, 2 * s, &control);
            // h cancels against the scale h·√(2K)·√(M⁻¹), so the error goes as h^{2s}.
            let order = (last / error).log2();
            assert!(halvings == 0 || (order - 12.0).abs() < 0.7, "{order} at {h}: {error:e}");
            last = error;
        }
    }
}
