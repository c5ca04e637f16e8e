//! The text of a model, and positions in it.

use std::ops::Range;

use crate::error::{Diagnostic, Error, SourcePlace};
use crate::expr::parse::Complaint;

/// Longer lines are shown in part.
const SHOWN: usize = 100;

/// The text of a file, followed by the settings of the command line. A byte range identifies the piece that it belongs to.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    /// The start and the name of each piece.
    pieces: Vec<(usize, String)>,
}

impl Source {
    /// A source that consists of one file.
    pub fn new(name: &str, text: &str) -> Source {
        Source { text: text.into(), pieces: vec![(0, name.into())] }
    }

    /// Appends a piece and returns its start.
    pub fn append(&mut self, name: &str, text: &str) -> usize {
        let start = self.text.len();
        self.pieces.push((start, name.into()));
        self.text.push_str(text);
        start
    }

    /// All the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.pieces[0].1
    }

    /// An error at a span.
    pub fn error(&self, span: Range<usize>, complaint: Complaint) -> Error {
        self.diagnostic(span, complaint).into()
    }

    /// A diagnostic at a span.
    pub fn diagnostic(&self, span: Range<usize>, complaint: Complaint) -> Diagnostic {
        Diagnostic { place: Some(self.place(span, complaint.label)), ..Diagnostic::new(complaint.message) }
    }

    fn place(&self, span: Range<usize>, label: String) -> SourcePlace {
        let index = self.pieces.iter().rposition(|(start, _)| *start <= span.start).unwrap_or(0);
        let (piece_start, name) = &self.pieces[index];
        let piece_end = self.pieces.get(index + 1).map_or(self.text.len(), |(start, _)| *start);
        let piece = &self.text[*piece_start..piece_end];
        let at = floor_boundary(piece, span.start.saturating_sub(*piece_start));
        let line_start = piece[..at].rfind('\n').map_or(0, |i| i + 1);
        let line_end = piece[at..].find('\n').map_or(piece.len(), |i| at + i);
        let end = floor_boundary(piece, (span.end.saturating_sub(*piece_start)).clamp(at, line_end));
        let before: Vec<char> = piece[line_start..at].chars().collect();
        let width = piece[at..end].chars().count();
        let line: Vec<char> = piece[line_start..line_end].trim_end().chars().map(printable).collect();
        let (text, start, width) = clip(&line, before.len(), width);
        let number = piece[..line_start].matches('\n').count() + 1;
        SourcePlace { source: name.clone(), line: number, column: before.len() + 1, text, start, width, label }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// The part of a long line around `start`.
fn clip(line: &[char], start: usize, width: usize) -> (String, usize, usize) {
    if line.len() <= SHOWN {
        return (line.iter().collect(), start, width);
    }
    let from = start.saturating_sub(SHOWN / 3).min(line.len());
    let to = (from + SHOWN).min(line.len());
    let (head, tail) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
    let text = format!("{head}{}{tail}", line[from..to].iter().collect::<String>());
    let start = start - from + head.chars().count();
    (text, start, width.min(SHOWN.saturating_sub(start)))
}
