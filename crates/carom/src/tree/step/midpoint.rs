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
use super::elimination::{Column, Elimination, join};
use super::{At, Equations, Load, Over};
use crate::solve::Solved;
use crate::tree::{Body, Force, Joint, Mat3, Motion, Placed, Pose, Quaternion, Tree, Vec3};

/// The equations of a step, with memory and factors.
#[derive(Clone, Debug)]
pub struct MidpointStep {
    /// The pose at the middle of the step.
    pub pose: Pose,
    /// The coordinates at the middle.
    pub q: Vec<f64>,
    /// The rates at the middle.
    pub v: Vec<f64>,
    /// G and P: weight and momentum of each subtree.
    weight: Vec<Force>,
    momentum: Vec<Force>,
    /// P and G of the children that do not follow a body. Zero between sweeps.
    gathered: Vec<[Force; 2]>,
    /// F and π of each freedom.
    force: Vec<f64>,
    pi: Vec<f64>,
    elimination: Elimination<9, 12>,
}

impl MidpointStep {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> MidpointStep {
        let (n, freedoms) = (tree.links.len(), tree.freedoms);
        MidpointStep {
            pose: Pose::new(tree),
            q: vec![0.0; tree.coordinates],
            v: vec![0.0; freedoms],
            weight: vec![Force::default(); n],
            momentum: vec![Force::default(); n],
            gathered: vec![[Force::default(); 2]; n],
            force: vec![0.0; freedoms],
            pi: vec![0.0; freedoms],
            elimination: Elimination::new(tree),
        }
    }
}

impl Equations for MidpointStep {
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
        let (mut momentum, mut weight) = (Force::default(), Force::default());
        for (i, (link, placed)) in tree.links.iter().zip(&self.pose.bodies).enumerate().rev() {
            momentum += placed.momentum;
            weight += self.pose.weight(tree, around, i);
            if link.gathers {
                let [a, b] = std::mem::take(&mut self.gathered[i]);
                momentum += a;
                weight += b;
            }
            (self.momentum[i], self.weight[i]) = (momentum, weight);
            let (joint, freedoms) = (link.body.joint, link.v..link.v + link.freedoms);
            let pull = weight - placed.carried.cross_force(momentum);
            self.force[freedoms.clone()].copy_from_slice(&placed.project(joint, pull).array()[..link.freedoms]);
            let pi = placed.project(joint, momentum).array();
            self.pi[freedoms].copy_from_slice(&pi[..link.freedoms]);
            if link.freedoms == 1 {
                let body = &link.body;
                self.force[link.v] -= body.stiffness * (self.q[link.q] - body.rest) + body.damping * self.v[link.v];
            }
            (momentum, weight) = (momentum.back(placed.r), weight.back(placed.r));
            if link.follows {
                continue;
            }
            if let Some(parent) = link.body.parent {
                self.gathered[parent][0] += momentum;
                self.gathered[parent][1] += weight;
            }
            (momentum, weight) = (Force::default(), Force::default());
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
        let MidpointStep { pose, weight, momentum, force, pi, elimination, .. } = self;
        let origin = pose.bodies.first().map_or(Vec3::ZERO, |body| body.p);
        for ((into, link), placed) in elimination.blocks.iter_mut().zip(&tree.links).zip(&pose.bodies) {
            *into = block(&link.body, placed, around.gravity, origin);
        }
        elimination.factor(tree, |i, columns| {
            let (link, placed) = (&tree.links[i], &pose.bodies[i]);
            let from = placed.p - origin;
            let about = |motion: Motion| motion.to(-from);
            let (weight, momentum) = (weight[i].back(from), momentum[i].back(from));
            let carried = about(placed.carried);
            let loads = Loads { weight, momentum };
            match columns {
                [] => Mat3::default(),
                [only] => {
                    let s = about(placed.s(link.body.joint, 0));
                    let turned = carried.cross(s);
                    *only = loads.column(s * (0.5 * h), turned * (0.5 * h) - s, s * 0.5, turned * 0.5 + s * (1.0 / h));
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
                        let middle = s(j[k]) * 0.5;
                        *into = loads.column(alpha_g, alpha_p, middle, carried.cross(middle) + s(unit[k]) * (1.0 / h));
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

/// What acts on a body and its subtree, about the origin.
struct Loads {
    weight: Force,
    momentum: Force,
}

impl Loads {
    /// The numbers of a freedom: β = (α_G×*G + α_P×*P; α_G×*P), and B = (middle; η).
    #[inline(always)]
    fn column(&self, alpha_g: Motion, alpha_p: Motion, middle: Motion, eta: Motion) -> Column<9, 12> {
        let moved = alpha_g.cross_force(self.weight) + alpha_p.cross_force(self.momentum);
        let seen = alpha_g.cross_force(self.momentum);
        Column::new(
            join([alpha_g.w, alpha_p.w, alpha_p.v]),
            join([moved.n, moved.f, seen.n, seen.f]),
            join([middle.w, middle.v, eta.w, eta.v]),
        )
    }
}

/// N = [K 0; C I] of body i about the origin, without the rows of K that are zero:
/// K = [m c gᵀ − m(c·g)1, −m ĝ],   C = [−n̂, −f̂; −f̂, 0] for Π = (n; f),   I = [I_c − m ĉĉ, m ĉ; −m ĉ, m].
#[inline(always)]
fn block(body: &Body, placed: &Placed, gravity: Vec3, origin: Vec3) -> [[f64; 12]; 9] {
    if body.mass == 0.0 && body.inertia == Mat3::default() {
        return [[0.0; 12]; 9];
    }
    let (m, g) = (body.mass, gravity * body.mass);
    let c = placed.p + placed.d - origin;
    let Force { n, f } = placed.momentum.back(placed.p - origin);
    let inertia = placed.rotation * body.inertia * placed.rotation.transpose() - c.outer(c * m);
    let (Vec3(cx, cy, cz), down, about) = (c, c.dot(g), m * c.dot(c));
    let (mx, my, mz) = (m * cx, m * cy, m * cz);
    let Mat3(Vec3(xx, xy, xz), Vec3(_, yy, yz), Vec3(_, _, zz)) = inertia;
    [
        [cx * g.0 - down, cx * g.1, cx * g.2, 0.0, g.2, -g.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [cy * g.0, cy * g.1 - down, cy * g.2, -g.2, 0.0, g.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [cz * g.0, cz * g.1, cz * g.2 - down, g.1, -g.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, n.2, -n.1, 0.0, f.2, -f.1, xx + about, xy, xz, 0.0, -mz, my],
        [-n.2, 0.0, n.0, -f.2, 0.0, f.0, xy, yy + about, yz, mz, 0.0, -mx],
        [n.1, -n.0, 0.0, f.1, -f.0, 0.0, xz, yz, zz + about, -my, mx, 0.0],
        [0.0, f.2, -f.1, 0.0, 0.0, 0.0, 0.0, mz, -my, m, 0.0, 0.0],
        [-f.2, 0.0, f.0, 0.0, 0.0, 0.0, -mz, 0.0, mx, 0.0, m, 0.0],
        [f.1, -f.0, 0.0, 0.0, 0.0, 0.0, my, -mx, 0.0, 0.0, 0.0, m],
    ]
}
