//! Whether the motion is chaotic: then no step of any method meets a tolerance.

use super::Simulation;
use super::controlled::tune_controlled;
use super::reason::Reason;
use super::runner::Runner;
use crate::limits::MEANINGLESS;
use crate::run::Watcher;

/// Why no step of any method gives a final state with correct digits, if the default method measures that in the motion: there
/// roundoff grows until it is as large as the motion. A method of low order would need more steps to show it than it can make. None
/// if that is not so, or is not known.
pub(super) fn chaos(simulation: &Simulation, runner: &Runner, until: f64, stop: &dyn Watcher) -> Option<Reason> {
    if simulation.has_default_method() || runner.is_resumed() {
        return None;
    }
    let other = simulation.clone().method("auto");
    let chosen = other.quick_scheme().map_or_else(|| other.scheme(), Ok).ok()?;
    if !chosen.scheme.can_control() {
        return None;
    }
    let start = other.start_state(&chosen.scheme, until).ok()?.state;
    let mut runner = runner.with(&chosen.scheme, &chosen.pool).from(start);
    let tuned = tune_controlled(&mut runner, until, chosen.scheme.order(), simulation.tolerance, stop).ok()??;
    tuned.warning.filter(|reason| tuned.is_hopeless && reason.roundoff > MEANINGLESS)
}
