//! The state of a motion between two steps.

use std::sync::Arc;

use crate::phase::Phase;

/// All there is of a motion between two steps: a step is a function of it.
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
    /// What the method remembers.
    pub memory: Memory,
}

/// What a method remembers from step to step.
#[derive(Clone, Debug, PartialEq)]
pub enum Memory {
    /// Nothing.
    None,
    /// What an impact rule knows of the last nodes since the last impact, the newest last.
    Window(Vec<f64>),
    /// The path of the projected principle.
    Path {
        /// 0 where φ ≥ 0, 1 on the other side of the wall.
        side: usize,
        /// The point z with its momentum p_z.
        z: Phase,
    },
    /// The end of the first step, where a start from two configurations gives that.
    FirstStep {
        /// The state after it.
        end: Phase,
        /// The impulses of the constraints in it.
        impulses: Vec<f64>,
    },
}

impl State {
    /// A motion at a phase point that no wall holds and that has no past.
    pub fn new(parameters: Arc<[f64]>, z: Phase) -> State {
        State { parameters, z, holding: Vec::new(), fastest: 0.0, memory: Memory::None }
    }

    /// Becomes a copy of `other`, without allocating where there is room.
    pub fn copy_from(&mut self, other: &State) {
        self.z.copy_from(&other.z);
        self.copy_all_but_z(other);
    }

    /// Becomes a copy of `other` but for its phase point.
    pub(super) fn copy_all_but_z(&mut self, other: &State) {
        if !Arc::ptr_eq(&self.parameters, &other.parameters) {
            self.parameters = other.parameters.clone();
        }
        if self.holding != other.holding {
            self.holding.clone_from(&other.holding);
        }
        self.fastest = other.fastest;
        self.memory.copy_from(&other.memory);
    }
}

impl Memory {
    /// Becomes a copy of `other`, without allocating where it is of the same kind.
    fn copy_from(&mut self, other: &Memory) {
        match (self, other) {
            (Memory::None, Memory::None) => {}
            (Memory::Window(to), Memory::Window(from)) => to.clone_from(from),
            (Memory::Path { side, z }, Memory::Path { side: from_side, z: from }) => {
                *side = *from_side;
                z.copy_from(from);
            }
            (to, from) => *to = from.clone(),
        }
    }

    /// What an impact rule remembers.
    pub(super) fn window(&self) -> &[f64] {
        match self {
            Memory::Window(window) => window,
            _ => &[],
        }
    }
}
