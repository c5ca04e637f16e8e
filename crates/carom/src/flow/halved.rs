//! A map in two halves.

use crate::phase::{Discrete, Flow, Impulses, Phase};
use crate::solve::NoSolution;

/// Φ_{h/2} ∘ Φ_{h/2} in place of Φ_h: a second opinion on every step, also on the partial ones, which a smaller h need not change.
pub(crate) struct Halved {
    map: Box<dyn Flow>,
    middle: Phase,
}

impl Halved {
    /// The map in halves; `size` is that of a state.
    pub(crate) fn new(map: Box<dyn Flow>, size: usize) -> Halved {
        Halved { map, middle: Phase { t: 0.0, z: vec![0.0; size] } }
    }
}

impl Flow for Halved {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        self.map.step(z0, 0.5 * h, &mut self.middle)?;
        self.map.step(&self.middle, 0.5 * h, z1)
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.map.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.map.forget();
    }

    /// The two halves have each their own.
    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn impulses(&self) -> Option<&Impulses> {
        self.map.impulses()
    }

    fn order(&self) -> usize {
        self.map.order()
    }

    fn moments(&self) -> usize {
        self.map.moments()
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(Halved { map: self.map.boxed_clone(), middle: self.middle.clone() })
    }
}
