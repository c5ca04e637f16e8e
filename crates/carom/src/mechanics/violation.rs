use super::{Inputs, Mechanics};
use crate::error::Result;
use crate::expr::{Expr, directional};
use crate::kernel::Kernel;
use crate::solve::larger;
use crate::system::time;

/// The violation of the constraints at a state: g, and dg/dt = G v + g_t.
#[derive(Clone, Debug)]
pub struct Violation {
    /// (parameters, t, q, v) → g, dg/dt
    kernel: Kernel,
    inputs: Inputs,
    values: Vec<f64>,
}

impl Violation {
    /// Compiles g and dg/dt of the constraints that the model states.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Violation> {
        let g: Vec<Expr> = mechanics.constraints[..mechanics.stated].iter().map(|c| c.g).collect();
        let one = Expr::constant(1.0);
        let rates = mechanics.q.iter().copied().zip(mechanics.v.iter().copied());
        let seeds: Vec<(Expr, Expr)> = rates.chain([(time(), one)]).collect();
        let symbols = mechanics.state_symbols();
        let outputs = [directional(&g, &seeds), g].concat();
        Ok(Violation {
            kernel: mechanics.kernel(&symbols, &outputs)?,
            inputs: Inputs::new(parameters, mechanics.n()),
            values: vec![0.0; outputs.len()],
        })
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs.set_parameters(parameters);
    }

    /// The largest |g| and |dg/dt| at a state.
    pub fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> [f64; 2] {
        self.inputs.place(t, q, v);
        self.kernel.eval(self.inputs.all(), &mut self.values);
        let (rates, g) = self.values.split_at(self.values.len() / 2);
        [g, rates].map(|values| values.iter().fold(0.0, |largest, value| larger(largest, value.abs())))
    }
}
