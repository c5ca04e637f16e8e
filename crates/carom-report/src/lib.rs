//! Pictures of carom's runs: plots, animations, and reports that are one file each.
//!
//! 1. [`recording`] keeps what pictures need while a run goes on ([`thin`]: no spike is lost).
//! 2. [`plots`] makes [`chart`]s of it, [`motion`] films the model's drawing.
//! 3. [`svg`] and [`png`] draw charts, [`animation`] makes a GIF, [`report`] one page of everything.
//! 4. [`figure`] draws the figures of the papers from their data.
//! 5. [`file`] writes files whole or not at all.

pub mod animation;
pub mod chart;
pub mod encode;
pub mod figure;
pub mod file;
mod geometry;
pub mod motion;
mod page;
pub mod palette;
pub mod plots;
pub mod png;
pub mod recording;
pub mod report;
pub mod scale;
pub mod svg;
pub mod thin;
