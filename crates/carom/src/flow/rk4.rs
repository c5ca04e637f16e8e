//! The classical Runge–Kutta method, for comparison.

use crate::error::Result;
use crate::mechanics::Field;
use crate::mechanics::Mechanics;
use crate::phase::{Discrete, Flow, Phase};
use crate::solve::NoSolution;

/// The classical Runge–Kutta method of order 4: neither symplectic nor symmetric, for comparison. [Kutta 1901]
#[derive(Clone)]
pub struct Rk4 {
    field: Field,
    slope: Vec<f64>,
    point: Vec<f64>,
}

/// For each slope, its time as a fraction of the step, and its weight.
const STAGES: [(f64, f64); 4] = [(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)];

impl Rk4 {
    /// Compiles the equations of a system.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Rk4> {
        Ok(Rk4::along(Field::new(mechanics, parameters)?, mechanics.n()))
    }

    /// Follows a field of n coordinates.
    pub(super) fn along(field: Field, n: usize) -> Rk4 {
        Rk4 { field, slope: vec![0.0; 2 * n], point: vec![0.0; 2 * n] }
    }
}

impl Flow for Rk4 {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        z1.copy_from(z0);
        self.slope.fill(0.0);
        for (part, weight) in STAGES {
            for (x, (z, k)) in self.point.iter_mut().zip(z0.z.iter().zip(&self.slope)) {
                *x = z + part * h * k;
            }
            let values = self.field.at(z0.t + part * h, &self.point)?;
            let size = self.slope.len();
            self.slope.copy_from_slice(&values[..size]);
            z1.z.iter_mut().zip(&self.slope).for_each(|(z, k)| *z += weight * h * k);
        }
        z1.t = z0.t + h;
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.field.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.field.forget();
    }

    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn order(&self) -> usize {
        4
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}
