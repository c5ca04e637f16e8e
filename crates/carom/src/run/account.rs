//! The energy account of a run: where the energy came from and where it went.

use super::algorithm::Machine;
use super::lift::Lift;
use crate::constraint::Reaction;
use crate::error::Result;
use crate::expr::Expr;
use crate::flow::{Collocation, Field, Flow, Phase};
use crate::impact::Hit;
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::model::Model;
use crate::solve::NoSolution;
use crate::system::time;

/// What changed the energy since the start. All of it together with `unexplained` is the change of the energy.
///
/// ```text
/// dE/dt = F·v + drives,   [E] = λ(1 − e)φ̇⁻/2 − λφ_t − μ·g_t
/// ```
///
/// Walls that hold and constraints that move are drives: −N φ_t and λ·g_t. The first two are integrated to the order of
/// the flow; what is unexplained is the error of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// The work of forces and pushes, ∫F·v dt.
    pub work: f64,
    /// The work of what moves by itself: driven coordinates, walls, a Lagrangian that contains the time.
    pub drives: f64,
    /// What restitution took at impacts, Σ λ(1 − e)φ̇⁻/2; not positive.
    pub impacts: f64,
    /// What is left.
    pub unexplained: f64,
}

/// Keeps the account of a run.
pub(super) struct Ledger {
    sums: Account,
    /// E and E − H at the start, where H = p·v − L is that of the free coordinates.
    start: [f64; 2],
    power: Option<Power>,
    /// The velocities at impacts, where constraints move.
    moved: Option<Field>,
}

/// What is integrated along the smooth pieces.
struct Power {
    /// (parameters, t, q, v) → F·v, and −L_t less the power of forces on driven coordinates.
    kernel: Kernel,
    inputs: Vec<f64>,
    /// A map of its own, so that the one of the run goes on from its last step.
    flow: Box<dyn Flow>,
    quadrature: Collocation,
    state: Phase,
    /// The forces of constraints that move.
    moving: Option<Reaction>,
}

impl Ledger {
    /// For a model in which something can change the energy; else none.
    pub(super) fn new(
        model: &Model,
        mechanics: &Mechanics,
        parameters: &[f64],
        flow: &dyn Flow,
    ) -> Result<Option<Ledger>> {
        let powers = powers(model, mechanics);
        let walls_take = model.system.walls.iter().any(|wall| wall.restitution.as_const() != Some(1.0));
        let walls_move = mechanics.walls.iter().any(|phi| phi.depends_on(&[time()]));
        let constraints_move = mechanics.tangent_constraints().iter().any(|g| g.depends_on(&[time()]));
        let acts = powers.iter().any(|power| !power.is_zero()) || constraints_move;
        if !(acts || walls_take || walls_move) {
            return Ok(None);
        }
        let power = match acts || walls_move {
            true => Some(Power::new(mechanics, &powers, parameters, flow)?),
            false => None,
        };
        let moved = constraints_move.then(|| Field::new(mechanics, parameters)).transpose()?;
        Ok(Some(Ledger { sums: Account::default(), start: [0.0; 2], power, moved }))
    }

    /// Begins anew at z.
    pub(super) fn begin(
        &mut self,
        z: &Phase,
        machine: &mut Machine,
        lift: &mut Lift,
    ) -> std::result::Result<(), NoSolution> {
        let energy = lift.energy(z, &mut machine.field)?;
        self.start = [energy, energy - machine.field.energy(z.t, &z.z)?];
        self.sums = Account::default();
        Ok(())
    }

    /// An impact: [H] = λ[(1 − e)φ̇⁻/2 − φ_t] − μ·g_t, where μ are the impulses of constraints, [p] = λ∇φ + Gᵀμ, and
    /// −μ·g_t = Gᵀμ·v.
    pub(super) fn impact(&mut self, hit: &Hit, lambda: f64, plus: &Phase) {
        self.sums.impacts += 0.5 * (1.0 - hit.restitution) * lambda * hit.rate_minus;
        self.sums.drives -= lambda * hit.phi_t;
        // What a failed velocity leaves out is then unexplained.
        if let Some(field) = &mut self.moved
            && let Ok(v) = field.velocity(hit.minus.t, &hit.minus.z)
        {
            let impulse = |i: usize| plus.p()[i] - hit.minus.p()[i] - lambda * hit.grad_phi[i];
            self.sums.drives += v.iter().enumerate().map(|(i, v)| impulse(i) * v).sum::<f64>();
        }
    }

    /// The account at the node z, to which a step has just been made; the energy there is `energy`.
    pub(super) fn step(
        &mut self,
        z: &Phase,
        energy: f64,
        machine: &mut Machine,
    ) -> std::result::Result<Account, NoSolution> {
        self.integrate(machine, z.t)?;
        if let Some(rest) = &mut machine.rest {
            let [drives, impacts] = std::mem::take(&mut rest.booked);
            self.sums.drives += drives;
            self.sums.impacts += impacts;
        }
        // With driven coordinates E is not H, and what lies between them is theirs.
        let [initial, beyond] = self.start;
        let drives = self.sums.drives + (energy - machine.field.energy(z.t, &z.z)? - beyond);
        let Account { work, impacts, .. } = self.sums;
        Ok(Account { work, drives, impacts, unexplained: energy - initial - work - drives - impacts })
    }

    /// Adds what the smooth pieces of the last step, which ended at `end`, did.
    fn integrate(&mut self, machine: &mut Machine, end: f64) -> std::result::Result<(), NoSolution> {
        let Some(power) = &mut self.power else { return Ok(()) };
        for k in 0..machine.pieces.list().len() {
            let pieces = machine.pieces.list();
            let tau = pieces.get(k + 1).map_or(end, |next| next.t) - pieces[k].t;
            if tau > 0.0 {
                let [work, drives] = power.integrate(k, tau, machine)?;
                self.sums.work += work;
                self.sums.drives += drives;
            }
        }
        Ok(())
    }
}

impl Power {
    fn new(mechanics: &Mechanics, powers: &[Expr], parameters: &[f64], flow: &dyn Flow) -> Result<Power> {
        let symbols: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&mechanics.v).copied().collect();
        let constraints = mechanics.tangent_constraints();
        let move_by_themselves = constraints.iter().any(|g| g.depends_on(&[time()]));
        let moving = move_by_themselves.then(|| Reaction::new(mechanics, &constraints, parameters)).transpose()?;
        let mut inputs = parameters.to_vec();
        inputs.resize(parameters.len() + symbols.len(), 0.0);
        Ok(Power {
            kernel: mechanics.kernel(&symbols, powers)?,
            inputs,
            flow: flow.boxed_clone(),
            quadrature: Collocation::gauss(flow.order().div_ceil(2).max(2)),
            state: Phase { t: 0.0, z: vec![0.0; 2 * mechanics.n()] },
            moving,
        })
    }

    /// ∫ over a smooth piece of length τ, by Gauss's quadrature on states of partial steps.
    fn integrate(
        &mut self,
        piece: usize,
        tau: f64,
        machine: &mut Machine,
    ) -> std::result::Result<[f64; 2], NoSolution> {
        let mode = machine.pieces.mode(piece);
        machine.in_mode(mode, |machine| {
            let mut sums = [0.0; 2];
            for k in 0..self.quadrature.c.len() {
                let flow = if mode == 0 { &mut self.flow } else { &mut machine.full };
                flow.step(&machine.pieces.list()[piece], self.quadrature.c[k] * tau, &mut self.state)?;
                let power = self.power(machine, mode)?;
                sums.iter_mut().zip(power).for_each(|(sum, power)| *sum += self.quadrature.b[k] * tau * power);
            }
            Ok(sums)
        })
    }

    /// The power of forces, and that of drives, in the state.
    fn power(&mut self, machine: &mut Machine, mode: usize) -> std::result::Result<[f64; 2], NoSolution> {
        let (n, at, mut power) = (self.state.q().len(), self.inputs.len() - 1 - self.state.z.len(), [0.0; 2]);
        let v = machine.field.velocity(self.state.t, &self.state.z)?;
        self.inputs[at] = self.state.t;
        self.inputs[at + 1..at + 1 + n].copy_from_slice(self.state.q());
        self.inputs[at + 1 + n..].copy_from_slice(v);
        self.kernel.eval(&self.inputs, &mut power);
        power[1] += match &mut self.moving {
            _ if mode > 0 => machine.power_of_hold(&self.state)?,
            Some(reaction) => {
                reaction.at(self.state.t, self.state.q(), v)?;
                reaction.power()
            }
            None => 0.0,
        };
        Ok(power)
    }
}

/// F·v of all forces, and −L_t less that part of it that acts on driven coordinates.
fn powers(model: &Model, mechanics: &Mechanics) -> [Expr; 2] {
    let system = &model.system;
    let (mut all, mut driven) = (Expr::constant(0.0), Expr::constant(0.0));
    for (c, &force) in system.coordinates.iter().zip(&system.forces) {
        all = all + force * c.v;
        if c.prescribed.is_some() {
            driven = driven + force * c.v;
        }
    }
    let driven_forces = system.drive(&[all, driven]);
    [driven_forces[0], -mechanics.l.diff(time()) - driven_forces[1]]
}
