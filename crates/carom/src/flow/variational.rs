//! The one-step map of a discrete Lagrangian.

use super::{Discrete, Field, Flow, Phase};
use crate::discrete::{Adjoint, DiscreteLagrangian, Sample, Step};
use crate::error::Result;
use crate::expr::{Expr, grad, jacobian};
use crate::kernel::Kernel;
use crate::mechanics::{Mechanics, numbered};
use crate::solve::{Newton, NoSolution};

/// Φ_h = F⁺L_d ∘ (F⁻L_d)⁻¹: the discrete Euler–Lagrange equations in position-momentum form. [DLM eqs. 15, 17, 18]
///
/// ```text
/// p0 = −D₁L_d(q0, q1, h) − f⁻,   p1 = D₂L_d(q0, q1, h) + f⁺
/// ```
///
/// With inner points Q_k there is ∂L_d/∂Q_k + f_k = 0 for each. The unknowns are U with Q = q0 + h·U; with
/// L_d = h·M(q0, U, h) the slots are
///
/// ```text
/// ∂L_d/∂Q_k = M_{U_k},   D₁L_d = h M_q0 − Σ_k M_{U_k},   D₃L_d = M + h M_h − Σ_k M_{U_k}·U_k
/// ```
///
/// The discrete forces come from the same quadrature (discrete Lagrange–d'Alembert principle):
/// f_k = Σᵢ bᵢ (∂qᵢ/∂U_k)ᵀ F(qᵢ, vᵢ, tᵢ), and f_0 is what Σ_k f_k leaves of h Σᵢ bᵢ Fᵢ.
#[derive(Clone)]
pub struct Variational {
    n: usize,
    order: usize,
    parameters: usize,
    inner_times: Vec<f64>,
    newton: Newton,
    /// (parameters, t, h, q0, p0, U) → L_d, −D₃L_d
    action: Kernel,
    field: Field,
    inputs: Vec<f64>,
    p1: Vec<f64>,
    past: Past,
    /// The map of the adjoint L_d, by which a map that is not symmetric steps back, and whether it made the last step.
    adjoint: Option<Box<Variational>>,
    stepped_back: bool,
}

/// The last steps, as long as each began where the one before it ended.
#[derive(Clone)]
struct Past {
    t: f64,
    h: f64,
    /// The end of the last step.
    end: Vec<f64>,
    /// The solutions U of the last steps, newest first.
    solutions: [Vec<f64>; 4],
    count: usize,
}

/// Extrapolation through the last 1 … 4 solutions, all one step apart.
const EXTRAPOLATION: [&[f64]; 4] = [&[1.0], &[2.0, -1.0], &[3.0, -3.0, 1.0], &[4.0, -6.0, 4.0, -1.0]];

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
        let m = mean_lagrangian(mechanics, &samples);
        let pulls: Vec<Vec<Expr>> = step.u[1..].iter().map(|u| pull(mechanics, m, &samples, u)).collect();
        let p0 = mechanics.p();
        let start = start_pull(mechanics, m, &samples, &step).into_iter().zip(&p0).enumerate();
        let start = start.map(|(i, (pull, &p))| p + h * pull - pulls.iter().map(|pull| pull[i]).sum::<Expr>());
        let residuals: Vec<Expr> = start.chain(pulls[..inner].concat()).collect();
        let given: Vec<Expr> = [t, h].iter().chain(&step.q0).chain(&p0).copied().collect();
        let unknowns: Vec<Expr> = step.u[1..].concat();
        let inputs: Vec<Expr> = given.iter().chain(&unknowns).copied().collect();
        let slope: Expr = grad(m, &unknowns).into_iter().zip(&unknowns).map(|(m_u, &u)| m_u * u).sum();
        let energy = slope - m - h * m.diff(h);
        let size = parameters.len() + inputs.len();
        let mut map = Variational {
            n,
            order: rule.order(),
            parameters: parameters.len(),
            inner_times: rule.inner_times(),
            newton: Newton::new(mechanics, &given, &unknowns, &residuals, &pulls[inner])?,
            action: mechanics.kernel(&inputs, &[h * m, energy])?,
            field: Field::new(mechanics, parameters)?,
            inputs: vec![0.0; size],
            p1: vec![0.0; n],
            past: Past::new(2 * n, unknowns.len()),
            adjoint: None,
            stepped_back: false,
        };
        map.inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(map)
    }

    /// Writes a first guess for the unknowns: from the past, or along the velocity.
    fn guess(&mut self, z0: &Phase, h: f64) -> std::result::Result<(), NoSolution> {
        let n = self.n;
        let unknowns = &mut self.inputs[self.parameters + 2 + 2 * n..];
        if !self.past.continues(z0, h) {
            self.past.count = 0;
        }
        if self.past.count > 1 {
            self.past.extrapolate(unknowns);
            return Ok(());
        }
        let v = self.field.velocity(z0.t, &z0.z)?;
        for (u, &c) in unknowns.chunks_mut(n).zip(self.inner_times.iter().chain(&[1.0])) {
            for (i, x) in u.iter_mut().enumerate() {
                *x = c * v[i];
            }
        }
        Ok(())
    }
}

impl Flow for Variational {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        let (n, at) = (self.n, self.parameters);
        self.inputs[at] = z0.t;
        self.inputs[at + 1] = h;
        self.inputs[at + 2..at + 2 + 2 * n].copy_from_slice(&z0.z);
        self.guess(z0, h)?;
        self.newton.solve(&mut self.inputs, &mut self.p1)?;
        let unknowns = &self.inputs[at + 2 + 2 * n..];
        z1.t = z0.t + h;
        let u1 = &unknowns[unknowns.len() - n..];
        (0..n).for_each(|i| z1.z[i] = z0.z[i] + h * u1[i]);
        z1.z[n..].copy_from_slice(&self.p1);
        self.past.remember(unknowns, h, z1);
        self.stepped_back = false;
        Ok(())
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

    fn order(&self) -> usize {
        self.order
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}

impl Past {
    fn new(size: usize, unknowns: usize) -> Past {
        let solutions = std::array::from_fn(|_| vec![0.0; unknowns]);
        Past { t: 0.0, h: 0.0, end: vec![0.0; size], solutions, count: 0 }
    }

    fn continues(&self, z0: &Phase, h: f64) -> bool {
        self.h == h && self.t == z0.t && self.end == z0.z
    }

    fn extrapolate(&self, x: &mut [f64]) {
        x.fill(0.0);
        for (weight, solution) in EXTRAPOLATION[self.count - 1].iter().zip(&self.solutions) {
            x.iter_mut().zip(solution).for_each(|(x, s)| *x += weight * s);
        }
    }

    fn remember(&mut self, solution: &[f64], h: f64, z1: &Phase) {
        self.solutions.rotate_right(1);
        self.solutions[0].copy_from_slice(solution);
        self.count = (self.count + 1).min(4);
        (self.t, self.h) = (z1.t, h);
        self.end.copy_from_slice(&z1.z);
    }
}

/// M = Σᵢ bᵢ L(qᵢ, vᵢ, tᵢ).
pub(crate) fn mean_lagrangian(mechanics: &Mechanics, samples: &[Sample]) -> Expr {
    samples.iter().map(|s| s.weight * mechanics.at(&[mechanics.l], &s.q, &s.v, s.t)[0]).sum()
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
