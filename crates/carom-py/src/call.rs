//! Commands: what `carom COMMAND` prints.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use carom_cli::{Answer, Call, Said};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::force::{Force, Trouble};
use crate::signals::patiently;

/// Executes a command and returns what it prints, its warnings, its notes and its exit code. `model` is the name by which the words
/// call a model, and its text; `force` is a function that acts on it.
#[pyfunction]
#[pyo3(signature = (words, model=None, force=None))]
pub fn call(
    py: Python<'_>,
    words: Vec<String>,
    model: Option<(String, String)>,
    force: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>, Vec<String>, u8)> {
    let force = force.map(|function| Force::new(py, function)).transpose()?;
    let law = force.as_ref().map(|force| force.law().clone());
    let work = move |stop: &Arc<AtomicBool>| Call { words, model, force: law, stop: stop.clone() }.answer();
    let answer = Trouble::watch(|| py.detach(|| patiently(work)))??;
    let Answer { text, said, code } = answer.map_err(|error| to_python(py, &error))?;
    let (warnings, notes) = sorted(said);
    Ok((text, warnings, notes, code))
}

/// Warnings and notes.
pub fn sorted(said: Vec<Said>) -> (Vec<String>, Vec<String>) {
    let (mut warnings, mut notes) = (Vec::new(), Vec::new());
    for said in said {
        match said {
            Said::Warning(text) => warnings.push(text),
            Said::Note(text) | Said::Other(text) => notes.push(text),
        }
    }
    (warnings, notes)
}
