//! Input vectors of kernels.

use crate::phase::copy;

/// The input vector of kernels that are evaluated at a state: the parameters, t, q, v.
#[derive(Clone, Debug)]
pub struct Inputs {
    values: Vec<f64>,
    parameters: usize,
    n: usize,
}

impl Inputs {
    /// Inputs for `n` coordinates with these parameters.
    pub fn new(parameters: &[f64], n: usize) -> Inputs {
        let mut values = parameters.to_vec();
        values.resize(parameters.len() + 1 + 2 * n, 0.0);
        Inputs { values, parameters: parameters.len(), n }
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.values[..self.parameters].copy_from_slice(parameters);
    }

    /// Sets the time and the coordinates, and keeps the velocities.
    pub fn place_q(&mut self, t: f64, q: &[f64]) {
        self.values[self.parameters] = t;
        copy(&mut self.values[self.parameters + 1..][..self.n], q);
    }

    /// Sets the state.
    pub fn place(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.place_q(t, q);
        copy(&mut self.values[self.parameters + 1 + self.n..], v);
    }

    /// Sets the time, and returns the coordinates and the velocities to be written.
    pub fn state_mut(&mut self, t: f64) -> (&mut [f64], &mut [f64]) {
        self.values[self.parameters] = t;
        self.values[self.parameters + 1..].split_at_mut(self.n)
    }

    /// The state (t, q, v).
    pub fn state(&self) -> (f64, &[f64], &[f64]) {
        let (q, v) = self.values[self.parameters + 1..].split_at(self.n);
        (self.values[self.parameters], q, v)
    }

    /// The whole input vector.
    pub fn all(&self) -> &[f64] {
        &self.values
    }

    /// The parameters.
    pub fn parameters(&self) -> &[f64] {
        &self.values[..self.parameters]
    }

    /// The velocities.
    pub fn v(&self) -> &[f64] {
        &self.values[self.parameters + 1 + self.n..]
    }
}
