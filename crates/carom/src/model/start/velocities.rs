//! The velocities that belong to given momenta.

use super::Check;
use crate::error::Result;
use crate::expr::{Expr, grad, jacobian};
use crate::limits::ROUNDOFF;
use crate::solve::{Lu, largest_part};
use crate::system::time;

impl Check<'_> {
    /// v with L_v(q, v) = p, by Newton's method: one step where L is quadratic in v. Elsewhere a step is halved until it comes
    /// nearer to p: a whole one may lead to velocities at which L has no derivatives, as beyond that of light.
    pub(super) fn velocities(&self, q: &[f64], p: &[f64]) -> Result<Vec<f64>> {
        let system = &self.model.system;
        let l_v = grad(system.lagrangian.l, &system.v());
        let mass: Vec<Expr> = jacobian(&l_v, &system.v()).concat();
        let (n, free) = (p.len(), system.free());
        let drive: Vec<Expr> = system.coordinates.iter().map(|c| c.prescribed.unwrap_or(c.q)).collect();
        let rates: Vec<Expr> = drive.iter().map(|f| f.diff(time())).collect();
        let mut v = self.at(&rates, q, &vec![0.0; n]);
        let mut lu = Lu::new(free.len());
        let (mut step, mut residual) = (vec![0.0; free.len()], vec![0.0; free.len()]);
        for _ in 0..50 {
            let (values, matrix) = (self.at(&l_v, q, &v), self.at(&mass, q, &v));
            let block: Vec<f64> =
                free.iter().flat_map(|&i| free.iter().map(move |&j| (i, j))).map(|(i, j)| matrix[i * n + j]).collect();
            if !lu.factor(&block) {
                // A singular matrix gets its own message, or constraints make up for it.
                self.finite(q, &v);
                self.sum()?;
                self.regular(q, &v)?;
                break;
            }
            free.iter().enumerate().for_each(|(k, &i)| residual[k] = p[i] - values[i]);
            lu.solve(&residual, &mut step);
            // Relative to the momenta and to the terms M·v of L_v.
            let size = |k: usize| {
                let terms =
                    (0..free.len()).map(|j| (block[k * free.len() + j] * (v[free[j]].abs() + step[j].abs())).abs());
                p[free[k]].abs() + terms.sum::<f64>()
            };
            let sizes: Vec<f64> = (0..free.len()).map(size).collect();
            let (before, start) = (largest_part(&residual, &sizes), v.clone());
            for halving in 0..60 {
                let part = 0.5f64.powi(halving);
                free.iter().enumerate().for_each(|(k, &i)| v[i] = start[i] + part * step[k]);
                let values = self.at(&l_v, q, &v);
                free.iter().enumerate().for_each(|(k, &i)| residual[k] = p[i] - values[i]);
                if largest_part(&residual, &sizes) <= before {
                    break;
                }
            }
            let stays = step.iter().zip(&free).all(|(step, &i)| step.abs() <= ROUNDOFF * v[i].abs());
            if stays || largest_part(&residual, &sizes) <= ROUNDOFF {
                return Ok(v);
            }
        }
        let message = "no velocities were found that belong to these momenta";
        Err(self.model.error(&self.model.places.motion, message, "give `v` instead"))
    }
}
