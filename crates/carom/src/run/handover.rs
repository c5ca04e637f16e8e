//! A wall that cannot push any more hands its load over to one that depends on it.

use super::algorithm::Machine;
use crate::flow::Phase;
use crate::impact::parts_of_dependent;
use crate::solve::Solved;

impl Machine {
    /// The walls that hold when `leaving`, whose force is about to pull, gives way to another of those in `touching`.
    ///
    /// A wall j whose gradient depends on those of the walls A that hold, ∇φ_j = Σ c_i ∇φ_i, can take a load: with N_j = s the
    /// others have N_i − s c_i. Where c of the leaving wall is negative its force grows from zero again, and j holds in its
    /// place, if it moves with them: its rate is none. A table on four legs stands on three of them; when the load leaves their triangle, the fourth has its turn.
    /// Without such a wall there is no way to push with N ≥ 0, and the motion leaves the wall.
    pub(super) fn hand_over(&mut self, z: &Phase, held: &[usize], leaving: usize) -> Solved<Option<Vec<usize>>> {
        let touching = self.touching.clone();
        let mut others = Vec::new();
        for &(wall, rate) in touching.iter().filter(|(wall, _)| !held.contains(wall)) {
            if rate.abs() <= self.slow(wall, z)? {
                others.push((wall, rate));
            }
        }
        if others.is_empty() {
            return Ok(None);
        }
        self.touching.clear();
        self.hit.minus.copy_from(z);
        for &wall in held {
            let rate = self.walls.gap_and_rate(wall, z, &mut self.field)?.1;
            self.touching.push((wall, rate));
        }
        self.touching.extend(&others);
        let w = self.responses()?;
        let count = self.touching.len();
        self.touching = touching;
        let Some(number) = held.iter().position(|&wall| wall == leaving) else { return Ok(None) };
        let part = |k: usize| parts_of_dependent(&w, count, held.len(), held.len() + k).map(|parts| parts[number]);
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
