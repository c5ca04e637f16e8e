//! Discrete Lagrangians, one file each. A discrete Lagrangian is a quadrature of the action over one step,
//!
//! ```text
//! L_d(q0, …, q1, t, h) = h Σᵢ bᵢ L(qᵢ, vᵢ, tᵢ)
//! ```
//!
//! where qᵢ and vᵢ are combinations of q0, q1 and, for some, of inner points at which L_d is stationary. Everything else
//! (slot derivatives, discrete forces, discrete energy) is derived from it.
//!
//! Points are written as Q = q0 + h·U: velocities are then combinations of the U, and no step is too short for them.

mod adjoint;
mod galerkin;
mod midpoint;
pub(crate) mod quadrature;
mod se1;
mod se2;
mod sva;
mod svb;
mod svc;

pub use adjoint::Adjoint;
pub use galerkin::{Galerkin, Nodes};
pub use midpoint::Midpoint;
pub use se1::Se1;
pub use se2::Se2;
pub use sva::Sva;
pub use svb::Svb;
pub use svc::Svc;

use crate::expr::Expr;

/// A quadrature of the action over one step.
pub trait DiscreteLagrangian: Send + Sync {
    /// What `--method` calls it.
    fn name(&self) -> &'static str;

    /// The order of the map that it generates.
    fn order(&self) -> usize;

    /// One line about it.
    fn about(&self) -> &'static str;

    /// True if L_d(q0, q1, h) = −L_d(q1, q0, −h), so that the map is its own adjoint.
    fn is_symmetric(&self) -> bool {
        true
    }

    /// How many points there are between q0 and q1.
    fn inner_points(&self) -> usize {
        0
    }

    /// When the inner points are, as parts of the step: where a first guess puts them.
    fn inner_times(&self) -> Vec<f64> {
        let count = self.inner_points();
        (1..=count).map(|i| i as f64 / (count + 1) as f64).collect()
    }

    /// True if the inner points are as near to the motion as the ends, so that constraints are asked for there too.
    fn constrains_inner_points(&self) -> bool {
        false
    }

    /// The part of the step at which a two-point constraint is asked for. [TPC eq. 7]
    fn two_point_part(&self) -> f64 {
        0.5
    }

    /// The quadrature.
    fn samples(&self, step: &Step) -> Vec<Sample>;
}

/// One step from q0 at t to q1 at t + h, in symbols.
pub struct Step {
    /// The time at the beginning.
    pub t: Expr,
    /// The step.
    pub h: Expr,
    /// The first point.
    pub q0: Vec<Expr>,
    /// U of q0 (zero), of the inner points, of q1.
    pub u: Vec<Vec<Expr>>,
}

/// One evaluation of L in a quadrature.
pub struct Sample {
    /// The weight, as a part of h.
    pub weight: f64,
    /// Where.
    pub q: Vec<Expr>,
    /// How fast.
    pub v: Vec<Expr>,
    /// When.
    pub t: Expr,
}

impl Step {
    /// Point number k: q0 + h·U_k.
    pub fn point(&self, k: usize) -> Vec<Expr> {
        self.blend(k, 1.0)
    }

    /// (1 − α) q0 + α Q_k.
    pub fn blend(&self, k: usize, alpha: f64) -> Vec<Expr> {
        self.q0.iter().zip(&self.u[k]).map(|(&q, &u)| q + alpha * self.h * u).collect()
    }

    /// (Q_b − Q_a)/(part·h).
    pub fn secant(&self, a: usize, b: usize, part: f64) -> Vec<Expr> {
        self.u[a].iter().zip(&self.u[b]).map(|(&a, &b)| (b - a) / part).collect()
    }

    /// t + c·h.
    pub fn time(&self, c: f64) -> Expr {
        self.t + c * self.h
    }
}

/// The registered discrete Lagrangians; `alpha` is that of the generalized midpoint rule.
pub fn registry(alpha: f64) -> Vec<Box<dyn DiscreteLagrangian>> {
    vec![
        Box::new(Se1),
        Box::new(Se2),
        Box::new(Sva),
        Box::new(Svb),
        Box::new(Svc),
        Box::new(Midpoint { alpha }),
        Box::new(Galerkin { degree: 2, at: Nodes::Lobatto }),
        Box::new(Galerkin { degree: 3, at: Nodes::Lobatto }),
        Box::new(Galerkin { degree: 4, at: Nodes::Lobatto }),
    ]
}
