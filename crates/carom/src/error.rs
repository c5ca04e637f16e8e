//! What can go wrong: one [`Error`].
//!
//! A mistake in a model is shown in the user's own line; a failing computation says when and where it happened.

use std::fmt;

/// The result of anything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why carom could not do what was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The model, or a setting of it, is wrong: exit code 2.
    Model(Box<Diagnostic>),
    /// The computation failed: exit code 1.
    Numerical(Box<Failure>),
}

/// A mistake, with the place where it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// What to do about it, if there is more to say than fits beside the place.
    pub help: Option<String>,
    /// Further mistakes, in a model that has several.
    pub others: Vec<Diagnostic>,
}

/// A stretch of one line of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The file, or `command line`.
    pub source: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The line, or the part of it around the place.
    pub text: String,
    /// Where in `text` the stretch begins, in characters.
    pub start: usize,
    /// How many characters it spans.
    pub width: usize,
    /// What to say beside it.
    pub label: String,
}

/// A computation that could not go on.
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
    /// What to try.
    pub hint: String,
}

impl Diagnostic {
    /// A mistake without a place.
    pub fn new(message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), place: None, help: None, others: Vec::new() }
    }

    /// The message, the place and the help, without the word that begins an error.
    pub fn body(&self) -> String {
        let place = self.place.as_ref().map_or(String::new(), |place| format!("\n{place}"));
        let help = self.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
        format!("{}{place}{help}", self.message)
    }

    /// The first of several mistakes, which carries the others; nothing where there is none.
    pub fn first_of(mistakes: Vec<Diagnostic>) -> Option<Diagnostic> {
        let mut mistakes = mistakes.into_iter();
        let first = mistakes.next()?;
        Some(Diagnostic { others: mistakes.collect(), ..first })
    }

    /// True for what only follows from a mistake that was told already.
    pub fn is_consequence(&self) -> bool {
        self.message.is_empty()
    }

    /// Adds what to do about it.
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

impl fmt::Display for Place {
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
