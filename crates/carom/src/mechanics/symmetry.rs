//! Momentum maps of symmetries.

use super::Mechanics;
use crate::error::Result;
use crate::expr::Expr;
use crate::expr::print::Notation;
use crate::expr::tidy::tidy;
use crate::kernel::Kernel;
use crate::phase::Phase;

/// The momentum map p·ξ(q) of the infinitesimal motion δq = ξ(q), compiled. [Marsden & West 2001, §2.3]
#[derive(Clone, Debug)]
pub struct MomentumMap {
    /// (parameters, q, p) → p·ξ
    kernel: Kernel,
    inputs: Vec<f64>,
}

impl MomentumMap {
    /// The momentum map of δq = ξ(q).
    pub fn new(mechanics: &Mechanics, xi: &[Expr], parameters: &[f64]) -> Result<MomentumMap> {
        let p = mechanics.p();
        let inputs: Vec<Expr> = mechanics.q.iter().chain(&p).copied().collect();
        let map: Expr = p.iter().zip(xi).map(|(&p, &xi)| p * xi).sum();
        let mut numbers = parameters.to_vec();
        numbers.resize(parameters.len() + inputs.len(), 0.0);
        Ok(MomentumMap { kernel: mechanics.kernel(&inputs, &[map])?, inputs: numbers })
    }

    /// The momentum map of a translation along coordinate i: its momentum.
    pub fn of_coordinate(mechanics: &Mechanics, i: usize, parameters: &[f64]) -> Result<MomentumMap> {
        let xi: Vec<Expr> = (0..mechanics.n()).map(|j| Expr::from(i32::from(i == j))).collect();
        MomentumMap::new(mechanics, &xi, parameters)
    }

    /// Its value at a phase point.
    pub fn at(&mut self, z: &Phase) -> f64 {
        let (at, mut value) = (self.inputs.len() - z.z.len(), [0.0]);
        self.inputs[at..].copy_from_slice(&z.z);
        self.kernel.eval(&self.inputs, &mut value);
        value[0]
    }
}

impl Mechanics {
    /// The cyclic coordinates, which do not occur in L, walls or constraints and on which no force acts: their numbers and names.
    pub fn cyclic_coordinates(&self) -> Vec<(usize, String)> {
        let name = |i: usize| self.q[i].symbol_name().unwrap_or_else(|| i.to_string());
        (0..self.n()).filter(|&i| self.is_cyclic(i)).map(|i| (i, name(i))).collect()
    }

    /// The derivatives are simplified first: for points in the plane, only sin² + cos² = 1 shows that they vanish.
    fn is_cyclic(&self, i: usize) -> bool {
        let is_zero = |f: Expr| f.is_zero() || tidy(f, &Notation::default()).is_zero();
        let forced = self.forces.as_ref().is_some_and(|forces| !is_zero(forces[i]));
        let constraints = self.constraints.iter().map(|constraint| constraint.g);
        let all = self.walls.iter().copied().chain([self.l]).chain(constraints);
        !forced && all.map(|f| f.diff(self.q[i])).all(is_zero)
    }
}
