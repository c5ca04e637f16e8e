//! The kernels of a system in lanes.

use crate::error::{Diagnostic, Result};
use crate::expr::Expr;
use crate::flow::dop853::{TABLEAU, lane_kernel};
use crate::kernel::{LaneKernel, Lanes, Motion, StepKernel, Tape};
use crate::mechanics::Mechanics;

/// The compiled kernels, all functions of (t, q, v, parameters), with one value of each in every lane.
#[derive(Debug)]
pub struct LaneCode {
    pub(super) n: usize,
    pub(super) parameters: usize,
    pub(super) lanes: Lanes,
    pub(super) walls: usize,
    /// The number of sections that end a run.
    pub(super) sections: usize,
    /// → a
    pub(super) field: LaneKernel,
    /// → a, p·v; φ, φ̇, φ̈ of each wall; g, ġ of each section
    pub(super) node: LaneKernel,
    /// → v⁺, λ, φ̇⁻, W, for each wall
    pub(super) impacts: Vec<LaneKernel>,
    /// → p
    pub(super) momenta: LaneKernel,
    /// → (M⁻¹)ᵢᵢ
    pub(super) mobility: LaneKernel,
    /// A whole step, if it can be one function.
    pub(super) step: Option<StepKernel>,
}

impl LaneCode {
    /// Compiles a system with these coefficients of restitution, and the functions of the sections that end a run. An error if lanes
    /// cannot do it.
    pub(crate) fn new(
        mechanics: &Mechanics,
        restitution: &[Expr],
        sections: &[Expr],
        lanes: Lanes,
    ) -> Result<LaneCode> {
        if !(mechanics.constraints.is_empty() && mechanics.is_quadratic()) {
            return Err(Diagnostic::new("lanes need a Lagrangian quadratic in v, without constraints").into());
        }
        let a = mechanics.accelerations();
        let field = lane_kernel(mechanics, &a, lanes)?;
        let momenta = mechanics.momenta();
        let power: Expr = momenta.iter().zip(&mechanics.v).map(|(&p, &v)| p * v).sum();
        let mut node = [&a[..], &[power]].concat();
        for &phi in &mechanics.walls {
            let rate = mechanics.rate_along(phi, &a);
            node.extend([phi, rate, mechanics.rate_along(rate, &a)]);
        }
        node.extend(sections.iter().flat_map(|&g| [g, mechanics.rate_along(g, &a)]));
        let walls = mechanics.walls.iter().zip(restitution);
        let impacts = walls.map(|(&phi, &e)| lane_kernel(mechanics, &mechanics.reflection(phi, e), lanes));
        Ok(LaneCode {
            // For a single motion it would take longer to compile than it saves.
            step: if lanes == Lanes::Eight { whole_step(mechanics, &a, &node) } else { None },
            n: mechanics.n(),
            parameters: mechanics.parameters.len(),
            lanes,
            walls: mechanics.walls.len(),
            sections: sections.len(),
            field,
            node: lane_kernel(mechanics, &node, lanes)?,
            impacts: impacts.collect::<Result<_>>()?,
            momenta: lane_kernel(mechanics, &momenta, lanes)?,
            mobility: lane_kernel(mechanics, &mechanics.mobility(), lanes)?,
        })
    }

    /// The number of outputs of the node kernel.
    pub(super) fn node_outputs(&self) -> usize {
        self.n + 1 + 3 * self.walls + 2 * self.sections
    }

    /// The rows of a state: t, q, v, parameters.
    pub(super) fn state(&self) -> usize {
        1 + 2 * self.n + self.parameters
    }
}

/// A step with all its stages as one function; none if that is not possible.
fn whole_step(mechanics: &Mechanics, a: &[Expr], node: &[Expr]) -> Option<StepKernel> {
    let inputs = [mechanics.state_symbols(), mechanics.parameters.clone()].concat();
    let [field, node] = [a, node].map(|outputs| Tape::new(&inputs, outputs).ok());
    StepKernel::new(&Motion { n: mechanics.n(), field: &field?, node: &node? }, &TABLEAU).ok()
}
