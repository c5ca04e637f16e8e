//! The state of a motion between two steps.

use std::sync::Arc;

use super::control::Control;
use crate::lanes::LaneMemory;
use crate::phase::Phase;

/// The complete state of a motion between two steps. A step is a function of it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The values of the parameters.
    pub parameters: Arc<[f64]>,
    /// The time, and (q, p) of the free coordinates.
    pub z: Phase,
    /// The numbers of the walls that hold the motion, in rising order.
    pub holding: Vec<usize>,
    /// The fastest approach to a wall at an impact so far, as |φ̇|/√W, whose square is an energy.
    pub fastest: f64,
    /// The memory of the method.
    pub memory: Memory,
}

/// The data that a method carries from step to step.
#[derive(Clone, Debug, PartialEq)]
pub enum Memory {
    /// Nothing.
    None,
    /// Data of an impact rule on the nodes since the last impact, the newest last.
    Window(Vec<f64>),
    /// The path of the projected principle.
    Path {
        /// 0 where φ ≥ 0, 1 on the other side of the wall.
        side: usize,
        /// The point z with its momentum p_z.
        z: Phase,
    },
    /// The end of the first step, given by a start from two configurations.
    FirstStep {
        /// The state after it.
        end: Phase,
        /// The impulses of the constraints in it.
        impulses: Vec<f64>,
    },
    /// The control of the length of steps.
    Control(Control),
    /// A motion in a lane of the explicit pair.
    Explicit(Box<LaneMemory>),
}

impl State {
    /// A state at a phase point that no wall holds, without memory.
    pub fn new(parameters: Arc<[f64]>, z: Phase) -> State {
        State { parameters, z, holding: Vec::new(), fastest: 0.0, memory: Memory::None }
    }

    /// Copies `other` into this state; reuses its memory.
    pub fn copy_from(&mut self, other: &State) {
        self.z.copy_from(&other.z);
        self.copy_all_but_z(other);
    }

    /// Copies everything but the phase point from `other`.
    pub(super) fn copy_all_but_z(&mut self, other: &State) {
        if !Arc::ptr_eq(&self.parameters, &other.parameters) {
            self.parameters = other.parameters.clone();
        }
        // Two empty vectors are not compared: `memcmp` makes masked loads from their dangling pointers, which take 100 cycles.
        if !(self.holding.is_empty() && other.holding.is_empty()) {
            self.holding.clone_from(&other.holding);
        }
        self.fastest = other.fastest;
        self.memory.copy_from(&other.memory);
    }
}

impl Memory {
    /// Copies `other`; does not allocate if both are of the same kind.
    fn copy_from(&mut self, other: &Memory) {
        match (self, other) {
            (Memory::None, Memory::None) => {}
            (Memory::Window(to), Memory::Window(from)) => to.clone_from(from),
            (Memory::Path { side, z }, Memory::Path { side: from_side, z: from }) => {
                *side = *from_side;
                z.copy_from(from);
            }
            (Memory::Control(to), Memory::Control(from)) => to.copy_from(from),
            (Memory::Explicit(to), Memory::Explicit(from)) => to.copy_from(from),
            (to, from) => *to = from.clone(),
        }
    }

    /// The data of an impact rule.
    pub(super) fn window(&self) -> &[f64] {
        match self {
            Memory::Window(window) => window,
            _ => &[],
        }
    }
}
