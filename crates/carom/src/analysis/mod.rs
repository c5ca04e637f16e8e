//! What the derivatives of a motion tell: sensitivities, Lyapunov exponents, periodic orbits.

mod adjoint;
mod forward;
mod lyapunov;
mod miss;
mod names;
mod orbit;
mod results;
mod seeds;
mod sensitivity;

pub use lyapunov::{Exponents, Lyapunov};
pub use miss::Miss;
pub use orbit::{BranchPoint, ClosedOrbit, Mark, Orbit};
pub use seeds::Fixed;
pub use sensitivity::{Approach, Derivatives, Mode, Sensitivity};
