//! Results of a run.

use super::account::Account;
use super::checkpoints::Missed;
use super::follow::Followed;
use crate::error::Failure;
use crate::limits::LARGE_DRIFT;
use crate::mechanics::Node;
use crate::plant::Violated;
use crate::step::State;

/// An impact, with the states in all coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// The index of the wall.
    pub wall: usize,
    /// The impulse λ along ∇φ.
    pub lambda: f64,
    /// The state before the impact.
    pub minus: Node,
    /// The state after the impact.
    pub plus: Node,
    /// The energy before the impact. NaN if the velocities cannot be computed.
    pub energy_minus: f64,
    /// The energy after the impact, likewise.
    pub energy_plus: f64,
}

/// A crossing of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The index of the section.
    pub section: usize,
    /// The state at the crossing.
    pub node: Node,
}

/// A wall that begins or ceases to hold the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding {
    /// The index of the wall.
    pub wall: usize,
    /// The time. If impacts accumulate on the wall, this is the accumulation point.
    pub t: f64,
    /// True if the wall begins to hold the motion, false if it ceases.
    pub begins: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It reached its end time.
    Completed,
    /// It crossed a section that ends the run; with the index of the section.
    Stopped(usize),
    /// Impacts accumulate on a wall, and the model asks to stop there; with the index of the wall.
    Zeno(usize),
    /// A watcher stopped it.
    Interrupted,
    /// A step could not be computed.
    Failed(Box<Failure>),
}

/// The energy along the nodes of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// At the start.
    pub initial: f64,
    /// At the end.
    pub last: f64,
    /// The largest |H − H(0)| at a node.
    pub max_drift: f64,
    /// The kinetic energy at the start, ½|p·v|.
    pub first_kinetic: f64,
    /// The largest kinetic energy at a node, ½|p·v|.
    pub max_kinetic: f64,
    /// The mean kinetic energy over the time.
    pub mean_kinetic: f64,
    /// The first step that changes the energy by more than the largest kinetic energy before it, or to what is not a number.
    pub jump: Option<Jump>,
}

/// A step that changes the energy by more than the largest kinetic energy before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// When the step ends.
    pub t: f64,
    /// The energy before it.
    pub before: f64,
    /// The energy after it.
    pub after: f64,
    /// The largest kinetic energy before it.
    pub kinetic: f64,
}

impl Jump {
    /// True if a change of the energy is one. Where the motion starts at rest, the kinetic energy after the step counts too.
    pub(crate) fn is_one(change: f64, largest_before: f64, after: f64) -> bool {
        let is_small = change.abs() <= largest_before || change.abs() <= LARGE_DRIFT * after;
        !is_small
    }
}

/// The size of a motion, to which errors are relative: of each free coordinate and of each momentum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorScale {
    /// For each coordinate the largest of its extent along the run, of h√(2K (M⁻¹)ᵢᵢ) with the largest kinetic energy K, and of
    /// 2⁻⁵⁰ max|qᵢ| over the tolerance.
    pub q: Vec<f64>,
    /// For each momentum the largest of its extent along the run, of √(2K/(M⁻¹)ᵢᵢ), and of 2⁻⁵⁰ max|pᵢ| over the tolerance;
    /// infinite where it moves nothing, such as the one along a quaternion.
    pub p: Vec<f64>,
}

/// The results of a run that has ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The last state, in all coordinates.
    pub last: Node,
    /// The final state, complete enough to resume from.
    pub state: State,
    /// The number of steps.
    pub steps: usize,
    /// The number of impacts.
    pub impacts: usize,
    /// The sum of λφ̇⁻ of the impacts: energies that do not depend on the unit of φ.
    pub(crate) exchange: f64,
    /// The first time at which a wall began to hold the motion, if any did.
    pub first_rest: Option<f64>,
    /// The largest violation of the constraints at the nodes, if there are constraints.
    pub violation: Option<Violated>,
    /// The energy.
    pub energy: Energy,
    /// The coefficient of restitution of every wall.
    pub(crate) restitution: Vec<f64>,
    /// q where runs are compared, if there are checkpoints.
    pub(crate) path: Vec<f64>,
    /// The least, largest and largest absolute value of each component of the state at checkpoints and nodes.
    pub(crate) bounds: Vec<[f64; 3]>,
    /// A wall that the steps missed, if one was detected.
    pub missed: Option<Missed>,
    /// The energy account, if it was requested and something can change the energy.
    pub account: Option<Account>,
    /// The step; none if carom controls the length of steps.
    pub step: Option<f64>,
    /// The longest step.
    pub longest_step: f64,
    /// The estimated error, if carom found the step or an estimate was requested.
    pub error_estimate: Option<f64>,
    /// The scales that the estimate is relative to.
    pub error_scale: Option<ErrorScale>,
    /// The start of a run that continues an earlier one: the estimate is of the error since then, without that of the start.
    pub error_since: Option<f64>,
    /// How the motion followed a plan, if it had one.
    pub followed: Option<Followed>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}
