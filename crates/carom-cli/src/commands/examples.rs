//! `carom examples`.

use std::process::ExitCode;

use carom::lab::catalogue;
use carom::lab::error::{Diagnostic, Result};

use crate::output::print;
use crate::style::{QUIET, STRONG, paint};

/// Lists the shipped models, or prints one.
pub fn examples(name: Option<&str>) -> Result<ExitCode> {
    let Some(name) = name else {
        let line = |example: &catalogue::Example| {
            let padded = format!("{:<24}", example.name);
            let origin = if example.origin.is_empty() { String::new() } else { format!(" {}", example.origin) };
            format!("{} {}{}\n", paint(STRONG, &padded), example.about, paint(QUIET, &origin))
        };
        print(&catalogue::EXAMPLES.iter().map(line).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    };
    let example = catalogue::find(name).ok_or_else(|| {
        let near = carom::lab::model::suggestion(name, catalogue::EXAMPLES.iter().map(|e| e.name));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`carom examples` lists them".into(),
        };
        Diagnostic::new(format!("there is no example `{name}`")).with_help(help)
    })?;
    print(example.text)?;
    Ok(ExitCode::SUCCESS)
}
