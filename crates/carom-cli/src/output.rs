//! Writes to standard output, which may be closed or full.

use std::io::{ErrorKind, Write};

use carom::lab::error::{Diagnostic, Result};

/// Writes `text`. It is not an error if the reader has closed the pipe, as in `carom … | head`.
pub fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(format!("cannot write to standard output: {e}")).into())
        }
        _ => Ok(()),
    }
}
