//! Errors.
//!
//! A mistake in a model is shown with the user's own line; a failed computation reports its time and state.

use std::fmt;

/// A result with carom's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A number in full, or in exponential notation if it is very small or large.
pub fn plain(x: f64) -> String {
    if x == 0.0 || (1e-5..1e15).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// The reason why a request failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The model or a setting is wrong: exit code 2.
    Model(Box<Diagnostic>),
    /// The computation failed: exit code 1.
    Numerical(Box<Failure>),
}

/// A mistake in a model or a setting, with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The message, in one line.
    pub message: String,
    /// The position in the model, if known.
    pub place: Option<SourcePlace>,
    /// Advice, if it does not fit beside the position.
    pub help: Option<String>,
    /// Further mistakes in the same model.
    pub others: Vec<Diagnostic>,
}

/// A range of characters in one line of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcePlace {
    /// The file, or `command line`.
    pub source: String,
    /// The line number, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The line, or the part of it around the range.
    pub text: String,
    /// The start of the range in `text`, in characters.
    pub start: usize,
    /// The number of characters of the range.
    pub width: usize,
    /// The text beside the marked range.
    pub label: String,
}

/// A computation that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What failed.
    pub message: String,
    /// The time at which it failed.
    pub t: f64,
    /// The coordinates there.
    pub q: Vec<f64>,
    /// The momenta there.
    pub p: Vec<f64>,
    /// Advice.
    pub hint: String,
}

impl Diagnostic {
    /// A diagnostic without a position.
    pub fn new(message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), place: None, help: None, others: Vec::new() }
    }

    /// The message, the position and the help, without the leading word `error`.
    pub fn body(&self) -> String {
        let place = self.place.as_ref().map_or(String::new(), |place| format!("\n{place}"));
        let help = self.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
        format!("{}{place}{help}", self.message)
    }

    /// The first of several mistakes, which carries the others. None if there are none.
    pub fn first_of(mistakes: Vec<Diagnostic>) -> Option<Diagnostic> {
        let mut mistakes = mistakes.into_iter();
        let first = mistakes.next()?;
        Some(Diagnostic { others: mistakes.collect(), ..first })
    }

    /// True if this only follows from a mistake that was already reported.
    pub fn is_consequence(&self) -> bool {
        self.message.is_empty()
    }

    /// Adds advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error::Model(Box::new(diagnostic))
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::Numerical(Box::new(failure))
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Model(diagnostic) => diagnostic.fmt(f),
            Error::Numerical(failure) => failure.fmt(f),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "error: {}", self.body())
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{margin} ┌─ {}:{}:{}", self.source, self.line, self.column)?;
        writeln!(f, "{number} │ {}", self.text)?;
        write!(f, "{margin} │ {}{}", " ".repeat(self.start), "^".repeat(self.width.max(1)))?;
        if self.label.is_empty() { Ok(()) } else { write!(f, " {}", self.label) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        writeln!(f, "  at t = {}, q = {:?}, p = {:?}", self.t, self.q, self.p)?;
        write!(f, "help: {}", self.hint)
    }
}
