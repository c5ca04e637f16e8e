//! `bodies` on a tree in space: RATTLE restricted to the joints. It knows a joint only by its axes S.
//!
//! ```text
//! L_d = Σ_j 1/(2h) ∫|X1 − X0|² dm − h/2 (U0 + U1)
//! f_j = m (c1 − c0)/h,    N_j = R1 Λ R0ᵀ/h,   Λ = ½ tr(I) 1 − I,    t_j = (N₃₂−N₂₃, N₁₃−N₃₁, N₂₁−N₁₂)
//! r_i  = p0_i − S_i(q0)ᵀ Σ_subtree [(t_j; f_j) − h/2 weight] at q0 − h/2 k(q0 − rest) − damp u/2
//! p1_i =        S_i(q1)ᵀ Σ_subtree [(t_j; f_j) + h/2 weight] at q1 − h/2 k(q1 − rest) − damp u/2
//! ```
//!
//! t_j is a torque about the centre of mass, f_j acts there. Newton's matrix is −(S(q0)ᵀH S(q1) + damp/2) with
//! H_j = [tr N − N − m/h ĉ0 ĉ1, m/h ĉ0; −m/h ĉ1, m/h 1], where c0, c1 are the centres of mass from one fixed point.

use super::ball::Ball;
use super::elimination::{Column, Elimination, join, write};
use super::{At, Equations, Load, Over, move_by};
use crate::solve::Solved;
use crate::tree::{Force, Joint, Mat3, Motion, Pose, Tree, Vec3};

/// The impulse of a body in a step.
#[derive(Clone, Copy, Debug, Default)]
struct Impulse {
    /// p1 − p0 of the joint.
    moved: Vec3,
    /// N
    n: Mat3,
    /// t and f
    t: Vec3,
    f: Vec3,
}

/// The equations of a step, with memory and factors.
#[derive(Clone, Debug)]
pub struct Rattle {
    /// The poses at the start and the end.
    poses: [Pose; 2],
    q1: Vec<f64>,
    v: Vec<f64>,
    impulses: Vec<Impulse>,
    sums: Vec<Force>,
    /// What acts on the freedoms at the start and the end: half of the step times force, without the impulses of the bodies.
    forces: [Vec<f64>; 2],
    projected: Vec<f64>,
    p1: Vec<f64>,
    elimination: Elimination<6, 6>,
}

impl Rattle {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Rattle {
        let (n, freedoms) = (tree.links.len(), tree.freedoms);
        Rattle {
            poses: [Pose::new(tree), Pose::new(tree)],
            q1: vec![0.0; tree.coordinates],
            v: vec![0.0; freedoms],
            impulses: vec![Impulse::default(); n],
            sums: vec![Force::default(); n],
            forces: [vec![0.0; freedoms], vec![0.0; freedoms]],
            projected: vec![0.0; freedoms],
            p1: vec![0.0; freedoms],
            elimination: Elimination::new(tree),
        }
    }

    /// Computes the impulses of the bodies. Places differ by sums of small increments, not of positions.
    fn impel(&mut self, tree: &Tree, over: Over, u: &[f64]) {
        let [start, end] = &self.poses;
        for (i, link) in tree.links.iter().enumerate() {
            let (body, s, e) = (&link.body, &start.bodies[i], &end.bodies[i]);
            let (turned, carried) = match body.parent {
                Some(parent) => {
                    let turned = end.bodies[parent].rotation - start.bodies[parent].rotation;
                    (turned, self.impulses[parent].moved)
                }
                None => (Mat3::default(), Vec3::ZERO),
            };
            let mut moved = carried + turned * body.at;
            if let Joint::Prismatic(_) = body.joint {
                let (q0, slid) = match link.freedoms {
                    0 => {
                        let [q0, q1] = [over.around[0], over.around[2]].map(|around| around.drives[link.q].q);
                        (q0, q1 - q0)
                    }
                    _ => (over.q[link.q], u[link.v]),
                };
                moved += (e.axis - s.axis) * q0 + e.axis * slid;
            }
            let lambda = Mat3::ONE * (0.5 * body.inertia.trace()) - body.inertia;
            let n = e.rotation * lambda * s.rotation.transpose() * (1.0 / over.h);
            let t = Vec3(n.2.1 - n.1.2, n.0.2 - n.2.0, n.1.0 - n.0.1);
            let f = (moved + e.d - s.d) * (body.mass / over.h);
            self.impulses[i] = Impulse { moved, n, t, f };
        }
    }

    /// Writes SᵀΣ(t; f) at the start or the end into `projected`.
    fn project(&mut self, tree: &Tree, which: usize) {
        let (pose, impulses) = (&self.poses[which], &self.impulses);
        let wrench = |i: usize| {
            let Impulse { t, f, .. } = impulses[i];
            Force { n: t + pose.bodies[i].d.cross(f), f }
        };
        pose.sum_up(tree, &mut self.sums, wrench);
        pose.project(tree, &self.sums, &mut self.projected);
    }

    /// Writes h/2 of the forces at the start or the end: weight, springs, dampers, and the user's.
    fn act(&mut self, tree: &Tree, over: Over, which: usize, load: &mut Load) {
        let (around, t) = (over.around[2 * which], over.t + over.h * which as f64);
        let q = if which == 0 { over.q } else { &self.q1 };
        let (pose, forces) = (&self.poses[which], &mut self.forces[which]);
        pose.sum_up(tree, &mut self.sums, |i| pose.weight(tree, around, i));
        pose.project(tree, &self.sums, forces);
        for link in tree.links.iter().filter(|link| link.freedoms == 1) {
            let body = &link.body;
            forces[link.v] -= body.stiffness * (q[link.q] - body.rest) + body.damping * self.v[link.v];
        }
        load(At { pose, around, t, q, v: &self.v }, forces);
        forces.iter_mut().for_each(|force| *force *= 0.5 * over.h);
    }
}

impl Equations for Rattle {
    fn residual(&mut self, tree: &Tree, over: Over, load: &mut Load, u: &[f64], r: &mut [f64]) {
        move_by(tree, over.q, u, &mut self.q1);
        self.v.iter_mut().zip(u).for_each(|(v, u)| *v = u / over.h);
        self.poses[0].place(tree, over.around[0], over.q, &self.v);
        self.poses[1].place(tree, over.around[2], &self.q1, &self.v);
        self.impel(tree, over, u);
        for which in [0, 1] {
            self.act(tree, over, which, load);
        }
        self.project(tree, 1);
        let ends = self.projected.iter().zip(&self.forces[1]);
        self.p1.iter_mut().zip(ends).for_each(|(p1, (impulse, force))| *p1 = impulse + force);
        self.project(tree, 0);
        let starts = self.projected.iter().zip(&self.forces[0]);
        for ((r, p0), (impulse, force)) in r.iter_mut().zip(over.p).zip(starts) {
            *r = p0 - impulse + force;
        }
    }

    fn factor(&mut self, tree: &Tree, over: Over, u: &[f64]) -> Solved<()> {
        let Rattle { poses: [start, end], impulses, elimination, .. } = self;
        let origin = start.bodies.first().map_or(Vec3::ZERO, |body| body.p);
        for (i, block) in elimination.blocks.iter_mut().enumerate() {
            let (s, e, n, m) = (&start.bodies[i], &end.bodies[i], impulses[i].n, tree.links[i].body.mass / over.h);
            let (c0, c1) = ((s.p + s.d - origin).hat(), (e.p + e.d - origin).hat());
            write(block, 0, 0, n - Mat3::ONE * n.trace() + c0 * c1 * m);
            write(block, 0, 3, c0 * -m);
            write(block, 3, 0, c1 * m);
            write(block, 3, 3, Mat3::ONE * -m);
        }
        elimination.factor(tree, |i, columns| {
            let (link, s, e) = (&tree.links[i], &start.bodies[i], &end.bodies[i]);
            let about = |motion: Motion, p: Vec3| {
                let Motion { w, v } = motion.to(origin - p);
                join([w, v])
            };
            let end = match link.freedoms {
                3 => Ball::new(Vec3::read(&u[link.v..]), over.h).end(),
                _ => Mat3::ONE,
            };
            for ((k, column), x) in columns.iter_mut().enumerate().zip(end.columns()) {
                let alpha = about(s.s(link.body.joint, k), s.p);
                let way = about(e.motion(link.body.joint, x), e.p);
                *column = Column::new(alpha, [0.0; 6], way);
            }
            let damping = if link.freedoms == 1 { -0.5 * link.body.damping } else { 0.0 };
            Mat3(Vec3(damping, 0.0, 0.0), Vec3::ZERO, Vec3::ZERO)
        })
    }

    fn apply_inverse(&mut self, tree: &Tree, x: &mut [f64]) {
        self.elimination.solve(tree, x);
    }

    fn momenta(&self, tree: &Tree, h: f64, u: &[f64], r: &[f64], p1: &mut [f64]) {
        for link in &tree.links {
            let v = link.v;
            match link.freedoms {
                0 => {}
                1 => p1[v] = self.p1[v] + r[v],
                _ => {
                    let handed = Ball::new(Vec3::read(&u[v..]), h).to_end(Vec3::read(&r[v..]));
                    p1[v..v + 3].copy_from_slice(&(Vec3::read(&self.p1[v..]) + handed).array());
                }
            }
        }
    }

    /// ∫|X1 − X0|² dm = m|c1 − c0|² + 2 tr Λ − 2h tr N.
    fn discrete(&self, tree: &Tree, over: Over) -> (f64, f64) {
        let h = over.h;
        let of = |(link, impulse): (&crate::tree::Link, &Impulse)| {
            let body = &link.body;
            let way = if body.mass == 0.0 { 0.0 } else { impulse.f.dot(impulse.f) * h * h / body.mass };
            way + body.inertia.trace() - 2.0 * h * impulse.n.trace()
        };
        let swept: f64 = tree.links.iter().zip(&self.impulses).map(of).sum();
        let potential =
            |which: usize, q: &[f64]| self.poses[which].potential(tree, over.around[2 * which]) + tree.spring_energy(q);
        let mean = 0.5 * (potential(0, over.q) + potential(1, &self.q1));
        (swept / (2.0 * h) - h * mean, swept / (2.0 * h * h) + mean)
    }
}
