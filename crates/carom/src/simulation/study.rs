//! Checks the hypotheses of the projected principle along the motion.

use super::Simulation;
use crate::error::Result;
use crate::model::{Model, Start};
use crate::projection::Study;
use crate::run::{View, Watcher};

/// The end time of that motion if the model has none.
const HORIZON: f64 = 10.0;
/// The number of steps of that motion.
const STEPS: f64 = 400.0;

/// Determines which hypotheses of the projected principle a model meets. If that depends on the region that the motion visits,
/// the default method computes the motion up to the end time.
pub fn study(model: &Model) -> Result<Study> {
    study_of(&model.simulation())
}

/// Like [`study`], for the model and the parameters of a simulation.
pub(super) fn study_of(simulation: &Simulation) -> Result<Study> {
    let model = &simulation.current_model();
    let start = model.start()?;
    Study::new(model, &start.q, |reduced| {
        // Without constraints to eliminate, the motion is that of the simulation, which is already compiled.
        let same = model.system.constraints.is_empty();
        let motion = if same { simulation.clone() } else { reduced.simulation() };
        reach(motion, &start, reduced.system.free())
    })
}

/// The range of each free coordinate along the motion, up to where it fails.
fn reach(motion: Simulation, start: &Start, free: Vec<usize>) -> Vec<(f64, f64)> {
    struct Reach(Vec<(f64, f64)>);
    impl Watcher for Reach {
        fn node(&mut self, view: &mut View) {
            for ((low, high), &q) in self.0.iter_mut().zip(view.phase().q()) {
                (*low, *high) = (low.min(q), high.max(q));
            }
        }
    }
    let until = motion.model.run.until.unwrap_or(HORIZON);
    let mut reach = Reach(free.iter().map(|&i| (start.q[i], start.q[i])).collect());
    let motion = motion.method(crate::method::DEFAULT).step(until / STEPS).until(until);
    let _ = motion.start_at(0.0, &start.q, &start.p).watch(&mut reach);
    reach.0
}
