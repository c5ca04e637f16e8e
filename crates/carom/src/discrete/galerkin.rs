use super::{DiscreteLagrangian, Sample, Step};
use crate::expr::Expr;

/// Galerkin with Gauss–Lobatto nodes: a polynomial of degree s through q0, inner points and q1, and the quadrature of
/// the same s + 1 nodes; order 2s. [Marsden & West 2001, §2.6.1; s = 1 is SVC]
///
/// ```text
/// L_d(q0, q1, h) = ext { h Σᵢ bᵢ L(Qᵢ, Q̇ᵢ) },   Q̇ᵢ = (1/h) Σⱼ ℓⱼ′(cᵢ) Qⱼ = Σⱼ ℓⱼ′(cᵢ) Uⱼ
/// ```
pub struct Galerkin {
    /// 4, 6 or 8.
    pub order: usize,
}

impl Galerkin {
    /// Nodes c and weights b on [0, 1].
    fn lobatto(&self) -> (Vec<f64>, Vec<f64>) {
        match self.order {
            4 => (vec![0.0, 0.5, 1.0], vec![1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0]),
            6 => {
                let d = 5f64.sqrt() / 10.0;
                (vec![0.0, 0.5 - d, 0.5 + d, 1.0], vec![1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0])
            }
            _ => {
                let d = 21f64.sqrt() / 14.0;
                let b = [1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0, 49.0 / 180.0, 1.0 / 20.0];
                (vec![0.0, 0.5 - d, 0.5, 0.5 + d, 1.0], b.to_vec())
            }
        }
    }
}

/// ℓⱼ′(cᵢ), where ℓⱼ is the polynomial that is 1 at cⱼ and 0 at the other nodes.
fn derivative(c: &[f64], i: usize, j: usize) -> f64 {
    let others = |k: usize| (0..c.len()).filter(move |&m| m != k);
    if i == j {
        return others(i).map(|m| 1.0 / (c[i] - c[m])).sum();
    }
    let numerator: f64 = others(i).filter(|&m| m != j).map(|m| c[i] - c[m]).product();
    numerator / others(j).map(|m| c[j] - c[m]).product::<f64>()
}

impl DiscreteLagrangian for Galerkin {
    fn name(&self) -> &'static str {
        match self.order {
            4 => "galerkin4",
            6 => "galerkin6",
            _ => "galerkin8",
        }
    }

    fn about(&self) -> &'static str {
        "Galerkin with Gauss–Lobatto nodes"
    }

    fn order(&self) -> usize {
        self.order
    }

    fn inner_points(&self) -> usize {
        self.order / 2 - 1
    }

    fn inner_times(&self) -> Vec<f64> {
        let (c, _) = self.lobatto();
        c[1..c.len() - 1].to_vec()
    }

    fn samples(&self, step: &Step) -> Vec<Sample> {
        let (c, b) = self.lobatto();
        let n = step.q0.len();
        let sample = |i: usize| {
            let slope = |k: usize| (1..c.len()).map(|j| derivative(&c, i, j) * step.u[j][k]).sum::<Expr>();
            let v = (0..n).map(slope).collect();
            Sample { weight: b[i], q: step.point(i), v, t: step.time(c[i]) }
        };
        (0..c.len()).map(sample).collect()
    }
}
