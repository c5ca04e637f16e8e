//! x
#![allow(missing_docs)]
pub mod animation;
pub mod chart;
pub mod encode;
pub mod file;
mod geometry;
pub mod motion;
pub mod palette;
pub mod plots;
pub mod png;
pub mod recording;
pub mod scale;
pub mod svg;
pub mod thin;
