//! `carom check`.

use std::process::ExitCode;

use carom::lab::model::MOST_MISTAKES;
use carom::lab::model::Start;
use carom::lab::projection;
use carom::lab::simulation::study;
use carom::{Diagnostic, Error, Model, Result};

use super::{load, warn};
use crate::args;
use crate::output::{aside, print};
use crate::style::{self, STRONG, paint};

/// Validates a model and describes it, or prints all mistakes.
pub fn check(arguments: &args::Model) -> Result<ExitCode> {
    match load(arguments).and_then(|model| describe(&model)) {
        Err(Error::Model(mistake)) if !mistake.others.is_empty() => {
            tell_all(*mistake);
            Ok(ExitCode::from(2))
        }
        result => result.map(|()| ExitCode::SUCCESS),
    }
}

/// Prints all mistakes in the order of the file; those of the command line come last.
fn tell_all(mut first: Diagnostic) {
    let mut mistakes = std::mem::take(&mut first.others);
    mistakes.insert(0, first);
    mistakes.sort_by_key(|mistake| mistake.place.as_ref().map(|p| (p.source == "command line", p.line, p.column)));
    mistakes.truncate(MOST_MISTAKES);
    let count = match mistakes.len() {
        MOST_MISTAKES => format!("the first {MOST_MISTAKES}"),
        n => n.to_string(),
    };
    for mistake in mistakes {
        anstream::eprintln!("{}\n", style::error(&mistake.into()));
    }
    anstream::eprintln!("{count} mistakes");
}

fn describe(model: &Model) -> Result<()> {
    let start = model.initial.as_ref().map(|_| model.start()).transpose()?;
    let system = &model.system;
    let mut text = format!("{}\n", paint(STRONG, &model.title));
    let names: Vec<&str> = system.coordinates.iter().map(|c| c.name.as_str()).collect();
    text += &format!("  coordinates  {}\n", names.join(", "));
    for (what, count) in [("walls", system.walls.len()), ("constraints", system.stated_constraints().len())] {
        if count > 0 {
            text += &format!("  {what:<12} {count}\n");
        }
    }
    match &start {
        Some(Start { q, v, p, .. }) => {
            for (letter, values) in [("start        q", q), ("             v", v), ("             p", p)] {
                text += &format!("  {letter} = {values:?}\n");
            }
        }
        None => text += "  start        none: a run needs `[initial]`\n",
    }
    let projected = model.run.method.as_deref().is_some_and(|method| method.contains("php"));
    if projected || model.projection.is_some() {
        text += &format!("{}\n", paint(STRONG, "projected Hamilton's principle"));
        let study = study(model)?;
        projection::report(model, &study).iter().for_each(|line| text += &format!("  {line}\n"));
    }
    print(&text)?;
    if projected && let Some(error) = study(model)?.failure() {
        return Err(error.clone());
    }
    print("no mistakes found\n")?;
    warn(&model.warnings);
    if let Some(start) = start {
        warn(&start.warnings);
        start.notes.iter().for_each(|note| aside(&style::note(note)));
    }
    Ok(())
}
