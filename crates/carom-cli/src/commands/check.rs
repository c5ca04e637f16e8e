//! `carom check`.

use std::process::ExitCode;

use carom::Result;
use carom::lab::projection;
use carom::lab::simulation::study;

use super::{load, warn};
use crate::args;
use crate::output::print;
use crate::style::{STRONG, paint};

/// Reads a model, evaluates its start, and says what it is.
pub fn check(arguments: &args::Model) -> Result<ExitCode> {
    let model = load(arguments)?;
    let start = model.start()?;
    let system = &model.system;
    let mut text = format!("{}\n", paint(STRONG, &model.title));
    let names: Vec<&str> = system.coordinates.iter().map(|c| c.name.as_str()).collect();
    text += &format!("  coordinates  {}\n", names.join(", "));
    for (what, count) in [("walls", system.walls.len()), ("constraints", system.constraints.len())] {
        if count > 0 {
            text += &format!("  {what:<12} {count}\n");
        }
    }
    for (letter, values) in [("start        q", start.q), ("             v", start.v), ("             p", start.p)] {
        text += &format!("  {letter} = {values:?}\n");
    }
    let projected = model.run.method.as_deref().is_some_and(|method| method.contains("php"));
    if projected || model.projection.is_some() {
        text += &format!("{}\n", paint(STRONG, "projected Hamilton's principle"));
        let study = study(&model)?;
        projection::report(&model, &study).iter().for_each(|line| text += &format!("  {line}\n"));
    }
    print(&text)?;
    if projected && let Some(error) = study(&model)?.failure() {
        return Err(error.clone());
    }
    print("no mistakes found\n")?;
    warn(&start.warnings);
    Ok(ExitCode::SUCCESS)
}
