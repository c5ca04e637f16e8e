//! The projected Hamilton's principle: impacts without a jump. [GP]
//!
//! A path z through all configurations, also those behind the wall, is followed by smooth mechanics, and the motion is its
//! projection q = P(z). Where z crosses the wall, q bounces. P is the identity where φ ≥ 0 and a diffeomorphism of the rest
//! onto it: after an impact z stays behind the wall, and comes back at the impact that follows.
//!
//! 1. [`Study`] asks which hypotheses a model meets: [`NormalForm`], [`Bound`], on a circle [`CircleArc`]; constraints are
//!    eliminated first ([`eliminate`]).
//! 2. [`Map`] is P as expressions, [`Projector`] in numbers; [`fold`] looks for what P maps to one place.
//! 3. [`Principle`] has the two Lagrangians, which [`run`](crate::run) follows.
//! 4. [`report`] says it all in lines.
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
mod interval;
mod invert;
mod map;
mod normal_form;
mod principle;
mod region;
mod report;
mod study;

pub use bound::{Bound, Lambda};
pub use circle::{CircleArc, NoArc};
pub use eliminate::eliminate;
pub use fold::{Fold, fold};
pub use interval::{Interval, range};
pub use invert::solve_for;
pub use map::{Map, Projector};
pub use normal_form::NormalForm;
pub use principle::Principle;
pub use region::{Axis, Region};
pub use report::report;
pub use study::{Hypothesis, Study, Verdict};
