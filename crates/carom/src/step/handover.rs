//! Transfer of load between walls with dependent gradients.

use super::rest::{Rest, Surroundings};
use crate::impact::parts_of_redundant;
use crate::phase::Phase;
use crate::solve::Solved;

impl Rest {
    /// The walls that hold the motion after `leaving`, whose force becomes negative, is replaced by another touching wall. None
    /// if no touching wall can replace it; then the motion leaves the wall.
    ///
    /// A wall j whose gradient is a combination of those that hold, ∇φ_j = Σ c_i ∇φ_i, can take part of the load: with N_j = s
    /// the other forces are N_i − s c_i. If c of the leaving wall is negative, its force increases with s, so j can hold in its
    /// place, provided that φ̇_j = 0. Example: a table on four legs rests on three of them; when the load leaves their triangle,
    /// the fourth leg takes over.
    pub(super) fn hand_over(
        &self,
        z: &Phase,
        held: &[usize],
        leaving: usize,
        around: &mut Surroundings,
    ) -> Solved<Option<Vec<usize>>> {
        let pace = around.pace();
        let (evaluator, touching) = (&mut *around.evaluator, &mut around.resolver.touching);
        let mut others = touching.walls.clone();
        others.retain(|(wall, _)| !held.contains(wall));
        for k in (0..others.len()).rev() {
            let (wall, rate) = others[k];
            if rate.abs() > touching.scale(wall, rate, z, pace, evaluator)?.slow {
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
        let slow = std::mem::replace(&mut touching.walls, all);
        let w = touching.responses(z, evaluator);
        touching.walls = slow;
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
