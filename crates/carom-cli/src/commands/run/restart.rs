//! The final state of a run as text, for programs that call the command.

use carom::{Model, Outcome, Result, Simulation};

use super::object::final_object;
pub use super::object::origin;
use super::resume;
use crate::json::Object;
use crate::session::{Said, listen};

/// The members of a run's JSON object that depend on the model alone. They take some time, since they contain its fingerprint.
pub fn of_model(model: &Model) -> String {
    origin(Object::default(), model).finish()
}

/// The members of a run's JSON object from which it can be resumed; `of_model` are those of [`of_model`].
pub fn write(model: &Model, outcome: &Outcome, of_model: &str) -> String {
    let last = final_object(model, &outcome.last, &outcome.state).finish();
    format!("{{\"final\": {last}, {}", of_model.trim_start_matches('{'))
}

/// Resumes from what [`write`] wrote, or from the JSON object of a run.
pub fn read(simulation: Simulation, text: &str, model: &Model) -> (Result<Simulation>, Vec<Said>) {
    listen(|| resume::from_text(simulation, "the given state", text, model))
}
