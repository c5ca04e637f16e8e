//! States that do not come from `[initial]`.

use super::Model;
use crate::expr::{Expr, eval};
use crate::limits::{ON_CONSTRAINT, START_TOUCHES};
use crate::mechanics::size_at;
use crate::system::time;

/// Why a configuration is not one of the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Misfit {
    /// It is inside a wall.
    Inside(String),
    /// It is off a constraint.
    Off(String),
}

impl Model {
    /// A fingerprint of the mechanics alone: coordinates, L, forces, walls and constraints, with the names of parameters and
    /// without their values (FNV-1a, 64 bits).
    pub fn mechanics_hash(&self) -> String {
        let system = &self.system;
        let mut text: Vec<String> = Vec::new();
        for c in &system.coordinates {
            text.push(c.name.clone());
            text.extend(c.prescribed.map(Expr::to_source));
        }
        text.push(system.lagrangian.l.to_source());
        text.extend(system.forces.iter().map(|force| force.to_source()));
        text.extend(system.walls.iter().flat_map(|wall| [wall.phi.to_source(), wall.restitution.to_source()]));
        text.extend(system.constraints.iter().map(|constraint| constraint.g.to_source()));
        super::fingerprint(&text.join("\n"))
    }

    /// Why the configuration q, of all coordinates, is not one of the model at time t.
    pub fn misfit(&self, t: f64, q: &[f64]) -> Option<Misfit> {
        let qs = self.system.q();
        let mut values = self.parameter_values();
        values.push((time(), t));
        values.extend(qs.iter().copied().zip(q.iter().copied()));
        let at = |f: Expr| eval(&[f], &values)[0];
        let size = |f: Expr| size_at(f, &qs, q, |fs| eval(fs, &values));
        let walls = self.system.walls.iter().filter(|wall| at(wall.phi) < -START_TOUCHES * size(wall.phi));
        let inside = walls.map(|wall| Misfit::Inside(wall.name.clone()));
        let off = self.system.constraints.iter().filter(|c| at(c.g).abs() > ON_CONSTRAINT * size(c.g));
        inside.chain(off.map(|c| Misfit::Off(c.name.clone()))).next()
    }
}
