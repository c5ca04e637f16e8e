//! `midpoint` on a tree in the plane: the same as in space, with scalars for turns, 4×6 blocks in the elimination, and one sine and
//! cosine for each hinge.
//!
//! ```text
//! motion (w; v_x, v_y),   force (n; f_x, f_y),   X ×* F = (v×f ; −w f_y, w f_x)
//! N = [ −m c·g, m g_y, −m g_x, 0, 0, 0 ;  0, f_y, −f_x, J, −m c_y, m c_x ;  −f_y, 0, 0, −m c_y, m, 0 ;  f_x, 0, 0, m c_x, 0, m ]
//! ```
//!
//! N has the momentum (n; f), the centre of mass c and the moment of inertia J of a body about one fixed point; the rows of its weight
//! that are zero are left out. For joints see `midpoint.rs`.

use super::elimination::{Column, Elimination};
use super::{Equations, Load, Over};
use crate::solve::Solved;
use crate::tree::{Joint, Mat3, Tree, Vec3};

/// A vector in the plane, or a rotation as (cos, sin).
type Pair = [f64; 2];

#[inline(always)]
fn turn(a: Pair, b: Pair) -> Pair {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

#[inline(always)]
fn add(a: Pair, b: Pair) -> Pair {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
fn scaled(a: Pair, factor: f64) -> Pair {
    [a[0] * factor, a[1] * factor]
}

#[inline(always)]
fn cross(a: Pair, b: Pair) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// w × a.
#[inline(always)]
fn swept(w: f64, a: Pair) -> Pair {
    [-w * a[1], w * a[0]]
}

#[inline(always)]
fn dot(a: Pair, b: Pair) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// A motion (w; v).
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    w: f64,
    v: Pair,
}

/// A force (n; f).
#[derive(Clone, Copy, Debug, Default)]
struct Force {
    n: f64,
    f: Pair,
}

impl Motion {
    #[inline(always)]
    fn to(self, r: Pair) -> Motion {
        Motion { w: self.w, v: add(self.v, swept(self.w, r)) }
    }

    #[inline(always)]
    fn cross(self, y: Motion) -> Motion {
        Motion { w: 0.0, v: add(swept(self.w, y.v), scaled(swept(y.w, self.v), -1.0)) }
    }

    #[inline(always)]
    fn cross_force(self, y: Force) -> Force {
        Force { n: cross(self.v, y.f), f: swept(self.w, y.f) }
    }

    #[inline(always)]
    fn dot(self, y: Force) -> f64 {
        self.w * y.n + dot(self.v, y.f)
    }

    #[inline(always)]
    fn plus(self, y: Motion, factor: f64) -> Motion {
        Motion { w: self.w + factor * y.w, v: add(self.v, scaled(y.v, factor)) }
    }

    #[inline(always)]
    fn times(self, factor: f64) -> Motion {
        Motion { w: self.w * factor, v: scaled(self.v, factor) }
    }
}

impl Force {
    #[inline(always)]
    fn back(self, r: Pair) -> Force {
        Force { n: self.n + cross(r, self.f), f: self.f }
    }

    #[inline(always)]
    fn plus(self, y: Force) -> Force {
        Force { n: self.n + y.n, f: add(self.f, y.f) }
    }
}

/// A body at the middle of a step. See `Placed` of the tree in space.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    rotation: Pair,
    p: Pair,
    r: Pair,
    d: Pair,
    /// S
    s: Motion,
    carried: Motion,
    velocity: Motion,
    momentum: Force,
}

/// The equations of a step, with memory and factors. There are no ball joints in the plane, and no forces of the user.
#[derive(Clone, Debug)]
pub struct Planar {
    bodies: Vec<Placed>,
    /// P and G.
    momentum: Vec<Force>,
    weight: Vec<Force>,
    q: Vec<f64>,
    v: Vec<f64>,
    force: Vec<f64>,
    pi: Vec<f64>,
    elimination: Elimination<4, 6>,
}

fn plane(x: Vec3) -> Pair {
    [x.0, x.1]
}

impl Planar {
    /// Memory for a tree all of whose joints turn about z or slide along x and y, with all points at z = 0.
    pub fn new(tree: &Tree) -> Planar {
        let (n, freedoms) = (tree.links.len(), tree.freedoms);
        Planar {
            bodies: vec![Placed::default(); n],
            momentum: vec![Force::default(); n],
            weight: vec![Force::default(); n],
            q: vec![0.0; tree.coordinates],
            v: vec![0.0; freedoms],
            force: vec![0.0; freedoms],
            pi: vec![0.0; freedoms],
            elimination: Elimination::new(tree),
        }
    }

    fn place(&mut self, tree: &Tree, over: Over) {
        let drives = &over.around[1].drives;
        for (i, link) in tree.links.iter().enumerate() {
            let body = &link.body;
            let parent = match body.parent {
                Some(parent) => self.bodies[parent],
                None => Placed { rotation: [1.0, 0.0], ..Placed::default() },
            };
            let (x, rate) = match link.freedoms {
                0 => (drives[link.q].q, drives[link.q].v),
                _ => (self.q[link.q], self.v[link.v]),
            };
            let mut r = turn(parent.rotation, plane(body.at));
            let frame = turn(parent.rotation, [body.turn.0.0, body.turn.1.0]);
            let (rotation, s) = match body.joint {
                Joint::Prismatic(axis) => {
                    let axis = turn(frame, plane(axis));
                    r = add(r, scaled(axis, x));
                    (frame, Motion { w: 0.0, v: axis })
                }
                Joint::Revolute(axis) => {
                    let (sin, cos) = x.sin_cos();
                    (turn(frame, [cos, axis.2 * sin]), Motion { w: axis.2, v: [0.0; 2] })
                }
                Joint::Ball => (frame, Motion::default()),
            };
            let carried = parent.velocity.to(r);
            let velocity = carried.plus(s, rate);
            let d = turn(rotation, plane(body.com));
            let f = scaled(add(velocity.v, swept(velocity.w, d)), body.mass);
            let momentum = Force { n: body.inertia.2.2 * velocity.w + cross(d, f), f };
            self.bodies[i] = Placed { rotation, p: add(parent.p, r), r, d, s, carried, velocity, momentum };
        }
    }

    /// Sums momenta and weights over subtrees.
    fn sum_up(&mut self, tree: &Tree, gravity: Pair) {
        for (i, (link, placed)) in tree.links.iter().zip(&self.bodies).enumerate() {
            let f = scaled(gravity, link.body.mass);
            self.weight[i] = Force { n: cross(placed.d, f), f };
            self.momentum[i] = placed.momentum;
        }
        for (i, link) in tree.links.iter().enumerate().rev() {
            if let Some(parent) = link.body.parent {
                let r = self.bodies[i].r;
                self.momentum[parent] = self.momentum[parent].plus(self.momentum[i].back(r));
                self.weight[parent] = self.weight[parent].plus(self.weight[i].back(r));
            }
        }
    }
}

impl Equations for Planar {
    fn residual(&mut self, tree: &Tree, over: Over, _: &mut Load, u: &[f64], r: &mut [f64]) {
        let h = over.h;
        self.q.iter_mut().zip(over.q).zip(u).for_each(|((q, q0), u)| *q = q0 + 0.5 * u);
        self.v.iter_mut().zip(u).for_each(|(v, u)| *v = u / h);
        self.place(tree, over);
        self.sum_up(tree, plane(over.around[1].gravity));
        for (i, link) in tree.links.iter().enumerate().filter(|(_, link)| link.freedoms == 1) {
            let (placed, body, v) = (&self.bodies[i], &link.body, link.v);
            let turned = placed.carried.cross_force(self.momentum[i]);
            let own = body.stiffness * (self.q[link.q] - body.rest) + body.damping * self.v[v];
            self.force[v] = placed.s.dot(self.weight[i]) - placed.s.dot(turned) - own;
            self.pi[v] = placed.s.dot(self.momentum[i]);
            r[v] = over.p[v] + 0.5 * h * self.force[v] - self.pi[v];
        }
    }

    fn factor(&mut self, tree: &Tree, over: Over, _: &[f64]) -> Solved<()> {
        let (h, g) = (over.h, plane(over.around[1].gravity));
        let Planar { bodies, momentum, weight, elimination, .. } = self;
        let origin = bodies.first().map_or([0.0; 2], |body| body.p);
        let from = |placed: &Placed| [placed.p[0] - origin[0], placed.p[1] - origin[1]];
        for ((block, link), placed) in elimination.blocks.iter_mut().zip(&tree.links).zip(&*bodies) {
            let (m, c) = (link.body.mass, add(from(placed), placed.d));
            let (f, j) = (placed.momentum.f, link.body.inertia.2.2 + m * dot(c, c));
            *block = [
                [-m * dot(c, g), m * g[1], -m * g[0], 0.0, 0.0, 0.0],
                [0.0, f[1], -f[0], j, -m * c[1], m * c[0]],
                [-f[1], 0.0, 0.0, -m * c[1], m, 0.0],
                [f[0], 0.0, 0.0, m * c[0], 0.0, m],
            ];
        }
        elimination.factor(tree, |i, columns| {
            let (body, placed) = (&tree.links[i].body, &bodies[i]);
            let [column] = columns else { return Mat3::default() };
            let from = from(placed);
            let back = scaled(from, -1.0);
            let (s, carried) = (placed.s.to(back), placed.carried.to(back));
            let (weight, momentum) = (weight[i].back(from), momentum[i].back(from));
            let alpha_g = s.times(0.5 * h);
            let alpha_p = carried.cross(alpha_g).plus(s, -1.0);
            let moved = alpha_g.cross_force(weight).plus(alpha_p.cross_force(momentum));
            let seen = alpha_g.cross_force(momentum);
            let middle = s.times(0.5);
            let eta = carried.cross(middle).plus(s, 1.0 / h);
            *column = Column::new(
                [alpha_g.w, alpha_p.w, alpha_p.v[0], alpha_p.v[1]],
                [moved.n, moved.f[0], moved.f[1], seen.n, seen.f[0], seen.f[1]],
                [middle.w, middle.v[0], middle.v[1], eta.w, eta.v[0], eta.v[1]],
            );
            Mat3(Vec3(-0.25 * h * body.stiffness - 0.5 * body.damping, 0.0, 0.0), Vec3::ZERO, Vec3::ZERO)
        })
    }

    fn apply_inverse(&mut self, tree: &Tree, x: &mut [f64]) {
        self.elimination.solve(tree, x);
    }

    fn momenta(&self, _: &Tree, h: f64, _: &[f64], r: &[f64], p1: &mut [f64]) {
        for ((p1, r), (force, pi)) in p1.iter_mut().zip(r).zip(self.force.iter().zip(&self.pi)) {
            *p1 = 0.5 * h * force + pi + r;
        }
    }

    fn discrete(&self, tree: &Tree, over: Over) -> (f64, f64) {
        let g = plane(over.around[1].gravity);
        let t = self.bodies.iter().map(|placed| placed.velocity.dot(placed.momentum)).sum::<f64>() / 2.0;
        let heights = tree.links.iter().zip(&self.bodies);
        let weight: f64 = heights.map(|(link, placed)| link.body.mass * dot(g, add(placed.p, placed.d))).sum();
        let v = tree.spring_energy(&self.q) - weight;
        (over.h * (t - v), t + v)
    }
}
