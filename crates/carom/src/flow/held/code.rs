//! The coefficients of a discrete Lagrangian.

use std::sync::Arc;

use crate::discrete::{Adjoint, DiscreteLagrangian, Step};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, eval, grad};
use crate::flow::last_steps::Points;
use crate::mechanics::{Local, LocalCode};
use crate::phase::Phase;
use crate::system::Enforce;

/// The code that the steps of a flow share for all contact modes.
///
/// Every discrete Lagrangian is a quadrature whose samples are linear in the unknowns U:
///
/// ```text
/// L_d = h Σᵢ bᵢ L(qᵢ, vᵢ, t + cᵢh),   qᵢ = q0 + h Σ_k αᵢ_k U_k,   vᵢ = Σ_k βᵢ_k U_k
/// ```
#[derive(Debug)]
pub(crate) struct HeldCode {
    pub(crate) local: Arc<LocalCode>,
    pub(crate) order: usize,
    pub(crate) samples: Vec<SampleCode>,
    /// For each pair of points e and l: Σᵢ bᵢ βᵢ_e βᵢ_l, Σᵢ bᵢ βᵢ_e αᵢ_l, Σᵢ bᵢ αᵢ_e αᵢ_l, Σᵢ bᵢ αᵢ_e βᵢ_l. These are the
    /// factors of L_vv, h L_vq, h² ṗ_q and h ṗ_v if these matrices are equal at all samples.
    pub(crate) sums: Vec<Vec<[f64; 4]>>,
    /// Σᵢ bᵢ αᵢ_e of each point e: its part of a constant force.
    pub(crate) weights: Vec<f64>,
    pub(crate) points: Points,
    /// The points at which one-point constraints are enforced; the last is q1.
    pub(crate) constrained: Vec<usize>,
    /// The fraction of the step at which two-point constraints are enforced.
    pub(crate) part: f64,
    /// The adjoint, with which a map that is not symmetric makes steps backwards.
    pub(crate) adjoint: Option<Arc<HeldCode>>,
}

/// One evaluation of L in the quadrature.
#[derive(Clone, Debug)]
pub(crate) struct SampleCode {
    pub(crate) b: f64,
    pub(crate) c: f64,
    /// αᵢ for each point of the step. For q0, αᵢ_0 = 1 − Σ_k αᵢ_k and βᵢ_0 = −Σ_k βᵢ_k give the derivative of L_d at q0.
    pub(crate) alpha: Vec<f64>,
    pub(crate) beta: Vec<f64>,
}

impl SampleCode {
    /// Sets the state of `local` to a sample of the step.
    pub(super) fn place(&self, local: &mut Local, unknowns: &[f64], z0: &Phase, h: f64) {
        let n = local.code.n;
        let (q, v) = local.state_mut(z0.t + self.c * h);
        let (q0, q, v) = (&z0.q()[..n], &mut q[..n], &mut v[..n]);
        // One loop over slices of one length becomes vector instructions.
        let (weight, beta, u) = (h * self.alpha[1], self.beta[1], &unknowns[..n]);
        for i in 0..n {
            q[i] = q0[i] + weight * u[i];
            v[i] = beta * u[i];
        }
        let others = self.alpha[2..].iter().zip(&self.beta[2..]).zip(unknowns[n..].chunks_exact(n));
        for ((alpha, beta), u) in others {
            let (weight, u) = (h * alpha, &u[..n]);
            for i in 0..n {
                q[i] += weight * u[i];
                v[i] += beta * u[i];
            }
        }
    }

    /// The factors of ṗ and L_v in f_e.
    pub(super) fn pull(&self, e: usize, h: f64) -> [f64; 2] {
        [self.b * h * self.alpha[e], self.b * self.beta[e]]
    }

    /// b times the products of β and α of two points.
    pub(super) fn products(&self, e: usize, l: usize) -> [f64; 4] {
        let SampleCode { b, alpha, beta, .. } = self;
        [b * beta[e] * beta[l], b * beta[e] * alpha[l], b * alpha[e] * alpha[l], b * alpha[e] * beta[l]]
    }
}

impl HeldCode {
    /// Extracts the coefficients of a discrete Lagrangian.
    pub(crate) fn new(local: &Arc<LocalCode>, rule: &dyn DiscreteLagrangian) -> Result<HeldCode> {
        let mut code = HeldCode::one_way(local, rule)?;
        if !rule.is_symmetric() {
            code.adjoint = Some(Arc::new(HeldCode::one_way(local, &Adjoint(rule))?));
        }
        Ok(code)
    }

    fn one_way(local: &Arc<LocalCode>, rule: &dyn DiscreteLagrangian) -> Result<HeldCode> {
        let last = rule.inner_points() + 1;
        if last > 1 && local.enforce.iter().any(|enforce| *enforce != Enforce::OnePoint) {
            let message =
                format!("two-point constraints are not defined for `{}`, which has inner points", rule.name());
            return Err(Diagnostic::new(message).with_help("use `midpoint` or `svc`").into());
        }
        let samples = samples(rule);
        let sums = |e: usize, l: usize| {
            let terms = samples.iter().map(|sample| sample.products(e, l));
            terms.fold([0.0; 4], |sum, term| [0, 1, 2, 3].map(|k| sum[k] + term[k]))
        };
        Ok(HeldCode {
            local: local.clone(),
            order: rule.order(),
            weights: (0..=last).map(|e| samples.iter().map(|sample| sample.b * sample.alpha[e]).sum()).collect(),
            sums: (0..=last).map(|e| (0..=last).map(|l| sums(e, l)).collect()).collect(),
            samples,
            points: Points::new(local.n, rule.inner_times()),
            constrained: (1..=last).filter(|&k| k == last || rule.constrains_inner_points()).collect(),
            part: rule.two_point_part(),
            adjoint: None,
        })
    }

    /// The kernels of the system.
    pub(crate) fn local(&self) -> &Arc<LocalCode> {
        &self.local
    }

    /// The index of the last point.
    pub(crate) fn last(&self) -> usize {
        self.points.last()
    }

    /// True if the inner points lie on a polynomial close to the motion.
    pub(super) fn has_polynomial(&self) -> bool {
        self.constrained.len() == self.last()
    }
}

/// The coefficients of a quadrature, obtained from its step for one coordinate.
fn samples(rule: &dyn DiscreteLagrangian) -> Vec<SampleCode> {
    let [t, h, q0] = ["t[0]", "h[]", "q[0]"].map(Expr::symbol);
    let u: Vec<Expr> = (0..rule.inner_points() + 1).map(|k| Expr::symbol(&format!("u{}[0]", k + 1))).collect();
    let step = Step { t, h, q0: vec![q0], u: [0.0.into()].iter().chain(&u).map(|&u| vec![u]).collect() };
    let mut values = vec![(t, 0.0), (h, 1.0), (q0, 0.0)];
    values.extend(u.iter().map(|&u| (u, 0.0)));
    let slopes = |f: Expr, whole: f64| {
        let slopes = eval(&grad(f, &u), &values);
        [&[whole - slopes.iter().sum::<f64>()], &slopes[..]].concat()
    };
    let sample = |sample: crate::discrete::Sample| SampleCode {
        b: sample.weight,
        c: eval(&[sample.t], &values)[0],
        alpha: slopes(sample.q[0], 1.0),
        beta: slopes(sample.v[0], 0.0),
    };
    rule.samples(&step).into_iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discrete::{Galerkin, Nodes, Se1, Sva};

    #[test]
    fn coefficients_are_those_of_the_quadratures() {
        let [left] = &samples(&Se1)[..] else { panic!("one sample") };
        assert_eq!((left.b, left.c, &left.alpha[..], &left.beta[..]), (1.0, 0.0, &[1.0, 0.0][..], &[-1.0, 1.0][..]));
        let [right] = &samples(&Adjoint(&Se1))[..] else { panic!("one sample") };
        assert_eq!(
            (right.b, right.c, &right.alpha[..], &right.beta[..]),
            (1.0, 1.0, &[0.0, 1.0][..], &[-1.0, 1.0][..])
        );
        let halves = samples(&Sva);
        assert_eq!((&halves[0].beta[..], &halves[1].beta[..]), (&[-2.0, 2.0, 0.0][..], &[0.0, -2.0, 2.0][..]));
        // A motion with velocity 1 has velocity 1 at all samples.
        let rule = Galerkin { degree: 5, at: Nodes::Gauss };
        let points = [vec![0.0], rule.inner_times(), vec![1.0]].concat();
        for sample in samples(&rule) {
            let sum = |x: &[f64]| x.iter().zip(&points).map(|(x, u)| x * u).sum::<f64>();
            assert!((sum(&sample.alpha) - sample.c).abs() < 1e-14 && (sum(&sample.beta) - 1.0).abs() < 1e-13);
        }
    }
}
