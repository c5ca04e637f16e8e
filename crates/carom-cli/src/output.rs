//! Writes to standard output, which may be closed or full, and to standard error; or to the program that called the command.

use std::io::{ErrorKind, Write};

use carom::lab::error::{Diagnostic, Result};

use crate::session;

/// Writes `text`. It is not an error if the reader has closed the pipe, as in `carom … | head`.
pub fn print(text: &str) -> Result<()> {
    if session::hear(text) {
        return Ok(());
    }
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(format!("cannot write to standard output: {e}")).into())
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error.
pub fn aside(text: &str) {
    if !session::hear_aside(text) {
        anstream::eprintln!("{text}");
    }
}
