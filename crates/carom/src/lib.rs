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
//! - [`sweep`] has many runs of one model, [`analysis`] what the derivatives of a motion tell.
//! - [`derive()`] writes the mechanics out as you would on paper.
//!
//! [`lab`] has the parts that these are made from.

/// The Rust example of the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

/// So is that of the page on sweeps.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sweeps.md")]
mod page_on_sweeps {}

/// So is that of the page on derivatives.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/derivatives.md")]
mod page_on_derivatives {}

/// So is that of the page on control problems.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/control.md")]
mod page_on_control {}

// On x86-64 only the feature `cranelift` needs these, so that there they are dependencies of their own.
#[cfg(all(feature = "cranelift", target_arch = "x86_64"))]
extern crate x64_cranelift_codegen as cranelift_codegen;
#[cfg(all(feature = "cranelift", target_arch = "x86_64"))]
extern crate x64_cranelift_frontend as cranelift_frontend;
#[cfg(all(feature = "cranelift", target_arch = "x86_64"))]
extern crate x64_cranelift_jit as cranelift_jit;
#[cfg(all(feature = "cranelift", target_arch = "x86_64"))]
extern crate x64_cranelift_module as cranelift_module;
#[cfg(all(feature = "cranelift", target_arch = "x86_64"))]
extern crate x64_cranelift_native as cranelift_native;

pub mod analysis;
mod catalogue;
mod compare;
mod derive;
mod diagnostic;
mod discrete;
mod elements;
mod error;
mod expr;
mod feedback;
mod flow;
mod impact;
mod interval;
mod kernel;
pub mod lab;
mod lanes;
mod limits;
mod linkage;
mod mechanics;
mod mechanism;
mod method;
mod model;
mod modified;
mod optimize;
mod phase;
mod plant;
mod projection;
mod run;
mod simulation;
mod slopes;
mod solve;
mod step;
pub mod sweep;
mod system;
mod tangent;
mod tree;

pub use catalogue::{EXAMPLES, Example};
pub use derive::derive;
pub use error::{Diagnostic, Error, Failure, Result, SourcePlace};
pub use mechanics::Node;
pub use method::{Method, entries as methods};
pub use model::{Builder, Model};
pub use optimize::{Answer, Optimization};
pub use run::{
    Account, Audience, Crossing, Energy, Feedback, Followed, Holding, Impact, Jump, Outcome, Status, View, Watcher,
};
pub use simulation::{Dense, Ready, Record, RunError, Side, Simulation, Trajectory};
pub use step::{Memory, State};
pub use system::ForceFunction;
