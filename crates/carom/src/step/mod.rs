//! Steps: a step is a function of a state.
//!
//! A [`Stepper`] makes steps and records each in a [`StepLog`]: its smooth arcs, the events between them, and the [`State`] at
//! its end. There are two steppers: Algorithm 1 with its events (`algorithm.rs`), and the path of the projected principle
//! (`projected.rs`). A [`Looker`] computes the state at any time inside a step, in its own working memory.

mod algorithm;
mod closing;
mod control;
mod controlled;
mod event;
mod events;
mod explicit;
mod flight;
mod handover;
mod instant;
mod kink;
mod log;
mod looker;
mod maps;
mod moment;
mod press;
mod projected;
mod release;
mod rest;
mod rocking;
mod scheme;
mod stages;
mod state;
mod touching;

pub use control::Control;
pub use event::Kind;
pub(crate) use explicit::{enter, leave};
pub use log::{Arc, Energies, Event, EventKind, Impulse, LoggedImpact, Settling, StepLog};
pub use looker::{ArcStart, Looker};
pub use maps::{Maps, Variant};
pub(crate) use release::pulling;
pub use scheme::{Path, Scheme};
pub use state::{Memory, State};
pub(crate) use touching::terms_of_rate;

pub use crate::lanes::LaneMemory;
use crate::solve::Solved;

/// Makes steps. Its caches and initial guesses are not part of the state and never change a result.
pub trait Stepper: Send {
    /// Begins a run with these parameters and clears caches and initial guesses.
    fn begin(&mut self, parameters: &[f64]);

    /// Completes an initial state: projects it onto the walls that hold it and adds the memory that the method needs. `h` is
    /// the length of the first step.
    fn start(&mut self, state: &mut State, h: f64) -> Solved<()>;

    /// Makes one step from a state to the time `until`, or to an earlier time, and records it in `log`; or several, if they are
    /// free and have controlled lengths. If a step fails, the log ends at the last state that was reached.
    fn step(&mut self, from: &State, until: f64, log: &mut StepLog) -> Solved<()>;

    /// Makes a step to the first of these times, which rise; or, if the motion is free, a step to each of several.
    fn step_along(&mut self, from: &State, nodes: &[f64], log: &mut StepLog) -> Solved<()> {
        self.step(from, nodes[0], log)
    }

    /// The order of its flow; 1 where the switches of a projected path are not located.
    fn order(&self) -> usize;
}
