//! Colours, which anstream removes where they are not wanted (pipes, NO_COLOR).

use anstyle::{AnsiColor, Style};
use carom::lab::error::Error;
pub use carom::lab::error::plain;

const BAD: Style = AnsiColor::Red.on_default().bold();
const PLACE: Style = AnsiColor::BrightBlue.on_default();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default();

/// Formats a warning, in the style of an error.
pub fn warning(text: &str) -> String {
    format!("{} {}", paint(CAUTION, "warning:"), marked(text))
}

/// Formats a note.
pub fn note(text: &str) -> String {
    format!("{} {text}", paint(HELP, "note:"))
}

/// Headings and names.
pub const STRONG: Style = Style::new().bold();
/// Less important text.
pub const QUIET: Style = Style::new().dimmed();

/// `text` in a style; control characters are made visible.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", visible(text))
}

/// Text from a model, for a terminal: replaces characters that would move the cursor, set a colour or change the writing
/// direction.
pub fn visible(text: &str) -> String {
    let shown = |c: char| match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        0x80..0xa0 | 0x200e | 0x200f | 0x2028..=0x202e | 0x2066..=0x2069 => '\u{fffd}',
        _ => c,
    };
    text.chars().map(shown).collect()
}

/// Like [`visible`], for text of several lines.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// The width of a text in columns; combining marks have no width.
pub fn room(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

/// Aligns `text` to the right of a column.
pub fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(room(text))))
}

/// Aligns `text` to the left of a column.
pub fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(room(text))))
}

/// Formats an error, with the leading word, the position and the marks in colour.
pub fn error(error: &Error) -> String {
    let text = error.to_string();
    format!("{} {}", paint(BAD, "error:"), marked(text.strip_prefix("error: ").unwrap_or(&text)))
}

/// Colours the lines of an error or a warning.
fn marked(text: &str) -> String {
    let paint_line = |line: &str| {
        if let Some(rest) = line.strip_prefix("help: ") {
            format!("{} {}", paint(HELP, "help:"), visible(rest))
        } else if let Some(at) = line.find("│ ").filter(|_| line.trim_start().starts_with('│')) {
            let (margin, marks) = line.split_at(at + "│ ".len());
            format!("{}{}", paint(PLACE, margin), paint(BAD, marks))
        } else if line.trim_start().starts_with("┌─") {
            paint(PLACE, line)
        } else {
            visible(line)
        }
    };
    text.lines().map(paint_line).collect::<Vec<_>>().join("\n")
}

/// A number with at most `digits` significant digits.
pub fn rounded(x: f64, digits: usize) -> String {
    let decimals = digits - 1;
    format!("{x:.decimals$e}").parse().map_or_else(|_| x.to_string(), plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(visible("a\u{1b}[31mb\r\n\u{7f}\u{9b}2J\u{202e}θ̇ 木"), "a␛[31mb␍␊␡\u{fffd}2J\u{fffd}θ̇ 木");
        assert_eq!(visible_lines("a\tb\nc\u{7}"), "a␉b\nc␇");
    }
}
