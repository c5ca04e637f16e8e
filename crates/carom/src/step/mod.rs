//! Steps: a step is a function of a state.
//!
//! A [`Stepper`] makes steps, and writes what happens in one to a [`StepLog`]: its smooth arcs, the events between them, and
//! the [`State`] at its end. There are two: Algorithm 1 with its events (`algorithm.rs`), and the path of the projected
//! principle (`projected.rs`). A [`Looker`] finds the state at any time inside a step, with working memory of its own.

mod algorithm;
mod event;
mod handover;
mod instant;
mod log;
mod looker;
mod maps;
mod press;
mod projected;
mod release;
mod rest;
mod scheme;
mod state;
mod touching;
mod two_configurations;

pub use log::{Arc, Event, EventKind, Impulse, LoggedImpact, Settling, StepLog};
pub use looker::{ArcStart, Looker};
pub use maps::{Maps, Variant};
pub(crate) use release::pulling;
pub use scheme::{Path, Scheme};
pub use state::{Memory, State};
pub(crate) use two_configurations::{aim, two_states};

use crate::solve::Solved;

/// Makes steps. It keeps caches and first guesses, which are not part of the motion.
pub trait Stepper: Send {
    /// Begins a run with these parameters; forgets caches and first guesses.
    fn begin(&mut self, parameters: &[f64]);

    /// Completes the state of a motion that starts at a phase point: moves it onto walls that hold it there, and gives it the
    /// memory that the method needs. `h` is the step to come.
    fn start(&mut self, state: &mut State, h: f64) -> Solved<()>;

    /// One step from a state to the time `until` or an earlier one. `log` says what happened; of a step that
    /// has no solution, up to where.
    fn step(&mut self, from: &State, until: f64, log: &mut StepLog) -> Solved<()>;

    /// The order of its flow; 1 where the switches of a projected path are not located.
    fn order(&self) -> usize;
}
