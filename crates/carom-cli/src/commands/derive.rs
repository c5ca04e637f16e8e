//! `carom derive`.

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;

use carom::lab::error::{Diagnostic, Result};

use super::load;
use crate::args::{self, Format};
use crate::output::print;
use crate::style::visible_lines;

/// Prints the equations of motion and the impact laws.
pub fn derive(arguments: &args::Derive) -> Result<ExitCode> {
    if arguments.fragment && arguments.format != Format::Latex {
        let wrong = Diagnostic::new("`--fragment` needs LaTeX output");
        return Err(wrong.with_help("write `--format latex --fragment`").into());
    }
    let model = load(&arguments.model)?;
    let derivation = carom::lab::derive::derive(&model.system, &model.title);
    print(&visible_lines(&match arguments.format {
        Format::Text => terminal_width().map_or_else(|| derivation.to_text(), |n| derivation.to_text_within(n)),
        Format::Latex if arguments.fragment => derivation.to_latex_equations(),
        Format::Latex => derivation.to_latex(),
        Format::Html => derivation.to_html(),
    }))?;
    Ok(ExitCode::SUCCESS)
}

/// The width of the terminal, if standard output is one.
fn terminal_width() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0))
}
