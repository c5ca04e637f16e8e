//! `carom methods`.

use std::process::ExitCode;

use carom::error::Result;
use carom::method;

use crate::style::{STRONG, paint};

/// Lists flows, impact rules and presets.
pub fn methods() -> Result<ExitCode> {
    for (group, entries) in method::entries() {
        anstream::println!("{}", paint(STRONG, group));
        for entry in entries {
            anstream::println!("  {:<12} {}", entry.name, entry.about);
        }
    }
    anstream::println!("\nWrite `flow+rule`, a flow alone (with ctec), a rule alone (with svc), or a preset.");
    Ok(ExitCode::SUCCESS)
}
