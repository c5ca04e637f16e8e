//! Momenta, energies and generalized forces at a pose: sweeps from the leaves to the roots.

use super::{Force, Pose, Surroundings, Tree, Vec3};

impl Pose {
    /// Sums a force of each body, about its joint, over the subtree of each body.
    pub(crate) fn sum_up(&self, tree: &Tree, sums: &mut [Force], of: impl Fn(usize) -> Force) {
        sums.iter_mut().enumerate().for_each(|(i, sum)| *sum = of(i));
        for (i, link) in tree.links.iter().enumerate().rev() {
            if let Some(parent) = link.body.parent {
                let carried = sums[i].back(self.bodies[i].r);
                sums[parent] += carried;
            }
        }
    }

    /// The weight of body i, about its joint.
    #[inline(always)]
    pub(crate) fn weight(&self, tree: &Tree, around: &Surroundings, i: usize) -> Force {
        let f = around.gravity * tree.links[i].body.mass;
        Force { n: self.bodies[i].d.cross(f), f }
    }

    /// Writes SᵀF of each freedom.
    pub(crate) fn project(&self, tree: &Tree, forces: &[Force], into: &mut [f64]) {
        for ((link, placed), force) in tree.links.iter().zip(&self.bodies).zip(forces) {
            let projected = placed.project(link.body.joint, *force).array();
            into[link.v..link.v + link.freedoms].copy_from_slice(&projected[..link.freedoms]);
        }
    }

    /// Writes p = M v, the momentum of each freedom; `sums` is working memory.
    pub fn momenta(&self, tree: &Tree, sums: &mut [Force], p: &mut [f64]) {
        self.sum_up(tree, sums, |i| self.bodies[i].momentum);
        self.project(tree, sums, p);
    }

    /// The kinetic energy Σ Π·V/2.
    pub fn kinetic(&self) -> f64 {
        self.bodies.iter().map(|placed| placed.velocity.dot(placed.momentum)).sum::<f64>() / 2.0
    }

    /// The potential of gravity, −Σ m g·c.
    pub fn potential(&self, tree: &Tree, around: &Surroundings) -> f64 {
        let heights = tree.links.iter().zip(&self.bodies);
        -heights.map(|(link, placed)| link.body.mass * around.gravity.dot(placed.p + placed.d)).sum::<f64>()
    }

    /// The total momentum and the angular momentum about the origin of the world.
    pub fn total_momentum(&self) -> Force {
        self.bodies.iter().map(|placed| placed.momentum.back(placed.p)).fold(Force::default(), |sum, p| sum + p)
    }

    /// The velocity of the point x of body i.
    pub fn velocity_of(&self, i: usize, x: Vec3) -> Vec3 {
        self.bodies[i].velocity.to(x - self.bodies[i].p).v
    }
}
