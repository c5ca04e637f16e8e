//! What can change the energy.

use super::Mechanics;
use crate::expr::Expr;
use crate::system::time;

/// What can change the energy of a system, besides the loss at impacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Forces act.
    pub forces: bool,
    /// L contains the time, as it does where coordinates are driven.
    pub time: bool,
    /// A wall moves by itself.
    pub walls: bool,
    /// A constraint moves by itself.
    pub constraints: bool,
}

impl Sources {
    /// Nothing changes H but walls: the smooth motion is that of an autonomous Hamiltonian.
    pub fn is_hamiltonian(&self) -> bool {
        !(self.forces || self.time || self.constraints)
    }

    /// Nothing changes the energy, with walls of these restitutions.
    pub fn is_conservative(&self, restitution: &[f64]) -> bool {
        self.is_hamiltonian() && !self.walls && restitution.iter().all(|e| *e == 1.0)
    }

    /// Why there is no Hamiltonian that the smooth motion keeps.
    pub fn why_not_hamiltonian(&self) -> Option<&'static str> {
        match self {
            Sources { forces: true, .. } => Some("forces act on the system"),
            Sources { time: true, .. } => Some("the Lagrangian depends on the time"),
            Sources { constraints: true, .. } => Some("a constraint moves"),
            _ => None,
        }
    }
}

impl Mechanics {
    /// What can change the energy.
    pub fn sources(&self) -> Sources {
        let moves = |f: &Expr| f.depends_on(&[time()]);
        Sources {
            forces: self.forces.is_some(),
            time: moves(&self.l),
            walls: self.walls.iter().any(moves),
            constraints: self.constraints.iter().any(|constraint| moves(&constraint.g)),
        }
    }
}
