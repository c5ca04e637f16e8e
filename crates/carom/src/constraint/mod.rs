//! Holonomic constraints g(q, t) = 0 in numbers, with G = g_q.
//!
//! A flow keeps them by multipliers of its own (in `flow/`); here is what is needed beside it: the way back onto the
//! constraints, the force that they exert, how far a state is off them, and a forecast for two-point constraints.

mod growth;
mod manifold;
mod reaction;
mod violation;

pub use growth::{growth_factor, turn};
pub use manifold::Manifold;
pub use reaction::Reaction;
pub use violation::Violation;
