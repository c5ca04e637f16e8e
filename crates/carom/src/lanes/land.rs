//! Impacts: lanes that land on walls are reflected.

use super::group::{Group, Happening, bits};

impl Group {
    /// Reflects the lanes that land on walls.
    pub(super) fn land(&mut self) {
        while self.landing != 0 {
            let lane = self.landing.trailing_zeros() as usize;
            let (block, happened) = (lane / self.k, self.happened[lane]);
            let Happening::Impact(wall) = happened else { unreachable!("a lane that lands has an impact") };
            let reflected = &mut self.outputs[..(self.code.n + 3) * self.k];
            self.code.impacts[wall].eval(self.hit.block(block), &[], reflected);
            for other in bits(self.landing & self.of_block(block)) {
                if self.happened[other] == happened {
                    self.landing &= !(1 << other);
                    self.reflect(other, wall);
                }
            }
        }
    }

    /// Makes the node of a lane that after its impact.
    fn reflect(&mut self, lane: usize, wall: usize) {
        let (n, k) = (self.code.n, self.k);
        let [mut from, mut plus] = [&mut self.from, &mut self.plus].map(|rows| rows.lane_mut(lane));
        let (mut sizes, hit) = (self.sizes.lane_mut(lane), self.hit.lane(lane));
        plus.put(0, self.outputs[lane & (k - 1)..(n + 3) * k].iter().step_by(k).copied());
        let [lambda, rate, w] = [n, n + 1, n + 2].map(|i| plus[i]);
        if !(lambda > 0.0 && lambda.is_finite() && rate < 0.0) {
            self.happened[lane] = Happening::Leaves;
            return;
        }
        from[0] = hit[0];
        for i in 0..n {
            let q = hit[1 + i];
            (from[1 + i], from[1 + n + i]) = (q, plus[i]);
            (sizes[i], sizes[n + i]) = (sizes[i].min(q), sizes[n + i].max(q));
        }
        let slot = &mut self.slots[lane];
        (slot.aim, slot.aims) = (None, 0);
        (slot.last_impact, slot.touched) = (Some(hit[0]), wall);
        slot.fastest = slot.fastest.max(-rate / w.sqrt());
        self.open |= 1 << lane;
        self.fresh |= 1 << lane;
        self.touching |= 1 << lane;
    }
}
