//! Errors of carom as Python exceptions, whose classes the package defines.

use carom::{Diagnostic, Error, Failure};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A mistake becomes `carom.ModelError`, a failed computation `carom.RunError`.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Model(mistake) => model_error(py, mistake),
        Error::Numerical(failure) => run_error(py, failure),
    }
    .unwrap_or_else(|trouble| trouble)
}

fn model_error(py: Python<'_>, mistake: &Diagnostic) -> PyResult<PyErr> {
    let facts = PyDict::new(py);
    facts.set_item("message", &mistake.message)?;
    if let Some(place) = &mistake.place {
        facts.set_item("source", &place.source)?;
        facts.set_item("line", place.line)?;
        facts.set_item("column", place.column)?;
    }
    let label = mistake.place.as_ref().map(|place| &place.label).filter(|label| !label.is_empty());
    facts.set_item("hint", mistake.help.as_ref().or(label))?;
    let class = py.import("carom._errors")?.getattr("ModelError")?;
    Ok(PyErr::from_value(class.call((mistake.body(),), Some(&facts))?))
}

fn run_error(py: Python<'_>, failure: &Failure) -> PyResult<PyErr> {
    let text = failure.to_string();
    let class = py.import("carom._errors")?.getattr("RunError")?;
    Ok(PyErr::from_value(class.call1((text.strip_prefix("error: ").unwrap_or(&text),))?))
}
