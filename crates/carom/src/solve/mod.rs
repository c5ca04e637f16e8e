//! Linear systems, and equations by Newton's method.

mod lu;
mod newton;
pub mod root;

pub use lu::Lu;
pub use newton::{Newton, NoSolution};
