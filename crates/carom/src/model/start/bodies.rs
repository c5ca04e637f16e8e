//! Which body of a mechanism makes its mass matrix singular.

use super::Check;
use crate::error::Error;

/// A pivot below this part of the entry that it is left of is zero.
pub(super) const NO_MASS: f64 = 1e-12;

impl Check<'_> {
    /// The first joint, from the ends of the chains, that moves no mass. `bordered` is L_vv of the n free coordinates with the
    /// gradients of the m constraints.
    ///
    /// Eliminated from the last coordinate to the first, the pivots of the mass matrix are those of the articulated bodies,
    /// SᵀI^A S: what one joint moves while all beyond it give way.
    pub(super) fn massless_body(&self, bordered: &[f64], n: usize, m: usize) -> Option<Error> {
        let system = &self.model.system;
        system.mechanism.as_ref()?;
        let stated = system.stated_constraints().len();
        let entry = |i: usize, j: usize| bordered[i * (n + m) + j];
        let size = (0..n).map(|i| entry(i, i)).fold(0.0, f64::max);
        // Along its own direction a quaternion has no mass, and needs none.
        let units = |i: usize, j: usize| (n + stated..n + m).map(|k| size * entry(k, i) * entry(k, j)).sum::<f64>();
        let mut a: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n) + units(k / n, k % n)).collect();
        let diagonal: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
        for last in (0..n).rev() {
            let pivot = a[last * n + last];
            if pivot.abs() <= NO_MASS * diagonal[last].abs() {
                return self.moves_no_mass(system.free()[last]);
            }
            for i in 0..last {
                let factor = a[i * n + last] / pivot;
                for j in 0..last {
                    a[i * n + j] -= factor * a[last * n + j];
                }
            }
        }
        None
    }

    pub(super) fn moves_no_mass(&self, coordinate: usize) -> Option<Error> {
        let mechanism = self.model.system.mechanism.as_deref()?;
        let number = mechanism.bodies.iter().position(|body| body.coordinates.contains(&coordinate))?;
        let (name, body) = (&self.model.system.coordinates[coordinate].name, &mechanism.bodies[number].name);
        let message = format!("the joint `{name}` of the body `{body}` moves no mass at the start");
        let label = "give it `mass` and `com` off the axis, or `inertia`";
        Some(self.model.error(self.model.places.bodies.get(number)?, message, label))
    }
}
