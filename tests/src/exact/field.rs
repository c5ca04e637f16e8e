//! The equations of motion of a model in double-double arithmetic.

use carom::lab::expr::{Expr, grad, jacobian};
use carom::lab::model::Model;

use super::tape::Tape;
use crate::double_double::Dd;

/// q and q̇.
#[derive(Clone, Debug)]
pub struct State {
    /// The coordinates.
    pub q: Vec<Dd>,
    /// The velocities.
    pub v: Vec<Dd>,
}

/// The mechanics of a model without forces, drives and constraints, and with elastic walls that do not move.
pub struct Field {
    n: usize,
    parameters: Vec<Dd>,
    /// L_vv by rows, then L_q − L_vq v.
    motion: Tape,
    momenta: Tape,
    gaps: Tape,
    /// The gradients of all gaps.
    normals: Tape,
    /// The acceleration is the same everywhere: flights are parabolas.
    pub is_constant: bool,
}

impl Field {
    /// The field of a model, derived from its Lagrangian and its gaps.
    pub fn new(model: &Model) -> Field {
        let system = &model.system;
        let (q, v, l) = (system.q(), system.v(), system.lagrangian.l);
        let symbols: Vec<Expr> = system.parameters.iter().map(|parameter| parameter.symbol).collect();
        let inputs = [&q[..], &v, &symbols].concat();
        let p = grad(l, &v);
        let mass: Vec<Expr> = p.iter().flat_map(|p| grad(*p, &v)).collect();
        let along = |p: &Expr| q.iter().zip(&v).fold(Expr::constant(0.0), |sum, (q, v)| sum + p.diff(*q) * *v);
        let forces: Vec<Expr> = grad(l, &q).iter().zip(&p).map(|(slope, p)| *slope - along(p)).collect();
        let gaps: Vec<Expr> = system.walls.iter().map(|wall| wall.phi).collect();
        let normals: Vec<Expr> = gaps.iter().flat_map(|gap| grad(*gap, &q)).collect();
        let motion = [&mass[..], &forces].concat();
        let state = [&q[..], &v].concat();
        Field {
            n: q.len(),
            parameters: system.parameters.iter().map(|parameter| Dd::from(parameter.value)).collect(),
            is_constant: jacobian(&motion, &state).iter().flatten().all(|slope| *slope == Expr::constant(0.0)),
            motion: Tape::new(&motion, &inputs),
            momenta: Tape::new(&p, &inputs),
            gaps: Tape::new(&gaps, &inputs),
            normals: Tape::new(&normals, &inputs),
        }
    }

    fn inputs(&self, state: &State) -> Vec<Dd> {
        [&state.q[..], &state.v, &self.parameters].concat()
    }

    /// q̈ from L_vv q̈ = L_q − L_vq q̇.
    pub fn acceleration(&self, state: &State) -> Vec<Dd> {
        let mut values = self.motion.values(&self.inputs(state));
        let forces = values.split_off(self.n * self.n);
        solve(values, forces)
    }

    /// p = L_v.
    pub fn momenta(&self, state: &State) -> Vec<Dd> {
        self.momenta.values(&self.inputs(state))
    }

    /// φ of every wall.
    pub fn gaps(&self, state: &State) -> Vec<Dd> {
        self.gaps.values(&self.inputs(state))
    }

    /// ∇φ of a wall.
    pub fn normal(&self, wall: usize, state: &State) -> Vec<Dd> {
        self.normals.values(&self.inputs(state))[wall * self.n..(wall + 1) * self.n].to_vec()
    }

    /// φ̇ of a wall.
    pub fn rate(&self, wall: usize, state: &State) -> Dd {
        dot(&self.normal(wall, state), &state.v)
    }

    /// An elastic impact: v⁺ = v⁻ − 2φ̇⁻/(∇φ·M⁻¹∇φ) M⁻¹∇φ.
    pub fn reflect(&self, wall: usize, state: &mut State) {
        let mut mass = self.motion.values(&self.inputs(state));
        mass.truncate(self.n * self.n);
        let normal = self.normal(wall, state);
        let answer = solve(mass, normal.clone());
        let factor = Dd::from(-2.0) * dot(&normal, &state.v) / dot(&normal, &answer);
        state.v.iter_mut().zip(&answer).for_each(|(v, answer)| *v = *v + factor * *answer);
    }
}

fn dot(a: &[Dd], b: &[Dd]) -> Dd {
    a.iter().zip(b).fold(Dd::default(), |sum, (a, b)| sum + *a * *b)
}

/// x with A x = b, by elimination with pivots; A by rows.
fn solve(mut a: Vec<Dd>, mut b: Vec<Dd>) -> Vec<Dd> {
    let n = b.len();
    for k in 0..n {
        let size = |i: &usize| a[i * n + k].abs().to_f64();
        let pivot = (k..n).max_by(|i, j| size(i).total_cmp(&size(j))).expect("there are rows");
        (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            (k..n).for_each(|j| a[i * n + j] = a[i * n + j] - factor * a[k * n + j]);
            b[i] = b[i] - factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known = (k + 1..n).fold(b[k], |sum, j| sum - a[k * n + j] * b[j]);
        b[k] = known / a[k * n + k];
    }
    b
}
