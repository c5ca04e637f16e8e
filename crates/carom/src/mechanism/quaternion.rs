//! Ball joints: unit quaternions q = (w, x, y, z), normalised wherever they are used, so that no attitude is singular and the middle
//! of two of them is the geodesic middle.

use super::vector::{Matrix3, Vector, length_above_zero};
use crate::expr::Expr;

/// (w, x, y, z).
pub type QuaternionOfExpr = [Expr; 4];

/// |q|².
pub fn norm_squared(q: QuaternionOfExpr) -> Expr {
    q.iter().map(|x| x.squared()).sum()
}

/// a ⊗ b.
fn times([aw, ax, ay, az]: QuaternionOfExpr, [bw, bx, by, bz]: QuaternionOfExpr) -> QuaternionOfExpr {
    [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
}

/// The imaginary part of q̄ ⊗ a.
fn conjugate_times([w, x, y, z]: QuaternionOfExpr, a: QuaternionOfExpr) -> Vector {
    let [_, i, j, k] = times([w, -x, -y, -z], a);
    [i, j, k]
}

/// (0, a).
fn imaginary(a: Vector) -> QuaternionOfExpr {
    [Expr::constant(0.0), a[0], a[1], a[2]]
}

/// The rotation matrix of q/|q|.
pub(super) fn matrix(q: QuaternionOfExpr) -> Matrix3 {
    let [w, x, y, z] = q;
    let n = norm_squared(q);
    let rows = [
        [w.squared() + x.squared() - y.squared() - z.squared(), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), w.squared() - x.squared() + y.squared() - z.squared(), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w.squared() - x.squared() - y.squared() + z.squared()],
    ];
    rows.map(|row| row.map(|entry| entry / n))
}

/// The rate of turning in body axes, ω = 2 Im(q̄⊗q̇)/|q|².
pub fn body_rate(q: QuaternionOfExpr, v: QuaternionOfExpr) -> Vector {
    conjugate_times(q, v).map(|x| 2.0 * x / norm_squared(q))
}

/// q̇ = q⊗(0, ω)/2 of a body that turns with the rate ω, in body axes.
pub fn rate_of(q: QuaternionOfExpr, omega: Vector) -> QuaternionOfExpr {
    times(q, imaginary(omega)).map(|x| x / 2.0)
}

/// The momentum μ conjugate to ω, from p = ∂L/∂q̇ = 2 q⊗(0, μ)/|q|².
pub fn conjugate_momentum(q: QuaternionOfExpr, p: QuaternionOfExpr) -> Vector {
    conjugate_times(q, p).map(|x| x / 2.0)
}

/// The generalized force of a torque τ in body axes, 2 q⊗(0, τ)/|q|², by virtual work τ·ω.
pub fn torque_on(q: QuaternionOfExpr, tau: Vector) -> QuaternionOfExpr {
    times(q, imaginary(tau)).map(|x| 2.0 * x / norm_squared(q))
}

/// The unit quaternion of a rotation vector.
pub fn of_rotation_vector(a: Vector) -> QuaternionOfExpr {
    let angle = length_above_zero(a);
    let (half, per) = (angle / 2.0, |x: Expr| x / angle);
    let (c, s) = match half.as_const() {
        Some(half) => (Expr::constant(half.cos()), Expr::constant(half.sin())),
        None => (half.cos(), half.sin()),
    };
    [c, s * per(a[0]), s * per(a[1]), s * per(a[2])]
}

#[cfg(test)]
mod tests {
    use super::super::vector::rotation;
    use super::*;
    use crate::expr::eval;

    #[test]
    fn a_quaternion_turns_as_its_rotation_vector() {
        let a = [0.9, 0.3, -0.2].map(Expr::constant);
        // Its length does not matter.
        let q = of_rotation_vector(a).map(|x| 3.0 * x);
        let (one, other) = (eval(matrix(q).as_flattened(), &[]), eval(rotation(a).as_flattened(), &[]));
        assert!(one.iter().zip(other).all(|(x, y)| (x - y).abs() < 1e-15));
    }

    #[test]
    fn rates_come_back() {
        let q = of_rotation_vector([0.9, 0.3, -0.2].map(Expr::constant));
        let omega = [1.0, -2.0, 0.5].map(Expr::constant);
        let back = eval(&body_rate(q, rate_of(q, omega)), &[]);
        assert!(back.iter().zip([1.0, -2.0, 0.5]).all(|(x, y)| (x - y).abs() < 1e-15));
        let back = eval(&conjugate_momentum(q, torque_on(q, omega)), &[]);
        assert!(back.iter().zip([1.0, -2.0, 0.5]).all(|(x, y)| (x - y).abs() < 1e-15));
    }
}
