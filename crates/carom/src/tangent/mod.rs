//! Derivatives of the discrete motion, through impacts and contact.
//!
//! What is differentiated is the map that a run computes, so that derivatives are exact to roundoff at any step. A [`Tangent`]
//! follows the [`StepLog`](crate::step::StepLog) of a step: the implicit function theorem on the equations of each smooth piece
//! (`piece.rs`, `part.rs`, `collocation.rs`), the lengths of pieces that end with events (`step.rs`, `kink.rs`), the
//! impact rules (`reset.rs`), rest and release (`contact.rs`). It makes no steps itself. The slopes of the system are numbers of its
//! plant (`slopes/`).

mod code;
mod collocation;
mod contact;
mod eliminate;
mod kink;
mod local;
mod output;
mod part;
mod piece;
mod planned;
mod reset;
mod step;

pub use crate::slopes::OutputCode;
pub use crate::solve::matrix::{Matrix, add, dot, solve};
pub use code::TangentCode;
pub use step::{ChangeTangent, ImpactTangent, StepTangent, Tangent};
