//! The first term of the modified Hamiltonian, and its derivatives.

use super::jet::{Algebra, JetSweep};
use crate::discrete::{DiscreteLagrangian, Step};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, grad, jacobian};
use crate::kernel::Tape;
use crate::mechanics::Field;
use crate::mechanics::Newton;
use crate::mechanics::{Mechanics, numbered};
use crate::phase::Phase;
use crate::solve::{Lu, NoSolution};

/// η as a jet in (q, p), where q̄ solves p = D₂L_d(q, q̄, h). [DLM eq. 24]
///
/// ```text
/// η(q, p) = [ p·(q̄ − q) − L_d(q, q̄, h) ] / h
/// ```
///
/// With q̄ = q + h·U, inner points likewise, and L_d = h·M(q, U, h) this is
///
/// ```text
/// η = p·U_last − M,   where M_U = (0, …, 0, p)
/// ```
///
/// which is stationary in U: a jet of U that is correct up to degree d gives η up to degree 2d + 1. The jet of U is found
/// degree by degree, with the matrix M_UU at the point itself.
#[derive(Clone)]
pub(super) struct Eta {
    n: usize,
    parameters: usize,
    times: Vec<f64>,
    field: Field,
    /// (parameters, t, h, q, p, U) → M_U − (0, …, 0, p); after the solution, also its derivative M_UU.
    newton: Newton,
    inputs: Vec<f64>,
    slopes: Vec<f64>,
    lu: Lu,
    residuals: JetSweep,
    value: JetSweep,
    /// The coefficients of the residuals for one monomial, and their correction.
    column: [Vec<f64>; 2],
}

impl Eta {
    pub(super) fn new(
        mechanics: &Mechanics,
        rule: &dyn DiscreteLagrangian,
        parameters: &[f64],
        algebra: &Algebra,
    ) -> Result<Eta> {
        let (n, inner) = (mechanics.n(), rule.inner_points());
        let (t, h, q, p) = (Expr::symbol("t[0]"), Expr::symbol("h[]"), numbered("q", n), mechanics.p());
        let mut u = vec![vec![Expr::constant(0.0); n]];
        u.extend((1..inner + 2).map(|k| numbered(&format!("u{k}"), n)));
        let unknowns = u[1..].concat();
        let given: Vec<Expr> = [t, h].iter().chain(&q).chain(&p).copied().collect();
        let m = mechanics.mean_lagrangian(&rule.samples(&Step { t, h, q0: q, u }));
        let targets = std::iter::repeat_n(Expr::constant(0.0), inner * n).chain(p.iter().copied());
        let residuals: Vec<Expr> = grad(m, &unknowns).into_iter().zip(targets).map(|(m_u, p)| m_u - p).collect();
        let eta = p.iter().zip(&unknowns[inner * n..]).map(|(&p, &u)| p * u).sum::<Expr>() - m;
        let slopes = jacobian(&residuals, &unknowns).concat();
        let inputs: Vec<Expr> = mechanics.parameters.iter().chain(&given).chain(&unknowns).copied().collect();
        let sweep = |outputs: &[Expr]| -> Result<JetSweep> {
            let tape = Tape::new(&inputs, outputs).map_err(|e| Diagnostic::new(e.to_string()))?;
            Ok(JetSweep::new(tape, algebra, parameters.len() + 2))
        };
        let mut numbers = vec![0.0; inputs.len()];
        numbers[..parameters.len()].copy_from_slice(parameters);
        Ok(Eta {
            n,
            parameters: parameters.len(),
            times: rule.inner_times().into_iter().chain([1.0]).collect(),
            field: Field::new(mechanics, parameters)?,
            newton: Newton::new(mechanics, &given, &unknowns, &residuals, &slopes)?,
            inputs: numbers,
            slopes: vec![0.0; slopes.len()],
            lu: Lu::new(unknowns.len()),
            residuals: sweep(&residuals)?,
            value: sweep(&[eta])?,
            column: [vec![0.0; unknowns.len()], vec![0.0; unknowns.len()]],
        })
    }

    /// Sets the parameter values.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs[..self.parameters].copy_from_slice(parameters);
        self.field.set_parameters(parameters);
    }

    /// Computes the jet of η at z up to a degree.
    pub(super) fn jet(
        &mut self,
        algebra: &Algebra,
        z: &Phase,
        h: f64,
        degree: usize,
    ) -> std::result::Result<&[f64], NoSolution> {
        self.solve(z, h)?;
        self.seed(algebra);
        for d in 1..=degree / 2 {
            self.residuals.run(algebra, d);
            self.correct(algebra, d);
        }
        self.value.run(algebra, degree);
        Ok(self.value.output(0))
    }

    /// Solves for U at z and computes M_UU, starting from points along the velocity.
    fn solve(&mut self, z: &Phase, h: f64) -> std::result::Result<(), NoSolution> {
        let (given, unknowns) = self.inputs[self.parameters..].split_at_mut(2 + 2 * self.n);
        (given[0], given[1]) = (z.t, h);
        given[2..].copy_from_slice(&z.z);
        let v = self.field.velocity(z.t, &z.z)?;
        for (u, &c) in unknowns.chunks_mut(self.n).zip(&self.times) {
            u.iter_mut().zip(v).for_each(|(u, v)| *u = c * v);
        }
        self.newton.solve(&mut self.inputs, &mut self.slopes)?;
        if self.lu.factor(&self.slopes) { Ok(()) } else { Err(NoSolution::Singular) }
    }

    /// Writes the inputs as jets: constants, the variables q and p, and the known part of U.
    fn seed(&mut self, algebra: &Algebra) {
        let first = self.parameters + 2;
        for sweep in [&mut self.residuals, &mut self.value] {
            for (i, &x) in self.inputs.iter().enumerate() {
                let jet = sweep.input_mut(i);
                jet[0] = x;
                jet[1..].fill(0.0);
                if (first..first + 2 * self.n).contains(&i) {
                    jet[algebra.variable(i - first)] = 1.0;
                }
            }
        }
    }

    /// Computes the coefficients of U of one degree. The residuals must be correct up to that degree, apart from these
    /// coefficients.
    fn correct(&mut self, algebra: &Algebra, degree: usize) {
        let first = self.parameters + 2 + 2 * self.n;
        let [r, du] = &mut self.column;
        for number in algebra.layer(degree) {
            r.iter_mut().enumerate().for_each(|(i, r)| *r = self.residuals.output(i)[number]);
            self.lu.solve(r, du);
            for (i, du) in du.iter().enumerate() {
                self.residuals.input_mut(first + i)[number] = -du;
                self.value.input_mut(first + i)[number] = -du;
            }
        }
    }
}
