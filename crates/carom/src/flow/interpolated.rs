//! The modified flow of a map, interpolated between its iterates.

use crate::mechanics::Field;
use crate::mechanics::Manifold;
use crate::phase::{Discrete, Flow, Phase};
use crate::solve::NoSolution;

/// The flow of the modified Hamiltonian H̃_h of a map Φ_h. It passes through the iterates Φ_h^k(z0); this is the polynomial
/// through k = 1 − m … m, evaluated at τ/h. The error is O(h^2m).
///
/// Call [`Flow::set_full_step`] with the full step h first. A partial step τ must lie between 0 and h.
pub struct Interpolated {
    map: Box<dyn Flow>,
    m: usize,
    h: f64,
    /// z0 and h of the stored iterates.
    known: (Phase, f64),
    /// Φ_h^k(z0) for k = 1 − m … m.
    iterates: Vec<Phase>,
    /// The projection onto the constraints, which the iterates satisfy and the polynomial does not.
    back: Option<(Manifold, Field)>,
}

impl Interpolated {
    /// Interpolates through m iterates on each side; `size` is the length of a state.
    pub fn new(map: Box<dyn Flow>, m: usize, size: usize) -> Interpolated {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; size] };
        Interpolated { map, m, h: 0.0, known: (nowhere.clone(), 0.0), iterates: vec![nowhere; 2 * m], back: None }
    }

    /// Also projects the interpolated state onto the constraints.
    pub fn onto(mut self, manifold: Manifold, field: Field) -> Interpolated {
        self.back = Some((manifold, field));
        self
    }

    /// Computes and stores the iterates of z0.
    fn iterate(&mut self, z0: &Phase) -> Result<(), NoSolution> {
        if self.known.0 == *z0 && self.known.1 == self.h {
            return Ok(());
        }
        self.known.0.t = f64::NAN;
        let middle = self.m - 1;
        self.iterates[middle].copy_from(z0);
        for k in middle..2 * self.m - 1 {
            let (before, after) = self.iterates.split_at_mut(k + 1);
            self.map.step(&before[k], self.h, &mut after[0])?;
        }
        for k in (0..middle).rev() {
            let (before, after) = self.iterates.split_at_mut(k + 1);
            self.map.step_back(&after[0], self.h, &mut before[k])?;
        }
        self.known.0.copy_from(z0);
        self.known.1 = self.h;
        Ok(())
    }
}

impl Flow for Interpolated {
    fn step(&mut self, z0: &Phase, tau: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        self.iterate(z0)?;
        let (x, first) = (tau / self.h, 1.0 - self.m as f64);
        z1.t = z0.t + tau;
        // Interpolate differences from z0, which is exact because the weights sum to 1.
        z1.z.copy_from_slice(&z0.z);
        for (j, iterate) in self.iterates.iter().enumerate() {
            let node = first + j as f64;
            let others = (0..self.iterates.len()).filter(|&k| k != j).map(|k| first + k as f64);
            let weight: f64 = others.map(|other| (x - other) / (node - other)).product();
            for (z, (at, start)) in z1.z.iter_mut().zip(iterate.z.iter().zip(&z0.z)) {
                *z += weight * (at - start);
            }
        }
        match &mut self.back {
            Some((manifold, field)) => manifold.project(z1, field),
            None => Ok(()),
        }
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.map.set_parameters(parameters);
        self.known.0.t = f64::NAN;
        if let Some((manifold, field)) = &mut self.back {
            manifold.set_parameters(parameters);
            field.set_parameters(parameters);
        }
    }

    fn forget(&mut self) {
        self.map.forget();
        self.known.0.t = f64::NAN;
        self.back.iter_mut().for_each(|(_, field)| field.forget());
    }

    fn set_full_step(&mut self, h: f64) {
        self.h = h;
    }

    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn order(&self) -> usize {
        self.map.order()
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        let mut copy = Interpolated::new(self.map.boxed_clone(), self.m, self.known.0.z.len());
        copy.back = self.back.clone();
        Box::new(copy)
    }
}
