//! Accepted steps become nodes, in all lanes at once.

use crate::flow::vector::{Vector, Work};

/// Copies the ends of trial steps to the nodes of the lanes that accept them.
pub(super) struct Keep<'a> {
    pub(super) n: usize,
    /// The number of outputs of the node kernel.
    pub(super) outputs: usize,
    /// 1 in these lanes, else 0.
    pub(super) accepted: &'a [f64],
    pub(super) z: &'a mut [f64],
    pub(super) z1: &'a [f64],
    pub(super) node: &'a mut [f64],
    pub(super) node1: &'a [f64],
    pub(super) low: &'a mut [f64],
    pub(super) high: &'a mut [f64],
    pub(super) twice_kinetic: &'a mut [f64],
}

impl Work for Keep<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let Keep { n, outputs, accepted, z, z1, node, node1, low, high, twice_kinetic } = self;
        let mut is_accepted = [false; K];
        for k in 0..K {
            is_accepted[k] = accepted[k] != 0.0;
        }
        let pairs = [(z, z1, 1 + 2 * n), (node, node1, outputs)];
        for (to, from, count) in pairs {
            let (to, from) = (to.as_chunks_mut::<K>().0, from.as_chunks::<K>().0);
            for (to, from) in to.iter_mut().zip(from).take(count) {
                for k in 0..K {
                    to[k] = if is_accepted[k] { from[k] } else { to[k] };
                }
            }
        }
        let (low, high) = (low.as_chunks_mut::<K>().0, high.as_chunks_mut::<K>().0);
        let z1 = z1.as_chunks::<K>().0;
        for i in 0..n {
            let q = &z1[1 + i];
            for k in 0..K {
                low[i][k] = if is_accepted[k] { low[i][k].min(q[k]) } else { low[i][k] };
                high[i][k] = if is_accepted[k] { high[i][k].max(q[k]) } else { high[i][k] };
            }
        }
        let (power, largest) = (&node1.as_chunks::<K>().0[n], &mut twice_kinetic.as_chunks_mut::<K>().0[0]);
        for k in 0..K {
            largest[k] = if is_accepted[k] { largest[k].max(power[k].abs()) } else { largest[k] };
        }
    }
}
