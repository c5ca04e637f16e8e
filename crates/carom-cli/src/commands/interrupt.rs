//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use carom::Watcher;

use crate::session;

/// Set by Ctrl-C.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Ends a command after Ctrl-C, or when the program that called it asks for it.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub fn new() -> Interrupt {
        if let Some(stop) = session::stop() {
            return Interrupt(stop);
        }
        // A second Ctrl-C ends the program at once, as does the first if no handler can be installed.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        Interrupt(INTERRUPTED.clone())
    }
}

impl Watcher for Interrupt {
    fn wants_to_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
