//! Velocities on the tangent space of active walls.

use std::sync::Arc;

use super::bordered::Bordered;
use super::local::{Local, LocalCode};
use crate::limits::{PARTS_OF_MOMENTA, REFINEMENTS};
use crate::solve::{NoSolution, Solved, StopRule, larger, largest_part};

/// Computes v and μ of a phase point while walls hold the motion: the equations of [`super::Field`], assembled numerically for
/// any set of walls.
///
/// ```text
/// p = L_v(q, v) + Gᵀμ,   G v + g_t = 0
/// ```
#[derive(Clone, Debug)]
pub(super) struct Tangent {
    local: Local,
    equations: Bordered,
    v: Vec<f64>,
    mu: Vec<f64>,
    /// The sum of the absolute terms of each equation.
    sizes: Vec<f64>,
}

impl Tangent {
    pub(super) fn new(code: &Arc<LocalCode>, rows: &[usize], parameters: &[f64]) -> Tangent {
        let local = Local::new(code, parameters);
        let (v, mu, sizes) = (vec![0.0; code.n], vec![0.0; rows.len()], vec![0.0; code.n + rows.len()]);
        Tangent { equations: Bordered::new(&local, rows), local, v, mu, sizes }
    }

    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        self.local.set_parameters(parameters);
    }

    /// The linear system at the last state, with the gradients of the rows there.
    pub(super) fn equations(&self) -> &Bordered {
        &self.equations
    }

    /// The number of values at a point.
    pub(super) fn values(&self) -> usize {
        3 * self.v.len() + 1 + self.mu.len()
    }

    /// Writes v, ṗ, H, L_v and μ at (t, q, p).
    pub(super) fn eval(&mut self, t: f64, z: &[f64], values: &mut [f64]) -> Solved<()> {
        let (q, p) = z.split_at(self.v.len());
        self.solve(t, q, p)?;
        let n = p.len();
        values[..n].copy_from_slice(&self.v);
        self.local.place(t, q, &self.v);
        let motion = self.local.motion();
        let (momenta, rates) = motion[2..].split_at(n);
        let power: f64 = momenta.iter().zip(&self.v).map(|(p, v)| p * v).sum();
        values[n..2 * n].copy_from_slice(rates);
        values[2 * n] = power - motion[0];
        values[2 * n + 1..3 * n + 1].copy_from_slice(momenta);
        values[3 * n + 1..].copy_from_slice(&self.mu);
        Ok(())
    }

    /// Solves from the last velocity; if that fails, from rest; if that fails, with momenta that grow to the given ones
    /// (continuation).
    fn solve(&mut self, t: f64, q: &[f64], p: &[f64]) -> Solved<()> {
        if self.newton(t, q, p, 1.0).is_ok() {
            return Ok(());
        }
        self.forget();
        let Err(error) = self.newton(t, q, p, 1.0) else { return Ok(()) };
        self.forget();
        let parts = (1..=PARTS_OF_MOMENTA).map(|part| part as f64 / PARTS_OF_MOMENTA as f64);
        let mut result = Ok(());
        parts.for_each(|share| result = result.and_then(|()| self.newton(t, q, p, share)));
        result.map_err(|_| error)
    }

    /// Forgets the last velocity.
    pub(super) fn forget(&mut self) {
        self.v.fill(0.0);
        self.mu.fill(0.0);
        self.equations.forget();
    }

    /// Newton's method for the momenta scaled by `share`. If L is quadratic in v, one iteration is exact up to roundoff, which
    /// is large if the guess is much larger than the velocity; from REFINEMENTS on, what is corrected is roundoff, for example
    /// velocities that walls hold at zero.
    fn newton(&mut self, t: f64, q: &[f64], p: &[f64], share: f64) -> Solved<()> {
        let Tangent { local, equations, v, mu, sizes } = self;
        let (n, is_quadratic) = (v.len(), local.code.is_quadratic);
        let mut rule = StopRule::default();
        loop {
            local.place(t, q, v);
            let values = local.inertia();
            equations.set_mass(&values[n..]);
            let balance = values[..n].iter().zip(p).map(|(momentum, p)| momentum - share * p);
            equations.right().0.iter_mut().zip(balance).for_each(|(r, x)| *r = x);
            for (k, mu) in mu.iter().enumerate() {
                let row = local.row(equations.rows[k]);
                equations.set_row(k, &row);
                equations.set_column(k, &row);
                let (momenta, rates) = equations.right();
                row.add_to(*mu, momenta);
                rates[k] = row.dot(v) + row.g_t;
                sizes[n + k] = row.g_t.abs();
            }
            // Mostly the first correction is the last.
            if rule.iterations > 0 {
                add_terms(sizes, equations, &local.code, (v, mu), (p, share));
                let (momenta, rates) = equations.right();
                let part = larger(largest_part(momenta, &sizes[..n]), largest_part(rates, &sizes[n..]));
                if rule.is_roundoff(part) {
                    return Ok(());
                }
            }
            let (dv, dmu) = equations.solve().ok_or(NoSolution::Singular)?;
            v.iter_mut().zip(dv).for_each(|(v, dv)| *v -= dv);
            mu.iter_mut().zip(dmu).for_each(|(mu, dmu)| *mu -= dmu);
            if !mu.iter().sum::<f64>().is_finite() {
                return Err(NoSolution::Diverged);
            }
            let is_near = || dv.iter().zip(&*v).all(|(dv, v)| dv.abs() <= v.abs());
            if rule.is_last(dv, v)? || (is_quadratic && (rule.iterations > REFINEMENTS || is_near())) {
                return Ok(());
            }
        }
    }
}

/// The sum of the absolute terms of each equation; those of the rows begin with |g_t|.
fn add_terms(
    sizes: &mut [f64],
    equations: &Bordered,
    code: &LocalCode,
    (v, mu): (&[f64], &[f64]),
    (p, share): (&[f64], f64),
) {
    let (momenta, rates) = sizes.split_at_mut(v.len());
    momenta.iter_mut().zip(p).for_each(|(size, p)| *size = (share * p).abs());
    for ((i, j), mass) in code.entries[0].iter().zip(equations.mass()) {
        momenta[*i] += (mass * v[*j]).abs();
    }
    for (k, (mu, rate)) in mu.iter().zip(rates).enumerate() {
        for &i in code.support(equations.rows[k]) {
            let slope = equations.slope(k, i);
            *rate += (slope * v[i]).abs();
            momenta[i] += (mu * slope).abs();
        }
    }
}
