//! The walls that touch at an instant.

use crate::impact::left_of_redundant;
use crate::limits::{NEARLY_REDUNDANT, TOUCHING};
use crate::phase::Phase;
use crate::plant::{Evaluator, Facts};
use crate::solve::Solved;

/// A list of walls that touch, and how their rates answer to impulses.
pub(super) struct Touching {
    /// The walls, each with its rate φ̇.
    pub(super) walls: Vec<(usize, f64)>,
    /// ∇φ of a wall.
    gradient: Vec<f64>,
    /// Room for a state.
    next: Phase,
}

impl Touching {
    pub(super) fn new(facts: &Facts) -> Touching {
        Touching { walls: Vec::new(), gradient: vec![0.0; facts.n], next: facts.nowhere() }
    }

    /// Lists the walls that touch in z, and the wall that is met there.
    pub(super) fn collect(&mut self, met: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<()> {
        self.walls.clear();
        for wall in 0..evaluator.restitution().len() {
            let (gap, rate) = evaluator.gap_and_rate(wall, z)?;
            if wall == met || gap <= TOUCHING {
                self.walls.push((wall, rate));
            }
        }
        Ok(())
    }

    /// W = G M⁻¹ Gᵀ by rows: how the rate of each wall of the list answers to an impulse of each in the state z.
    pub(super) fn responses(&mut self, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<Vec<f64>> {
        let (m, Touching { walls, gradient, next }) = (self.walls.len(), self);
        let mut w = vec![0.0; m * m];
        for j in 0..m {
            evaluator.normal(walls[j].0, z, gradient);
            let size = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
            let lambda = size(z.p()).max(1e-3) / size(gradient);
            next.copy_from(z);
            next.p_mut().iter_mut().zip(&*gradient).for_each(|(p, slope)| *p += lambda * slope);
            evaluator.project(next)?;
            for (i, (wall, before)) in walls.iter().enumerate() {
                w[i * m + j] = (evaluator.gap_and_rate(*wall, next)?.1 - before) / lambda;
            }
        }
        Ok(w)
    }

    /// True if a wall that touches closes by no more than what its gradient differs by from a combination of those of the other
    /// walls that touch: these already keep the motion off it. A ball that slips between two others without play meets neither.
    pub(super) fn gives_way(
        &mut self,
        wall: usize,
        (gap, rate): (f64, f64),
        z: &Phase,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<bool> {
        if gap.abs() > TOUCHING || evaluator.restitution().len() == 1 {
            return Ok(false);
        }
        let size = size_of_motion(z, evaluator)?;
        self.walls.clear();
        self.walls.push((wall, rate));
        let own = self.responses(z, evaluator)?[0];
        if rate * rate > NEARLY_REDUNDANT * own * size * size {
            return Ok(false);
        }
        self.collect(wall, z, evaluator)?;
        let w = self.responses(z, evaluator)?;
        let number = self.walls.iter().position(|(touching, _)| *touching == wall);
        let left = number.and_then(|number| left_of_redundant(&w, self.walls.len(), number));
        Ok(left.is_some_and(|left| rate * rate <= left * size * size))
    }
}

/// √(v·M v), or what it is where L is not quadratic in v.
pub(super) fn size_of_motion(z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<f64> {
    let v = evaluator.velocity(z)?;
    Ok(z.p().iter().zip(v).map(|(p, v)| p * v).sum::<f64>().abs().sqrt())
}
