//! Runs: Algorithm 1, step after step, with everything that happens on the way.

mod account;
mod algorithm;
mod constrained;
mod event;
mod handover;
mod instant;
mod lift;
mod outcome;
mod pilot;
mod press;
mod progress;
mod projected;
mod release;
mod rest;
mod sampling;
mod simulation;
mod two_configurations;
mod walls;

pub use account::Account;
pub use lift::{Node, View};
pub use outcome::{Crossing, Impact, Outcome, Status, Watcher};
pub use pilot::{CHECKPOINTS, Tuned};
pub use projected::study;
pub use rest::Holding;
pub use simulation::Simulation;
pub(crate) use simulation::failure;
