//! `midpoint` on a tree in space: L_d = h L((q0 + q1)/2, (q1 − q0)/h), with cost linear in the bodies.
//!
//! The unknown is u = q1 − q0, three numbers for a ball joint (`ball.rs`). Forces are halved between f⁻ and f⁺.
//!
//! ```text
//! forward, at q0 + u/2 with rates u/h:   V_i, Π_i = I_i V_i, and the weight of each body
//! backward:                              P_i and G_i, momentum and weight of the subtree
//! F_i = S_iᵀ(G_i − V_λ×*P_i)  [= ∂L/∂q_i]  − k_i(q̄_i − rest_i) − damp_i u_i/h,        π_i = S_iᵀP_i  [= ∂L/∂v_i]
//! r_i = p0_i + h/2 F_i − π_i = 0,            p1_i = h/2 F_i + π_i
//! ```

use super::ball::Ball;
use super::elimination::{Column, Elimination, join, write};
use super::{At, Equations, Load, Over};
use crate::solve::Solved;
use crate::tree::{Force, Joint, Mat3, Motion, Pose, Quaternion, Surroundings, Tree, Vec3};

/// The equations of a step, with memory and factors.
#[derive(Clone, Debug)]
pub struct Midpoint {
    /// The pose at the middle of the step.
    pub pose: Pose,
    /// The coordinates at the middle.
    pub q: Vec<f64>,
    /// The rates at the middle.
    pub v: Vec<f64>,
    /// G and P: weight and momentum of each subtree.
    weight: Vec<Force>,
    momentum: Vec<Force>,
    /// F and π of each freedom.
    force: Vec<f64>,
    pi: Vec<f64>,
    elimination: Elimination<9, 12>,
}

impl Midpoint {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Midpoint {
        let (n, freedoms) = (tree.links.len(), tree.freedoms);
        Midpoint {
            pose: Pose::new(tree),
            q: vec![0.0; tree.coordinates],
            v: vec![0.0; freedoms],
            weight: vec![Force::default(); n],
            momentum: vec![Force::default(); n],
            force: vec![0.0; freedoms],
            pi: vec![0.0; freedoms],
            elimination: Elimination::new(tree),
        }
    }
}

impl Equations for Midpoint {
    fn residual(&mut self, tree: &Tree, over: Over, load: &mut Load, u: &[f64], r: &mut [f64]) {
        let (h, around) = (over.h, over.around[1]);
        for link in &tree.links {
            match link.freedoms {
                0 => {}
                1 => self.q[link.q] = over.q[link.q] + 0.5 * u[link.v],
                _ => {
                    let half = Quaternion::cayley(Vec3::read(&u[link.v..]) * 0.25)[1];
                    let middle = Quaternion::read(&over.q[link.q..]) * half;
                    self.q[link.q..link.q + 4].copy_from_slice(&middle.array());
                }
            }
        }
        self.v.iter_mut().zip(u).for_each(|(v, u)| *v = u / h);
        self.pose.place(tree, around, &self.q, &self.v);
        let pose = &self.pose;
        pose.sum_up(tree, &mut self.momentum, |i| pose.bodies[i].momentum);
        pose.sum_up(tree, &mut self.weight, |i| pose.weight(tree, around, i));
        for (i, (link, placed)) in tree.links.iter().zip(&pose.bodies).enumerate() {
            let (joint, freedoms) = (link.body.joint, link.v..link.v + link.freedoms);
            let pull = self.weight[i] - placed.carried.cross_force(self.momentum[i]);
            self.force[freedoms.clone()].copy_from_slice(&placed.project(joint, pull).array()[..link.freedoms]);
            let pi = placed.project(joint, self.momentum[i]).array();
            self.pi[freedoms].copy_from_slice(&pi[..link.freedoms]);
            if link.freedoms == 1 {
                let body = &link.body;
                self.force[link.v] -= body.stiffness * (self.q[link.q] - body.rest) + body.damping * self.v[link.v];
            }
        }
        let at = At { pose: &self.pose, around, t: over.t + 0.5 * h, q: &self.q, v: &self.v };
        load(at, &mut self.force);
        for link in &tree.links {
            let v = link.v;
            match link.freedoms {
                0 => {}
                1 => r[v] = over.p[v] + 0.5 * h * self.force[v] - self.pi[v],
                _ => {
                    let ball = Ball::new(Vec3::read(&u[v..]), h);
                    let moved = ball.cf * Vec3::read(&self.force[v..]) + ball.cp * Vec3::read(&self.pi[v..]);
                    r[v..v + 3].copy_from_slice(&(Vec3::read(&over.p[v..]) + moved).array());
                }
            }
        }
    }

    fn momenta(&self, tree: &Tree, h: f64, u: &[f64], r: &[f64], p1: &mut [f64]) {
        for link in &tree.links {
            let v = link.v;
            match link.freedoms {
                0 => {}
                1 => p1[v] = 0.5 * h * self.force[v] + self.pi[v] + r[v],
                _ => {
                    let ball = Ball::new(Vec3::read(&u[v..]), h);
                    let (force, pi) = (Vec3::read(&self.force[v..]), Vec3::read(&self.pi[v..]));
                    let p = ball.cf.tr_mul(force) - ball.cp.tr_mul(pi) + ball.to_end(Vec3::read(&r[v..]));
                    p1[v..v + 3].copy_from_slice(&p.array());
                }
            }
        }
    }

    /// All vectors are about one point O here, so that nothing is shifted between bodies. A change of u moves body i by δξ_i and
    /// changes its velocity, as seen from the body, by η_i; x = (δξ; η), and y = (δG; δP) without the force of δG, which is zero.
    fn factor(&mut self, tree: &Tree, over: Over, u: &[f64]) -> Solved<()> {
        let (h, around) = (over.h, over.around[1]);
        let Midpoint { pose, weight, momentum, force, pi, elimination, .. } = self;
        let origin = pose.bodies.first().map_or(Vec3::ZERO, |body| body.p);
        for (i, block) in elimination.blocks.iter_mut().enumerate() {
            write_block(tree, around, pose, origin, i, block);
        }
        elimination.factor(tree, |i, columns| {
            let (link, placed) = (&tree.links[i], &pose.bodies[i]);
            let from = placed.p - origin;
            let about = |motion: Motion| motion.to(-from);
            let (weight, momentum) = (weight[i].back(from), momentum[i].back(from));
            let carried = about(placed.carried);
            let column = |alpha_g: Motion, alpha_p: Motion, middle: Motion, rate: Motion| {
                let moved = alpha_g.cross_force(weight) + alpha_p.cross_force(momentum);
                let seen = alpha_g.cross_force(momentum);
                let eta = carried.cross(middle) + rate;
                Column::new(
                    join([alpha_g.w, alpha_p.w, alpha_p.v]),
                    join([moved.n, moved.f, seen.n, seen.f]),
                    join([middle.w, middle.v, eta.w, eta.v]),
                )
            };
            match columns {
                [] => Mat3::default(),
                [only] => {
                    let s = about(placed.s(link.body.joint, 0));
                    *only = column(s * (0.5 * h), carried.cross(s) * (0.5 * h) - s, s * 0.5, s * (1.0 / h));
                    let body = &link.body;
                    Mat3(Vec3(-0.25 * h * body.stiffness - 0.5 * body.damping, 0.0, 0.0), Vec3::ZERO, Vec3::ZERO)
                }
                columns => {
                    let v = link.v;
                    let ball = Ball::new(Vec3::read(&u[v..]), h);
                    let s = |x: Vec3| about(placed.motion(Joint::Ball, x));
                    let (cf, cp, j) = (ball.cf.rows(), ball.cp.rows(), ball.j().columns());
                    let unit = Mat3::ONE.rows();
                    for (k, into) in columns.iter_mut().enumerate() {
                        let alpha_g = s(cf[k]);
                        let alpha_p = carried.cross(alpha_g) + s(cp[k]);
                        *into = column(alpha_g, alpha_p, s(j[k]) * 0.5, s(unit[k]) * (1.0 / h));
                    }
                    ball.e(Vec3::read(&force[v..]), Vec3::read(&pi[v..]), h)
                }
            }
        })
    }

    fn apply_inverse(&mut self, tree: &Tree, x: &mut [f64]) {
        self.elimination.solve(tree, x);
    }

    fn discrete(&self, tree: &Tree, over: Over) -> (f64, f64) {
        let (t, v) = (self.pose.kinetic(), self.pose.potential(tree, over.around[1]) + tree.spring_energy(&self.q));
        (over.h * (t - v), t + v)
    }
}

/// N = [K 0; C I] of body i about the origin, without the rows of K that are zero:
/// K = [m c gᵀ − m(c·g)1, −m ĝ],   C = [−n̂, −f̂; −f̂, 0] for Π = (n; f),   I = [I_c − m ĉĉ, m ĉ; −m ĉ, m].
fn write_block(tree: &Tree, around: &Surroundings, pose: &Pose, origin: Vec3, i: usize, block: &mut [[f64; 12]; 9]) {
    let (body, placed) = (&tree.links[i].body, &pose.bodies[i]);
    *block = [[0.0; 12]; 9];
    if body.mass == 0.0 && body.inertia == Mat3::default() {
        return;
    }
    let (m, g) = (body.mass, around.gravity);
    let c = placed.p + placed.d - origin;
    let momentum = placed.momentum.back(placed.p - origin);
    let (n, f, c_hat) = (momentum.n.hat(), momentum.f.hat(), c.hat());
    let inertia = placed.rotation * body.inertia * placed.rotation.transpose();
    write(block, 0, 0, c.outer(g) * m - Mat3::ONE * (m * c.dot(g)));
    write(block, 0, 3, g.hat() * -m);
    write(block, 3, 0, -n);
    write(block, 3, 3, -f);
    write(block, 6, 0, -f);
    write(block, 3, 6, inertia - c_hat * c_hat * m);
    write(block, 3, 9, c_hat * m);
    write(block, 6, 6, c_hat * -m);
    write(block, 6, 9, Mat3::ONE * m);
}
