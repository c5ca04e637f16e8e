//! The error of a trial step, and which walls are near, in all lanes at once.

use super::quintic::bernstein;
use crate::flow::vector::{Vector, Work};
use crate::limits::CONTROL_FLOOR;

/// The sizes of a motion in each lane, to which errors are relative.
pub(super) struct Sizes<'a> {
    pub(super) low: &'a [f64],
    pub(super) high: &'a [f64],
    pub(super) roots: &'a [f64],
    pub(super) twice_kinetic: &'a [f64],
    pub(super) tolerance: &'a [f64],
}

/// What is known of a trial step.
pub(super) struct Judge<'a> {
    pub(super) n: usize,
    pub(super) walls: usize,
    pub(super) sections: usize,
    pub(super) h: &'a [f64],
    pub(super) z1: &'a [f64],
    pub(super) node: &'a [f64],
    pub(super) node1: &'a [f64],
    pub(super) five: &'a [f64],
    pub(super) three: &'a [f64],
    pub(super) sizes: Sizes<'a>,
    /// The local error, relative to the size of the motion.
    pub(super) error: &'a mut [f64],
    /// The least Bernstein coefficient of a gap: if it is not negative, no wall is met.
    pub(super) lowest: &'a mut [f64],
    /// Not zero if a section may be crossed.
    pub(super) crossed: &'a mut [f64],
}

impl Work for Judge<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(mut self) {
        self.measure::<K>();
        self.look_at_walls::<K>();
        self.look_at_sections::<K>();
    }
}

impl Judge<'_> {
    /// The error of the pair. [Hairer, Nørsett & Wanner, II.10.17]
    ///
    /// ```text
    /// e = h |e₅|² / √(m (|e₅|² + 0.01 |e₃|²)),   m components, each relative to its scale
    /// ```
    ///
    /// The scale of a coordinate is its extent, or the way of a step with the largest kinetic energy; that of a velocity is this
    /// energy.
    #[inline(always)]
    fn measure<const K: usize>(&mut self) {
        let n = self.n;
        let lane = |x: &[f64], i: usize| -> [f64; K] { x.as_chunks::<K>().0[i] };
        let (h, tolerance) = (lane(self.h, 0), lane(self.sizes.tolerance, 0));
        let (kinetic0, kinetic1) = (lane(self.sizes.twice_kinetic, 0), lane(self.node1, n));
        let mut speed = [0.0; K];
        for k in 0..K {
            speed[k] = kinetic0[k].max(kinetic1[k].abs()).sqrt();
        }
        let (mut sum5, mut sum3) = ([0.0; K], [0.0; K]);
        for i in 0..n {
            let (low, high, roots) = (lane(self.sizes.low, i), lane(self.sizes.high, i), lane(self.sizes.roots, i));
            let q1 = lane(self.z1, 1 + i);
            let (q5, v5) = (lane(self.five, i), lane(self.five, n + i));
            let (q3, v3) = (lane(self.three, i), lane(self.three, n + i));
            for k in 0..K {
                let (low, high) = (low[k].min(q1[k]), high[k].max(q1[k]));
                let floor = CONTROL_FLOOR * low.abs().max(high.abs()) / tolerance[k];
                let fast = speed[k] * roots[k];
                // A number that is not positive must not divide.
                let of_q = (high - low).max(h[k] * fast).max(floor).max(f64::MIN_POSITIVE);
                let of_v = fast.max(floor / h[k]).max(f64::MIN_POSITIVE);
                let (q5, v5) = (q5[k] / of_q, v5[k] / of_v);
                let (q3, v3) = (q3[k] / of_q, v3[k] / of_v);
                sum5[k] += q5 * q5 + v5 * v5;
                sum3[k] += q3 * q3 + v3 * v3;
            }
        }
        let m = (2 * n) as f64;
        let error = &mut self.error.as_chunks_mut::<K>().0[0];
        for k in 0..K {
            let below = (m * (sum5[k] + 0.01 * sum3[k])).max(f64::MIN_POSITIVE);
            error[k] = h[k] * sum5[k] / below.sqrt();
        }
    }

    #[inline(always)]
    fn look_at_walls<const K: usize>(&mut self) {
        let h = &self.h.as_chunks::<K>().0[0];
        let (node, node1) = (self.node.as_chunks::<K>().0, self.node1.as_chunks::<K>().0);
        let mut lowest = [f64::INFINITY; K];
        for wall in 0..self.walls {
            let at = self.n + 1 + 3 * wall;
            for k in 0..K {
                let end = |node: &[[f64; K]]| [node[at][k], node[at + 1][k], node[at + 2][k]];
                let b = bernstein(h[k], end(node), end(node1));
                let (mut least, mut sum) = (lowest[k], 0.0);
                for b in b {
                    least = if b < least { b } else { least };
                    // A sum, in which no NaN gets lost.
                    sum += 0.0 * b;
                }
                lowest[k] = least + sum;
            }
        }
        self.lowest.as_chunks_mut::<K>().0[0] = lowest;
    }

    /// A section is crossed if the cubic with its values and rates at both ends may change its sign.
    #[inline(always)]
    fn look_at_sections<const K: usize>(&mut self) {
        let h = &self.h.as_chunks::<K>().0[0];
        let (node, node1) = (self.node.as_chunks::<K>().0, self.node1.as_chunks::<K>().0);
        let mut crossed = [0.0; K];
        for section in 0..self.sections {
            let at = self.n + 1 + 3 * self.walls + 2 * section;
            for k in 0..K {
                let third = h[k] / 3.0;
                let (g0, g1) = (node[at][k], node1[at][k]);
                let (b1, b2) = (g0 + third * node[at + 1][k], g1 - third * node1[at + 1][k]);
                let same =
                    (g0 > 0.0 && b1 > 0.0 && b2 > 0.0 && g1 > 0.0) || (g0 < 0.0 && b1 < 0.0 && b2 < 0.0 && g1 < 0.0);
                crossed[k] = if same { crossed[k] } else { 1.0 };
            }
        }
        self.crossed.as_chunks_mut::<K>().0[0] = crossed;
    }
}
