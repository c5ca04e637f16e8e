use super::quadrature::{Quadrature, lagrange, lagrange_slope};
use super::{DiscreteLagrangian, Sample, Step};
use crate::expr::Expr;

/// Galerkin: a polynomial of degree s through q0, inner points at the Gauss–Lobatto nodes and q1, and a quadrature of the
/// action along it; order 2s. [Marsden & West 2001, §2.6.1]
///
/// ```text
/// L_d(q0, q1, h) = ext { h Σᵢ bᵢ L(q(cᵢ), q̇(cᵢ)) },   q(c) = Σⱼ ℓⱼ(c) Qⱼ,   q̇(c) = Σⱼ ℓⱼ′(c) Uⱼ
/// ```
///
/// Holonomic constraints are asked for at all the points: with the quadrature of the same nodes that is Lobatto IIIA–IIIB
/// [Jay 1996; s = 1 is SVC], with that of Gauss the Gauss–Lobatto method [Jay 2007; s = 1 is the midpoint rule].
pub struct Galerkin {
    /// s.
    pub degree: usize,
    /// Where L is evaluated.
    pub at: Nodes,
}

/// The nodes of a quadrature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nodes {
    /// s + 1, with both ends.
    Lobatto,
    /// s, inside: without constraints the map is Gauss collocation.
    Gauss,
}

impl DiscreteLagrangian for Galerkin {
    fn name(&self) -> &'static str {
        const LOBATTO: [&str; 5] = ["", "svc", "galerkin4", "galerkin6", "galerkin8"];
        const GAUSS: [&str; 9] = ["", "gauss1", "gauss2", "gauss3", "gauss4", "gauss5", "gauss6", "gauss7", "gauss8"];
        match self.at {
            Nodes::Lobatto => LOBATTO[self.degree],
            Nodes::Gauss => GAUSS[self.degree],
        }
    }

    fn about(&self) -> &'static str {
        match self.at {
            Nodes::Lobatto => "Galerkin with Gauss–Lobatto nodes",
            Nodes::Gauss => "Galerkin with Gauss nodes",
        }
    }

    fn order(&self) -> usize {
        2 * self.degree
    }

    fn inner_points(&self) -> usize {
        self.degree - 1
    }

    fn inner_times(&self) -> Vec<f64> {
        Quadrature::lobatto(self.degree).c[1..self.degree].to_vec()
    }

    fn constrains_inner_points(&self) -> bool {
        true
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let points = Quadrature::lobatto(self.degree);
        let rule = match self.at {
            Nodes::Lobatto => points.clone(),
            Nodes::Gauss => Quadrature::gauss(self.degree),
        };
        let sample = |(&c, &weight): (&f64, &f64)| {
            let sum = |of: fn(&[f64], usize, f64) -> f64, k: usize| {
                (1..points.c.len()).map(|j| of(&points.c, j, c) * step.u[j][k]).sum::<Expr>()
            };
            let q = step.q0.iter().enumerate().map(|(k, &q)| q + step.h * sum(lagrange, k)).collect();
            let v = (0..step.q0.len()).map(|k| sum(lagrange_slope, k)).collect();
            Sample { weight, q, v, t: step.time(c) }
        };
        rule.c.iter().zip(&rule.b).map(sample).collect()
    }
}
