//! Holonomic constraints g(q, t) = 0 in numbers, with G = g_q.
//!
//! A flow keeps them by multipliers of its own (in `flow/`); here is what is needed beside it: the way back onto the
//! constraints, the force that they exert, how far a state is off them, and a forecast for two-point constraints.

mod active;
mod bordered;
mod growth;
mod local;
mod manifold;
mod reaction;
mod violation;

pub use active::Active;
pub(crate) use bordered::Bordered;
pub use growth::{growth_factor, turn};
pub(crate) use local::Row;
pub use local::{Local, LocalCode};
pub use manifold::Manifold;
pub use reaction::Reaction;
pub use violation::Violation;
