//! What a run tells while it goes on, and what is left of it.

use super::account::Account;
use super::lift::{Node, View};
use super::rest::Holding;
use crate::error::Failure;
use crate::flow::Phase;

/// One impact.
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

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It reached its horizon.
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

/// What is left of a run when it is over.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The last state.
    pub last: Node,
    /// The last state in the free coordinates.
    pub end: Phase,
    /// How many steps were made.
    pub steps: usize,
    /// How many impacts there were.
    pub impacts: usize,
    /// When a wall first began to hold the motion, if one did.
    pub first_rest: Option<f64>,
    /// The largest |g| and |dg/dt| of a constraint at a node, if there are constraints.
    pub violation: Option<[f64; 2]>,
    /// H at the start, at the end, and the largest |H − H(0)| over the nodes.
    pub energy: [f64; 3],
    /// q at the checkpoints, where there are any.
    pub(super) path: Vec<f64>,
    /// The first wall beyond which a checkpoint lies, or which would have to pull there, and its time: the steps are too long
    /// to see it.
    pub missed: Option<(usize, f64)>,
    /// What changed the energy, if the watcher wanted to know and anything can.
    pub account: Option<Account>,
}

/// Is told what happens during a run.
pub trait Watcher {
    /// A node of the mesh, the first one included.
    fn node(&mut self, _view: &mut View) {}
    /// A uniform sample, the first one included.
    fn sample(&mut self, _view: &mut View) {}
    /// An impact.
    fn impact(&mut self, _impact: Impact) {}
    /// A section is crossed.
    fn crossing(&mut self, _crossing: Crossing) {}
    /// A wall begins or ceases to hold the motion.
    fn holding(&mut self, _holding: Holding) {}
    /// False if impacts need not be described.
    fn wants_impacts(&self) -> bool {
        true
    }
    /// True if the energy account is to be kept, which costs partial steps where there are forces.
    fn wants_account(&self) -> bool {
        false
    }
    /// True if the run is to end here.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// Looks at nothing.
impl Watcher for () {
    fn wants_impacts(&self) -> bool {
        false
    }
}
