//! Modified Hamiltonians: the energies that a symplectic map keeps.
//!
//! A symplectic map Φ_h is, up to terms smaller than any power of h, the exact flow of a Hamiltonian H̃ near H (backward
//! error analysis). H oscillates along the numerical solution; H̃ does not. There are three ways to it here:
//!
//! - [`Series`]: the terms of H̃ in powers of h from the discrete Lagrangian, to any order, by the Hamilton–Jacobi
//!   recursion [DLM Theorem 2];
//! - [`Closed`]: O(h⁴) formulas with second derivatives only [BEA §III-A];
//! - [`Cheap`]: two orders more than the map, from H and the discrete energy of the steps at a node;
//! - [`Shadow`]: H̃ from the iterates of the map, without derivatives, to any order, and averaged over a window.
//!
//! All are for systems whose Lagrangian does not depend on the time and on which no forces act: else nothing is kept.

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
use crate::mechanics::Mechanics;
use crate::phase::Phase;
use crate::solve::NoSolution;

/// A function H̃(q, p, h) with its gradient.
pub trait ModifiedHamiltonian: Send {
    /// What messages and tables call it.
    fn name(&self) -> String;

    /// s, where H̃ varies along a trajectory as h^s.
    fn order(&self) -> usize;

    /// H̃(z, h).
    fn value(&mut self, z: &Phase, h: f64) -> std::result::Result<f64, NoSolution>;

    /// H̃(z, h); writes (∂H̃/∂q, ∂H̃/∂p), which is as long as z.
    fn gradient(&mut self, z: &Phase, h: f64, gradient: &mut [f64]) -> std::result::Result<f64, NoSolution>;

    /// Sets the parameter values.
    fn set_parameters(&mut self, parameters: &[f64]);

    /// A copy of its own.
    fn boxed_clone(&self) -> Box<dyn ModifiedHamiltonian>;
}

impl Clone for Box<dyn ModifiedHamiltonian> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// Refuses a system that has no modified Hamiltonian.
pub fn check_conservative(mechanics: &Mechanics) -> Result<()> {
    let Some(why) = mechanics.sources().why_not_hamiltonian() else { return Ok(()) };
    let error = Diagnostic::new(format!("the system has no modified Hamiltonian: {why}"));
    Err(error.with_help("use a rule or a diagnostic that matches H, such as `ctec`").into())
}

/// A number that is one.
fn finite(value: f64) -> std::result::Result<f64, NoSolution> {
    if value.is_finite() { Ok(value) } else { Err(NoSolution::Diverged) }
}
