//! What the commands that draw have in common.

use carom::lab::error::Result;
use carom_report::chart::Chart;
use carom_report::file::Target;
use carom_report::palette::{DARK, LIGHT, Theme};
use carom_report::{png, svg};

/// The extensions of plots.
pub const PLOTS: [&str; 2] = ["svg", "png"];

/// Light, or dark if asked for.
pub fn theme(dark: bool) -> &'static Theme {
    if dark { &DARK } else { &LIGHT }
}

/// Writes plots as what the name of the file says.
pub fn write_plot(target: &Target, title: &str, charts: &[Chart], theme: &Theme) -> Result<()> {
    let svg = svg::figure(title, charts, theme);
    if target.is("png") { target.write(&png::render(&svg)?) } else { target.write(svg.as_bytes()) }
}

/// The command as it was typed, quoted where a shell needs it.
pub fn command_line() -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    let quote = |word: String| {
        if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words: Vec<String> = std::env::args().skip(1).map(quote).collect();
    format!("carom {}", words.join(" "))
}
