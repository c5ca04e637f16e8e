//! Dense output.

use std::sync::{Arc, Mutex, PoisonError};

use carom::Node;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::rows;
use crate::errors::to_python;
use crate::force::Trouble;
use crate::room::note_dense;

/// Dense output; none if it was dropped to make room.
pub type Kept = Mutex<Option<carom::Dense>>;

/// The motion between the nodes of a run.
#[pyclass(frozen, module = "carom._carom")]
pub struct Dense(Arc<Kept>);

impl Dense {
    pub fn new(dense: carom::Dense) -> Dense {
        let kept = Arc::new(Mutex::new(Some(dense)));
        note_dense(&kept);
        Dense(kept)
    }
}

/// Computes without the GIL. A force that is a function is called between nodes too: raises its exception.
fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    Trouble::watch(|| py.detach(work))
}

#[pymethods]
impl Dense {
    /// t, q, v, p and the outputs at some times, before or after impacts there, as rows. The times must be in the run. None if it was dropped.
    fn at<'py>(
        &self,
        py: Python<'py>,
        t: PyReadonlyArray1<'py, f64>,
        before: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let times = t.as_slice()?.to_vec();
        let found = compute(py, || {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(dense) = kept.as_mut() else { return Ok(None) };
            let (mut node, mut values) = (Node::default(), Vec::new());
            for t in times {
                dense.at(t, before, &mut node)?;
                values.push(t);
                [&node.q, &node.v, &node.p, &node.outputs].iter().for_each(|part| values.extend_from_slice(part));
            }
            Ok(Some((1 + 3 * node.q.len() + node.outputs.len(), values)))
        })?;
        let found = found.map_err(|error: carom::Error| to_python(py, &error))?;
        found.map(|(count, values)| rows(py, values, count)).transpose()
    }

    /// The energy at some times, after impacts there. None if it was dropped.
    fn energy<'py>(
        &self,
        py: Python<'py>,
        t: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let times = t.as_slice()?.to_vec();
        let found = compute(py, || {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(dense) = kept.as_mut() else { return Ok(None) };
            let energies: carom::Result<Option<Vec<f64>>> = times.into_iter().map(|t| dense.energy(t)).collect();
            energies.map(Some)
        })?;
        let Some(values) = found.map_err(|error: carom::Error| to_python(py, &error))? else { return Ok(None) };
        let values = values.ok_or_else(|| PyValueError::new_err("the time is outside the run"))?;
        Ok(Some(PyArray1::from_vec(py, values)))
    }

    /// The end of the recorded time.
    #[getter]
    fn end(&self, py: Python<'_>) -> f64 {
        // Who holds the lock may wait for the GIL, to call a force.
        let end = || self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(carom::Dense::end);
        py.detach(end).unwrap_or(f64::NEG_INFINITY)
    }
}
