//! A force that is a function of Python.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use carom::ForceFunction;
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A function of Python.
#[derive(Clone)]
pub struct Force {
    function: Arc<Py<PyAny>>,
    law: ForceFunction,
}

impl Force {
    /// `function` is called with t, q and v, and returns the force on each coordinate.
    pub fn new(py: Python<'_>, function: Py<PyAny>) -> PyResult<Force> {
        if !function.bind(py).is_callable() {
            let kind = function.bind(py).get_type().name()?.to_string();
            return Err(PyTypeError::new_err(format!("a force is a function f(t, q, v), not {kind}")));
        }
        let function = Arc::new(function);
        let called = function.clone();
        let law = ForceFunction::new(move |t, q, v, force| {
            let trouble = Trouble::current();
            // After an exception the run ends: nothing is called until the next one begins.
            if trouble.is_set() {
                return force.fill(f64::NAN);
            }
            Python::attach(|py| {
                if let Err(error) = call(called.bind(py), t, q, v, force) {
                    force.fill(f64::NAN);
                    note_place(py, &error, t, q, v);
                    trouble.set(error);
                }
            });
        });
        Ok(Force { function, law })
    }

    /// What the library calls.
    pub fn law(&self) -> &ForceFunction {
        &self.law
    }

    /// The function of Python.
    pub fn function(&self) -> &Py<PyAny> {
        &self.function
    }
}

thread_local! {
    static CURRENT: RefCell<Trouble> = RefCell::default();
}

/// The first exception that functions raised in a run. It belongs to the run: each thread knows the run that it works for.
#[derive(Clone, Default)]
pub struct Trouble(Arc<Mutex<Option<PyErr>>>);

impl Trouble {
    /// That of the run for which this thread works.
    pub fn current() -> Trouble {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Does the work of a run in this thread.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _restore = Restore(CURRENT.replace(self.clone()));
        work()
    }

    /// Does the work of a run, and raises the exception that ended it, if one did.
    pub fn watch<T>(work: impl FnOnce() -> T) -> PyResult<T> {
        let trouble = Trouble::default();
        let done = trouble.during(work);
        let raised = trouble.lock().take();
        raised.map_or(Ok(done), Err)
    }

    fn is_set(&self) -> bool {
        self.lock().is_some()
    }

    fn set(&self, error: PyErr) {
        self.lock().get_or_insert(error);
    }

    fn lock(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Goes back to the run that waits for this one: a function may run models too.
struct Restore(Trouble);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.replace(std::mem::take(&mut self.0));
    }
}

/// Calls the function and copies what it returns.
fn call(function: &Bound<'_, PyAny>, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) -> PyResult<()> {
    let py = function.py();
    let returned = function.call1((t, PyArray1::from_slice(py, q), PyArray1::from_slice(py, v)))?;
    let array = match returned.cast_into::<PyArray1<f64>>() {
        Ok(array) => array,
        Err(other) => as_numbers(&other.into_inner(), force.len())?,
    };
    if array.len() != force.len() {
        return Err(wrong_shape(&format!("({},)", array.len()), force.len()));
    }
    force.iter_mut().zip(array.readonly().as_array()).for_each(|(to, from)| *to = *from);
    if force.iter().any(|f| !f.is_finite()) {
        return Err(PyValueError::new_err(format!("the force is not finite: {force:?}")));
    }
    Ok(())
}

/// Anything that NumPy takes for a list of numbers.
fn as_numbers<'py>(returned: &Bound<'py, PyAny>, n: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let py = returned.py();
    let no_numbers = |cause: Option<PyErr>| {
        let kind = returned.get_type().name().map_or_else(|_| "something else".into(), |name| name.to_string());
        let error = PyTypeError::new_err(format!("the force returned {kind}, not {n} numbers"));
        error.set_cause(py, cause);
        error
    };
    // To NumPy this would be NaN.
    if returned.is_none() {
        return Err(no_numbers(None));
    }
    let options = PyDict::new(py);
    options.set_item("dtype", "float64")?;
    let array = py.import("numpy")?.call_method("asarray", (returned,), Some(&options));
    let array = array.map_err(|cause| no_numbers(Some(cause)))?;
    let shape = array.getattr("shape")?.to_string();
    array.cast_into::<PyArray1<f64>>().map_err(|_| wrong_shape(&shape, n))
}

fn wrong_shape(shape: &str, n: usize) -> PyErr {
    PyValueError::new_err(format!("the force returned an array of shape {shape}, not ({n},)"))
}

/// Tells with what the function was called.
fn note_place(py: Python<'_>, error: &PyErr, t: f64, q: &[f64], v: &[f64]) {
    let note = format!("in the force, which was called with t = {t:?}, q = {q:?}, v = {v:?}");
    let _ = error.value(py).call_method1("add_note", (note,));
}
