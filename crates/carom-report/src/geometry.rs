//! Compiled expressions of a model: gaps, points, and where things are in the drawing.

use carom::lab::error::{Diagnostic, Result};
use carom::lab::expr::Expr;
use carom::lab::kernel::Kernel;
use carom::lab::model::{Model, Place};
use carom::lab::system::time;

/// Expressions of t, q and v, compiled with the parameters.
pub struct Compiled {
    kernel: Kernel,
    inputs: Vec<f64>,
    values: Vec<f64>,
    parameters: usize,
}

impl Compiled {
    /// Compiles expressions of a model.
    pub fn new(model: &Model, expressions: &[Expr]) -> Result<Compiled> {
        let system = &model.system;
        let symbols = system.parameters.iter().map(|p| p.symbol).chain([time()]).chain(system.q()).chain(system.v());
        let symbols: Vec<Expr> = symbols.collect();
        let kernel = Kernel::new(&symbols, expressions).map_err(|e| Diagnostic::new(e.to_string()))?;
        let mut inputs = vec![0.0; symbols.len()];
        system.parameters.iter().zip(&mut inputs).for_each(|(p, x)| *x = p.value);
        let (values, parameters) = (vec![0.0; expressions.len()], system.parameters.len());
        Ok(Compiled { kernel, inputs, values, parameters })
    }

    /// The values at a state; v may be empty if no velocity occurs.
    pub fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        let at = self.parameters;
        self.inputs[at] = t;
        self.inputs[at + 1..at + 1 + q.len()].copy_from_slice(q);
        self.inputs[at + 1 + q.len()..at + 1 + q.len() + v.len()].copy_from_slice(v);
        self.kernel.eval(&self.inputs, &mut self.values);
        &self.values
    }
}

/// Evaluates φ of every wall.
pub struct Gaps(Compiled);

impl Gaps {
    /// Compiles the gaps of a model.
    pub fn new(model: &Model) -> Result<Gaps> {
        let gaps: Vec<Expr> = model.system.walls.iter().map(|wall| wall.phi).collect();
        Ok(Gaps(Compiled::new(model, &gaps)?))
    }

    /// The gaps at a state.
    pub fn at(&mut self, t: f64, q: &[f64]) -> &[f64] {
        self.0.at(t, q, &[])
    }
}

/// Evaluates places of the plane that move with the system.
pub struct Places {
    places: Compiled,
    rates: Compiled,
}

impl Places {
    /// Compiles the places.
    pub fn new(model: &Model, places: &[Place]) -> Result<Places> {
        let places = places.as_flattened();
        let rates: Vec<Expr> = places.iter().map(|&x| model.system.time_derivative(x)).collect();
        Ok(Places { places: Compiled::new(model, places)?, rates: Compiled::new(model, &rates)? })
    }

    /// x and y of each place.
    pub fn at(&mut self, t: f64, q: &[f64]) -> &[[f64; 2]] {
        self.places.at(t, q, &[]).as_chunks().0
    }

    /// The velocity of each place.
    pub fn rates(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[[f64; 2]] {
        self.rates.at(t, q, v).as_chunks().0
    }
}
