//! What the benchmarks measure: discrete equations of motion, from small to large.

mod field;

pub use field::VectorField;

use carom::lab::expr::{Expr, grad, jacobian, substitute};

/// A Lagrangian in its coordinates, velocities and parameters.
pub struct Mechanism {
    /// The coordinates.
    pub q: Vec<Expr>,
    /// The velocities.
    pub v: Vec<Expr>,
    /// The parameters.
    pub parameters: Vec<Expr>,
    /// L(q, v).
    pub lagrangian: Expr,
}

/// One step of a variational integrator: what Newton's method needs, and the momentum at its end.
pub struct Step {
    /// q0, q1, p0, h, parameters.
    pub inputs: Vec<Expr>,
    /// r, ∂r/∂q1 by rows, p1.
    pub outputs: Vec<Expr>,
}

fn symbols(name: &str, n: usize) -> Vec<Expr> {
    (1..=n).map(|i| Expr::symbol(&format!("{name}{i}"))).collect()
}

/// A cart on a vertical rail, with a pendulum.
///
/// ```text
/// L = m1·y'²/2 + m2·((L·θ'·cos θ)² + (y' + L·θ'·sin θ)²)/2 − m1·g·y − m2·g·(y − L·cos θ)
/// ```
pub fn cart_pendulum() -> Mechanism {
    let [y, theta, dy, dtheta] = ["y", "theta", "y'", "theta'"].map(Expr::symbol);
    let [m1, m2, l, g] = ["m1", "m2", "L", "g"].map(Expr::symbol);
    let speed2 = (l * dtheta * theta.cos()).squared() + (dy + l * dtheta * theta.sin()).squared();
    let kinetic = 0.5 * m1 * dy.squared() + 0.5 * m2 * speed2;
    let potential = m1 * g * y + m2 * g * (y - l * theta.cos());
    let lagrangian = kinetic - potential;
    Mechanism { q: vec![y, theta], v: vec![dy, dtheta], parameters: vec![m1, m2, l, g], lagrangian }
}

/// A chain of n massless rods with a point mass at the end of each; θ are the angles against the vertical.
pub fn chain(n: usize) -> Mechanism {
    let (theta, dtheta) = (symbols("theta", n), symbols("dtheta", n));
    let (mass, length, g) = (symbols("m", n), symbols("L", n), Expr::symbol("g"));
    let zero = Expr::constant(0.0);
    let (mut dx, mut dy, mut y, mut lagrangian) = (zero, zero, zero, zero);
    for k in 0..n {
        dx = dx + length[k] * dtheta[k] * theta[k].cos();
        dy = dy + length[k] * dtheta[k] * theta[k].sin();
        y = y - length[k] * theta[k].cos();
        lagrangian = lagrangian + 0.5 * mass[k] * (dx.squared() + dy.squared()) - mass[k] * g * y;
    }
    let parameters = [mass, length, vec![g]].concat();
    Mechanism { q: theta, v: dtheta, parameters, lagrangian }
}

impl Mechanism {
    /// The trapezoidal rule as a variational integrator. [DLM eq. 26]
    ///
    /// ```text
    /// L_d(q0, q1, h) = h/2 · [ L(q0, v) + L(q1, v) ],   v = (q1 − q0)/h
    /// r = p0 + D₁L_d = 0,   p1 = D₂L_d
    /// ```
    pub fn trapezoidal_step(&self) -> Step {
        let n = self.q.len();
        let (q0, q1, p0, h) = (symbols("q0_", n), symbols("q1_", n), symbols("p0_", n), Expr::symbol("h"));
        let v: Vec<Expr> = q0.iter().zip(&q1).map(|(&a, &b)| (b - a) / h).collect();
        let from = [&self.q[..], &self.v].concat();
        let [l0, l1] = [&q0, &q1].map(|q| substitute(&[self.lagrangian], &from, &[&q[..], &v].concat())[0]);
        let l_d = 0.5 * h * (l0 + l1);
        let slots = grad(l_d, &[&q0[..], &q1].concat());
        let r: Vec<Expr> = p0.iter().zip(&slots).map(|(&p, &d1)| p + d1).collect();
        let derivative = jacobian(&r, &q1).concat();
        let inputs = [q0, q1, p0, vec![h], self.parameters.clone()].concat();
        Step { inputs, outputs: [r, derivative, slots[n..].to_vec()].concat() }
    }
}
