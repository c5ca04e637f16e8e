//! `bodies` on a tree in the plane: the same as in space (`rattle.rs`), with scalars for turns. Δ is the angle by which a body turns:
//!
//! ```text
//! t = I sin Δ/h,   f = m (c1 − c0)/h,   ∫|X1 − X0|² dm = m|c1 − c0|² + 2I(1 − cos Δ)
//! H = [ I cos Δ + m c0·c1, −m c0_y, m c0_x ;  −m c1_y, m, 0 ;  m c1_x, 0, m ]/h,    Newton's matrix: −(S(q0)ᵀH S(q1) + damp/2)
//! ```
//!
//! c0 and c1 in H are the centres of mass from one fixed point.

use super::narrow::{Equation, Narrow};
use super::plane::{
    Flat, FlatJoint, Force, Joined, Motion, Pair, add, cross, dot, minus, plane, scaled, turn, turn_of,
};
use super::{Equations, Load, Over};
use crate::kernel::turns;
use crate::solve::Solved;
use crate::tree::{Drive, Tree};

/// A body at the start or the end of a step. What follows from these with a few operations is not stored: the sweeps of a long chain
/// are as fast as its data come.
#[derive(Clone, Copy, Debug)]
struct Spot {
    rotation: Pair,
    p: Pair,
    r: Pair,
}

const GROUND: Spot = Spot { rotation: [1.0, 0.0], p: [0.0; 2], r: [0.0; 2] };

impl Spot {
    #[inline(always)]
    fn of(body: &Flat, parent: &Spot, x: f64, turned: Pair) -> Spot {
        let Joined { r, rotation, .. } = body.join(parent.rotation, x, turned);
        Spot { rotation, p: add(parent.p, r), r }
    }

    #[inline(always)]
    fn d(&self, body: &Flat) -> Pair {
        turn(self.rotation, body.com)
    }

    /// S
    #[inline(always)]
    fn s(&self, body: &Flat) -> Motion {
        match body.joint {
            FlatJoint::Hinge(sign) => Motion { w: sign, v: [0.0; 2] },
            FlatJoint::Slide(axis) => Motion { w: 0.0, v: turn(self.rotation, axis) },
        }
    }
}

/// The equations of a step, with memory and factors. There are no ball joints in the plane, and no forces of the user.
#[derive(Clone, Debug)]
pub struct PlanarRattle {
    bodies: Vec<Flat>,
    /// The coordinates and drives for which `start` was computed.
    begun: (Vec<f64>, Vec<Drive>),
    start: Vec<Spot>,
    end: Vec<Spot>,
    /// f of each body.
    impulses: Vec<Pair>,
    /// p1 − p0 of bodies that others do not follow directly.
    moved: Vec<Pair>,
    /// What the children that do not follow a body hand on, at the start and the end. Zero between sweeps.
    sums: Vec<[Force; 2]>,
    /// The end that was placed last; NaN before.
    q1: Vec<f64>,
    /// [cos q, sin q] of each coordinate that was placed last.
    turns: Vec<Pair>,
    p1: Vec<f64>,
    elimination: Narrow<3>,
}

impl PlanarRattle {
    /// Memory for a tree all of whose joints turn about z or slide along x and y, with all points at z = 0.
    pub fn new(tree: &Tree) -> PlanarRattle {
        let n = tree.links.len();
        PlanarRattle {
            bodies: Flat::all(tree),
            begun: (vec![f64::NAN; tree.coordinates], Vec::new()),
            start: vec![GROUND; n],
            end: vec![GROUND; n],
            impulses: vec![[0.0; 2]; n],
            moved: vec![[0.0; 2]; n],
            sums: vec![[Force::default(); 2]; n],
            q1: vec![f64::NAN; tree.coordinates],
            turns: vec![[0.0; 2]; tree.coordinates],
            p1: vec![0.0; tree.freedoms],
            elimination: Narrow::new(n),
        }
    }

    /// Places the start, if it is neither that of the last residual nor the end of it.
    fn begin(&mut self, over: Over) {
        let drives = &over.around[0].drives;
        if self.begun.0 == over.q && self.begun.1 == *drives {
            return;
        }
        self.begun.0.copy_from_slice(over.q);
        self.begun.1.clone_from(drives);
        if drives.is_empty() && self.q1 == over.q {
            std::mem::swap(&mut self.start, &mut self.end);
            return;
        }
        turns(over.q, &mut self.turns);
        for (i, body) in self.bodies.iter().enumerate() {
            let parent = body.parent.map_or(GROUND, |parent| self.start[parent]);
            let (x, turned) = match body.v {
                Some(_) => (over.q[body.q], self.turns[body.q]),
                None => turn_of(drives[body.q].q),
            };
            self.start[i] = Spot::of(body, &parent, x, turned);
        }
    }

    /// Places the end, and computes the impulses of the bodies. Places differ by sums of small increments, not of positions.
    fn impel(&mut self, over: Over, u: &[f64]) {
        let ([first, last], per_h) = ([&over.around[0].drives, &over.around[2].drives], 1.0 / over.h);
        let (mut from, mut to, mut carried) = (GROUND, GROUND, [0.0; 2]);
        for (i, body) in self.bodies.iter().enumerate() {
            if !body.follows {
                (from, to, carried) = match body.parent {
                    Some(parent) => (self.start[parent], self.end[parent], self.moved[parent]),
                    None => (GROUND, GROUND, [0.0; 2]),
                };
            }
            let (x0, (x1, turned), way) = match body.v {
                Some(v) => (over.q[body.q], (self.q1[body.q], self.turns[body.q]), u[v]),
                None => (first[body.q].q, turn_of(last[body.q].q), last[body.q].q - first[body.q].q),
            };
            let (start, end) = (self.start[i], Spot::of(body, &to, x1, turned));
            let mut moved = add(carried, turn(minus(to.rotation, from.rotation), body.at));
            let swept = minus(end.rotation, start.rotation);
            if let FlatJoint::Slide(axis) = body.joint {
                moved = add(moved, add(scaled(turn(swept, axis), x0), scaled(turn(end.rotation, axis), way)));
            }
            self.impulses[i] = scaled(add(moved, turn(swept, body.com)), body.mass * per_h);
            self.end[i] = end;
            if body.gathers {
                self.moved[i] = moved;
            }
            (from, to, carried) = (start, end, moved);
        }
    }
}

impl Equations for PlanarRattle {
    fn set_constants(&mut self, tree: &Tree) {
        self.bodies = Flat::all(tree);
        self.begun.0.fill(f64::NAN);
        self.q1.fill(f64::NAN);
    }

    fn residual(&mut self, _: &Tree, over: Over, _: &mut Load, u: &[f64], r: &mut [f64]) {
        let (half, per_h) = (0.5 * over.h, 1.0 / over.h);
        let [before, after] = [0, 2].map(|k| scaled(plane(over.around[k].gravity), half));
        self.begin(over);
        self.q1.iter_mut().zip(over.q).zip(u).for_each(|((q1, q0), u)| *q1 = q0 + u);
        turns(&self.q1, &mut self.turns);
        self.impel(over, u);
        let mut handed = [Force::default(); 2];
        for (i, body) in self.bodies.iter().enumerate().rev() {
            let (start, end, f) = (&self.start[i], &self.end[i], self.impulses[i]);
            let t = body.inertia * cross(start.rotation, end.rotation) * per_h;
            let wrench = |d: Pair, f: Pair| Force { n: t + cross(d, f), f };
            let mut first = wrench(start.d(body), minus(f, scaled(before, body.mass))).plus(handed[0]);
            let mut last = wrench(end.d(body), add(f, scaled(after, body.mass))).plus(handed[1]);
            if body.gathers {
                let [a, b] = std::mem::take(&mut self.sums[i]);
                (first, last) = (first.plus(a), last.plus(b));
            }
            if let Some(v) = body.v {
                let (stiffness, damper) = (half * body.stiffness, 0.5 * body.damping * u[v]);
                r[v] = over.p[v] - start.s(body).dot(first) - stiffness * (over.q[body.q] - body.rest) - damper;
                self.p1[v] = end.s(body).dot(last) - stiffness * (self.q1[body.q] - body.rest) - damper;
            }
            let back = [first.back(start.r), last.back(end.r)];
            handed = [Force::default(); 2];
            match body.parent {
                Some(_) if body.follows => handed = back,
                Some(parent) => {
                    let sums = &mut self.sums[parent];
                    *sums = [sums[0].plus(back[0]), sums[1].plus(back[1])];
                }
                None => {}
            }
        }
    }

    fn factor(&mut self, _: &Tree, over: Over, _: &[f64]) -> Solved<()> {
        let PlanarRattle { bodies, start, end, elimination, .. } = self;
        let origin = start.first().map_or([0.0; 2], |body| body.p);
        elimination.factor(bodies, |i| {
            let (body, start, end) = (&bodies[i], &start[i], &end[i]);
            let [from0, from1] = [start, end].map(|spot| minus(spot.p, origin));
            let (m, j) = (body.mass / over.h, body.inertia / over.h);
            let (c0, c1) = (add(from0, start.d(body)), add(from1, end.d(body)));
            let (alpha, way) = (start.s(body).to(scaled(from0, -1.0)), end.s(body).to(scaled(from1, -1.0)));
            let cosine = dot(start.rotation, end.rotation);
            Equation {
                block: [
                    [-j * cosine - m * dot(c0, c1), m * c0[1], -m * c0[0]],
                    [m * c1[1], -m, 0.0],
                    [-m * c1[0], 0.0, -m],
                ],
                alpha: [alpha.w, alpha.v[0], alpha.v[1]],
                beta: [0.0; 3],
                way: [way.w, way.v[0], way.v[1]],
                e: -0.5 * body.damping,
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
        let h = over.h;
        let ends = self.start.iter().zip(&self.end);
        let swept = self.bodies.iter().zip(&self.impulses).zip(ends).map(|((body, &f), (start, end))| {
            let way = if body.mass == 0.0 { 0.0 } else { dot(f, f) * h * h / body.mass };
            way + 2.0 * body.inertia * (1.0 - dot(start.rotation, end.rotation))
        });
        let swept: f64 = swept.sum();
        let potential = |spots: &[Spot], k: usize, q: &[f64]| {
            let g = plane(over.around[k].gravity);
            let heights = self.bodies.iter().zip(spots);
            let weight: f64 = heights.map(|(body, spot)| body.mass * dot(g, add(spot.p, spot.d(body)))).sum();
            tree.spring_energy(q) - weight
        };
        let mean = 0.5 * (potential(&self.start, 0, &self.begun.0) + potential(&self.end, 2, &self.q1));
        (swept / (2.0 * h) - h * mean, swept / (2.0 * h * h) + mean)
    }
}
