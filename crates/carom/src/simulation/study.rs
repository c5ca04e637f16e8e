//! The hypotheses of the projected principle, with the motion that they may depend on.

use super::Simulation;
use crate::error::Result;
use crate::model::{Model, Start};
use crate::projection::Study;
use crate::run::{View, Watcher};

/// The motion is looked at up to this time where the model has no end time.
const HORIZON: f64 = 10.0;
/// It is looked at in so many steps.
const STEPS: f64 = 400.0;

/// Which hypotheses of the projected principle a model meets. Where that depends on where the motion goes, it is followed by
/// the default method up to the end time.
pub fn study(model: &Model) -> Result<Study> {
    study_of(&model.simulation())
}

/// The study of the model of a simulation, with its parameters.
pub(super) fn study_of(simulation: &Simulation) -> Result<Study> {
    let model = &simulation.current_model();
    let start = model.start()?;
    Study::new(model, &start.q, |reduced| {
        // Without constraints to eliminate, the motion is that of the simulation, which is compiled once.
        let same = model.system.constraints.is_empty();
        let motion = if same { simulation.clone() } else { reduced.simulation() };
        let reach = reach(motion, &start).unwrap_or_default();
        let free = reduced.system.free();
        let around = |i: usize| (start.q[i] - 1.0, start.q[i] + 1.0);
        free.iter().enumerate().map(|(k, &i)| reach.get(k).copied().unwrap_or(around(i))).collect()
    })
}

/// The least and greatest value of each free coordinate along the motion.
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
