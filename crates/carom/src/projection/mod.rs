//! The projected Hamilton's principle: impacts as smooth motions. [GP]
//!
//! A path z moves smoothly through all configurations, including those behind the wall, and the motion is its projection q =
//! P(z). Where z crosses the wall, q has an impact. P is the identity where φ ≥ 0, and maps the rest diffeomorphically onto
//! this set. After an impact z stays behind the wall, and returns at the next impact.
//!
//! 1. [`Study`] checks which hypotheses a model meets: [`NormalForm`], [`LambdaBound`], on a circle [`CircleArc`]. It first
//!    eliminates constraints ([`eliminate`]).
//! 2. [`Map`] is P as expressions, [`Projector`] evaluates it; [`fold`] searches for configurations with the same image under
//!    P.
//! 3. [`Principle`] has the two Lagrangians, which [`run`](crate::run) integrates.
//! 4. [`report`] formats the results as text.
//!
//! ```
//! use carom::lab::model::Model;
//! use carom::lab::simulation::study;
//! let text = carom::lab::catalogue::find("wavy-floor").expect("it ships").text;
//! let study = study(&Model::from_text("wavy-floor.toml", text, &[])?)?;
//! assert!((study.bound.expect("Λ is bounded").k_crit - 4.0).abs() < 1e-9);
//! # Ok::<(), carom::lab::error::Error>(())
//! ```

mod bound;
mod circle;
mod eliminate;
mod fold;
mod invert;
mod map;
mod normal_form;
mod principle;
mod region;
mod report;
mod study;

pub use bound::{Lambda, LambdaBound};
pub use circle::{CircleArc, NoArc};
pub use eliminate::eliminate;
pub use fold::{Fold, fold};
pub use invert::solve_for;
pub use map::{Map, Projector};
pub use normal_form::NormalForm;
pub use principle::Principle;
pub use region::{CoordinateRange, Region};
pub use report::report;
pub use study::{Hypothesis, HypothesisVerdict, Study};
