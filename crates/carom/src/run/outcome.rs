//! What is known of a run.

use super::account::Account;
use super::checkpoints::Missed;
use crate::error::Failure;
use crate::mechanics::Node;
use crate::plant::Violated;
use crate::step::State;

/// One impact, in all coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// The number of the wall.
    pub wall: usize,
    /// The impulse λ along ∇φ.
    pub lambda: f64,
    /// The state before.
    pub minus: Node,
    /// The state after.
    pub plus: Node,
}

/// One crossing of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The number of the section.
    pub section: usize,
    /// The state there.
    pub node: Node,
}

/// A wall that begins or ceases to hold the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding {
    /// The number of the wall.
    pub wall: usize,
    /// When: for a wall on which impacts accumulate, at the accumulation point.
    pub t: f64,
    /// True if it begins.
    pub begins: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It reached its end time.
    Completed,
    /// It met a section that ends it, by number.
    Stopped(usize),
    /// Impacts accumulate on a wall, by number, and the model asks to stop there.
    Zeno(usize),
    /// It was told to stop.
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
    /// The largest kinetic energy at a node, ½|p·v|.
    pub max_kinetic: f64,
}

/// What is left of a run when it is over.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The last state, in all coordinates.
    pub last: Node,
    /// The last state, with all that is needed to resume.
    pub state: State,
    /// How many steps were made.
    pub steps: usize,
    /// How many impacts there were.
    pub impacts: usize,
    /// When a wall first began to hold the motion, if one did.
    pub first_rest: Option<f64>,
    /// How far the nodes were off the constraints, if there are constraints.
    pub violation: Option<Violated>,
    /// The energy.
    pub energy: Energy,
    /// e of every wall.
    pub(crate) restitution: Vec<f64>,
    /// q at the checkpoints, where there are any.
    pub(crate) path: Vec<f64>,
    /// A wall that the steps are too long to see.
    pub missed: Option<Missed>,
    /// What changed the energy, if that was asked for and anything can.
    pub account: Option<Account>,
    /// The step.
    pub step: f64,
    /// The estimated error, where the step was found from a tolerance or an estimate was asked for.
    pub error_estimate: Option<f64>,
    /// What the user should know.
    pub warnings: Vec<String>,
}
