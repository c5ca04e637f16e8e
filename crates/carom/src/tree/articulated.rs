//! M⁻¹ by articulated bodies. [Featherstone]
//!
//! ```text
//! leaves → roots   I^A_i = I_i + Σ_children X_cᵀ I^a_c X_c,      f_i = Σ_children X_cᵀ(f_c + U_c s_c)
//!                  U_i = I^A_i S_i,   D_i = S_iᵀU_i,   s_i = D_i⁻¹(p_i − S_iᵀf_i),   I^a_i = I^A_i − U_i D_i⁻¹ U_iᵀ
//! roots → leaves   a_λ′ = X_i a_λ,   v_i = s_i − D_i⁻¹ U_iᵀ a_λ′,   a_i = a_λ′ + S_i v_i        (a_ground = 0)
//! ```

use super::{Force, Mat3, Motion, Placed, Pose, Tree, Vec3};

/// An inertia [A B; Bᵀ C] with A and C symmetric: (w; v) ↦ (A w + B v; Bᵀw + C v).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inertia {
    a: Mat3,
    b: Mat3,
    c: Mat3,
}

impl Inertia {
    /// The inertia of a body about its joint: [I_c − m d̂d̂, m d̂; −m d̂, m].
    #[inline(always)]
    pub(super) fn of(placed: &Placed, mass: f64, inertia: Mat3) -> Inertia {
        let d = placed.d.hat();
        let rotated = placed.rotation * inertia * placed.rotation.transpose();
        Inertia { a: rotated - d * d * mass, b: d * mass, c: Mat3::ONE * mass }
    }

    #[inline(always)]
    pub(super) fn apply(&self, x: Motion) -> Force {
        Force { n: self.a * x.w + self.b * x.v, f: self.b.tr_mul(x.w) + self.c * x.v }
    }

    /// XᵀI X: the inertia about a point from which the reference point is at r.
    #[inline(always)]
    fn back(&self, r: Vec3) -> Inertia {
        let r = r.hat();
        let b = self.b + r * self.c;
        // A − B r̂ + r̂ Bᵀ − r̂ C r̂ = A − (B + r̂ C) r̂ + r̂ Bᵀ
        Inertia { a: self.a - b * r + r * self.b.transpose(), b, c: self.c }
    }

    #[inline(always)]
    fn subtract(&mut self, u: Force, w: Force) {
        self.a -= u.n.outer(w.n);
        self.b -= u.n.outer(w.f);
        self.c -= u.f.outer(w.f);
    }

    #[inline(always)]
    fn add(&mut self, other: Inertia) {
        self.a += other.a;
        self.b += other.b;
        self.c += other.c;
    }
}

/// The factors of M at a pose.
#[derive(Clone, Debug)]
pub struct Articulated {
    inertia: Vec<Inertia>,
    /// U, one entry for each freedom.
    u: Vec<Force>,
    /// D⁻¹; of one freedom in the first entry.
    pivots: Vec<Mat3>,
    pub(super) forces: Vec<Force>,
    pub(super) motions: Vec<Motion>,
}

impl Articulated {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Articulated {
        let n = tree.links.len();
        Articulated {
            inertia: vec![Inertia::default(); n],
            u: vec![Force::default(); tree.freedoms],
            pivots: vec![Mat3::default(); n],
            forces: vec![Force::default(); n],
            motions: vec![Motion::default(); n],
        }
    }

    /// The diagonal of M at a pose, by composite bodies: S_iᵀ(Σ_subtree I)S_i of each freedom.
    pub fn diagonal(&mut self, tree: &Tree, pose: &Pose) -> Vec<f64> {
        self.set_inertia(tree, pose);
        let mut diagonal = vec![0.0; tree.freedoms];
        for (i, link) in tree.links.iter().enumerate().rev() {
            let (whole, placed) = (self.inertia[i], &pose.bodies[i]);
            for k in 0..link.freedoms {
                let s = placed.s(link.body.joint, k);
                diagonal[link.v + k] = s.dot(whole.apply(s));
            }
            if let Some(parent) = link.body.parent {
                self.inertia[parent].add(whole.back(placed.r));
            }
        }
        diagonal
    }

    /// The first body, from the leaves, whose joint moves no mass while all beyond it give way: its pivot is below `part` of its
    /// entry in the diagonal of M.
    pub fn massless(&mut self, tree: &Tree, pose: &Pose, part: f64) -> Option<usize> {
        let diagonal = self.diagonal(tree, pose);
        if let Err(body) = self.factor(tree, pose) {
            return Some(body);
        }
        (0..tree.links.len()).rev().find(|&i| {
            let (link, inverse) = (&tree.links[i], self.pivots[i].rows());
            (0..link.freedoms).any(|k| part * inverse[k].array()[k] * diagonal[link.v + k] >= 1.0)
        })
    }

    fn set_inertia(&mut self, tree: &Tree, pose: &Pose) {
        for ((inertia, link), placed) in self.inertia.iter_mut().zip(&tree.links).zip(&pose.bodies) {
            *inertia = Inertia::of(placed, link.body.mass, link.body.inertia);
        }
    }

    /// Factors M at a pose. Returns the body at which a pivot is zero, if any: a chain that ends without mass.
    pub fn factor(&mut self, tree: &Tree, pose: &Pose) -> Result<(), usize> {
        self.set_inertia(tree, pose);
        for (i, link) in tree.links.iter().enumerate().rev() {
            let placed = &pose.bodies[i];
            let mut rest = self.inertia[i];
            match link.freedoms {
                0 => {}
                1 => {
                    let s = placed.s(link.body.joint, 0);
                    let u = rest.apply(s);
                    let inverse = 1.0 / s.dot(u);
                    if !(inverse > 0.0 && inverse.is_finite()) {
                        return Err(i);
                    }
                    self.u[link.v] = u;
                    self.pivots[i].0.0 = inverse;
                    rest.subtract(u, u * inverse);
                }
                _ => {
                    let columns = [0, 1, 2].map(|k| rest.apply(placed.s(link.body.joint, k)));
                    let [a, b, c] = columns.map(|u| placed.rotation.tr_mul(u.n));
                    let inverse = Mat3(a, b, c).inverse().ok_or(i)?;
                    self.u[link.v..link.v + 3].copy_from_slice(&columns);
                    self.pivots[i] = inverse;
                    for (u, row) in columns.iter().zip(inverse.rows()) {
                        rest.subtract(*u, columns[0] * row.0 + columns[1] * row.1 + columns[2] * row.2);
                    }
                }
            }
            if let Some(parent) = link.body.parent {
                self.inertia[parent].add(rest.back(placed.r));
            }
        }
        Ok(())
    }

    /// x ← M⁻¹x, at the pose that was factored.
    pub fn solve(&mut self, tree: &Tree, pose: &Pose, x: &mut [f64]) {
        self.forces.fill(Force::default());
        for (i, link) in tree.links.iter().enumerate().rev() {
            let (placed, v) = (&pose.bodies[i], link.v);
            let projected = placed.project(link.body.joint, self.forces[i]);
            let mut force = self.forces[i];
            match link.freedoms {
                0 => {}
                1 => {
                    x[v] = self.pivots[i].0.0 * (x[v] - projected.0);
                    force += self.u[v] * x[v];
                }
                _ => {
                    let s = self.pivots[i] * (Vec3::read(&x[v..]) - projected);
                    x[v..v + 3].copy_from_slice(&s.array());
                    force += self.u[v] * s.0 + self.u[v + 1] * s.1 + self.u[v + 2] * s.2;
                }
            }
            if let Some(parent) = link.body.parent {
                self.forces[parent] += force.back(placed.r);
            }
        }
        for (i, link) in tree.links.iter().enumerate() {
            let (placed, v) = (&pose.bodies[i], link.v);
            let carried = link.body.parent.map_or(Motion::default(), |parent| self.motions[parent].to(placed.r));
            let freedom = match link.freedoms {
                0 => Vec3::ZERO,
                1 => {
                    x[v] -= self.pivots[i].0.0 * carried.dot(self.u[v]);
                    Vec3(x[v], 0.0, 0.0)
                }
                _ => {
                    let [a, b, c] = [0, 1, 2].map(|k| carried.dot(self.u[v + k]));
                    let s = Vec3::read(&x[v..]) - self.pivots[i] * Vec3(a, b, c);
                    x[v..v + 3].copy_from_slice(&s.array());
                    s
                }
            };
            self.motions[i] = carried + placed.motion(link.body.joint, freedom);
        }
    }
}
