//! Small dense linear systems.

mod lu;

pub use lu::Lu;
