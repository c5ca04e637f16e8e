//! Runs: Algorithm 1, step after step, with everything that happens on the way.

mod algorithm;
mod event;
mod simulation;
mod walls;

pub use simulation::{Impact, Node, Outcome, Simulation, Status, Watcher};
