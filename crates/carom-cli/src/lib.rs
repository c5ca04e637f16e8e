//! The `carom` command, also for programs that call it.

mod args;
mod commands;
mod json;
mod output;
mod session;
mod style;

use std::ffi::OsString;
use std::process::ExitCode;

use carom::lab::error::Error;
use clap::Parser;

pub use commands::run::restart;
pub use session::{Answer, Call, Said};

/// Executes a command line, whose first word is the name of the program, and returns the exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match args::Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // It goes to standard output if it was asked for; a closed pipe is no error.
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    match commands::execute(arguments.command) {
        Ok(code) => number(code),
        Err(error) => {
            anstream::eprintln!("{}", style::error(&error));
            match error {
                Error::Model(_) => 2,
                Error::Numerical(_) => 1,
            }
        }
    }
}

/// The number of an exit code of a command, which is at most 2.
fn number(code: ExitCode) -> u8 {
    (0..2).find(|&number| code == ExitCode::from(number)).unwrap_or(2)
}
