//! Accelerations of the free motion as expressions.

use super::Mechanics;
use super::eliminate::{eliminate, eliminate_columns};
use crate::expr::{Expr, grad, jacobian};
use crate::system::time;

impl Mechanics {
    /// The acceleration a(t, q, v) without walls and constraints.
    ///
    /// ```text
    /// M a = L_q + F − L_vq v − L_vt
    /// ```
    pub(crate) fn accelerations(&self) -> Vec<Expr> {
        let momenta = self.momenta();
        let swept = jacobian(&momenta, &self.q);
        let mut sides = grad(self.l, &self.q);
        for (i, side) in sides.iter_mut().enumerate() {
            let moved: Expr = swept[i].iter().zip(&self.v).map(|(&slope, &v)| slope * v).sum();
            *side = *side - moved - momenta[i].diff(time());
            if let Some(forces) = &self.forces {
                *side = *side + forces[i];
            }
        }
        eliminate(self.mass(), sides)
    }

    /// df/dt along a motion with these accelerations.
    pub(crate) fn rate_along(&self, f: Expr, accelerations: &[Expr]) -> Expr {
        let by_q: Expr = grad(f, &self.q).into_iter().zip(&self.v).map(|(slope, &v)| slope * v).sum();
        let by_v: Expr = grad(f, &self.v).into_iter().zip(accelerations).map(|(slope, &a)| slope * a).sum();
        f.diff(time()) + by_q + by_v
    }

    /// v⁺, λ, φ̇⁻ and W of an impact on a wall with restitution e, for L quadratic in v: φ̇⁺ = −e φ̇⁻.
    ///
    /// ```text
    /// W = ∇φ·M⁻¹∇φ,   λ = −(1 + e) φ̇⁻/W,   v⁺ = v⁻ + λ M⁻¹∇φ
    /// ```
    pub(crate) fn reflection(&self, phi: Expr, e: Expr) -> Vec<Expr> {
        let normal = grad(phi, &self.q);
        let swept: Expr = normal.iter().zip(&self.v).map(|(&slope, &v)| slope * v).sum();
        let rate = phi.diff(time()) + swept;
        let response = eliminate_columns(self.mass(), vec![normal.clone()]).swap_remove(0);
        let w: Expr = normal.iter().zip(&response).map(|(&normal, &response)| normal * response).sum();
        let lambda = -(1.0 + e) * rate / w;
        let plus = self.v.iter().zip(&response).map(|(&v, &response)| v + lambda * response);
        plus.chain([lambda, rate, w]).collect()
    }
}
