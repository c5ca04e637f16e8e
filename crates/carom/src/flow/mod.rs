//! One-step maps Φ_h: (t, q, p) ↦ (t + h, …).

mod carry;
mod collocation;
mod combine;
mod composition;
mod disturbed;
pub(crate) mod dop853;
mod gauss;
mod halved;
mod held;
mod interpolated;
mod iteration;
mod multipliers;
mod onepass;
mod past;
mod registry;
mod rk4;
mod roundoff;
mod stages;
mod stiff;
mod variational;
pub(crate) mod vector;

pub(crate) use collocation::{Collocation, legendre};
pub use composition::Composition;
pub(crate) use disturbed::{Disturbed, disturb};
pub use dop853::Dop853;
pub use gauss::Gauss;
pub(crate) use halved::Halved;
pub(crate) use held::{Held, HeldCode, SampleCode};
pub use interpolated::Interpolated;
pub(crate) use onepass::OnePass;
pub(crate) use past::Past;
pub use registry::{FlowKind, named, on_trees, registry};
pub(crate) use registry::{ON_TREES, TreeRule};
pub use rk4::Rk4;
pub use variational::Variational;
pub(crate) use variational::momenta_between;
