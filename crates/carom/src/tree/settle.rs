//! Projection of coordinates onto constraints.

use super::step::{Memory, Progress, Verdict};
use super::{Relations, Surroundings, TangentSpace, Tree, move_by};
use crate::solve::{NoSolution, Solved};

impl TangentSpace {
    /// Moves q onto g = 0 with the smallest corrections in the mass metric, δ = −W(GW)⁻¹g, and places the tree there.
    pub fn settle(
        &mut self,
        tree: &Tree,
        around: &Surroundings,
        relations: &mut dyn Relations,
        q: &mut [f64],
        t: f64,
    ) -> Solved<()> {
        let (mut progress, mut memory, start) = (Progress::new(false, 0.0), Memory::new(tree, 0), q.to_vec());
        let mut u = vec![0.0; tree.freedoms];
        memory.set_units(tree, q, &u);
        loop {
            self.set(tree, around, relations, q, t)?;
            if self.g.is_empty() {
                return Ok(());
            }
            self.lu.solve(&self.g, &mut self.nu);
            memory.delta.fill(0.0);
            for (nu, column) in self.nu.iter().zip(self.w.chunks_exact(tree.freedoms)) {
                memory.delta.iter_mut().zip(column).for_each(|(delta, w)| *delta -= nu * w);
            }
            let (size, verdict) =
                (memory.size_of_correction(), progress.judge(memory.size_of_correction(), memory.size(&u))?);
            let part =
                if let Verdict::TooFar = verdict { return Err(NoSolution::Diverged) } else { progress.part(size) };
            u.iter_mut().zip(&memory.delta).for_each(|(u, delta)| *u += part * delta);
            move_by(tree, &start, &u, q);
            if let Verdict::Done = verdict {
                return self.set(tree, around, relations, q, t);
            }
        }
    }
}
