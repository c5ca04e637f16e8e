//! Vectors of the plane, and the bodies of a tree in it.
//!
//! ```text
//! motion X = (w; v_x, v_y),   force F = (n; f_x, f_y),   X ×* F = (v×f ; −w f_y, w f_x)
//! ```

use crate::tree::{Joint, Tree, TreeLink, Vec3};

/// A vector in the plane, or a rotation as (cos, sin).
pub(super) type Pair = [f64; 2];

#[inline(always)]
pub(super) fn turn(a: Pair, b: Pair) -> Pair {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

#[inline(always)]
pub(super) fn add(a: Pair, b: Pair) -> Pair {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
pub(super) fn minus(a: Pair, b: Pair) -> Pair {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline(always)]
pub(super) fn scaled(a: Pair, factor: f64) -> Pair {
    [a[0] * factor, a[1] * factor]
}

#[inline(always)]
pub(super) fn cross(a: Pair, b: Pair) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// w × a.
#[inline(always)]
pub(super) fn swept(w: f64, a: Pair) -> Pair {
    [-w * a[1], w * a[0]]
}

#[inline(always)]
pub(super) fn dot(a: Pair, b: Pair) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// A motion (w; v).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    pub(super) w: f64,
    pub(super) v: Pair,
}

/// A force (n; f).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Force {
    pub(super) n: f64,
    pub(super) f: Pair,
}

impl Motion {
    #[inline(always)]
    pub(super) fn to(self, r: Pair) -> Motion {
        Motion { w: self.w, v: add(self.v, swept(self.w, r)) }
    }

    #[inline(always)]
    pub(super) fn cross(self, y: Motion) -> Motion {
        Motion { w: 0.0, v: add(swept(self.w, y.v), scaled(swept(y.w, self.v), -1.0)) }
    }

    #[inline(always)]
    pub(super) fn cross_force(self, y: Force) -> Force {
        Force { n: cross(self.v, y.f), f: swept(self.w, y.f) }
    }

    #[inline(always)]
    pub(super) fn dot(self, y: Force) -> f64 {
        self.w * y.n + dot(self.v, y.f)
    }

    #[inline(always)]
    pub(super) fn plus(self, y: Motion, factor: f64) -> Motion {
        Motion { w: self.w + factor * y.w, v: add(self.v, scaled(y.v, factor)) }
    }

    #[inline(always)]
    pub(super) fn times(self, factor: f64) -> Motion {
        Motion { w: self.w * factor, v: scaled(self.v, factor) }
    }
}

impl Force {
    #[inline(always)]
    pub(super) fn back(self, r: Pair) -> Force {
        Force { n: self.n + cross(r, self.f), f: self.f }
    }

    #[inline(always)]
    pub(super) fn plus(self, y: Force) -> Force {
        Force { n: self.n + y.n, f: add(self.f, y.f) }
    }
}

/// The constants of a body in the plane, and its place among the others: what a sweep reads, without gaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flat {
    pub(super) parent: Option<usize>,
    /// True if the parent is the body before this one: sweeps then keep in registers what they carry.
    pub(super) follows: bool,
    /// True if it has children that do not follow it.
    pub(super) gathers: bool,
    /// The index of its coordinate, or of its drive.
    pub(super) q: usize,
    /// The index of its freedom; `None` if it is driven.
    pub(super) v: Option<usize>,
    pub(super) joint: FlatJoint,
    pub(super) at: Pair,
    /// The orientation of the joint frame.
    pub(super) turn: Pair,
    pub(super) com: Pair,
    pub(super) mass: f64,
    /// The mass of the body and of all that it carries.
    pub(super) carries: f64,
    pub(super) inertia: f64,
    pub(super) stiffness: f64,
    pub(super) rest: f64,
    pub(super) damping: f64,
}

/// A joint in the plane.
#[derive(Clone, Copy, Debug)]
pub(super) enum FlatJoint {
    /// Turns about z with this sign.
    Hinge(f64),
    /// Slides along an axis in the joint frame.
    Slide(Pair),
}

impl Flat {
    /// The bodies of a tree all of whose joints turn about z or slide along x and y, with all points at z = 0.
    pub(super) fn all(tree: &Tree) -> Vec<Flat> {
        let flat = |link: &TreeLink| {
            let body = &link.body;
            Flat {
                parent: body.parent,
                follows: link.follows,
                gathers: link.gathers,
                q: link.q,
                v: (link.freedoms > 0).then_some(link.v),
                joint: match body.joint {
                    Joint::Prismatic(axis) => FlatJoint::Slide(plane(axis)),
                    Joint::Revolute(axis) => FlatJoint::Hinge(axis.2),
                    // No model in the plane has one.
                    Joint::Ball => FlatJoint::Hinge(0.0),
                },
                at: plane(body.at),
                turn: [body.turn.0.0, body.turn.1.0],
                com: plane(body.com),
                mass: body.mass,
                carries: body.mass,
                inertia: body.inertia.2.2,
                stiffness: body.stiffness,
                rest: body.rest,
                damping: body.damping,
            }
        };
        let mut all: Vec<Flat> = tree.links.iter().map(flat).collect();
        for i in (0..all.len()).rev() {
            let Flat { parent, carries, .. } = all[i];
            if let Some(parent) = parent {
                all[parent].carries += carries;
            }
        }
        all
    }
}

/// A body beside its parent.
pub(super) struct Joined {
    /// From the origin of the parent to that of the body.
    pub(super) r: Pair,
    pub(super) rotation: Pair,
    /// S
    pub(super) s: Motion,
}

impl Flat {
    /// Places the body at the coordinate x of its joint, on a parent with this rotation. `turned` is [cos x, sin x].
    #[inline(always)]
    pub(super) fn join(&self, parent: Pair, x: f64, turned: Pair) -> Joined {
        let r = turn(parent, self.at);
        match self.joint {
            FlatJoint::Slide(axis) => {
                let rotation = turn(parent, self.turn);
                let axis = turn(rotation, axis);
                Joined { r: add(r, scaled(axis, x)), rotation, s: Motion { w: 0.0, v: axis } }
            }
            FlatJoint::Hinge(sign) => {
                let local = turn(self.turn, [turned[0], sign * turned[1]]);
                Joined { r, rotation: turn(parent, local), s: Motion { w: sign, v: [0.0; 2] } }
            }
        }
    }
}

/// x and [cos x, sin x].
pub(super) fn turn_of(x: f64) -> (f64, Pair) {
    (x, [x.cos(), x.sin()])
}

/// A vector in space, seen along z.
pub(super) fn plane(x: Vec3) -> Pair {
    [x.0, x.1]
}
