//! The energy account of a run.

use std::ops::Range;

use super::observer::{Look, Observer};
use crate::flow::Collocation;
use crate::limits::SLOW_POWER;
use crate::phase::Phase;
use crate::plant::Facts;
use crate::solve::Solved;
use crate::step::{State, StepLog};

/// The contributions to the change of the energy since the start. They and `unexplained` add up to that change.
///
/// ```text
/// dE/dt = F·v + drives,   [E] = λ(1 − e)φ̇⁻/2 − λφ_t − μ·g_t
/// ```
///
/// Walls that hold the motion and constraints that move count as drives: −N φ_t and λ·g_t. The first two integrals are computed
/// to the order of the flow, so `unexplained` is the error of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// The work of forces and pushes, ∫F·v dt.
    pub work: f64,
    /// The work of driven coordinates, of moving walls, and of a Lagrangian that contains the time.
    pub drives: f64,
    /// The loss by restitution at impacts, Σ λ(1 − e)φ̇⁻/2; at most 0.
    pub impacts: f64,
    /// The rest of the change.
    pub unexplained: f64,
}

/// Computes the account of a run.
pub struct Accountant {
    sums: Account,
    /// The account at the last node.
    pub account: Account,
    /// E at the start, and E − H there, where H = p·v − L belongs to the free coordinates.
    initial: f64,
    beyond: f64,
    /// The quadrature rules with 1, 2, … points, if a force or a drive acts along the smooth arcs. The last has the order of the flow.
    rules: Vec<Collocation>,
    constraints_move: bool,
    gradient: Vec<f64>,
    z: Phase,
}

impl Accountant {
    /// Returns None if nothing can change the energy. `restitution` has e of each wall; `order` is that of the flow.
    pub fn new(facts: &Facts, restitution: &[f64], order: usize) -> Option<Accountant> {
        if facts.sources.is_conservative(restitution) {
            return None;
        }
        let acts = !facts.sources.is_hamiltonian() || facts.sources.walls;
        let most = if acts { order.div_ceil(2).max(2) } else { 0 };
        Some(Accountant {
            sums: Account::default(),
            account: Account::default(),
            initial: 0.0,
            beyond: 0.0,
            rules: (1..=most).map(Collocation::gauss).collect(),
            constraints_move: facts.sources.constraints,
            gradient: vec![0.0; facts.n],
            z: facts.nowhere(),
        })
    }

    /// Adds an impact: [H] = λ[(1 − e)φ̇⁻/2 − φ_t] − μ·g_t. Here μ are the impulses of the constraints, [p] = λ∇φ + Gᵀμ, and
    /// −μ·g_t = Gᵀμ·v.
    fn impact(&mut self, impact: &crate::step::LoggedImpact, look: &mut Look) {
        let lambda = impact.impulse.normal();
        self.sums.impacts += 0.5 * (1.0 - impact.restitution) * lambda * impact.rate_minus;
        self.sums.drives -= lambda * impact.phi_t;
        if !self.constraints_move {
            return;
        }
        look.evaluator.normal(impact.wall, &impact.minus, &mut self.gradient);
        // If the velocity cannot be computed, this work remains unexplained.
        if let Ok(v) = look.evaluator.velocity(&impact.minus) {
            let impulse = |i: usize| impact.plus.p()[i] - impact.minus.p()[i] - lambda * self.gradient[i];
            self.sums.drives += v.iter().enumerate().map(|(i, v)| impulse(i) * v).sum::<f64>();
        }
    }

    /// Adds the work along smooth arcs, by Gauss quadrature.
    fn integrate(&mut self, log: &StepLog, arcs: Range<usize>, look: &mut Look) -> Solved<()> {
        if self.rules.is_empty() {
            return Ok(());
        }
        for arc in arcs {
            let (begin, holding) = (log.arcs()[arc].start.t, log.holding(arc));
            let tau = log.end_of(arc) - begin;
            if tau <= 0.0 {
                continue;
            }
            let quadrature = &self.rules[points(tau / log.h, self.rules.len()) - 1];
            for (c, b) in quadrature.c.iter().zip(&quadrature.b) {
                look.looker.on_arc(log, arc, begin + c * tau, &mut self.z)?;
                let power = look.evaluator.power(&self.z)?;
                let held = match look.looker.contact(holding)? {
                    Some(contact) => contact.power(&self.z)?,
                    None => look.evaluator.power_of_constraints(&self.z)?,
                };
                self.sums.work += b * tau * power.forces;
                self.sums.drives += b * tau * (power.drives + held);
            }
        }
        Ok(())
    }
}

/// The number of points of Gauss quadrature on an arc that is this part r of a step, where `most` are enough for a whole one. A power that
/// varies in the time T is integrated over an arc with an error of (rh/T)²ˢ⁺¹ by s points. That is no more than the error over a step if
///
/// ```text
/// (rh/T)²ˢ⁺¹ ≤ (h/T)²ᵐ⁺¹,   r ≤ (h/T)^(2(m − s)/(2s + 1))
/// ```
///
/// for h/T ≥ [`SLOW_POWER`]; slower powers are integrated to roundoff, or far below the error of the flow.
fn points(part: f64, most: usize) -> usize {
    let is_enough = |s: &usize| part <= SLOW_POWER.powf(2.0 * (most - s) as f64 / (2 * s + 1) as f64);
    (1..most).find(is_enough).unwrap_or(most)
}

impl Observer for Accountant {
    fn begin(&mut self, state: &State, _is_resumed: bool, look: &mut Look) -> Solved<()> {
        self.initial = look.evaluator.energy(&state.z)?;
        self.beyond = self.initial - look.evaluator.hamiltonian(&state.z)?;
        Ok(())
    }

    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        // Where a log has nodes inside, it has no events.
        let first = log.nodes() - 1;
        log.impacts().iter().for_each(|impact| self.impact(impact, look));
        self.integrate(log, first..log.arcs().len(), look)?;
        self.sums.drives += log.settling.work;
        self.sums.impacts += log.settling.loss;
        self.balance(&log.end.z, look)
    }
}

impl Accountant {
    /// Sees a step that ends at a node inside a log, where this arc begins.
    pub(super) fn pass(&mut self, log: &StepLog, arc: usize, look: &mut Look) -> Solved<()> {
        self.integrate(log, arc - 1..arc, look)?;
        self.balance(&log.arcs()[arc].start, look)
    }

    /// The account at a node.
    fn balance(&mut self, z: &Phase, look: &mut Look) -> Solved<()> {
        // With driven coordinates E differs from H; the difference is the work of the drives.
        let energy = look.evaluator.energy(z)?;
        let drives = self.sums.drives + (energy - look.evaluator.hamiltonian(z)? - self.beyond);
        let Account { work, impacts, .. } = self.sums;
        let unexplained = energy - self.initial - work - drives - impacts;
        self.account = Account { work, drives, impacts, unexplained };
        Ok(())
    }
}
