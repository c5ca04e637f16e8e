use crate::error::Result;
use crate::expr::{Expr, directional};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::system::time;

/// How far a state is off the constraints: g, and the hidden constraint dg/dt = G v + g_t.
#[derive(Clone, Debug)]
pub struct Violation {
    parameters: usize,
    /// (parameters, t, q, v) → g, dg/dt
    kernel: Kernel,
    inputs: Vec<f64>,
    values: Vec<f64>,
    /// The largest |g| and |dg/dt| so far.
    pub largest: [f64; 2],
}

impl Violation {
    /// Compiles g and dg/dt of all constraints.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Violation> {
        let g: Vec<Expr> = mechanics.constraints.iter().map(|constraint| constraint.g).collect();
        let one = Expr::constant(1.0);
        let rates = mechanics.q.iter().copied().zip(mechanics.v.iter().copied());
        let seeds: Vec<(Expr, Expr)> = rates.chain([(time(), one)]).collect();
        let symbols: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&mechanics.v).copied().collect();
        let outputs = [directional(&g, &seeds), g].concat();
        let mut inputs = vec![0.0; parameters.len() + symbols.len()];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Violation {
            parameters: parameters.len(),
            kernel: mechanics.kernel(&symbols, &outputs)?,
            inputs,
            values: vec![0.0; outputs.len()],
            largest: [0.0; 2],
        })
    }

    /// Looks at another state.
    pub fn see(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let at = self.parameters;
        self.inputs[at] = t;
        self.inputs[at + 1..at + 1 + q.len()].copy_from_slice(q);
        self.inputs[at + 1 + q.len()..].copy_from_slice(v);
        self.kernel.eval(&self.inputs, &mut self.values);
        let (rates, g) = self.values.split_at(self.values.len() / 2);
        for (largest, values) in self.largest.iter_mut().zip([g, rates]) {
            for value in values {
                // What is no number is the largest of all.
                if !(value.abs() <= *largest) {
                    *largest = value.abs();
                }
            }
        }
    }
}
