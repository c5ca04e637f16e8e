//! `carom check`.

use std::process::ExitCode;

use carom::error::Result;

use super::load;
use crate::args;
use crate::style::{STRONG, paint};

/// Reads a model, evaluates its start, and says what it is.
pub fn check(arguments: &args::Model) -> Result<ExitCode> {
    let model = load(arguments)?;
    let start = model.start()?;
    let system = &model.system;
    anstream::println!("{}", paint(STRONG, &model.title));
    let names: Vec<&str> = system.coordinates.iter().map(|c| c.name.as_str()).collect();
    anstream::println!("  coordinates  {}", names.join(", "));
    for (what, count) in [("walls", system.walls.len()), ("constraints", system.constraints.len())] {
        if count > 0 {
            anstream::println!("  {what:<12} {count}");
        }
    }
    anstream::println!(
        "  start        q = {:?}\n               v = {:?}\n               p = {:?}",
        start.q,
        start.v,
        start.p
    );
    anstream::println!("no mistakes found");
    Ok(ExitCode::SUCCESS)
}
