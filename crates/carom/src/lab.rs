//! The components of carom, for tests, benchmarks and research.
//!
//! **Unstable**: names and signatures here may change without notice, even in patch releases. The stable items are at the root
//! of the crate.

/// See `catalogue/` in the sources.
pub mod catalogue {
    pub use crate::catalogue::*;
}

/// See `compare/` in the sources.
pub mod compare {
    pub use crate::compare::*;
}

/// See `derive/` in the sources.
pub mod derive {
    pub use crate::derive::*;
}

/// See `diagnostic/` in the sources.
pub mod diagnostic {
    pub use crate::diagnostic::*;
}

/// See `discrete/` in the sources.
pub mod discrete {
    pub use crate::discrete::*;
}

/// See `error/` in the sources.
pub mod error {
    pub use crate::error::*;
}

/// See `expr/` in the sources.
pub mod expr {
    pub use crate::expr::*;
}

/// See `feedback/` in the sources.
pub mod feedback {
    pub use crate::feedback::*;
}

/// See `flow/` in the sources.
pub mod flow {
    pub use crate::flow::*;
}

/// See `impact/` in the sources.
pub mod impact {
    pub use crate::impact::*;
}

/// See `kernel/` in the sources.
pub mod kernel {
    pub use crate::kernel::*;
}

/// See `linkage.rs` in the sources.
pub mod linkage {
    pub use crate::linkage::tree;
}

/// See `mechanics/` in the sources.
pub mod mechanics {
    pub use crate::mechanics::*;
}

/// See `mechanism/` in the sources.
pub mod mechanism {
    pub use crate::mechanism::*;
}

/// See `method/` in the sources.
pub mod method {
    pub use crate::method::*;
}

/// See `model/` in the sources.
pub mod model {
    pub use crate::model::*;
}

/// See `modified/` in the sources.
pub mod modified {
    pub use crate::modified::*;
}

/// See `phase/` in the sources.
pub mod phase {
    pub use crate::phase::*;
}

/// See `plant/` in the sources.
pub mod plant {
    pub use crate::plant::*;
}

/// See `projection/` in the sources.
pub mod projection {
    pub use crate::projection::*;
}

/// See `run/` in the sources.
pub mod run {
    pub use crate::run::*;
}

/// See `simulation/` in the sources.
pub mod simulation {
    pub use crate::simulation::*;
}

/// See `slopes/` in the sources.
pub mod slopes {
    pub use crate::slopes::*;
}

/// See `solve/` in the sources.
pub mod solve {
    pub use crate::solve::*;
}

/// See `step/` in the sources.
pub mod step {
    pub use crate::step::*;
}

/// See `sweep/` in the sources.
pub mod sweep {
    pub use crate::sweep::events::{Family, SampledAt, Seen, observe, period_of, quick_simulation};
}

/// See `system/` in the sources.
pub mod system {
    pub use crate::system::*;
}

/// See `optimize/` in the sources.
pub mod optimize {
    pub use crate::optimize::*;
}

/// See `tangent/` in the sources.
pub mod tangent {
    pub use crate::tangent::*;
}

/// See `tree/` in the sources.
pub mod tree {
    pub use crate::tree::*;
}
