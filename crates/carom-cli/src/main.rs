//! The `carom` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(carom_cli::main(std::env::args_os()))
}
