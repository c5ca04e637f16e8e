//! `carom methods`.

use std::process::ExitCode;

use carom::lab::error::Result;
use carom::lab::method;

use crate::output::print;
use crate::style::{STRONG, paint};

/// Lists flows, impact rules and presets.
pub fn methods() -> Result<ExitCode> {
    let mut text = String::new();
    for (group, entries) in method::entries() {
        text += &format!("{}\n", paint(STRONG, group));
        for entry in entries {
            text += &format!("  {:<12} {}\n", entry.name, entry.about);
        }
    }
    print(
        &(text
            + "\nWrite `flow+rule`, a flow alone (with ctec), a rule alone (with svc), or a preset.\n\
                  `auto` is the default for the model.\n"),
    )?;
    Ok(ExitCode::SUCCESS)
}
