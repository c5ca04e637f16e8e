//! Momenta and rates with their slopes at eight states at once.

use super::block::with_slopes;
use super::momenta_and_rates;
use crate::error::{Diagnostic, Result};
use crate::expr::Expr;
use crate::kernel::{LaneKernel, Lanes};
use crate::mechanics::Mechanics;

/// (L_v, ṗ) and their derivatives by (q, v, t, θ), one state in each lane.
pub(crate) struct LaneSlopes {
    kernel: LaneKernel,
    /// The derivatives that are not zero: of which function, by which of (q, v, t, θ).
    pub(crate) entries: Vec<(usize, usize)>,
}

impl LaneSlopes {
    pub(super) fn new(mechanics: &Mechanics, theta: &[Expr]) -> Result<LaneSlopes> {
        let (outputs, places) = with_slopes(mechanics, &momenta_and_rates(mechanics), theta);
        let columns = 2 * mechanics.n() + 1 + theta.len();
        let kernel = LaneKernel::new(&mechanics.state_symbols(), &mechanics.parameters, &outputs, Lanes::Eight);
        Ok(LaneSlopes {
            kernel: kernel.map_err(|e| Diagnostic::new(e.to_string()))?,
            entries: places.iter().map(|place| (place / columns, place % columns)).collect(),
        })
    }

    /// Writes L_v, ṗ and the entries of their derivatives at the states (t, q, v).
    pub(crate) fn eval(&self, states: &[f64], parameters: &[f64], values: &mut [f64]) {
        self.kernel.eval(states, parameters, values);
    }
}
