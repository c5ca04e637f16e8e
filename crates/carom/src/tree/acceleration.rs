//! Accelerations at a pose.
//!
//! ```text
//! A_i = X_i A_λ + V_i×(V_i − V_λ′) + S_i a_i,   A_ground = (0; −g),   W_i = I_i A_i + V_i×*Π_i,   c_i = S_iᵀ Σ_subtree W with a = 0
//! M a + c = Q
//! ```

use super::articulated::Inertia;
use super::{Articulated, Motion, Pose, Surroundings, Tree, Vec3};

impl Articulated {
    /// Writes the accelerations of all freedoms, M a + c = Q, where Q are the forces of springs and dampers and `force`. The pose
    /// has the rates of the motion and was factored. [MECHANISMS section 5]
    pub fn accelerations(
        &mut self,
        tree: &Tree,
        pose: &Pose,
        around: &Surroundings,
        (q, v): (&[f64], &[f64]),
        force: &[f64],
        a: &mut [f64],
    ) {
        self.balance(tree, pose, around, (q, v), force, a);
        self.solve(tree, pose, a);
    }

    /// Writes Q − c, which M a balances.
    pub fn balance(
        &mut self,
        tree: &Tree,
        pose: &Pose,
        around: &Surroundings,
        (q, v): (&[f64], &[f64]),
        force: &[f64],
        a: &mut [f64],
    ) {
        self.accelerate(tree, pose, around, &[], -around.gravity);
        self.project_forces(tree, pose, a);
        for link in tree.links.iter().filter(|link| link.freedoms == 1) {
            let body = &link.body;
            a[link.v] += body.stiffness * (q[link.q] - body.rest) + body.damping * v[link.v];
        }
        a.iter_mut().zip(force).for_each(|(c, q)| *c = q - *c);
    }

    /// Sets the accelerations of bodies with the accelerations `a` of the freedoms (none: zero), and W summed over subtrees:
    /// A_i = X_i A_λ + V_i×(V_i − V_λ′) + S_i a_i,   W_i = I_i A_i + V_i×*Π_i.
    fn accelerate(&mut self, tree: &Tree, pose: &Pose, around: &Surroundings, a: &[f64], ground: Vec3) {
        for (i, link) in tree.links.iter().enumerate() {
            let placed = &pose.bodies[i];
            let parent = link.body.parent.map_or(Motion { w: Vec3::ZERO, v: ground }, |parent| self.motions[parent]);
            let freedom = match link.freedoms {
                0 => Vec3(around.drives[link.q].a, 0.0, 0.0),
                _ if a.is_empty() => Vec3::ZERO,
                1 => Vec3(a[link.v], 0.0, 0.0),
                _ => Vec3::read(&a[link.v..]),
            };
            let centripetal = placed.velocity.cross(placed.velocity - placed.carried);
            self.motions[i] = parent.to(placed.r) + centripetal + placed.motion(link.body.joint, freedom);
        }
    }

    /// Writes S_iᵀ Σ W.
    fn project_forces(&mut self, tree: &Tree, pose: &Pose, into: &mut [f64]) {
        let motions = &self.motions;
        let wrench = |i: usize| {
            let (body, placed) = (&tree.links[i].body, &pose.bodies[i]);
            let inertia = Inertia::of(placed, body.mass, body.inertia);
            inertia.apply(motions[i]) + placed.velocity.cross_force(placed.momentum)
        };
        pose.sum_up(tree, &mut self.forces, wrench);
        pose.project(tree, &self.forces, into);
    }

    /// The accelerations of the points of a body, given those of the freedoms: returns for body i and a place x
    /// A_lin + A_ang×(x − p_i) + w_i×v_x.
    pub fn point_accelerations<'a>(
        &'a mut self,
        tree: &Tree,
        pose: &'a Pose,
        around: &Surroundings,
        a: &[f64],
    ) -> impl Fn(usize, Vec3) -> Vec3 + 'a {
        self.accelerate(tree, pose, around, a, Vec3::ZERO);
        |i, x| {
            let placed = &pose.bodies[i];
            self.motions[i].to(x - placed.p).v + placed.velocity.w.cross(pose.velocity_of(i, x))
        }
    }
}
