//! Phases for a problem without any.

use std::fmt::Write;

use crate::model::Model;
use crate::simulation::Record;

/// The largest number of impacts that make phases.
const MOST_IMPACTS: usize = 8;

/// The steps of a phase that is suggested.
const STEPS: usize = 50;

/// What to write: one phase, or those that a run with the values of the controls suggests, ready to paste.
pub(super) fn phases(model: &Model) -> String {
    let until = model.run.until.unwrap_or(1.0);
    let simulation = model.simulation().until(until).step(until / STEPS as f64).record(Record::Impacts);
    let run = simulation.run().ok();
    let impacts = run.iter().flat_map(|run| run.impacts().iter().map(|impact| (impact.minus.t, run.wall(impact))));
    let (mut text, mut t) = (String::from("write, for example:"), 0.0);
    for (at, wall) in impacts.take(MOST_IMPACTS).filter(|(at, _)| *at > 0.0 && *at < until) {
        let duration = at - t;
        let _ = write!(text, "\n[[phase]]\nsteps = {STEPS}\nduration = {{guess = {duration:.3}}}\nimpact = \"{wall}\"");
        t = at;
    }
    let _ = write!(text, "\n[[phase]]\nsteps = {STEPS}");
    if t > 0.0 {
        let _ = write!(text, "\nduration = {{guess = {:.3}}}", until - t);
    }
    text
}
