//! Linear systems, and equations by Newton's method.

mod lu;
mod newton;
pub mod root;

pub use lu::{Lu, SINGULAR};
pub use newton::{LAST_CORRECTION, MAX_ITERATIONS, Newton, NoSolution, STAGNATION};
