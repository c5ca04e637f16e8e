//! Motions in lanes: the explicit pair `dop853` with one motion in each lane.
//!
//! Every lane has its own time, step and error, and no number crosses lanes: a motion has the same bits alone, beside others, and in
//! any order. What masks cannot do (rest, accumulating or simultaneous impacts, a section that ends the run) *leaves the lane*: the
//! single-run code goes on from the last node.

mod code;
mod decide;
mod group;
mod judge;
mod keep;
mod land;
mod quintic;
mod rows;

pub use code::LaneCode;
pub(crate) use group::{Group, Happening, bits};

/// The data that a motion in a lane carries from step to step, besides t and q.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneMemory {
    /// v, from which p = L_v follows.
    pub v: Vec<f64>,
    /// The local error allowed in each step, relative to the size of the motion.
    pub tolerance: f64,
    /// The longest step allowed.
    pub longest: f64,
    /// The next step.
    pub h: f64,
    /// The least value of each coordinate so far.
    pub low: Vec<f64>,
    /// The largest value of each coordinate so far.
    pub high: Vec<f64>,
    /// √(M⁻¹)ᵢᵢ of each coordinate at the start; empty before the first step.
    pub roots: Vec<f64>,
    /// The largest p·v at a node so far.
    pub twice_kinetic: f64,
    /// The fastest approach to a wall at an impact so far, as |φ̇|/√W.
    pub fastest: f64,
    /// The time of the last impact, if there was one.
    pub last_impact: Option<f64>,
    /// The wall that was left at this node: its gap counts as zero.
    pub touched: Option<usize>,
}

impl LaneMemory {
    /// Copies `other` without allocating.
    pub(crate) fn copy_from(&mut self, other: &LaneMemory) {
        let LaneMemory { v, tolerance, longest, h, low, high, roots, twice_kinetic, fastest, last_impact, touched } =
            other;
        for (to, from) in
            [&mut self.v, &mut self.low, &mut self.high, &mut self.roots].into_iter().zip([v, low, high, roots])
        {
            to.clone_from(from);
        }
        (self.tolerance, self.longest, self.h, self.twice_kinetic) = (*tolerance, *longest, *h, *twice_kinetic);
        (self.fastest, self.last_impact, self.touched) = (*fastest, *last_impact, *touched);
    }
}
