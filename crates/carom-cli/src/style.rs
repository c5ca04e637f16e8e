//! Colours, which anstream takes out again where they are not wanted (pipes, NO_COLOR).

use anstyle::{AnsiColor, Style};
use carom::error::Error;

const BAD: Style = AnsiColor::Red.on_default().bold();
const PLACE: Style = AnsiColor::BrightBlue.on_default();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default();

/// A warning as it is printed.
pub fn warning(text: &str) -> String {
    format!("{} {text}", paint(CAUTION, "warning:"))
}

/// Something to know, as it is printed.
pub fn note(text: &str) -> String {
    format!("{} {text}", paint(HELP, "note:"))
}

/// Headings and names.
pub const STRONG: Style = Style::new().bold();
/// What matters less.
pub const QUIET: Style = Style::new().dimmed();

/// `text` in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// An error as it is printed: the word, the place and the marks in colour.
pub fn error(error: &Error) -> String {
    let text = error.to_string();
    let paint_line = |line: &str| {
        if let Some(rest) = line.strip_prefix("error: ") {
            format!("{} {rest}", paint(BAD, "error:"))
        } else if let Some(rest) = line.strip_prefix("help: ") {
            format!("{} {rest}", paint(HELP, "help:"))
        } else if let Some(at) = line.find("│ ").filter(|_| line.trim_start().starts_with('│')) {
            let (margin, marks) = line.split_at(at + "│ ".len());
            format!("{}{}", paint(PLACE, margin), paint(BAD, marks))
        } else if line.trim_start().starts_with("┌─") {
            paint(PLACE, line)
        } else {
            line.to_string()
        }
    };
    text.lines().map(paint_line).collect::<Vec<_>>().join("\n")
}
