//! Linear systems, of numbers and of expressions, and equations by Newton's method.

mod lu;
mod newton;
pub mod root;
mod symbolic;

pub use lu::{Lu, SINGULAR};
pub use newton::{LAST_CORRECTION, MAX_ITERATIONS, Newton, NoSolution, STAGNATION};
pub use symbolic::eliminate;
