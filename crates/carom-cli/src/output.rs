//! Standard output, which may be closed or full.

use std::io::{ErrorKind, Write};

use carom::lab::error::{Diagnostic, Result};

/// Writes `text`. If nobody reads any more, as after `carom … | head`, that is not an error.
pub fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(format!("cannot write to standard output: {e}")).into())
        }
        _ => Ok(()),
    }
}
