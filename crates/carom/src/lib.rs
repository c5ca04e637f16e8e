//! carom simulates mechanical systems that hit things, and keeps the structure of mechanics while it does so.
//!
//! You write down a Lagrangian and the walls; carom derives the equations and the impact law, compiles them to native code,
//! and integrates with variational integrators.
//!
//! ```
//! let model = carom::Model::load("double-pendulum")?;
//! let run = model.simulation().method("gauss4+ctec").step(0.01).until(5.0).set("m1", 2.0).run()?;
//! for impact in run.impacts() {
//!     println!("{:.6}  {}  λ = {:.4}", impact.minus.t, run.wall(impact), impact.lambda);
//! }
//! println!("theta1 from {} to {}", run.q("theta1")?[0], run.at(5.0)?.q[0]);
//! # assert_eq!(run.t().len(), 501);
//! # Ok::<(), carom::RunError>(())
//! ```
//!
//! - [`Model`] is a checked model: a file, a text, a shipped example, or built in Rust with [`Builder`].
//! - [`Simulation`] is a model with a method, a step and an end time. Copies are cheap, share the compiled code, and may run
//!   in other threads.
//! - [`Trajectory`] is a run, kept: columns by name, impacts, and the state at any time. [`Watcher`] is for runs that are too
//!   long to keep.
//! - [`derive()`] writes the mechanics out as you would on paper.
//!
//! [`lab`] has the parts that these are made from.

/// The Rust example of the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

mod catalogue;
mod compare;
mod derive;
mod diagnostic;
mod discrete;
mod error;
mod expr;
mod flow;
mod impact;
mod interval;
mod kernel;
pub mod lab;
mod limits;
mod mechanics;
mod mechanism;
mod method;
mod model;
mod modified;
mod phase;
mod plant;
mod projection;
mod run;
mod simulation;
mod solve;
mod step;
mod system;
mod tree;

pub use catalogue::{EXAMPLES, Example};
pub use derive::derive;
pub use error::{Diagnostic, Error, Failure, Place, Result};
pub use mechanics::Node;
pub use method::{Method, entries as methods};
pub use model::{Builder, Model};
pub use run::{Account, Audience, Crossing, Energy, Holding, Impact, Jump, Outcome, Status, View, Watcher};
pub use simulation::{Dense, Ready, Record, RunError, Side, Simulation, Trajectory};
pub use step::{Memory, State};
