//! One-step maps Φ_h: (t, q, p) ↦ (t + h, …).

mod carry;
mod collocation;
mod combine;
mod composition;
mod disturbed;
mod gauss;
mod halved;
mod held;
mod interpolated;
mod iteration;
mod multipliers;
mod past;
mod registry;
mod rk4;
mod roundoff;
mod stages;
mod stiff;
mod variational;
mod vector;

pub(crate) use collocation::Collocation;
pub use composition::Composition;
pub(crate) use disturbed::{Disturbed, disturb};
pub use gauss::Gauss;
pub(crate) use halved::Halved;
pub(crate) use held::{Held, HeldCode};
pub use interpolated::Interpolated;
pub(crate) use past::Past;
pub use registry::{FlowKind, named, registry};
pub use rk4::Rk4;
pub use variational::Variational;
pub(crate) use variational::momenta_between;
