//! The modified Hamiltonian as a series in h.

use super::eta::Eta;
use super::jet::Algebra;
use super::recursion::Recursion;
use super::{ModifiedHamiltonian, check_conservative, finite};
use crate::discrete::DiscreteLagrangian;
use crate::error::{Diagnostic, Result};
use crate::mechanics::Mechanics;
use crate::phase::Phase;
use crate::solve::NoSolution;

/// The highest order. The series does not converge; where it is useful, later terms are below roundoff.
const MAX_ORDER: usize = 12;
/// The largest number of terms in a product of two jets. More would exhaust the memory.
const MAX_PRODUCTS: f64 = 2e7;

/// The modified Hamiltonian of a discrete Lagrangian, truncated below h^s. [DLM eq. 27]
///
/// ```text
/// T_s = η + h H₂ + h² H₃ + … + h^(s−1) H_s,   H̃ = T_s + O(h^s)
/// ```
///
/// η is [DLM eq. 24]. The other terms follow from its derivatives by the Hamilton–Jacobi equation [DLM Theorem 2]; the first
/// are
///
/// ```text
/// H₂ = −½ η_q·η_p,   H₃ = 1/12 [ η_qq(η_p, η_p) + 4 η_qp(η_p, η_q) + η_pp(η_q, η_q) ]
/// ```
///
/// The terms themselves depend on h, through L_d.
#[derive(Clone)]
pub struct Series {
    rule: &'static str,
    order: usize,
    algebra: Algebra,
    eta: Eta,
    recursion: Recursion,
    terms: Vec<f64>,
}

impl Series {
    /// T_s for the discrete Lagrangian `rule`, with s = `order` ≥ 1.
    pub fn new(
        mechanics: &Mechanics,
        rule: &dyn DiscreteLagrangian,
        parameters: &[f64],
        order: usize,
    ) -> Result<Series> {
        check_conservative(&mechanics.sources())?;
        let n = mechanics.n();
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(
                Diagnostic::new(format!("the order of the series is from 1 to {MAX_ORDER}, not {order}")).into()
            );
        }
        // The number of pairs of monomials whose product has degree at most `order`.
        let products: f64 = (1..=order).map(|k| (4 * n + k) as f64 / k as f64).product();
        if products > MAX_PRODUCTS {
            let text = format!("the modified Hamiltonian of order {order} of {n} coordinates is too large");
            return Err(Diagnostic::new(text).with_help("use a lower order, or `shadow`").into());
        }
        let algebra = Algebra::new(2 * n, order);
        Ok(Series {
            rule: rule.name(),
            order,
            eta: Eta::new(mechanics, rule, parameters, &algebra)?,
            recursion: Recursion::new(n, order, &algebra),
            algebra,
            terms: vec![0.0; order],
        })
    }

    /// η, H₂, …, H_s at z.
    pub fn terms(&mut self, z: &Phase, h: f64) -> std::result::Result<&[f64], NoSolution> {
        self.run(z, h, self.order - 1)?;
        let terms = self.terms.iter_mut().enumerate();
        terms.for_each(|(i, term)| *term = self.recursion.term(i + 1)[0]);
        Ok(&self.terms)
    }

    fn run(&mut self, z: &Phase, h: f64, degree: usize) -> std::result::Result<(), NoSolution> {
        let eta = self.eta.jet(&self.algebra, z, h, degree)?;
        self.recursion.run(&self.algebra, eta, degree);
        Ok(())
    }

    /// Coefficient k of the jet of T_s.
    fn coefficient(&self, k: usize, h: f64) -> f64 {
        (1..=self.order).rev().fold(0.0, |sum, i| sum * h + self.recursion.term(i)[k])
    }
}

impl ModifiedHamiltonian for Series {
    fn name(&self) -> String {
        format!("series {} of {}", self.order, self.rule)
    }

    fn order(&self) -> usize {
        self.order
    }

    fn value(&mut self, z: &Phase, h: f64) -> std::result::Result<f64, NoSolution> {
        self.run(z, h, self.order - 1)?;
        finite(self.coefficient(0, h))
    }

    fn gradient(&mut self, z: &Phase, h: f64, gradient: &mut [f64]) -> std::result::Result<f64, NoSolution> {
        self.run(z, h, self.order)?;
        for (v, slope) in gradient.iter_mut().enumerate() {
            *slope = finite(self.coefficient(self.algebra.variable(v), h))?;
        }
        finite(self.coefficient(0, h))
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.eta.set_parameters(parameters);
    }

    fn boxed_clone(&self) -> Box<dyn ModifiedHamiltonian> {
        Box::new(self.clone())
    }
}

/// ½ [T_s(h) + T_s(−h)], for symmetric maps. Their H̃ is even in h although η is not, so an odd s gains one order.
///
/// DIFFERENCE: [DLM §5.2] finds no gain of order for symmetric maps; that holds for T_s, which begins with η, but not for this
/// mean.
#[derive(Clone)]
pub struct Symmetric {
    series: Series,
    backwards: Vec<f64>,
}

impl Symmetric {
    /// For the discrete Lagrangian `rule`, whose map must be symmetric.
    pub fn new(
        mechanics: &Mechanics,
        rule: &dyn DiscreteLagrangian,
        parameters: &[f64],
        order: usize,
    ) -> Result<Symmetric> {
        if !rule.is_symmetric() {
            return Err(Diagnostic::new(format!("the map of `{}` is not symmetric", rule.name())).into());
        }
        let series = Series::new(mechanics, rule, parameters, order)?;
        Ok(Symmetric { series, backwards: vec![0.0; 2 * mechanics.n()] })
    }
}

impl ModifiedHamiltonian for Symmetric {
    fn name(&self) -> String {
        format!("symmetric {}", self.series.name())
    }

    fn order(&self) -> usize {
        self.series.order().next_multiple_of(2)
    }

    fn value(&mut self, z: &Phase, h: f64) -> std::result::Result<f64, NoSolution> {
        Ok(0.5 * (self.series.value(z, h)? + self.series.value(z, -h)?))
    }

    fn gradient(&mut self, z: &Phase, h: f64, gradient: &mut [f64]) -> std::result::Result<f64, NoSolution> {
        let forwards = self.series.gradient(z, h, gradient)?;
        let backwards = self.series.gradient(z, -h, &mut self.backwards)?;
        gradient.iter_mut().zip(&self.backwards).for_each(|(g, b)| *g = 0.5 * (*g + b));
        Ok(0.5 * (forwards + backwards))
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.series.set_parameters(parameters);
    }

    fn boxed_clone(&self) -> Box<dyn ModifiedHamiltonian> {
        Box::new(self.clone())
    }
}
