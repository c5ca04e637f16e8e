//! `carom derive`.

use std::process::ExitCode;

use carom::error::Result;

use super::load;
use crate::args::{self, Format};

/// Prints the equations of motion and the impact laws.
pub fn derive(arguments: &args::Derive) -> Result<ExitCode> {
    let model = load(&arguments.model)?;
    let derivation = carom::derive::derive(&model.system, &model.title);
    match arguments.format {
        Format::Text => print!("{}", derivation.to_text()),
        Format::Latex => print!("{}", derivation.to_latex()),
        Format::Html => print!("{}", derivation.to_html()),
    }
    Ok(ExitCode::SUCCESS)
}
