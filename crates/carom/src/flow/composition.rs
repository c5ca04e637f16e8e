//! Compositions of a symmetric map of order 2.

use crate::phase::{Discrete, Flow, Impulses, Phase};
use crate::solve::NoSolution;

/// Φ_{γ_s h} ∘ … ∘ Φ_{γ₁h}, with symmetric γ. [Hairer, Lubich & Wanner, V.3]
///
/// L_d is the sum of the parts' L_d, and −D₃L_d is the sum of the parts' −D₃L_d with weights γ.
pub struct Composition {
    base: Box<dyn Flow>,
    parts: &'static [f64],
    order: usize,
    middle: [Phase; 2],
    discrete: Vec<Option<Discrete>>,
    wants_discrete: bool,
    last: (Phase, f64),
    impulses: Impulses,
}

/// Suzuki's composition of order 4: γ = 1/(4 − 4^⅓). [Suzuki 1990]
pub const SUZUKI4: [f64; 5] = [
    0.414_490_771_794_375_7,
    0.414_490_771_794_375_7,
    -0.657_963_087_177_503,
    0.414_490_771_794_375_7,
    0.414_490_771_794_375_7,
];

/// The composition of order 8 with 17 parts. [Kahan & Li 1997; Hairer, Lubich & Wanner, V.3.2]
pub const KAHAN_LI8: [f64; 17] = [
    0.130_202_483_088_890_08,
    0.561_162_981_775_108_4,
    -0.389_474_962_644_847_3,
    0.158_841_906_555_155_6,
    -0.395_903_894_133_237_6,
    0.184_539_640_978_315_7,
    0.258_374_387_686_322_05,
    0.295_011_723_609_310_3,
    -0.605_508_533_830_034_5,
    0.295_011_723_609_310_3,
    0.258_374_387_686_322_05,
    0.184_539_640_978_315_7,
    -0.395_903_894_133_237_6,
    0.158_841_906_555_155_6,
    -0.389_474_962_644_847_3,
    0.561_162_981_775_108_4,
    0.130_202_483_088_890_08,
];

impl Composition {
    /// Composes `base` with these fractions of a step.
    pub fn new(base: Box<dyn Flow>, parts: &'static [f64], order: usize, size: usize) -> Composition {
        let nowhere = Phase { t: 0.0, z: vec![0.0; size] };
        Composition {
            base,
            parts,
            order,
            middle: [nowhere.clone(), nowhere.clone()],
            discrete: Vec::new(),
            wants_discrete: false,
            last: (nowhere, 0.0),
            impulses: Impulses::default(),
        }
    }

    fn compose(&mut self, h: f64) -> Result<(), NoSolution> {
        self.middle[0].copy_from(&self.last.0);
        self.discrete.clear();
        for (at, &part) in self.parts.iter().enumerate() {
            let [begin, end] = &mut self.middle;
            self.base.step(begin, part * h, end)?;
            if self.wants_discrete {
                self.discrete.push(self.base.discrete());
            }
            match self.base.impulses() {
                Some(first) if at == 0 => self.impulses.copy_from(first),
                Some(next) => self.impulses.append(next),
                None => {}
            }
            self.middle.swap(0, 1);
        }
        Ok(())
    }
}

impl Flow for Composition {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        self.last.0.copy_from(z0);
        self.last.1 = h;
        self.compose(h)?;
        z1.copy_from(&self.middle[0]);
        z1.t = z0.t + h;
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.base.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.base.forget();
    }

    fn discrete(&mut self) -> Option<Discrete> {
        self.wants_discrete = true;
        let composed = self.compose(self.last.1);
        self.wants_discrete = false;
        composed.ok()?;
        let mut sum = Discrete { action: 0.0, energy: 0.0 };
        for (part, discrete) in self.parts.iter().zip(&self.discrete) {
            let discrete = (*discrete)?;
            sum.action += discrete.action;
            sum.energy += part * discrete.energy;
        }
        Some(sum)
    }

    fn impulses(&self) -> Option<&Impulses> {
        self.base.impulses().map(|_| &self.impulses)
    }

    fn order(&self) -> usize {
        self.order
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        let size = self.last.0.z.len();
        Box::new(Composition::new(self.base.boxed_clone(), self.parts, self.order, size))
    }
}
