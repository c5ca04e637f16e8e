//! A wall that cannot push any more hands its load over to one that depends on it.

use super::rest::{Rest, Surroundings};
use crate::impact::parts_of_redundant;
use crate::phase::Phase;
use crate::solve::Solved;

impl Rest {
    /// The walls that hold when `leaving`, whose force is about to pull, gives way to another of those that touch.
    ///
    /// A wall j whose gradient depends on those of the walls A that hold, ∇φ_j = Σ c_i ∇φ_i, can take a load: with N_j = s the
    /// others have N_i − s c_i. Where c of the leaving wall is negative its force grows from zero again, and j holds in its
    /// place, if it moves with them: its rate is none. A table on four legs stands on three of them; when the load leaves
    /// their triangle, the fourth takes it. Without such a wall no forces N ≥ 0 keep the motion on the walls, and it leaves.
    pub(super) fn hand_over(
        &mut self,
        z: &Phase,
        held: &[usize],
        leaving: usize,
        around: &mut Surroundings,
    ) -> Solved<Option<Vec<usize>>> {
        let (pace, evaluator) = (around.pace(), &mut *around.evaluator);
        let mut others = self.touching.walls.clone();
        others.retain(|(wall, _)| !held.contains(wall));
        for k in (0..others.len()).rev() {
            let (wall, rate) = others[k];
            if rate.abs() > self.touching.scale(wall, rate, z, pace, evaluator)?.slow {
                others.remove(k);
            }
        }
        let Some(number) = held.iter().position(|&wall| wall == leaving) else { return Ok(None) };
        if others.is_empty() {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(held.len() + others.len());
        for &wall in held {
            all.push((wall, evaluator.gap_and_rate(wall, z)?.1));
        }
        all.extend(&others);
        let count = all.len();
        let touching = std::mem::replace(&mut self.touching.walls, all);
        let w = self.touching.responses(z, evaluator);
        self.touching.walls = touching;
        let w = w?;
        let part = |k: usize| parts_of_redundant(&w, count, held.len(), held.len() + k).map(|parts| parts[number]);
        let takers = (0..others.len()).filter_map(|k| part(k).map(|part| (others[k].0, part)));
        let best = takers.reduce(|best, other| if other.1 < best.1 { other } else { best });
        Ok(best.filter(|(_, part)| *part < 0.0).map(|(taker, _)| {
            let stay = held.iter().copied().filter(|&wall| wall != leaving);
            let mut walls: Vec<usize> = stay.chain([taker]).collect();
            walls.sort_unstable();
            walls
        }))
    }
}
