//! Code shared by the commands that draw.

use carom::lab::error::Result;
use carom_report::chart::Chart;
use carom_report::file::Target;
use carom_report::palette::{DARK, LIGHT, Theme};
use carom_report::{png, svg};

use crate::session;

/// The file extensions of plots.
pub const PLOTS: [&str; 2] = ["svg", "png"];

/// The light theme, or the dark one.
pub fn theme(dark: bool) -> &'static Theme {
    if dark { &DARK } else { &LIGHT }
}

/// Writes plots in the format of the file's extension.
pub fn write_plot(target: &Target, title: &str, charts: &[Chart], theme: &Theme) -> Result<()> {
    let svg = svg::figure(title, charts, theme);
    if target.is("png") { target.write(&png::render(&svg)?) } else { target.write(svg.as_bytes()) }
}

/// The command as it was typed, with shell quotes where needed. Bytes that are not UTF-8 are replaced.
pub fn command_line() -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    let quote = |word: String| {
        if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let typed = || std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<String> = session::words().unwrap_or_else(typed).into_iter().map(quote).collect();
    format!("carom {}", words.join(" "))
}
