//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

use carom::Watcher;

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends a run after Ctrl-C.
#[derive(Clone, Copy)]
pub struct Interrupt;

impl Interrupt {
    pub fn new() -> Interrupt {
        // A second Ctrl-C ends the program at once, as does the first if no handler can be installed.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        Interrupt
    }
}

impl Watcher for Interrupt {
    fn wants_to_stop(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}
