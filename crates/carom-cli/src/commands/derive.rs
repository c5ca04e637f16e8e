//! `carom derive`.

use std::process::ExitCode;

use carom::lab::error::Result;

use super::load;
use crate::args::{self, Format};
use crate::output::print;
use crate::style::visible_lines;

/// Prints the equations of motion and the impact laws.
pub fn derive(arguments: &args::Derive) -> Result<ExitCode> {
    let model = load(&arguments.model)?;
    let derivation = carom::lab::derive::derive(&model.system, &model.title);
    print(&visible_lines(&match arguments.format {
        Format::Text => derivation.to_text(),
        Format::Latex => derivation.to_latex(),
        Format::Html => derivation.to_html(),
    }))?;
    Ok(ExitCode::SUCCESS)
}
