//! The midpoint rule at a ball joint. With σ = u/4 and the Cayley map C:
//!
//! ```text
//! Q_mid = Q0 C(σ),   Q1 = Q0 C(σ)²,   rate ω = u/h in the axes of the body at the middle
//! r = μ0 + CF F + CP π,   μ1 = CFᵀF − CPᵀπ,   CF = h/2 (1 + σ̂),   CP = −[(1−σ²)1 + 2σ̂ + 2σσᵀ]
//! ```
//!
//! It is the midpoint rule on unit quaternions: the middle of q0 and q1 is Q_mid up to its length, and 2q̄*⊗q̇/|q̄|² = 4σ/h.

use crate::tree::{Mat3, Vec3};

/// The matrices of a ball joint in a step.
pub(super) struct Ball {
    sigma: Vec3,
    /// CF
    pub(super) cf: Mat3,
    /// CP
    pub(super) cp: Mat3,
}

impl Ball {
    #[inline(always)]
    pub(super) fn new(u: Vec3, h: f64) -> Ball {
        let sigma = u * 0.25;
        let hat = sigma.hat();
        let cp = Mat3::ONE * (1.0 - sigma.dot(sigma)) + hat * 2.0 + sigma.outer(sigma) * 2.0;
        Ball { sigma, cf: (Mat3::ONE + hat) * (0.5 * h), cp: -cp }
    }

    /// J: the middle turns by R_mid J δu/2.
    #[inline(always)]
    pub(super) fn j(&self) -> Mat3 {
        (Mat3::ONE - self.sigma.hat()) * (1.0 / (1.0 + self.sigma.dot(self.sigma)))
    }

    /// E = ¼[−h/2 F̂ + 2π̂ + 2πσᵀ − 2σπᵀ − 2(σ·π)1] − CF π̂/h: what u itself changes in the row, at fixed x.
    #[inline(always)]
    pub(super) fn e(&self, force: Vec3, pi: Vec3, h: f64) -> Mat3 {
        let sigma = self.sigma;
        let cp = pi.hat() + pi.outer(sigma) - sigma.outer(pi) - Mat3::ONE * sigma.dot(pi);
        cp * 0.5 - force.hat() * (0.125 * h) - self.cf * pi.hat() * (1.0 / h)
    }

    /// dε₁/du, where Q1 turns to Q1 exp(ε̂₁): (1+σ²)⁻²[(1−σ²)1 − 2σ̂ + 2σσᵀ].
    #[inline(always)]
    pub(super) fn end(&self) -> Mat3 {
        self.cp.transpose() * (-1.0 / (1.0 + self.sigma.dot(self.sigma)).powi(2))
    }

    /// C(σ)⁻² x: takes body axes at the start of the step to those at its end.
    #[inline(always)]
    pub(super) fn to_end(&self, x: Vec3) -> Vec3 {
        let half = |x: Vec3| {
            // C(σ)⁻¹x = x − 2σ×(x − σ×x)/(1 + σ²)
            let turned = x - self.sigma.cross(x);
            x - self.sigma.cross(turned) * (2.0 / (1.0 + self.sigma.dot(self.sigma)))
        };
        half(half(x))
    }
}
