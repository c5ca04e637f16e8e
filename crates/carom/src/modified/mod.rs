//! Modified Hamiltonians: energies that a symplectic map conserves.
//!
//! Up to terms smaller than any power of h, a symplectic map Φ_h is the exact flow of a Hamiltonian H̃ near H (backward error
//! analysis). H oscillates along the numerical solution; H̃ does not. There are four ways to compute it:
//!
//! - [`Series`]: the terms of H̃ in powers of h from the discrete Lagrangian, to any order, by the Hamilton–Jacobi
//!   recursion [DLM Theorem 2];
//! - [`Closed`]: O(h⁴) formulas with second derivatives only [BEA §III-A];
//! - [`Cheap`]: two orders more than the map, from H and the discrete energy of the steps at a node;
//! - [`Shadow`]: H̃ from the iterates of the map, without derivatives, to any order, and averaged over a window.
//!
//! All require a Lagrangian without explicit time and a system without forces; otherwise no energy is conserved.

mod cheap;
mod closed;
mod eta;
mod jet;
mod recursion;
mod series;
mod shadow;

pub use cheap::{Cheap, from_one_step};
pub use closed::{Closed, Formula};
pub use series::{Series, Symmetric};
pub use shadow::Shadow;

use crate::error::{Diagnostic, Result};
use crate::mechanics::Sources;
use crate::phase::Phase;
use crate::solve::NoSolution;

/// A function H̃(q, p, h) with its gradient.
pub trait ModifiedHamiltonian: Send {
    /// The name in messages and tables.
    fn name(&self) -> String;

    /// The order s: H̃ varies along a trajectory as h^s.
    fn order(&self) -> usize;

    /// H̃(z, h).
    fn value(&mut self, z: &Phase, h: f64) -> std::result::Result<f64, NoSolution>;

    /// Returns H̃(z, h), and writes (∂H̃/∂q, ∂H̃/∂p), which has the length of z.
    fn gradient(&mut self, z: &Phase, h: f64, gradient: &mut [f64]) -> std::result::Result<f64, NoSolution>;

    /// Sets the parameter values.
    fn set_parameters(&mut self, parameters: &[f64]);

    /// Clones this modified Hamiltonian.
    fn boxed_clone(&self) -> Box<dyn ModifiedHamiltonian>;
}

impl Clone for Box<dyn ModifiedHamiltonian> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// Returns an error if the system has no modified Hamiltonian.
pub fn check_conservative(sources: &Sources) -> Result<()> {
    let Some(why) = sources.why_not_hamiltonian() else { return Ok(()) };
    let error = Diagnostic::new(format!("the system has no modified Hamiltonian: {why}"));
    Err(error.with_help("use a rule or a diagnostic that matches H, such as `ctec`").into())
}

/// Returns `value`, or an error if it is not finite.
fn finite(value: f64) -> std::result::Result<f64, NoSolution> {
    if value.is_finite() { Ok(value) } else { Err(NoSolution::Diverged) }
}
