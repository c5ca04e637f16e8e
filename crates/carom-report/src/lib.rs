//! Plots, animations and self-contained reports of carom's runs.
//!
//! 1. [`recording`] records the data for pictures during a run; [`thin`] reduces them without losing spikes.
//! 2. [`plots`] makes [`chart`]s from the data, those that [`choice`] names; [`motion`] samples the model's drawing.
//! 3. [`svg`] and [`png`] draw charts, [`animation`] writes a GIF, [`still`] one picture of a motion, [`report`] writes one page with everything.
//! 4. [`figure`] draws the figures of the papers from their data.
//! 5. [`file`] writes files completely or not at all.

pub mod animation;
pub mod chart;
pub mod choice;
pub mod encode;
pub mod figure;
pub mod file;
mod fit;
mod flash;
mod floor;
mod geometry;
mod letters;
pub mod motion;
pub mod page;
pub mod palette;
mod pen;
pub mod plots;
pub mod png;
pub mod recording;
pub mod report;
pub mod scale;
mod scene;
mod simplify;
pub mod stage;
pub mod still;
mod surface;
pub mod svg;
pub mod thin;
mod touch;
mod view;
mod words;
