//! Holonomic constraints in the equations of a step.

use crate::discrete::{DiscreteLagrangian, Step};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, grad};
use crate::mechanics::Mechanics;
use crate::system::Enforce;

/// The constraints of a step with their multipliers, which are impulses. [TPC eqs. 6, 9]
///
/// ```text
/// one-point:  p0 + D₁L_d − λ Dg(q0) = 0,            g(q1) = 0,        p1 = D₂L_d − μ Dg(q1) with Dg(q1)·v1 = 0
/// two-point:  p0 + D₁L_d − λ D₁ḡ(q0, q1) = 0,   ḡ(q0, q1) = 0,   p1 = D₂L_d − λ D₂ḡ(q0, q1)
/// ```
///
/// One-point constraints are also enforced at the inner points, with their own multipliers, if the inner points approximate the
/// motion as well as the end points do. μ is computed after the step, by [`super::Field::project`].
///
/// DIFFERENCE: TPC's (10) states g(q_{k+1}) = 0 for the two-point method; it should be ḡ(q_k, q_{k+1}) = 0.
pub(super) struct Multipliers {
    /// The multipliers: of the one-point constraints at q0, then at each inner point, then of the two-point constraints.
    pub(super) symbols: Vec<Expr>,
    /// The constraint residuals, divided by h because points are written as q0 + h·U.
    pub(super) residuals: Vec<Expr>,
    /// λ Dg at each point of the step.
    pulls: Vec<Vec<Expr>>,
}

impl Multipliers {
    pub(super) fn of(mechanics: &Mechanics, rule: &dyn DiscreteLagrangian, step: &Step) -> Result<Multipliers> {
        let last = step.u.len() - 1;
        let two_point: Vec<Expr> =
            mechanics.constraints.iter().filter(|c| c.enforce != Enforce::OnePoint).map(|c| c.g).collect();
        if !two_point.is_empty() && last > 1 {
            let message =
                format!("two-point constraints are not defined for `{}`, which has inner points", rule.name());
            return Err(Diagnostic::new(message).with_help("use `midpoint` or `svc`").into());
        }
        let times: Vec<f64> = [vec![0.0], rule.inner_times(), vec![1.0]].concat();
        let constrained: Vec<usize> = (1..=last).filter(|&k| k == last || rule.constrains_inner_points()).collect();
        let mut all = Multipliers { symbols: Vec::new(), residuals: Vec::new(), pulls: Vec::new() };
        all.pulls = vec![vec![Expr::constant(0.0); mechanics.n()]; last + 1];
        let one_point = mechanics.tangent_constraints();
        let g_at = |g: Expr, q: &[Expr], t: Expr| mechanics.at(&[g], q, &mechanics.v, t)[0] / step.h;
        let slopes_at = |g: Expr, q: &[Expr], t: Expr| mechanics.at(&grad(g, &mechanics.q), q, &mechanics.v, t);
        for (&from, &to) in std::iter::once(&0).chain(&constrained).zip(&constrained) {
            for &g in &one_point {
                let lambda = all.constrain(g_at(g, &step.point(to), step.time(times[to])));
                all.pull(from, lambda, &slopes_at(g, &step.point(from), step.time(times[from])));
            }
        }
        let part = rule.two_point_part();
        let (middle, t) = (step.blend(last, part), step.time(part));
        for g in two_point {
            let lambda = all.constrain(g_at(g, &middle, t));
            let slopes = slopes_at(g, &middle, t);
            all.pull(0, (1.0 - part) * lambda, &slopes);
            all.pull(last, part * lambda, &slopes);
        }
        Ok(all)
    }

    /// Adds a constraint and returns its multiplier.
    fn constrain(&mut self, residual: Expr) -> Expr {
        let lambda = Expr::symbol(&format!("lambda#{}", self.symbols.len()));
        self.symbols.push(lambda);
        self.residuals.push(residual);
        lambda
    }

    /// Adds λ Dg at a point.
    fn pull(&mut self, point: usize, lambda: Expr, slopes: &[Expr]) {
        self.pulls[point].iter_mut().zip(slopes).for_each(|(sum, &slope)| *sum = *sum + lambda * slope);
    }

    /// Subtracts λ Dg from the equations of a step, which has n equations per point.
    pub(super) fn subtract_from(&self, equations: &mut [Expr]) {
        let pulls = self.pulls.iter().flatten();
        equations.iter_mut().zip(pulls).for_each(|(equation, &pull)| *equation = *equation - pull);
    }
}
