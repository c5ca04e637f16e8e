//! The velocities that belong to given momenta.

use super::Check;
use crate::error::Result;
use crate::expr::{Expr, grad, jacobian};
use crate::limits::ROUNDOFF;
use crate::solve::{Lu, largest_part};
use crate::system::time;

/// The part of given momenta that may push against the constraints.
const START_TANGENT: f64 = 1e-8;
/// Newton's method ends with a step of this part of the velocities: what is left is of second order.
const SETTLED: f64 = 1e-10;

impl Check<'_> {
    /// v with L_v(q, v) = p, by Newton's method: one step where L is quadratic in v. Elsewhere a step is halved until it comes
    /// nearer to p: a whole one may lead to velocities at which L has no derivatives, as beyond that of light.
    pub(super) fn velocities(&self, q: &[f64], p: &[f64]) -> Result<Vec<f64>> {
        if let Some(recursive) = &self.recursive {
            return match recursive.velocities(q, p) {
                Some(v) => Ok(v),
                None => self.regular(q, p).map(|()| p.to_vec()),
            };
        }
        let system = &self.model.system;
        if system.constraints.len() > system.stated_constraints().len() {
            return self.tangent_velocities(q, p);
        }
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

    /// The velocities of given momenta where ball joints make L_vv singular along their quaternions: v is on the tangent space, and
    /// L_v = p there.
    ///
    /// ```text
    /// [ L_vv  Gᵀ ; G  0 ] (δv; ν) = (p − L_v(q, v) ; −Gv − g_t)
    /// ```
    fn tangent_velocities(&self, q: &[f64], p: &[f64]) -> Result<Vec<f64>> {
        let (system, (bordered, n, m)) = (&self.model.system, self.bordered());
        let free = system.free();
        let driven = system.coordinates.iter().map(|c| c.prescribed.map_or(Expr::constant(0.0), |f| f.diff(time())));
        let mut v = self.at(&driven.collect::<Vec<_>>(), q, &vec![0.0; p.len()]);
        let l_v = grad(system.lagrangian.l, &system.v());
        let rates: Vec<Expr> = system.constraints.iter().map(|c| system.time_derivative(c.g)).collect();
        let (mut lu, mut solved) = (Lu::new(n + m), vec![0.0; n + m]);
        for _ in 0..50 {
            let (matrix, momenta) = (self.at(&bordered, q, &v), self.at(&l_v, q, &v));
            if !lu.factor(&matrix) {
                self.finite(q, &v);
                self.sum()?;
                self.regular(q, &v)?;
                break;
            }
            let missing = free.iter().map(|&i| p[i] - momenta[i]);
            let right: Vec<f64> = missing.chain(self.at(&rates, q, &v).into_iter().map(|rate| -rate)).collect();
            lu.solve(&right, &mut solved);
            free.iter().zip(&solved).for_each(|(&i, step)| v[i] += step);
            let fastest = free.iter().map(|&i| v[i].abs()).fold(0.0, f64::max);
            if !solved[..n].iter().all(|step| step.abs() <= SETTLED * fastest) {
                continue;
            }
            // What the constraints would have to push for is no momentum of a motion.
            let across = |k: usize| (0..m).map(|j| matrix[k * (n + m) + n + j] * solved[n + j]).sum::<f64>();
            let size = free.iter().map(|&i| p[i].abs()).fold(0.0, f64::max);
            let projects = self.model.initial.as_ref().is_some_and(|initial| initial.project);
            if projects || (0..n).all(|k| across(k).abs() <= START_TANGENT * size) {
                return Ok(v);
            }
            let message = "these momenta do not belong to a motion on the constraints";
            let label = "give `v` instead, or let `initial.project = true` move them there";
            return Err(self.model.error(&self.model.places.motion, message, label));
        }
        let message = "no velocities were found that belong to these momenta";
        Err(self.model.error(&self.model.places.motion, message, "give `v` instead"))
    }
}
