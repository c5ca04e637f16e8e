//! Numbers to NumPy, without a copy.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// A column. The array owns the memory of the vector.
pub fn column(py: Python<'_>, values: Vec<f64>) -> Bound<'_, PyAny> {
    let array = PyArray1::from_vec(py, values);
    let _ = array.readwrite().make_nonwriteable();
    array.into_any()
}

/// Rows of `count` numbers each. The array owns the memory of the vector.
pub fn rows(py: Python<'_>, values: Vec<f64>, count: usize) -> PyResult<Bound<'_, PyAny>> {
    let length = values.len().checked_div(count).unwrap_or(0);
    let array = PyArray1::from_vec(py, values);
    let _ = array.readwrite().make_nonwriteable();
    Ok(array.reshape([length, count])?.into_any())
}
