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
use crate::tree::{Drive, Force, Joint, Mat3, Motion, Pose, Tree, Vec3};

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
    /// The end that was placed last; NaN before.
    q1: Vec<f64>,
    v: Vec<f64>,
    impulses: Vec<Impulse>,
    /// The coordinates and drives for which the start was placed.
    begun: (Vec<f64>, Vec<Drive>),
    /// True if forces of the user may act, which see velocities at the start too.
    is_loaded: bool,
    /// What the children that do not follow a body hand on, at the start and the end. Zero between sweeps.
    gathered: Vec<[Force; 2]>,
    /// Forces of the user.
    loads: Vec<f64>,
    p1: Vec<f64>,
    elimination: Elimination<6, 6>,
}

impl Rattle {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Rattle {
        let (n, freedoms) = (tree.links.len(), tree.freedoms);
        Rattle {
            poses: [Pose::new(tree), Pose::new(tree)],
            q1: vec![f64::NAN; tree.coordinates],
            v: vec![0.0; freedoms],
            impulses: vec![Impulse::default(); n],
            begun: (vec![f64::NAN; tree.coordinates], Vec::new()),
            is_loaded: true,
            gathered: vec![[Force::default(); 2]; n],
            loads: vec![0.0; freedoms],
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

    /// Places the start, if it is neither that of the last residual nor the end of it. Velocities matter to forces of the user only.
    fn begin(&mut self, tree: &Tree, over: Over) {
        let drives = &over.around[0].drives;
        if !self.is_loaded && self.begun.0 == over.q && self.begun.1 == *drives {
            return;
        }
        self.begun.0.copy_from_slice(over.q);
        self.begun.1.clone_from(drives);
        if !self.is_loaded && drives.is_empty() && self.q1 == over.q {
            self.poses.swap(0, 1);
        } else {
            self.poses[0].place(tree, over.around[0], over.q, &self.v);
        }
    }

    /// Adds h/2 of the forces of the user at the start to r, and at the end to p1.
    fn load(&mut self, over: Over, load: &mut Load, r: &mut [f64]) {
        for (which, into) in [r, &mut self.p1].into_iter().enumerate() {
            let (around, t) = (over.around[2 * which], over.t + over.h * which as f64);
            let q = if which == 0 { over.q } else { &self.q1 };
            self.loads.fill(0.0);
            load(At { pose: &self.poses[which], around, t, q, v: &self.v }, &mut self.loads);
            into.iter_mut().zip(&self.loads).for_each(|(into, force)| *into += 0.5 * over.h * force);
        }
    }
}

impl Equations for Rattle {
    fn set_constants(&mut self, _: &Tree) {
        self.begun.0.fill(f64::NAN);
        self.q1.fill(f64::NAN);
    }

    fn set_loaded(&mut self, is_loaded: bool) {
        self.is_loaded = is_loaded;
    }

    fn residual(&mut self, tree: &Tree, over: Over, load: &mut Load, u: &[f64], r: &mut [f64]) {
        self.v.iter_mut().zip(u).for_each(|(v, u)| *v = u / over.h);
        self.begin(tree, over);
        move_by(tree, over.q, u, &mut self.q1);
        self.poses[1].place(tree, over.around[2], &self.q1, &self.v);
        self.impel(tree, over, u);
        let half = 0.5 * over.h;
        let [before, after] = [0, 2].map(|k| over.around[k].gravity * half);
        let [start, end] = &self.poses;
        let mut handed = [Force::default(); 2];
        for (i, link) in tree.links.iter().enumerate().rev() {
            let (body, s, e, Impulse { t, f, .. }) = (&link.body, &start.bodies[i], &end.bodies[i], self.impulses[i]);
            let wrench = |d: Vec3, f: Vec3| Force { n: t + d.cross(f), f };
            let mut first = handed[0] + wrench(s.d, f - before * body.mass);
            let mut last = handed[1] + wrench(e.d, f + after * body.mass);
            if link.gathers {
                let [a, b] = std::mem::take(&mut self.gathered[i]);
                first += a;
                last += b;
            }
            let (pushed, pulled) = (s.project(body.joint, first).array(), e.project(body.joint, last).array());
            for k in 0..link.freedoms {
                r[link.v + k] = over.p[link.v + k] - pushed[k];
                self.p1[link.v + k] = pulled[k];
            }
            if link.freedoms == 1 {
                let (stiffness, damper) = (half * body.stiffness, 0.5 * body.damping * u[link.v]);
                r[link.v] -= stiffness * (over.q[link.q] - body.rest) + damper;
                self.p1[link.v] -= stiffness * (self.q1[link.q] - body.rest) + damper;
            }
            handed = [first.back(s.r), last.back(e.r)];
            if link.follows {
                continue;
            }
            if let Some(parent) = body.parent {
                self.gathered[parent][0] += handed[0];
                self.gathered[parent][1] += handed[1];
            }
            handed = [Force::default(); 2];
        }
        if self.is_loaded {
            self.load(over, load, r);
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
        let of = |(link, impulse): (&crate::tree::TreeLink, &Impulse)| {
            let body = &link.body;
            let way = if body.mass == 0.0 { 0.0 } else { impulse.f.dot(impulse.f) * h * h / body.mass };
            way + body.inertia.trace() - 2.0 * h * impulse.n.trace()
        };
        let swept: f64 = tree.links.iter().zip(&self.impulses).map(of).sum();
        let potential =
            |which: usize, q: &[f64]| self.poses[which].potential(tree, over.around[2 * which]) + tree.spring_energy(q);
        let mean = 0.5 * (potential(0, &self.begun.0) + potential(1, &self.q1));
        (swept / (2.0 * h) - h * mean, swept / (2.0 * h * h) + mean)
    }
}
