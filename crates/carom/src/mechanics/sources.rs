//! Sources of energy.

use super::Mechanics;
use crate::expr::Expr;
use crate::system::time;

/// Which parts of a system can change its energy, apart from losses at impacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// True if forces act.
    pub forces: bool,
    /// True if L contains the time, for example because of driven coordinates.
    pub time: bool,
    /// True if a wall depends explicitly on the time.
    pub walls: bool,
    /// True if a constraint depends explicitly on the time.
    pub constraints: bool,
}

impl Sources {
    /// True if the smooth motion is that of an autonomous Hamiltonian. Walls may still change H at impacts.
    pub fn is_hamiltonian(&self) -> bool {
        !(self.forces || self.time || self.constraints)
    }

    /// True if the energy is conserved, given the restitution of each wall.
    pub fn is_conservative(&self, restitution: &[f64]) -> bool {
        self.is_hamiltonian() && !self.walls && restitution.iter().all(|e| *e == 1.0)
    }

    /// The reason why the smooth motion conserves no Hamiltonian, if it does not.
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
    /// Determines which parts can change the energy.
    pub fn sources(&self) -> Sources {
        let moves = |f: &Expr| f.depends_on(&[time()]);
        Sources {
            forces: self.forces.is_some() || self.function.is_some(),
            time: moves(&self.l),
            walls: self.walls.iter().any(moves),
            constraints: self.constraints.iter().any(|constraint| moves(&constraint.g)),
        }
    }
}
