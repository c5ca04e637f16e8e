//! Ctrl-C and progress: now and then a computation asks Python.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use carom::Watcher;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::force::Trouble;

/// Python is asked this often.
const INTERVAL: Duration = Duration::from_millis(50);
/// The clock is read at least once in this number of calls.
const MOST_CALLS: u32 = 1024;
/// The stack of threads that compile.
const STACK: usize = 64 << 20;

/// Asks Python for signals every 50 ms, in the thread that computes.
pub struct Signals {
    calls: Cell<u32>,
    /// The clock is read after this number of calls, about every millisecond.
    gap: Cell<u32>,
    clock: Cell<Instant>,
    asked: Cell<Instant>,
    trouble: RefCell<Option<PyErr>>,
    progress: Option<Py<PyAny>>,
    /// The time that the motion has reached.
    t: Cell<f64>,
}

impl Signals {
    /// `progress` is called with the time that the motion has reached.
    pub fn new(progress: Option<Py<PyAny>>) -> Signals {
        let now = Cell::new(Instant::now());
        let (calls, gap, trouble) = (Cell::new(0), Cell::new(1), RefCell::new(None));
        Signals { calls, gap, clock: now.clone(), asked: now, trouble, progress, t: Cell::new(0.0) }
    }

    /// Tells the time that the motion has reached.
    pub fn reach(&self, t: f64) {
        self.t.set(t);
    }

    /// The exception that ended the computation, if one did.
    pub fn check(&self) -> PyResult<()> {
        self.trouble.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// True if a signal or the progress raised an exception.
    pub fn stop(&self) -> bool {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() < self.gap.get() {
            return false;
        }
        self.calls.set(0);
        let now = Instant::now();
        let passed = now - self.clock.replace(now);
        let gap = self.gap.get();
        self.gap.set(if passed < Duration::from_millis(1) { (2 * gap).min(MOST_CALLS) } else { (gap / 2).max(1) });
        if now - self.asked.get() < INTERVAL {
            return self.trouble.borrow().is_some();
        }
        self.asked.set(now);
        let asked = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (self.t.get(),)).map(|_| ()))
        });
        if let Err(trouble) = asked {
            self.trouble.borrow_mut().get_or_insert(trouble);
        }
        self.trouble.borrow().is_some()
    }
}

impl Watcher for Signals {
    fn wants_to_stop(&self) -> bool {
        self.stop()
    }
}

/// Ends work in another thread.
pub struct Flag(pub Arc<AtomicBool>);

impl Watcher for Flag {
    fn wants_to_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does work that asks nobody, such as compiling, in another thread, and asks Python for signals meanwhile. After an exception the
/// work is left to end by itself; its flag tells it to.
pub fn patiently<T: Send + 'static>(work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static) -> PyResult<T> {
    patiently_with(work, || Ok(()))
}

/// Like [`patiently`]; `tell` is called every 50 ms, and may end the work.
pub fn patiently_with<T: Send + 'static>(
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
    tell: impl Fn() -> PyResult<()>,
) -> PyResult<T> {
    let flag = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let theirs = flag.clone();
    let trouble = Trouble::current();
    let thread = move || sender.send(trouble.during(|| work(&theirs)));
    let spawned = std::thread::Builder::new().name("carom".into()).stack_size(STACK).spawn(thread);
    spawned.map_err(|why| PyRuntimeError::new_err(format!("cannot start a thread: {why}")))?;
    loop {
        match receiver.recv_timeout(INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(trouble) = Python::attach(|py| py.check_signals()).and_then(|()| tell()) {
                    flag.store(true, Ordering::Relaxed);
                    return Err(trouble);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("carom panicked; please report it with the model"));
            }
        }
    }
}
