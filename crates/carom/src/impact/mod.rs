//! Impact rules, one file each. At an impact p⁺ = p⁻ + λ∇φ, and a rule is one scalar equation r(λ) = 0: which energy is
//! the same before and after. Of its roots the one with λ > 0 is meant: the wall pushes.

mod ctec;
mod dtec;
mod mcva;
mod mhc;
mod registry;
mod shadow;
mod simultaneous;

pub use ctec::Ctec;
pub use dtec::Dtec;
pub use mcva::Mcva;
pub use mhc::{Mhc, Stable};
pub use registry::{Built, RuleKind, Workshop, registry};
pub use shadow::ShadowRule;
pub use simultaneous::moreau;
pub(crate) use simultaneous::{by_others, left_of_redundant, parts_of_redundant, share};

use crate::limits::TANGENT;
use crate::phase::{Flow, Phase};
use crate::plant::Evaluator;
use crate::solve::{NoSolution, root};

/// An impact: the state in which the wall is met, and what is known about it.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The number of the wall.
    pub wall: usize,
    /// Where the piece of the step began that ends at the wall: a node, or the state after an earlier impact.
    pub begin: Phase,
    /// That piece began at a node.
    pub begins_at_node: bool,
    /// (q_i, p⁻) at the time of the impact.
    pub minus: Phase,
    /// ∇φ(q_i).
    pub grad_phi: Vec<f64>,
    /// ∂φ/∂t.
    pub phi_t: f64,
    /// v⁻.
    pub v_minus: Vec<f64>,
    /// φ̇⁻ = ∇φ·v⁻ + φ_t, which is negative.
    pub rate_minus: f64,
    /// e.
    pub restitution: f64,
    /// −D₃L_d of the partial step to the wall, if there was one and the map is variational.
    pub energy_before: Option<f64>,
    /// The whole step.
    pub h: f64,
    /// What is left of the step after the impact.
    pub tau_left: f64,
}

/// What a rule may use.
pub struct Tools<'a> {
    /// H and v at a point.
    pub evaluator: &'a mut dyn Evaluator,
    /// The map of the full steps.
    pub full: &'a mut dyn Flow,
    /// The map of the partial steps, where it is another.
    pub partial: Option<&'a mut dyn Flow>,
    /// Room for a state.
    pub next: &'a mut Phase,
}

impl Tools<'_> {
    /// The partial step of length τ from z, into `next`.
    pub fn partial_step(&mut self, z: &Phase, tau: f64) -> Result<&mut dyn Flow, NoSolution> {
        let partial: &mut dyn Flow = match &mut self.partial {
            Some(partial) => *partial,
            None => self.full,
        };
        partial.step(z, tau, self.next)?;
        Ok(partial)
    }
}

/// Which energy an impact keeps.
pub trait ImpactRule: Send {
    /// Looks at an impact before its λ is sought. `window` is what [`ImpactRule::remember`] wrote.
    fn prepare(&mut self, hit: &Hit, window: &[f64], tools: &mut Tools) -> Result<(), NoSolution>;

    /// r(λ), where `plus` is (q_i, p⁻ + λ∇φ).
    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution>;

    /// True if the rule says φ̇⁺ = −e φ̇⁻, as where H is matched and L is quadratic in v: then λ needs no search, and a soft
    /// impact is as exact as a hard one. (The difference of two energies is not: of λ it leaves about ε H/λ.)
    fn is_reflection(&self) -> bool {
        false
    }

    /// False if the state before an impact is all that the rule asks for.
    fn looks_at_steps(&self) -> bool {
        true
    }

    /// True if the rule needs to know the last nodes.
    fn remembers(&self) -> bool {
        false
    }

    /// Writes what the rule needs to know of the last nodes to `window`. z is the latest; `after_impact` says whether there
    /// was an impact in the step to it.
    fn remember(&mut self, _z: &Phase, _h: f64, _after_impact: bool, _window: &mut Vec<f64>) -> Result<(), NoSolution> {
        Ok(())
    }

    /// Takes other values of the parameters.
    fn set_parameters(&mut self, _parameters: &[f64]) {}

    /// Forgets the last impacts.
    fn forget(&mut self) {}
}

impl Hit {
    /// Room for an impact, in the size of `phase`.
    pub fn new(phase: &Phase) -> Hit {
        Hit {
            wall: 0,
            begin: phase.clone(),
            begins_at_node: false,
            minus: phase.clone(),
            grad_phi: vec![0.0; phase.q().len()],
            phi_t: 0.0,
            v_minus: vec![0.0; phase.q().len()],
            rate_minus: 0.0,
            restitution: 1.0,
            energy_before: None,
            h: 0.0,
            tau_left: 0.0,
        }
    }

    /// The energy that the wall puts in: [H] = λ[(1 − e)φ̇⁻/2 − φ_t].
    pub fn energy_jump(&self, lambda: f64) -> f64 {
        lambda * (0.5 * (1.0 - self.restitution) * self.rate_minus - self.phi_t)
    }

    /// Sets p⁺ = p⁻ + λ∇φ.
    pub fn kick(&self, lambda: f64, plus: &mut Phase) {
        plus.copy_from(&self.minus);
        plus.p_mut().iter_mut().zip(&self.grad_phi).for_each(|(p, normal)| *p += lambda * normal);
    }

    /// The same on the tangent space of the constraints, which push back: p⁺ = p⁻ + λ∇φ − Gᵀμ. [GP eqs. 30–32]
    pub fn push(&self, lambda: f64, plus: &mut Phase, evaluator: &mut dyn Evaluator) -> Result<(), NoSolution> {
        self.kick(lambda, plus);
        evaluator.project(plus)
    }

    /// φ̇⁺ − φ̇⁻ = ∇φ·(v⁺ − v⁻) at `plus`.
    fn change(&self, plus: &Phase, evaluator: &mut dyn Evaluator) -> Result<f64, NoSolution> {
        let v = evaluator.velocity(plus)?.iter().zip(&self.v_minus);
        Ok(self.grad_phi.iter().zip(v).map(|(g, (after, before))| g * (after - before)).sum())
    }

    /// λ with φ̇⁺ = −e φ̇⁻: exact where L is quadratic in v, since φ̇ is then linear in λ; else a first guess.
    fn reflection(&self, rounds: usize, plus: &mut Phase, evaluator: &mut dyn Evaluator) -> Result<f64, NoSolution> {
        let mut lambda = trial_impulse(&self.minus, &self.v_minus, &self.grad_phi);
        for _ in 0..rounds {
            self.push(lambda, plus, evaluator)?;
            let slope = self.change(plus, evaluator)? / lambda;
            if slope.abs() <= TANGENT * (self.rate_minus / lambda).abs()
                && self.is_blocked(lambda, slope, plus, evaluator)?
            {
                return Err(NoSolution::Tangent);
            }
            lambda = -(1.0 + self.restitution) * self.rate_minus / slope;
        }
        if lambda.is_finite() && lambda > 0.0 { Ok(lambda) } else { Err(NoSolution::NoImpulse) }
    }

    /// True if the rate answers to an impulse, by `slope`, only because of roundoff: the constraints take what it would change without
    /// them. Where a wall moves into a body at rest, its rate tells nothing, since it is large beside the momenta.
    #[cold]
    fn is_blocked(
        &self,
        lambda: f64,
        slope: f64,
        plus: &mut Phase,
        evaluator: &mut dyn Evaluator,
    ) -> Result<bool, NoSolution> {
        self.kick(lambda, plus);
        Ok(slope.abs() <= TANGENT * (self.change(plus, evaluator)? / lambda).abs())
    }
}

/// An impulse of a wall with about the energy of the motion: λ ≈ √(p·v/W). All terms of each sum have one unit.
///
/// ```text
/// λ = √(Σ|pᵢvᵢ| over all i · Σ|pᵢvᵢ| over ∂φᵢ ≠ 0) / Σ|∂φᵢvᵢ|
/// ```
///
/// A smaller one would be lost beside the velocities of other coordinates. If nothing moves along the wall, it is as large as the
/// momenta; at rest all impulses will do, because v is proportional to them.
pub(crate) fn trial_impulse(z: &Phase, v: &[f64], grad_phi: &[f64]) -> f64 {
    let (mut all, mut along, mut rate) = (0.0, 0.0, 0.0);
    for ((p, v), slope) in z.p().iter().zip(v).zip(grad_phi) {
        let energy = (p * v).abs();
        all += energy;
        along += if *slope == 0.0 { 0.0 } else { energy };
        rate += (slope * v).abs();
    }
    let size = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
    let usable = |lambda: &f64| *lambda > 0.0 && lambda.is_finite();
    let lambda = Some(all.sqrt() * along.sqrt() / rate).filter(usable);
    lambda.or(Some(size(z.p()) / size(grad_phi)).filter(usable)).unwrap_or(1.0)
}

/// λ > 0 with r(λ) = 0; leaves p⁺ in `plus`. `window` is what the rule remembers of the nodes before.
pub fn resolve(
    rule: &mut dyn ImpactRule,
    hit: &Hit,
    window: &[f64],
    plus: &mut Phase,
    tools: &mut Tools,
) -> Result<f64, NoSolution> {
    if rule.is_reflection() {
        let lambda = hit.reflection(1, plus, tools.evaluator)?;
        hit.push(lambda, plus, tools.evaluator)?;
        return Ok(lambda);
    }
    let guess = hit.reflection(3, plus, tools.evaluator)?;
    rule.prepare(hit, window, tools)?;
    let mut residual = |lambda: f64| {
        hit.push(lambda, plus, tools.evaluator)?;
        rule.residual(hit, plus, lambda, tools)
    };
    let near = root::secant(&mut residual, guess, 1e-4 * guess)?;
    let lambda = match near.filter(|lambda| *lambda > 0.2 * guess) {
        Some(lambda) => lambda,
        None => root::around(&mut residual, guess)?.ok_or(NoSolution::NoImpulse)?,
    };
    hit.push(lambda, plus, tools.evaluator)?;
    Ok(lambda)
}
