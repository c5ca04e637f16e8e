//! Impact rules, one file each. At an impact p⁺ = p⁻ + λ∇φ, and a rule is one scalar equation r(λ) = 0: which energy is
//! the same before and after. Of its roots the one with λ > 0 is meant: the wall pushes.

mod ctec;
mod dtec;

pub use ctec::Ctec;
pub use dtec::Dtec;

use crate::flow::{Field, Flow, Phase};
use crate::solve::{NoSolution, root};

/// An impact: the state in which the wall is met, and what is known about it.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The number of the wall.
    pub wall: usize,
    /// (q_i, p⁻) at the time of the impact.
    pub minus: Phase,
    /// ∇φ(q_i).
    pub grad_phi: Vec<f64>,
    /// ∂φ/∂t.
    pub phi_t: f64,
    /// φ̇⁻ = ∇φ·v⁻ + φ_t, which is negative.
    pub rate_minus: f64,
    /// e.
    pub restitution: f64,
    /// −D₃L_d of the partial step to the wall, if there was one and the map is variational.
    pub energy_before: Option<f64>,
    /// What is left of the step after the impact.
    pub tau_left: f64,
}

/// What a rule may use.
pub struct Tools<'a> {
    /// H and v at a point.
    pub field: &'a mut Field,
    /// The map of the partial steps.
    pub partial: &'a mut dyn Flow,
    /// Room for a state.
    pub next: &'a mut Phase,
}

/// Which energy an impact keeps.
pub trait ImpactRule: Send {
    /// What `--method` calls it.
    fn name(&self) -> &'static str;

    /// r(λ), where `plus` is (q_i, p⁻ + λ∇φ).
    fn residual(&mut self, hit: &Hit, plus: &Phase, lambda: f64, tools: &mut Tools) -> Result<f64, NoSolution>;
}

impl Hit {
    /// Room for an impact, in the size of `phase`.
    pub fn new(phase: &Phase) -> Hit {
        Hit {
            wall: 0,
            minus: phase.clone(),
            grad_phi: vec![0.0; phase.q().len()],
            phi_t: 0.0,
            rate_minus: 0.0,
            restitution: 1.0,
            energy_before: None,
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

    /// φ̇ at `plus`.
    fn rate(&self, plus: &Phase, field: &mut Field) -> Result<f64, NoSolution> {
        let v = field.velocity(plus.t, &plus.z)?;
        Ok(self.grad_phi.iter().zip(v).map(|(g, v)| g * v).sum::<f64>() + self.phi_t)
    }

    /// λ with φ̇⁺ = −e φ̇⁻: exact where L is quadratic in v, since φ̇ is then linear in λ; else a first guess.
    fn reflection(&self, plus: &mut Phase, field: &mut Field) -> Result<f64, NoSolution> {
        let size = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let mut lambda = size(self.minus.p()).max(1e-3) / size(&self.grad_phi);
        for _ in 0..3 {
            self.kick(lambda, plus);
            let slope = (self.rate(plus, field)? - self.rate_minus) / lambda;
            lambda = -(1.0 + self.restitution) * self.rate_minus / slope;
        }
        if lambda.is_finite() && lambda > 0.0 { Ok(lambda) } else { Err(NoSolution::Diverged) }
    }
}

/// λ > 0 with r(λ) = 0; leaves p⁺ in `plus`.
pub fn resolve(rule: &mut dyn ImpactRule, hit: &Hit, plus: &mut Phase, tools: &mut Tools) -> Result<f64, NoSolution> {
    let guess = hit.reflection(plus, tools.field)?;
    let mut residual = |lambda: f64| {
        hit.kick(lambda, plus);
        rule.residual(hit, plus, lambda, tools)
    };
    let found = root::secant(&mut residual, guess, 1e-4 * guess)?;
    match found {
        Some(lambda) if lambda > 1e-3 * guess => {
            hit.kick(lambda, plus);
            Ok(lambda)
        }
        _ => Err(NoSolution::Diverged),
    }
}
