//! The private module `carom._carom`, on which the Python package `carom` stands.

mod call;
mod convert;
mod dense;
mod drawing;
mod ensemble;
mod errors;
mod force;
mod loaded;
mod model;
mod recorder;
mod result;
mod room;
mod signals;

use pyo3::prelude::*;

/// Runs the command `carom` and returns its exit code. The first word is the name of the program.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| carom_cli::main(words))
}

/// The names of the shipped models, each with its title.
#[pyfunction]
fn examples() -> Vec<(&'static str, &'static str)> {
    carom::EXAMPLES.iter().map(|example| (example.name, example.about)).collect()
}

/// The names of the diagnostics.
#[pyfunction]
fn diagnostics() -> Vec<&'static str> {
    carom::lab::diagnostic::REGISTRY.iter().map(|entry| entry.name).collect()
}

/// Writes columns of numbers to a Parquet file.
#[pyfunction]
fn write_parquet(
    py: Python<'_>,
    path: std::path::PathBuf,
    columns: Vec<(String, numpy::PyReadonlyArray1<'_, f64>)>,
) -> PyResult<()> {
    let values: Vec<(String, &[f64])> =
        columns.iter().map(|(name, values)| Ok((name.clone(), values.as_slice()?))).collect::<PyResult<_>>()?;
    py.detach(|| carom_sweep::write_numbers(&path, &values)).map_err(|error| errors::to_python(py, &error))
}

/// The nearest of some names, if one is near.
#[pyfunction]
fn suggestion(name: &str, known: Vec<String>) -> Option<String> {
    carom::lab::model::suggestion(name, known.iter().map(String::as_str)).map(Into::into)
}

/// The module.
#[pymodule]
mod _carom {
    #[pymodule_export]
    use super::call::call;
    #[pymodule_export]
    use super::dense::Dense;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::{diagnostics, examples, main, suggestion, write_parquet};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
