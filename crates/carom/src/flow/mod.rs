//! One-step maps Φ_h: (t, q, p) ↦ (t + h, …).

mod carry;
mod field;
mod past;
mod variational;

pub use field::Field;
pub use variational::Variational;

use crate::solve::NoSolution;

/// A phase point: the time, and z = (q, p) of the free coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The time.
    pub t: f64,
    /// q, then p.
    pub z: Vec<f64>,
}

impl Phase {
    /// The point (t, q, p).
    pub fn new(t: f64, q: &[f64], p: &[f64]) -> Phase {
        Phase { t, z: q.iter().chain(p).copied().collect() }
    }

    /// The coordinates.
    pub fn q(&self) -> &[f64] {
        &self.z[..self.z.len() / 2]
    }

    /// The momenta.
    pub fn p(&self) -> &[f64] {
        &self.z[self.z.len() / 2..]
    }

    /// The momenta, to change them.
    pub fn p_mut(&mut self) -> &mut [f64] {
        let n = self.z.len() / 2;
        &mut self.z[n..]
    }

    /// Becomes a copy of `other`, without allocating.
    pub fn copy_from(&mut self, other: &Phase) {
        self.t = other.t;
        self.z.copy_from_slice(&other.z);
    }
}

/// What the discrete action principle says of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discrete {
    /// L_d.
    pub action: f64,
    /// −D₃L_d.
    pub energy: f64,
}

/// A one-step map. It may remember the last steps for a better first guess; that never changes the result.
pub trait Flow: Send {
    /// z1 = Φ_h(z0); h may be negative.
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution>;

    /// L_d and −D₃L_d of the last step, if the map is variational.
    fn discrete(&mut self) -> Option<Discrete>;

    /// The order of the map.
    fn order(&self) -> usize;

    /// A copy of its own.
    fn boxed_clone(&self) -> Box<dyn Flow>;
}
