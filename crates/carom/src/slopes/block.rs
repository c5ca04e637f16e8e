//! Functions of a state with their slopes.

use crate::error::Result;
use crate::expr::{Expr, jacobian};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::solve::matrix::Matrix;
use crate::system::time;

/// Functions of (parameters, t, q, v, …), followed by their derivatives by (q, v, t, θ).
pub(crate) struct Block {
    kernel: Kernel,
    values: usize,
    /// Where the entries that are not zero belong in the matrix of derivatives.
    places: Vec<usize>,
}

impl Block {
    /// Compiles functions whose inputs are the state, and then `further`.
    pub(super) fn new(mechanics: &Mechanics, functions: &[Expr], theta: &[Expr], further: &[Expr]) -> Result<Block> {
        let (outputs, places) = with_slopes(mechanics, functions, theta);
        let inputs = [&mechanics.state_symbols()[..], further].concat();
        Ok(Block { kernel: mechanics.kernel(&inputs, &outputs)?, values: functions.len(), places })
    }

    /// Evaluates the functions and their derivatives; `room` is overwritten, and the first of it are the values.
    pub(crate) fn eval(&self, inputs: &[f64], room: &mut Vec<f64>, slopes: &mut Matrix) {
        room.resize(self.values + self.places.len(), 0.0);
        self.kernel.eval(inputs, room);
        slopes.clear();
        self.places.iter().zip(&room[self.values..]).for_each(|(&place, &x)| slopes.data[place] = x);
    }

    /// The number of functions.
    pub(super) fn count(&self) -> usize {
        self.values
    }
}

/// Functions, followed by their derivatives by (q, v, t, θ) that are not zero, and the places of these in the matrix of derivatives.
pub(super) fn with_slopes(mechanics: &Mechanics, functions: &[Expr], theta: &[Expr]) -> (Vec<Expr>, Vec<usize>) {
    let by: Vec<Expr> = [&mechanics.q[..], &mechanics.v, &[time()], theta].concat();
    let slopes = jacobian(functions, &by).concat();
    let places: Vec<usize> = (0..slopes.len()).filter(|&k| !slopes[k].is_zero()).collect();
    (functions.iter().copied().chain(places.iter().map(|&k| slopes[k])).collect(), places)
}
