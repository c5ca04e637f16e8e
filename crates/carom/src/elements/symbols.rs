//! The expressions of a control problem: steps, surfaces, momenta, in the free coordinates.

use crate::discrete::{DiscreteLagrangian, Sample, Step};
use crate::expr::{Expr, grad, jacobian};
use crate::mechanics::{Mechanics, numbered};
use crate::model::Model;
use crate::system::time;

/// The symbols of one step from q0 to q1 and its discrete mechanics.
///
/// ```text
/// p⁻ = −D₁L_d − f⁻,   p⁺ = D₂L_d + f⁺,   f^∓ = h Σ wⱼ (∂Qⱼ/∂q_{0,1})ᵀ Fⱼ,   cost h Σ wⱼ lⱼ
/// ```
pub(super) struct StepSymbols {
    /// q0, the inner points, q1, the controls, the time at the beginning, h.
    pub(super) inputs: Vec<Expr>,
    /// p⁻, then the equations of the inner points, then p⁺.
    pub(super) rows: Vec<Expr>,
    /// The running cost.
    pub(super) cost: Option<Expr>,
    /// −D₃L_d.
    pub(super) energy: Expr,
    /// The points of the quadrature.
    pub(super) samples: Vec<Sample>,
}

/// The mechanics of a control problem.
pub(super) struct Symbols {
    pub(super) mechanics: Mechanics,
    /// The parameters without the controls.
    pub(super) parameters: Vec<Expr>,
    pub(super) controls: Vec<Expr>,
    /// g of all constraints.
    pub(super) constraints: Vec<Expr>,
    /// The running cost and the cost at the end.
    pub(super) running: Option<Expr>,
    pub(super) end_cost: Option<Expr>,
    pub(super) restitution: Vec<Expr>,
}

impl Symbols {
    pub(super) fn new(model: &Model) -> Symbols {
        let (system, problem) = (&model.system, &model.problem);
        let drive = |e: Expr| system.drive(&[e])[0];
        Symbols {
            mechanics: Mechanics::new(system),
            parameters: model.plain_parameters().iter().map(|p| p.symbol).collect(),
            controls: problem.controls.iter().map(|control| control.symbol).collect(),
            constraints: problem.constraints.iter().map(|constraint| drive(constraint.g)).collect(),
            running: problem.objective.running.map(drive),
            end_cost: problem.objective.end.map(drive),
            restitution: system.walls.iter().map(|wall| wall.restitution).collect(),
        }
    }

    pub(super) fn n(&self) -> usize {
        self.mechanics.n()
    }

    /// The step of a discrete Lagrangian.
    pub(super) fn step(&self, rule: &dyn DiscreteLagrangian) -> StepSymbols {
        let (n, inner) = (self.n(), rule.inner_points());
        let points: Vec<Vec<Expr>> = (0..inner + 2).map(|k| numbered(&format!("Q{k}"), n)).collect();
        let [t, h] = ["t[0]", "h[]"].map(Expr::symbol);
        let u = |point: &Vec<Expr>| point.iter().zip(&points[0]).map(|(&q, &q0)| (q - q0) / h).collect();
        let step = Step { t, h, q0: points[0].clone(), u: points.iter().map(u).collect() };
        let samples = rule.samples(&step);
        let ld = h * self.mechanics.mean_lagrangian(&samples);
        let at = |e: Expr, s: &Sample| self.mechanics.at(&[e], &s.q, &s.v, s.t)[0];
        let pull = |q: &[Expr]| {
            let mut pull = grad(ld, q);
            for sample in &samples {
                let Some(forces) = &self.mechanics.forces else { continue };
                let force = self.mechanics.at(forces, &sample.q, &sample.v, sample.t);
                for (arms, f) in jacobian(&sample.q, q).iter().zip(force) {
                    pull.iter_mut().zip(arms).for_each(|(sum, &arm)| *sum = *sum + sample.weight * h * f * arm);
                }
            }
            pull
        };
        let mut rows: Vec<Expr> = pull(&points[0]).into_iter().map(|p| -p).collect();
        points[1..].iter().for_each(|point| rows.extend(pull(point)));
        let cost = self.running.map(|l| samples.iter().map(|s| s.weight * h * at(l, s)).sum());
        let inputs = [&points.concat()[..], &self.controls, &[t, h]].concat();
        StepSymbols { inputs, rows, cost, energy: -ld.diff(h), samples }
    }

    /// q, v, t as inputs of an element.
    pub(super) fn state(&self) -> Vec<Expr> {
        [&self.mechanics.q[..], &self.mechanics.v, &[time()]].concat()
    }

    /// Gᵀλ of these surfaces.
    pub(super) fn push(&self, surfaces: &[Expr], impulses: &[Expr]) -> Vec<Expr> {
        let slopes = jacobian(surfaces, &self.mechanics.q);
        let push = |i: usize| slopes.iter().zip(impulses).map(|(row, &impulse)| impulse * row[i]).sum();
        (0..self.n()).map(push).collect()
    }

    /// G v + g_t of a surface, with these velocities.
    pub(super) fn rate(&self, surface: Expr, v: &[Expr]) -> Expr {
        grad(surface, &self.mechanics.q).into_iter().zip(v).map(|(slope, &v)| slope * v).sum::<Expr>()
            + surface.diff(time())
    }
}
