//! The drawing of a model at its start.

use carom::{Audience, Result, Watcher};
use carom_report::palette::LIGHT;
use carom_report::recording::Recorder;
use carom_report::{animation, motion};

use crate::loaded::Loaded;

/// The drawing uses at most the first arcs of the motion, up to this number.
const MOST_ARCS: usize = 20_000;

/// The drawing as PNG, in the frame of the whole motion.
pub fn drawing(loaded: &Loaded, stop: &dyn Watcher) -> Result<Vec<u8>> {
    let ready = loaded.simulation.clone().without_estimate().prepare_unless(stop)?;
    let model = &loaded.model;
    let mut recorder = Recorder::new(model, &ready)?;
    let (every, mut dense) = (recorder.every(), ready.dense(MOST_ARCS)?);
    let mut halt = Halt(stop);
    let outcome = ready.show(&mut [
        Audience { watcher: &mut recorder, every },
        Audience { watcher: &mut dense, every: None },
        Audience { watcher: &mut halt, every: None },
    ])?;
    let recording = recorder.finish(outcome.last.t)?;
    animation::still(&motion::film(std::slice::from_mut(&mut dense), model, &recording)?, &LIGHT)
}

/// Stops when another does.
struct Halt<'a>(&'a dyn Watcher);

impl Watcher for Halt<'_> {
    fn wants_nodes(&self) -> bool {
        false
    }

    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        self.0.wants_to_stop()
    }
}
