//! Checks of the walls at the start.

use super::Check;
use crate::error::plain;
use crate::expr::{Expr, any_depends_on, eval};
use crate::limits::START_TOUCHES;

impl Check<'_> {
    /// The start is outside the walls.
    pub(super) fn walls(&self, q: &[f64]) {
        for (wall, span) in self.model.system.walls.iter().zip(&self.model.places.walls) {
            let phi = self.at(&[wall.phi], q, q)[0];
            if phi < -START_TOUCHES * self.size(wall.phi, q, q) {
                let message = format!("the start is inside the wall `{}`", wall.name);
                let label = format!("the gap is {} at q = {q:?}; it must be ≥ 0", plain(phi));
                self.mistake(self.model.error(span, message, label));
            }
        }
    }

    /// e is from 0 to 1; where L is not quadratic in v only e = 1 is defined.
    pub(super) fn restitutions(&self) {
        let system = &self.model.system;
        let is_quadratic = self.recursive.is_some() || {
            let vs: Vec<Expr> = system.free().iter().map(|&i| system.coordinates[i].v).collect();
            !any_depends_on(&self.mass().concat(), &vs)
        };
        for (wall, span) in system.walls.iter().zip(&self.model.places.restitutions) {
            let e = eval(&[wall.restitution], &self.parameters)[0];
            if !(0.0..=1.0).contains(&e) {
                let message = format!("the restitution of the wall `{}` must be from 0 to 1", wall.name);
                self.mistake(self.model.error(span, message, format!("this is {e}")));
            } else if e != 1.0 && !is_quadratic {
                let message = "a restitution below 1 needs a Lagrangian that is quadratic in the velocities";
                self.mistake(self.model.error(span, message, format!("this is {e}; without loss it is 1")));
            }
        }
    }
}
