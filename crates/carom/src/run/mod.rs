//! The main loop and its observers.
//!
//! [`drive`] makes the steps. After each step the sections decide whether the run ends in it; then every [`Observer`] sees its
//! log. Observers have their own working memory ([`Look`]), so they never change a step.

mod account;
mod checkpoints;
mod constraints;
mod drive;
mod follow;
mod mesh;
mod observer;
mod outcome;
mod schedule;
mod sections;
mod stream;
mod tally;
mod view;

pub use account::{Account, Accountant};
pub use checkpoints::{Checkpoints, Missed};
pub use constraints::Constraints;
pub use drive::{Ending, STICKS, drive, failure};
pub use follow::{Feedback, Followed, Following, PlannedStart, Track};
pub use mesh::{Mesh, MeshNodes};
pub use observer::{Look, Observer};
pub use outcome::{Crossing, Energy, ErrorScale, Holding, Impact, Jump, Outcome, Status};
pub use schedule::{Schedule, Scheduled, piece};
pub use sections::Sections;
pub use stream::{Audience, Stream, Watcher};
pub use tally::Tally;
pub use view::View;
