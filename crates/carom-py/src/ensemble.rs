//! Many motions of one model, on all cores.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use carom::sweep::{Axis, Row, Sweep, Values};
use carom::{Model, Node, Result, Simulation, Status};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::column;
use crate::errors::to_python;
use crate::loaded::Loaded;
use crate::signals::{Flag, patiently, patiently_with};

/// The number of rows that a thread takes at a time.
const AT_ONCE: u64 = 256;

/// A sweep in memory.
pub struct Request {
    pub axes: Vec<String>,
    /// Axes with one value for each row; they vary together.
    pub lists: Vec<(String, Vec<f64>)>,
    pub samples: Option<u64>,
    pub seed: u64,
    pub records: Vec<String>,
    pub timeout: f64,
    pub threads: usize,
}

/// Where motions start: rows of coordinates, and of velocities or momenta.
pub struct Starts {
    pub q: Vec<f64>,
    pub motion: Vec<f64>,
    pub is_momentum: bool,
}

fn build(model: &Model, request: &Request) -> Result<Sweep> {
    let mut builder = model.sweep().seed(request.seed).limit(Duration::from_secs_f64(request.timeout));
    for axis in &request.axes {
        builder = builder.vary(axis)?;
    }
    for (name, values) in &request.lists {
        let values = Values::Column { file: String::new(), values: values.clone() };
        builder = builder.axis(Axis { name: name.clone(), text: name.clone(), values });
    }
    if let Some(samples) = request.samples {
        builder = builder.samples(samples);
    }
    for record in &request.records {
        builder = builder.record(record)?;
    }
    builder.build()
}

/// Gives ranges of `0..count` to threads, in turn, until there are none or `stop` says so.
fn in_turn(
    count: u64,
    most: u64,
    threads: usize,
    stop: &AtomicBool,
    work: impl Fn(Range<u64>) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicU64::new(0);
    let step = most.min(count.div_ceil(4 * threads.max(1) as u64)).max(1);
    let failed: Mutex<Option<carom::Error>> = Mutex::default();
    let take = || {
        loop {
            let first = next.fetch_add(step, Ordering::Relaxed);
            if first >= count || stop.load(Ordering::Relaxed) {
                return;
            }
            if let Err(error) = work(first..(first + step).min(count)) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                next.store(count, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        (0..threads.max(1)).for_each(|_| {
            scope.spawn(take);
        });
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// The columns of a sweep: those of its files.
pub fn table<'py>(
    py: Python<'py>,
    loaded: Arc<Loaded>,
    request: Request,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let done = Arc::new(AtomicU64::new(0));
    let counter = done.clone();
    let work = move |stop: &Arc<AtomicBool>| -> Result<(Sweep, Vec<Row>)> {
        let sweep = build(&loaded.model, &request)?;
        let rows: Mutex<Vec<Row>> = Mutex::default();
        in_turn(sweep.rows(), AT_ONCE, request.threads, stop, |range| {
            let some = sweep.run(range, &|| stop.load(Ordering::Relaxed))?;
            counter.fetch_add(some.len() as u64, Ordering::Relaxed);
            rows.lock().unwrap_or_else(PoisonError::into_inner).extend(some);
            Ok(())
        })?;
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.sort_by_key(|row| row.run);
        Ok((sweep, rows))
    };
    let tell = || match &progress {
        Some(progress) => Python::attach(|py| progress.call1(py, (done.load(Ordering::Relaxed),)).map(|_| ())),
        None => Ok(()),
    };
    let found = py.detach(|| patiently_with(work, tell))?;
    let (sweep, rows) = found.map_err(|error| to_python(py, &error))?;
    let table = PyDict::new(py);
    let runs: Vec<i64> = rows.iter().map(|row| row.run as i64).collect();
    table.set_item("run", PyArray1::from_vec(py, runs))?;
    for (i, axis) in sweep.plan().axes().iter().enumerate() {
        table.set_item(&axis.name, column(py, rows.iter().map(|row| row.values[i]).collect()))?;
    }
    table.set_item("status", rows.iter().map(|row| row.status.name()).collect::<Vec<_>>())?;
    table.set_item("message", rows.iter().map(|row| row.message.as_deref()).collect::<Vec<_>>())?;
    table.set_item("t_end", column(py, rows.iter().map(|row| row.t_end).collect()))?;
    let impacts: Vec<i32> = rows.iter().map(|row| i32::try_from(row.impacts).unwrap_or(i32::MAX)).collect();
    table.set_item("impacts", PyArray1::from_vec(py, impacts))?;
    for (i, record) in sweep.columns().iter().enumerate() {
        table.set_item(&record.name, column(py, rows.iter().map(|row| row.records[i]).collect()))?;
    }
    table.set_item("error", column(py, rows.iter().map(|row| row.error.unwrap_or(f64::NAN)).collect()))?;
    table.set_item("seconds", column(py, rows.iter().map(|row| row.seconds).collect()))?;
    Ok(table)
}

/// t, q, v and p of one motion at some times, and how it ended. What comes after its end is not a number.
type Sampled = (Vec<[f64; 3]>, &'static str, Option<String>);

fn sample(simulation: &Simulation, times: &[f64], n: usize, stop: &Arc<AtomicBool>) -> Result<Sampled> {
    let flag = Flag(stop.clone());
    let ready = simulation.prepare_unless(&flag)?;
    let mut dense = ready.dense(usize::MAX)?;
    let mut halt = Flag(stop.clone());
    let outcome = ready.show(&mut [
        carom::Audience { watcher: &mut dense, every: None },
        carom::Audience { watcher: &mut halt, every: None },
    ])?;
    let (mut all, mut node) = (Vec::with_capacity(times.len() * n), Node::default());
    for &t in times {
        if t <= outcome.last.t && dense.at(t, false, &mut node)? {
            all.extend((0..n).map(|i| [node.q[i], node.v[i], node.p[i]]));
        } else {
            all.extend(std::iter::repeat_n([f64::NAN; 3], n));
        }
    }
    let (status, message) = match outcome.status {
        Status::Completed => ("completed", None),
        Status::Stopped(_) | Status::Zeno(_) => ("stopped", None),
        Status::Interrupted => ("interrupted", None),
        Status::Failed(failure) => ("failed", Some(failure.message)),
    };
    Ok((all, status, message))
}

/// The motions from some starts at some times.
pub fn samples<'py>(
    py: Python<'py>,
    loaded: Arc<Loaded>,
    starts: Starts,
    times: Vec<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let n = loaded.model.system.coordinates.len();
    let (count, moments) = (starts.q.len() / n.max(1), times.len());
    let work = move |stop: &Arc<AtomicBool>| -> Result<Vec<Sampled>> {
        let run = &loaded.model.run;
        let base = loaded.model.simulation().without_estimate();
        let base = if run.method.is_none() && run.step.is_none() {
            let explicit = base.clone().method(carom::sweep::LANES);
            if explicit.initial().is_ok() { explicit } else { base }
        } else {
            base
        };
        let all: Mutex<Vec<(u64, Sampled)>> = Mutex::default();
        in_turn(count as u64, 16, threads, stop, |range| {
            for row in range {
                let part = |all: &[f64]| all[row as usize * n..(row as usize + 1) * n].to_vec();
                let (q, motion) = (part(&starts.q), part(&starts.motion));
                let simulation = base.clone();
                let simulation = if starts.is_momentum {
                    simulation.start_at(0.0, &q, &motion)
                } else {
                    simulation.start(&q, &motion)
                };
                let refused = |error: carom::Error| {
                    let message = match error {
                        carom::Error::Model(mistake) => mistake.message,
                        carom::Error::Numerical(failure) => failure.message,
                    };
                    (vec![[f64::NAN; 3]; n * times.len()], "refused", Some(message))
                };
                let found = sample(&simulation, &times, n, stop).unwrap_or_else(refused);
                all.lock().unwrap_or_else(PoisonError::into_inner).push((row, found));
            }
            Ok(())
        })?;
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by_key(|(row, _)| *row);
        Ok(all.into_iter().map(|(_, found)| found).collect())
    };
    let found = py.detach(|| patiently(work))?.map_err(|error| to_python(py, &error))?;
    let result = PyDict::new(py);
    for (k, name) in ["q", "v", "p"].into_iter().enumerate() {
        let values: Vec<f64> = found.iter().flat_map(|(values, ..)| values.iter().map(|all| all[k])).collect();
        result.set_item(name, PyArray1::from_vec(py, values).reshape([count, moments, n])?)?;
    }
    result.set_item("status", found.iter().map(|(_, status, _)| *status).collect::<Vec<_>>())?;
    result.set_item("message", found.iter().map(|(.., message)| message.as_deref()).collect::<Vec<_>>())?;
    Ok(result)
}
