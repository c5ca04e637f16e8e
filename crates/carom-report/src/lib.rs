//! Plots, animations and self-contained reports of carom's runs.
//!
//! 1. [`recording`] records the data for pictures during a run; [`thin`] reduces them without losing spikes.
//! 2. [`plots`] makes [`chart`]s from the data; [`motion`] samples the model's drawing.
//! 3. [`svg`] and [`png`] draw charts, [`animation`] writes a GIF, [`report`] writes one page with everything.
//! 4. [`figure`] draws the figures of the papers from their data.
//! 5. [`file`] writes files completely or not at all.

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
