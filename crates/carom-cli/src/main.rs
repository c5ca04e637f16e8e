//! The `carom` command.

mod args;
mod commands;
mod json;
mod output;
mod style;

use std::process::ExitCode;

use carom::lab::error::Error;
use clap::Parser;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match commands::execute(arguments.command) {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("{}", style::error(&error));
            match error {
                Error::Model(_) => ExitCode::from(2),
                Error::Numerical(_) => ExitCode::FAILURE,
            }
        }
    }
}
