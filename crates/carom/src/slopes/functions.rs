//! Functions of a state that are asked for: outputs, costs, all coordinates and momenta.

use std::sync::{Arc, PoisonError};

use super::{Block, Slopes};
use crate::error::Result;
use crate::solve::matrix::Matrix;
use crate::system::StateFunctions;

/// Functions of (t, q, v, θ), compiled with their derivatives.
pub struct OutputCode(Block);

impl OutputCode {
    /// Writes the functions to `values`, and their derivatives by (q, v, t, θ) to `slopes`. The first of the values are those of the
    /// functions.
    pub(crate) fn eval(&self, state: &[f64], values: &mut Vec<f64>, slopes: &mut Matrix) {
        self.0.eval(state, values, slopes);
    }

    /// The number of functions.
    pub(crate) fn count(&self) -> usize {
        self.0.count()
    }
}

impl Slopes {
    /// Functions of the state, compiled once for all that ask for the same.
    pub fn functions(&self, asked: &StateFunctions) -> Result<Arc<OutputCode>> {
        let mut known = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = known.iter().find(|(known, _)| known == asked) {
            return Ok(code.clone());
        }
        let functions = self.system.functions(asked);
        let code = Arc::new(OutputCode(Block::new(&self.mechanics, &functions, &self.symbols(), &[])?));
        known.push((asked.clone(), code.clone()));
        Ok(code)
    }
}
