//! Runs: Algorithm 1, step after step, with everything that happens on the way.

mod algorithm;
mod event;
mod lift;
mod pilot;
mod projected;
mod sampling;
mod simulation;
mod walls;

pub use lift::{Node, View};
pub use pilot::Tuned;
pub use projected::study;
pub(crate) use simulation::failure;
pub use simulation::{Crossing, Impact, Outcome, Simulation, Status, Watcher};
