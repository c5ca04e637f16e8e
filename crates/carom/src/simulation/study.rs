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
        let reach = reach(motion, &start).unwrap_or_default();
        let free = reduced.system.free();
        let around = |i: usize| (start.q[i] - 1.0, start.q[i] + 1.0);
        free.iter().enumerate().map(|(k, &i)| reach.get(k).copied().unwrap_or(around(i))).collect()
    })
}

/// The range of each free coordinate along the motion.
fn reach(motion: Simulation, start: &Start) -> Result<Vec<(f64, f64)>> {
    struct Reach(Vec<(f64, f64)>);
    impl Watcher for Reach {
        fn node(&mut self, view: &mut View) {
            for (i, &q) in view.phase().q().iter().enumerate() {
                match self.0.get_mut(i) {
                    Some((low, high)) => (*low, *high) = (low.min(q), high.max(q)),
                    None => self.0.push((q, q)),
                }
            }
        }
    }
    let until = motion.model.run.until.unwrap_or(HORIZON);
    let mut reach = Reach(Vec::new());
    let motion = motion.method(crate::method::DEFAULT).step(until / STEPS).until(until);
    motion.start_at(0.0, &start.q, &start.p).watch(&mut reach)?;
    Ok(reach.0)
}
