//! The one-step map of a discrete Lagrangian.

use super::FlowKind;
use super::carry::Carry;
use super::last_steps::{LastSteps, Points};
use super::multipliers::Multipliers;
use super::past::Past;
use crate::discrete::{Adjoint, DiscreteLagrangian, Sample, Step};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, eval, grad, jacobian};
use crate::kernel::{Kernel, NewtonProblem};
use crate::mechanics::Field;
use crate::mechanics::Newton;
use crate::mechanics::{Inputs, Mechanics, numbered};
use crate::phase::Impulses;
use crate::phase::{Discrete, Flow, Moments, Phase, Polynomial};
use crate::solve::NoSolution;

/// Φ_h = F⁺L_d ∘ (F⁻L_d)⁻¹: the discrete Euler–Lagrange equations in position-momentum form. [DLM eqs. 15, 17, 18]
///
/// ```text
/// p0 = −D₁L_d(q0, q1, h) − f⁻,   p1 = D₂L_d(q0, q1, h) + f⁺
/// ```
///
/// For each inner point Q_k, ∂L_d/∂Q_k + f_k = 0. The unknowns are U with Q = q0 + h·U. With L_d = h·M(q0, U, h), the slot
/// derivatives are
///
/// ```text
/// ∂L_d/∂Q_k = M_{U_k},   D₁L_d = h M_q0 − Σ_k M_{U_k},   D₃L_d = M + h M_h − Σ_k M_{U_k}·U_k
/// ```
///
/// Holonomic constraints add forces at the points, and p1 lies on their tangent space (`multipliers.rs`).
/// The discrete forces come from the same quadrature (discrete Lagrange–d'Alembert principle):
/// f_k = Σᵢ bᵢ (∂qᵢ/∂U_k)ᵀ F(qᵢ, vᵢ, tᵢ), and f_0 = h Σᵢ bᵢ Fᵢ − Σ_k f_k.
#[derive(Clone)]
pub struct Variational {
    n: usize,
    order: usize,
    parameters: usize,
    points: Points,
    /// True if the inner points are as close to the motion as the ends of a step.
    has_polynomial: bool,
    newton: Newton,
    /// inputs → L_d, −D₃L_d
    action: Kernel,
    field: Field,
    /// (parameters, t, q, v) → L_v, and its inputs.
    momenta: Kernel,
    motion: Inputs,
    /// The parameters, t, h, the carried values, q0, p0, U.
    inputs: Vec<f64>,
    /// The index of q0 in `inputs`.
    state: usize,
    /// (parameters, q0) → the carried values
    carry: Kernel,
    /// The inputs of `carry`.
    start: Vec<f64>,
    past: Past,
    last: LastSteps,
    impulses: Impulses,
    /// The map of the adjoint L_d, with which a map that is not symmetric makes steps backwards; and whether it made the last
    /// step.
    adjoint: Option<Box<Variational>>,
    stepped_back: bool,
}

impl Variational {
    /// Derives and compiles the map.
    pub fn new(mechanics: &Mechanics, rule: &dyn DiscreteLagrangian, parameters: &[f64]) -> Result<Variational> {
        let mut map = Variational::one_way(mechanics, rule, parameters)?;
        if !rule.is_symmetric() {
            map.adjoint = Some(Box::new(Variational::one_way(mechanics, &Adjoint(rule), parameters)?));
        }
        Ok(map)
    }

    fn one_way(mechanics: &Mechanics, rule: &dyn DiscreteLagrangian, parameters: &[f64]) -> Result<Variational> {
        let (n, inner) = (mechanics.n(), rule.inner_points());
        let (t, h) = (Expr::symbol("t[0]"), Expr::symbol("h[]"));
        let mut u = vec![vec![Expr::constant(0.0); n]];
        u.extend((1..inner + 2).map(|k| numbered(&format!("u{k}"), n)));
        let step = Step { t, h, q0: numbered("q", n), u };
        let samples = rule.samples(&step);
        let m = mechanics.mean_lagrangian(&samples);
        let multipliers = Multipliers::of(mechanics, rule, &step)?;
        let mut equations = equations(mechanics, m, &samples, &step);
        multipliers.subtract_from(&mut equations);
        let p1 = equations.split_off((inner + 1) * n);
        let (count, m1) = (equations.len(), multipliers.residuals.len());
        let all = [equations, multipliers.residuals, p1].concat();
        let (carry, all) = Carry::of(mechanics, &all, &step.q0);
        let (residuals, p1) = all.split_at(count + m1);
        let q1 = step.point(inner + 1);
        let problem = NewtonProblem {
            given: &[t, h],
            carried: &carry.symbols,
            state: &[&step.q0[..], &mechanics.p()].concat(),
            unknowns: &[&step.u[1..].concat()[..], &multipliers.symbols].concat(),
            residuals,
            results: &[&q1, p1].concat(),
            next: &carry.next(&step.q0, &q1),
        };
        let inputs = problem.inputs();
        let mut map = Variational {
            n,
            order: rule.order(),
            parameters: parameters.len(),
            points: Points::new(n, rule.inner_times()),
            has_polynomial: inner > 0 && rule.constrains_inner_points(),
            newton: Newton::of(mechanics, &problem)?.keeping_pivots(),
            action: mechanics.kernel(&inputs, &[h * m, discrete_energy(m, h, &step.u[1..].concat())])?,
            field: Field::new(mechanics, parameters)?,
            momenta: mechanics.kernel(&mechanics.state_symbols(), &mechanics.momenta())?,
            motion: Inputs::new(parameters, n),
            inputs: vec![0.0; parameters.len() + inputs.len()],
            state: parameters.len() + 2 + carry.symbols.len(),
            carry: carry.kernel(mechanics, &step.q0)?,
            start: vec![0.0; parameters.len() + n],
            past: Past::new(n, problem.unknowns.len()),
            last: LastSteps::new(n, problem.unknowns.len()),
            impulses: Impulses::new(mechanics.is_one_point(), m1),
            adjoint: None,
            stepped_back: false,
        };
        map.inputs[..parameters.len()].copy_from_slice(parameters);
        map.start[..parameters.len()].copy_from_slice(parameters);
        Ok(map)
    }

    /// The number of Newton iterations of the last step.
    pub fn iterations(&self) -> usize {
        self.newton.iterations()
    }

    /// Writes an initial guess of the unknowns: extrapolated from earlier steps, from the polynomial of one of the last steps, or
    /// along the velocity. Returns false in the last case.
    fn guess(&mut self, z0: &Phase, h: f64) -> std::result::Result<bool, NoSolution> {
        let unknowns = &mut self.inputs[self.state + 2 * self.n..];
        if self.past.extrapolate(h, unknowns) {
            return Ok(true);
        }
        if self.has_polynomial && self.last.guess(&self.points, z0, h, unknowns).is_some() {
            return Ok(true);
        }
        let v = self.field.velocity(z0.t, &z0.z)?;
        for (u, &c) in unknowns.chunks_mut(self.n).zip(&self.points.times[1..]) {
            u.iter_mut().zip(v).for_each(|(u, v)| *u = c * v);
        }
        let multipliers = unknowns.len() - self.impulses.count;
        unknowns[multipliers..].fill(0.0);
        Ok(false)
    }

    /// Solves for the unknowns and z1 = (q1, p1).
    fn solve(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        let is_near = self.guess(z0, h)?;
        let solved = self.newton.solve_from(&z0.z, &mut self.inputs, &mut z1.z);
        if solved.is_ok() || !is_near {
            return solved;
        }
        // The guess from earlier steps failed: start along the velocity.
        self.forget_steps();
        self.guess(z0, h)?;
        self.newton.solve_from(&z0.z, &mut self.inputs, &mut z1.z)
    }

    fn forget_steps(&mut self) {
        self.past.forget();
        self.last.forget();
    }

    /// Computes the carried values if this step does not begin at the end of the last one.
    #[cold]
    fn begin(&mut self, z0: &Phase) {
        if !self.past.ends_near(z0) {
            self.past.forget();
        }
        self.start[self.parameters..].copy_from_slice(z0.q());
        self.carry.eval(&self.start, &mut self.inputs[self.parameters + 2..self.state]);
    }
}

impl Flow for Variational {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        if self.impulses.count > 0 && h == 0.0 {
            // With h = 0 the constraint equations are undefined.
            z1.copy_from(z0);
            return Ok(());
        }
        if !self.past.ends_in(z0) {
            self.begin(z0);
        }
        self.inputs[self.parameters] = z0.t;
        self.inputs[self.parameters + 1] = h;
        self.solve(z0, h, z1)?;
        z1.t = z0.t + h;
        self.field.project(z1)?;
        let (state, unknowns) = self.inputs[self.state..].split_at_mut(2 * self.n);
        state.copy_from_slice(&z0.z);
        self.impulses.note(unknowns, self.field.multipliers());
        self.past.remember(unknowns, h, z1, self.newton.iterations());
        if self.has_polynomial {
            self.last.remember(z0, h, z1, unknowns);
        }
        self.stepped_back = false;
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.motion.set_parameters(parameters);
        self.inputs[..self.parameters].copy_from_slice(parameters);
        self.start[..self.parameters].copy_from_slice(parameters);
        self.field.set_parameters(parameters);
        self.forget_steps();
        self.adjoint.iter_mut().for_each(|adjoint| adjoint.set_parameters(parameters));
    }

    fn forget(&mut self) {
        self.forget_steps();
        self.newton.forget();
        self.field.forget();
        self.adjoint.iter_mut().for_each(|adjoint| adjoint.forget());
    }

    fn step_back(&mut self, z1: &Phase, h: f64, z0: &mut Phase) -> std::result::Result<(), NoSolution> {
        let Some(adjoint) = &mut self.adjoint else { return self.step(z1, -h, z0) };
        self.stepped_back = true;
        adjoint.step(z1, -h, z0)
    }

    fn discrete(&mut self) -> Option<Discrete> {
        if let (true, Some(adjoint)) = (self.stepped_back, &mut self.adjoint) {
            return adjoint.discrete();
        }
        let mut values = [0.0; 2];
        self.action.eval(&self.inputs, &mut values);
        Some(Discrete { action: values[0], energy: values[1] })
    }

    fn moments(&self) -> usize {
        self.points.moments()
    }

    /// Writes the inner points as moments, if they lie on a polynomial close to the motion.
    fn write_moments(&mut self, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
        self.has_polynomial && self.last.write_moments(&self.points, z0, h, moments)
    }

    fn write_polynomial(&self, z0: &Phase, h: f64, polynomial: &mut Polynomial) -> bool {
        self.has_polynomial && self.last.write_polynomial(z0, h, polynomial)
    }

    fn read(&mut self, z0: &Phase, polynomial: &Polynomial, tau: f64, z: &mut Phase) -> bool {
        if !self.has_polynomial || !self.last.take(z0, polynomial) {
            return false;
        }
        let (q, v) = self.motion.state_mut(z0.t + tau);
        self.last.look(&self.points, tau, q, v);
        z.t = z0.t + tau;
        z.z[..self.n].copy_from_slice(q);
        self.momenta.eval(self.motion.all(), z.p_mut());
        true
    }

    fn impulses(&self) -> Option<&Impulses> {
        match (&self.adjoint, self.stepped_back) {
            (Some(adjoint), true) => adjoint.impulses(),
            _ => Some(&self.impulses),
        }
    }

    fn order(&self) -> usize {
        self.order
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}

/// The momenta at both ends of a step from q0 to q1, for a flow without inner points, with two-point constraints whose
/// multipliers are λ₁.
pub(crate) fn momenta_between(
    mechanics: &Mechanics,
    flow: &FlowKind,
    parameters: &[(Expr, f64)],
    q: [&[f64]; 2],
    h: f64,
    lambda1: &[f64],
) -> Result<[Vec<f64>; 2]> {
    let n = mechanics.n();
    let Some(rule) = flow.discrete_lagrangian().filter(|rule| rule.inner_points() == 0) else {
        let message = format!("two-point constraints are not defined for `{}`", flow.name);
        return Err(Diagnostic::new(message).with_help("use `midpoint` or `svc`").into());
    };
    let [t, step_length] = ["t[0]", "h[]"].map(Expr::symbol);
    let step =
        Step { t, h: step_length, q0: numbered("q", n), u: vec![vec![Expr::constant(0.0); n], numbered("u1", n)] };
    let samples = rule.samples(&step);
    let multipliers = Multipliers::of(mechanics, rule, &step)?;
    let mut equations = equations(mechanics, mechanics.mean_lagrangian(&samples), &samples, &step);
    multipliers.subtract_from(&mut equations);
    let mut values = parameters.to_vec();
    values.extend([(t, 0.0), (step_length, h)]);
    values.extend(step.q0.iter().copied().zip(q[0].iter().copied()));
    values.extend(step.u[1].iter().copied().zip(q[0].iter().zip(q[1]).map(|(q0, q1)| (q1 - q0) / h)));
    values.extend(mechanics.p().into_iter().map(|p| (p, 0.0)));
    // The multipliers of one-point constraints at q0 come first; they are zero here.
    let one_point = multipliers.symbols.len() - lambda1.len();
    let lambda = std::iter::repeat_n(0.0, one_point).chain(lambda1.iter().copied());
    values.extend(multipliers.symbols.iter().copied().zip(lambda));
    let values = eval(&equations, &values);
    Ok([values[..n].iter().map(|p| -p).collect(), values[n..].to_vec()])
}

/// −D₃L_d.
fn discrete_energy(m: Expr, h: Expr, unknowns: &[Expr]) -> Expr {
    let swept: Expr = grad(m, unknowns).into_iter().zip(unknowns).map(|(m_u, &u)| m_u * u).sum();
    swept - m - h * m.diff(h)
}

/// The residuals of a step, then p1.
fn equations(mechanics: &Mechanics, m: Expr, samples: &[Sample], step: &Step) -> Vec<Expr> {
    let pulls: Vec<Vec<Expr>> = step.u[1..].iter().map(|u| pull(mechanics, m, samples, u)).collect();
    let start = start_pull(mechanics, m, samples, step).into_iter().zip(mechanics.p()).enumerate();
    let start = start.map(|(i, (pull, p))| p + step.h * pull - pulls.iter().map(|pull| pull[i]).sum::<Expr>());
    start.chain(pulls.concat()).collect()
}

/// M_U + f for one U of the step.
fn pull(mechanics: &Mechanics, m: Expr, samples: &[Sample], u: &[Expr]) -> Vec<Expr> {
    let mut pull = grad(m, u);
    for_each_force(mechanics, samples, |sample, force| {
        for (row, &f) in jacobian(&sample.q, u).iter().zip(force) {
            pull.iter_mut().zip(row).for_each(|(sum, &arm)| *sum = *sum + sample.weight * f * arm);
        }
    });
    pull
}

/// M_q0 + Σᵢ bᵢ Fᵢ.
fn start_pull(mechanics: &Mechanics, m: Expr, samples: &[Sample], step: &Step) -> Vec<Expr> {
    let mut pull = grad(m, &step.q0);
    for_each_force(mechanics, samples, |sample, force| {
        pull.iter_mut().zip(force).for_each(|(sum, &f)| *sum = *sum + sample.weight * f);
    });
    pull
}

fn for_each_force(mechanics: &Mechanics, samples: &[Sample], mut use_force: impl FnMut(&Sample, &[Expr])) {
    let Some(forces) = &mechanics.forces else { return };
    for sample in samples {
        use_force(sample, &mechanics.at(forces, &sample.q, &sample.v, sample.t));
    }
}
