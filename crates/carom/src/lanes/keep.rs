//! The lengths of trial steps before, and the new nodes after them, in all lanes at once.

use super::group::{CHOSEN, LONGEST, UNTIL};
use crate::flow::vector::{Vector, Work};

/// Chooses the lengths of the trial steps, except of those that aim at walls.
pub(super) struct Choose<'a> {
    /// The number of rows of a state.
    pub(super) state: usize,
    /// The lanes with a motion that does not aim at a wall, as bits.
    pub(super) open: u32,
    pub(super) from: &'a mut [f64],
    pub(super) control: &'a [f64],
}

impl Work for Choose<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let (from, control) = (self.from.as_chunks_mut::<K>().0, self.control.as_chunks::<K>().0);
        let rest = V::load(&control[UNTIL]).sub(V::load(&from[0]));
        let free = V::load(&control[CHOSEN]).min(V::load(&control[LONGEST])).min(rest);
        let h = &mut from[self.state];
        free.in_lanes(self.open, V::load(h)).store(h);
    }
}

/// Makes the ends of accepted trial steps the nodes of their lanes.
pub(super) struct Keep<'a> {
    pub(super) n: usize,
    pub(super) state: usize,
    /// The number of outputs of the node kernel.
    pub(super) outputs: usize,
    /// The lanes whose steps are accepted, as bits.
    pub(super) accepted: u32,
    pub(super) from: &'a mut [f64],
    pub(super) to: &'a [f64],
    pub(super) sizes: &'a mut [f64],
    pub(super) control: &'a [f64],
}

impl Work for Keep<'_> {
    /// The lanes whose motions have not reached their ends, as bits.
    type Outcome = u32;

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) -> u32 {
        let Keep { n, state, outputs, accepted, from, to, sizes, control } = self;
        let (from, to) = (from.as_chunks_mut::<K>().0, to.as_chunks::<K>().0);
        let sizes = sizes.as_chunks_mut::<K>().0;
        let first = 1 + 2 * n;
        for i in 0..first {
            V::load(&to[i]).in_lanes(accepted, V::load(&from[i])).store(&mut from[i]);
        }
        for i in 0..outputs {
            let node = &mut from[state + 1 + i];
            V::load(&to[first + i]).in_lanes(accepted, V::load(node)).store(node);
        }
        for i in 0..n {
            let (q, low, high) = (V::load(&to[1 + i]), V::load(&sizes[i]), V::load(&sizes[n + i]));
            q.min(low).in_lanes(accepted, low).store(&mut sizes[i]);
            q.max(high).in_lanes(accepted, high).store(&mut sizes[n + i]);
        }
        let (power, largest) = (V::load(&to[first + n]).abs(), V::load(&sizes[3 * n]));
        power.max(largest).in_lanes(accepted, largest).store(&mut sizes[3 * n]);
        V::load(&from[0]).less(V::load(&control.as_chunks::<K>().0[UNTIL]))
    }
}
