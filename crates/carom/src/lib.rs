//! carom simulates mechanical systems that hit things, and keeps the structure of mechanics while it does so.
//!
//! What happens, in order:
//!
//! 1. [`model`] reads a text: a Lagrangian, walls, parameters, a start. Its formulas become expressions ([`expr`]).
//! 2. [`mod@derive`] writes the mechanics out on paper.
//! 3. [`kernel`] compiles expressions to native code.
//! 4. [`discrete`] Lagrangians and Hamilton's equations become one-step maps ([`flow`]), which keep holonomic constraints
//!    ([`mod@constraint`]).
//! 5. [`run`] makes step after step, finds where a wall is met, and lets a rule ([`impact`]) decide what happens there, or
//!    follows the smooth path of a [`projection`].
//!
//! ```
//! use carom::method::Method;
//! use carom::model::Model;
//! use carom::run::{Impact, Simulation, Watcher};
//!
//! #[derive(Default)]
//! struct Times(Vec<f64>);
//! impl Watcher for Times {
//!     fn impact(&mut self, impact: Impact) {
//!         self.0.push(impact.minus.t);
//!     }
//! }
//!
//! let text = carom::catalogue::find("pendulum").expect("it ships").text;
//! let model = Model::from_text("pendulum.toml", text, &[])?;
//! let method = Method::named("gauss4+ctec", None)?;
//! let mut times = Times::default();
//! Simulation::new(&model, &method, 0.01, 5.0)?.run(&mut times)?;
//! assert!((times.0[0] - 0.538493198065).abs() < 1e-12);
//! # Ok::<(), carom::error::Error>(())
//! ```

pub mod catalogue;
pub mod compare;
pub mod constraint;
pub mod derive;
pub mod diagnostic;
pub mod discrete;
pub mod error;
pub mod expr;
pub mod flow;
pub mod impact;
pub mod kernel;
pub mod mechanics;
pub mod method;
pub mod model;
pub mod modified;
pub mod paper;
pub mod projection;
pub mod run;
pub mod solve;
pub mod system;
