//! `midpoint` on a tree in the plane: the same as in space, with scalars for turns, and one sine and cosine for each hinge.
//!
//! In the plane η_w = (2/h) δθ for every joint, and α_P,w = −(2/h) α_G,w. So x and y of `midpoint.rs` need five and three numbers:
//!
//! ```text
//! x = (δθ; δx, δy; ε_x, ε_y),   δξ = (δθ; δx, δy),   η = (2/h δθ; ε),       y = (δP_n − h/2 δG_n; δP_f)
//! N = [ 2/h J + h/2 m c·g,  f_y − h/2 m g_y,  −f_x + h/2 m g_x,  −m c_y,  m c_x ;
//!       −f_y − 2/h m c_y, 0, 0, m, 0 ;   f_x + 2/h m c_x, 0, 0, 0, m ]
//! ```
//!
//! N has the momentum (n; f), the centre of mass c and the moment of inertia J of a body about one fixed point. In memory x has a sixth
//! number, zero: pairs of lanes are then full.

use super::narrow::{Equation, Narrow};
use super::plane::{Flat, Force, Joined, Motion, Pair, add, cross, dot, minus, plane, scaled, swept, turn, turn_of};
use super::{Equations, Load, Over};
use crate::kernel::turns;
use crate::solve::Solved;
use crate::tree::Tree;

/// A body at the middle of a step. See `Placed` of the tree in space.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    p: Pair,
    r: Pair,
    d: Pair,
    /// S
    s: Motion,
    carried: Motion,
    velocity: Motion,
    momentum: Force,
    /// P, and the torque of G.
    whole: Force,
    weight: f64,
}

/// What a body hands on to those that it carries.
#[derive(Clone, Copy, Debug)]
struct Frame {
    rotation: Pair,
    p: Pair,
    velocity: Motion,
}

const GROUND: Frame = Frame { rotation: [1.0, 0.0], p: [0.0; 2], velocity: Motion { w: 0.0, v: [0.0; 2] } };

/// The equations of a step, with memory and factors. There are no ball joints in the plane, and no forces of the user.
#[derive(Clone, Debug)]
pub struct Planar {
    bodies: Vec<Flat>,
    placed: Vec<Placed>,
    /// The frames of bodies that others do not follow directly.
    frames: Vec<Frame>,
    /// P and the torque of G of the children that do not follow a body. Zero between sweeps.
    sums: Vec<(Force, f64)>,
    q: Vec<f64>,
    /// [cos q, sin q] of each coordinate.
    turns: Vec<Pair>,
    /// h/2 F + π of each freedom.
    p1: Vec<f64>,
    elimination: Narrow<6>,
}

impl Planar {
    /// Memory for a tree all of whose joints turn about z or slide along x and y, with all points at z = 0.
    pub fn new(tree: &Tree) -> Planar {
        let n = tree.links.len();
        Planar {
            bodies: Flat::all(tree),
            placed: vec![Placed::default(); n],
            frames: vec![GROUND; n],
            sums: vec![(Force::default(), 0.0); n],
            q: vec![0.0; tree.coordinates],
            turns: vec![[0.0; 2]; tree.coordinates],
            p1: vec![0.0; tree.freedoms],
            elimination: Narrow::new(n),
        }
    }

    fn place(&mut self, over: Over, u: &[f64]) {
        let (drives, g, per_h) = (&over.around[1].drives, plane(over.around[1].gravity), 1.0 / over.h);
        let mut frame = GROUND;
        for (i, (body, placed)) in self.bodies.iter().zip(&mut self.placed).enumerate() {
            if !body.follows {
                frame = body.parent.map_or(GROUND, |parent| self.frames[parent]);
            }
            let ((x, turned), rate) = match body.v {
                Some(v) => ((self.q[body.q], self.turns[body.q]), u[v] * per_h),
                None => (turn_of(drives[body.q].q), drives[body.q].v),
            };
            let Joined { r, rotation, s } = body.join(frame.rotation, x, turned);
            let carried = frame.velocity.to(r);
            let velocity = carried.plus(s, rate);
            let d = turn(rotation, body.com);
            let f = scaled(add(velocity.v, swept(velocity.w, d)), body.mass);
            let momentum = Force { n: body.inertia * velocity.w + cross(d, f), f };
            let weight = body.mass * cross(d, g);
            frame = Frame { rotation, p: add(frame.p, r), velocity };
            *placed = Placed { p: frame.p, r, d, s, carried, velocity, momentum, whole: momentum, weight };
            if body.gathers {
                self.frames[i] = frame;
            }
        }
    }
}

impl Equations for Planar {
    fn set_constants(&mut self, tree: &Tree) {
        self.bodies = Flat::all(tree);
    }

    fn residual(&mut self, _: &Tree, over: Over, _: &mut Load, u: &[f64], r: &mut [f64]) {
        let (half, per_h, g) = (0.5 * over.h, 1.0 / over.h, plane(over.around[1].gravity));
        self.q.iter_mut().zip(over.q).zip(u).for_each(|((q, q0), u)| *q = q0 + 0.5 * u);
        turns(&self.q, &mut self.turns);
        self.place(over, u);
        let mut handed = (Force::default(), 0.0);
        for (i, (body, placed)) in self.bodies.iter().zip(&mut self.placed).enumerate().rev() {
            let (mut whole, mut weight) = (placed.momentum.plus(handed.0), placed.weight + handed.1);
            if body.gathers {
                let (sum, torque) = std::mem::take(&mut self.sums[i]);
                (whole, weight) = (whole.plus(sum), weight + torque);
            }
            (placed.whole, placed.weight) = (whole, weight);
            let pull = scaled(g, body.carries);
            if let Some(v) = body.v {
                let (s, carried) = (placed.s, placed.carried);
                let own = body.stiffness * (self.q[body.q] - body.rest) + body.damping * (u[v] * per_h);
                let acting = Force { n: weight, f: pull };
                let force = half * (s.dot(acting) - s.dot(carried.cross_force(whole)) - own);
                let pi = s.dot(whole);
                self.p1[v] = force + pi;
                r[v] = over.p[v] + force - pi;
            }
            let back = (whole.back(placed.r), weight + cross(placed.r, pull));
            handed = (Force::default(), 0.0);
            match body.parent {
                Some(_) if body.follows => handed = back,
                Some(parent) => {
                    let (sum, torque) = &mut self.sums[parent];
                    (*sum, *torque) = (sum.plus(back.0), *torque + back.1);
                }
                None => {}
            }
        }
    }

    fn factor(&mut self, _: &Tree, over: Over, _: &[f64]) -> Solved<()> {
        let (half, per_h, g) = (0.5 * over.h, 1.0 / over.h, plane(over.around[1].gravity));
        let Planar { bodies, placed, elimination, .. } = self;
        let origin = placed.first().map_or([0.0; 2], |body| body.p);
        elimination.factor(bodies, |i| {
            let (body, placed) = (&bodies[i], &placed[i]);
            let from = minus(placed.p, origin);
            let back = scaled(from, -1.0);
            let (s, carried) = (placed.s.to(back), placed.carried.to(back));
            let weight = Force { n: placed.weight, f: scaled(g, body.carries) }.back(from);
            let whole = placed.whole.back(from);
            // α_G and α_P; β = (moved; seen), where the turns of both are one number.
            let alpha_g = s.times(half);
            let seen_way = carried.cross(alpha_g);
            let alpha_p = seen_way.plus(s, -1.0);
            let moved = alpha_g.cross_force(weight).plus(alpha_p.cross_force(whole));
            let seen = alpha_g.cross_force(whole);
            let epsilon = add(scaled(seen_way.v, per_h), scaled(s.v, per_h));
            let (m, c, f) = (body.mass, add(from, placed.d), placed.momentum.f);
            let (j, mg, mc) = (body.inertia + m * dot(c, c), scaled(g, half * m), scaled(c, m));
            let turned = scaled(mc, 2.0 * per_h);
            Equation {
                block: [
                    [2.0 * per_h * j + dot(c, mg), f[1] - mg[1], mg[0] - f[0], -mc[1], mc[0], 0.0],
                    [-f[1] - turned[1], 0.0, 0.0, m, 0.0, 0.0],
                    [f[0] + turned[0], 0.0, 0.0, 0.0, m, 0.0],
                ],
                alpha: [alpha_p.w, alpha_p.v[0], alpha_p.v[1]],
                beta: [moved.n + 2.0 * per_h * seen.n, moved.f[0], moved.f[1], seen.f[0], seen.f[1], 0.0],
                way: [0.5 * s.w, 0.5 * s.v[0], 0.5 * s.v[1], epsilon[0], epsilon[1], 0.0],
                e: -0.5 * (half * body.stiffness + body.damping),
            }
        })
    }

    fn apply_inverse(&mut self, _: &Tree, x: &mut [f64]) {
        self.elimination.solve(&self.bodies, x);
    }

    fn momenta(&self, _: &Tree, _: f64, _: &[f64], r: &[f64], p1: &mut [f64]) {
        p1.iter_mut().zip(&self.p1).zip(r).for_each(|((p1, p), r)| *p1 = p + r);
    }

    fn discrete(&self, tree: &Tree, over: Over) -> (f64, f64) {
        let g = plane(over.around[1].gravity);
        let t = self.placed.iter().map(|placed| placed.velocity.dot(placed.momentum)).sum::<f64>() / 2.0;
        let heights = self.bodies.iter().zip(&self.placed);
        let weight: f64 = heights.map(|(body, placed)| body.mass * dot(g, add(placed.p, placed.d))).sum();
        let v = tree.spring_energy(&self.q) - weight;
        (over.h * (t - v), t + v)
    }
}
