//! The one-step map of a discrete Lagrangian.

use super::carry::Carry;
use super::past::Past;
use super::{Discrete, Field, Flow, Phase};
use crate::discrete::{DiscreteLagrangian, Sample, Step};
use crate::error::Result;
use crate::expr::{Expr, grad, jacobian};
use crate::kernel::{Kernel, Problem};
use crate::mechanics::{Mechanics, numbered};
use crate::solve::{Newton, NoSolution};

/// Φ_h = F⁺L_d ∘ (F⁻L_d)⁻¹: the discrete Euler–Lagrange equations in position-momentum form. [DLM eqs. 15, 17, 18]
///
/// ```text
/// p0 = −D₁L_d(q0, q1, h) − f⁻,   p1 = D₂L_d(q0, q1, h) + f⁺
/// ```
///
/// With inner points Qᵢ there is ∂L_d/∂Qᵢ + fᵢ = 0 for each. The discrete forces f come from the same quadrature
/// (discrete Lagrange–d'Alembert principle): f_k = Σᵢ wᵢ (∂qᵢ/∂Q_k)ᵀ F(qᵢ, vᵢ, tᵢ).
#[derive(Clone)]
pub struct Variational {
    n: usize,
    order: usize,
    parameters: usize,
    inner_times: Vec<f64>,
    newton: Newton,
    /// inputs → L_d, −D₃L_d
    action: Kernel,
    field: Field,
    /// The parameters, t, h, what is carried from step to step, q0, p0, inner points, q1.
    inputs: Vec<f64>,
    /// Where q0 is among them.
    state: usize,
    /// (parameters, q0) → what is carried
    carry: Kernel,
    /// Its inputs.
    start: Vec<f64>,
    past: Past,
}

impl Variational {
    /// Derives and compiles the map.
    pub fn new(mechanics: &Mechanics, rule: &dyn DiscreteLagrangian, parameters: &[f64]) -> Result<Variational> {
        let (n, inner) = (mechanics.n(), rule.inner_points());
        let (t, h) = (Expr::symbol("t[0]"), Expr::symbol("h[]"));
        let points: Vec<Vec<Expr>> = (0..inner + 2).map(|k| numbered(&format!("q{k}"), n)).collect();
        let step = Step { t, h, points };
        let samples = rule.samples(&step);
        let l_d = discrete_lagrangian(mechanics, &samples);
        let equations = equations(mechanics, l_d, &samples, &step);
        let (carry, equations) = Carry::of(mechanics, &equations, step.q0());
        let (residuals, p1) = equations.split_at((inner + 1) * n);
        let problem = Problem {
            given: &[t, h],
            carried: &carry.symbols,
            state: &[step.q0(), &mechanics.p()].concat(),
            unknowns: &step.points[1..].concat(),
            residuals,
            results: &[step.q1(), p1].concat(),
            next: &carry.next(step.q0(), step.q1()),
        };
        let inputs = problem.inputs();
        let mut map = Variational {
            n,
            order: rule.order(),
            parameters: parameters.len(),
            inner_times: rule.inner_times(),
            newton: Newton::of(mechanics, &problem)?,
            action: mechanics.kernel(&inputs, &[l_d, -l_d.diff(h)])?,
            field: Field::new(mechanics, parameters)?,
            inputs: vec![0.0; parameters.len() + inputs.len()],
            state: parameters.len() + 2 + carry.symbols.len(),
            carry: carry.kernel(mechanics, step.q0())?,
            start: vec![0.0; parameters.len() + n],
            past: Past::new(n, problem.unknowns.len()),
        };
        map.inputs[..parameters.len()].copy_from_slice(parameters);
        map.start[..parameters.len()].copy_from_slice(parameters);
        Ok(map)
    }

    /// How many iterations of Newton's method the last step took.
    pub fn iterations(&self) -> usize {
        self.newton.iterations()
    }

    /// Writes a first guess for the unknowns: from the past, or along the velocity. True if it is from the past.
    fn guess(&mut self, z0: &Phase, h: f64) -> std::result::Result<bool, NoSolution> {
        let unknowns = &mut self.inputs[self.state + 2 * self.n..];
        if self.past.extrapolate(h, unknowns) {
            return Ok(true);
        }
        let v = self.field.velocity(z0.t, &z0.z)?;
        for (point, &c) in unknowns.chunks_mut(self.n).zip(self.inner_times.iter().chain(&[1.0])) {
            for (i, x) in point.iter_mut().enumerate() {
                *x = z0.z[i] + c * h * v[i];
            }
        }
        Ok(false)
    }

    /// Solves for the unknowns and z1 = (q1, p1).
    fn solve(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        let is_extrapolated = self.guess(z0, h)?;
        let solved = self.newton.solve_from(&z0.z, &mut self.inputs, &mut z1.z);
        if solved.is_ok() || !is_extrapolated {
            return solved;
        }
        // The past misled.
        self.past.forget();
        self.guess(z0, h)?;
        self.newton.solve_from(&z0.z, &mut self.inputs, &mut z1.z)
    }

    /// Where no step has ended there is nothing to go on from.
    #[cold]
    fn begin(&mut self, z0: &Phase) {
        self.past.forget();
        self.start[self.parameters..].copy_from_slice(z0.q());
        self.carry.eval(&self.start, &mut self.inputs[self.parameters + 2..self.state]);
    }
}

impl Flow for Variational {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        if !self.past.ends_in(z0) {
            self.begin(z0);
        }
        self.inputs[self.parameters] = z0.t;
        self.inputs[self.parameters + 1] = h;
        self.solve(z0, h, z1)?;
        z1.t = z0.t + h;
        let (state, unknowns) = self.inputs[self.state..].split_at_mut(2 * self.n);
        state.copy_from_slice(&z0.z);
        self.past.remember(unknowns, h, z1, self.newton.iterations());
        Ok(())
    }

    fn discrete(&mut self) -> Option<Discrete> {
        let mut values = [0.0; 2];
        self.action.eval(&self.inputs, &mut values);
        Some(Discrete { action: values[0], energy: values[1] })
    }

    fn order(&self) -> usize {
        self.order
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}

/// Σᵢ wᵢ L(qᵢ, vᵢ, tᵢ).
fn discrete_lagrangian(mechanics: &Mechanics, samples: &[Sample]) -> Expr {
    samples.iter().map(|s| s.weight * mechanics.at(&[mechanics.l], &s.q, &s.v, s.t)[0]).sum()
}

/// The equations of a step, which are zero, and then p1.
fn equations(mechanics: &Mechanics, l_d: Expr, samples: &[Sample], step: &Step) -> Vec<Expr> {
    let mut pulls: Vec<Expr> = step.points.iter().flat_map(|point| pull(mechanics, l_d, samples, point)).collect();
    pulls.iter_mut().zip(mechanics.p()).for_each(|(pull, p)| *pull = p + *pull);
    pulls
}

/// ∂L_d/∂Q + f for one point Q of the step.
fn pull(mechanics: &Mechanics, l_d: Expr, samples: &[Sample], point: &[Expr]) -> Vec<Expr> {
    let mut pull = grad(l_d, point);
    let Some(forces) = &mechanics.forces else { return pull };
    for sample in samples {
        let force = mechanics.at(forces, &sample.q, &sample.v, sample.t);
        for (row, f) in jacobian(&sample.q, point).iter().zip(force) {
            for (sum, &arm) in pull.iter_mut().zip(row) {
                *sum = *sum + sample.weight * f * arm;
            }
        }
    }
    pull
}
