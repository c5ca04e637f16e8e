//! Unit quaternions, the coordinates of ball joints.

use std::ops::Mul;

use super::spatial::{Mat3, Vec3};

/// A quaternion (w, v). Coordinates, rates and momenta of a ball joint all have this form:
///
/// ```text
/// q̇ = q⊗(0, ω)/2,   p = 2 q⊗(0, μ),   p·q̇ = μ·ω          ω, μ in the axes of the body
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quaternion {
    /// The real part.
    pub w: f64,
    /// The vector part.
    pub v: Vec3,
}

impl Quaternion {
    /// No rotation.
    pub const ONE: Quaternion = Quaternion { w: 1.0, v: Vec3::ZERO };

    /// The quaternion at the start of a slice: w, x, y, z.
    #[inline(always)]
    pub fn read(from: &[f64]) -> Quaternion {
        Quaternion { w: from[0], v: Vec3::read(&from[1..]) }
    }

    /// Its entries w, x, y, z.
    #[inline(always)]
    pub fn array(self) -> [f64; 4] {
        let [x, y, z] = self.v.array();
        [self.w, x, y, z]
    }

    /// The rotation about a vector by its length.
    pub fn rotation(a: Vec3) -> Quaternion {
        let angle = a.norm();
        let half = if angle == 0.0 { 0.5 } else { (angle / 2.0).sin() / angle };
        Quaternion { w: (angle / 2.0).cos(), v: a * half }
    }

    /// The rotation C(σ)² of a step, and C(σ) of its middle: (1 − σ², 2σ)/(1 + σ²) and (1, σ)/√(1 + σ²). C is the Cayley map.
    #[inline(always)]
    pub fn cayley(sigma: Vec3) -> [Quaternion; 2] {
        let square = sigma.dot(sigma);
        let (whole, half) = (1.0 / (1.0 + square), 1.0 / (1.0 + square).sqrt());
        [Quaternion { w: (1.0 - square) * whole, v: sigma * (2.0 * whole) }, Quaternion { w: half, v: sigma * half }]
    }

    /// q/|q|.
    #[inline(always)]
    pub fn normalised(self) -> Quaternion {
        self.scaled(1.0 / (self.w * self.w + self.v.dot(self.v)).sqrt())
    }

    #[inline(always)]
    fn scaled(self, factor: f64) -> Quaternion {
        Quaternion { w: self.w * factor, v: self.v * factor }
    }

    /// The rotation matrix of q/|q|.
    #[inline(always)]
    pub fn matrix(self) -> Mat3 {
        let Quaternion { w, v: Vec3(x, y, z) } = self;
        let two = 2.0 / (w * w + x * x + y * y + z * z);
        let row = |a: f64, b: f64, c: f64| Vec3(a * two, b * two, c * two);
        Mat3(
            row(-y * y - z * z, x * y - w * z, x * z + w * y),
            row(x * y + w * z, -x * x - z * z, y * z - w * x),
            row(x * z - w * y, y * z + w * x, -x * x - y * y),
        ) + Mat3::ONE
    }

    /// factor · q⊗(0, x): the tangent of a rotation x in body axes.
    #[inline(always)]
    pub fn tangent(self, x: Vec3, factor: f64) -> Quaternion {
        (self * Quaternion { w: 0.0, v: x }).scaled(factor)
    }

    /// factor · Im(q̄⊗t): the rotation in body axes of a tangent t.
    #[inline(always)]
    pub fn body(self, t: Quaternion, factor: f64) -> Vec3 {
        (t.v * self.w - self.v * t.w - self.v.cross(t.v)) * factor
    }
}

impl Mul for Quaternion {
    type Output = Quaternion;
    #[inline(always)]
    fn mul(self, b: Quaternion) -> Quaternion {
        Quaternion { w: self.w * b.w - self.v.dot(b.v), v: b.v * self.w + self.v * b.w + self.v.cross(b.v) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Vec3 = Vec3(0.4, -1.2, 0.3);
    const X: Vec3 = Vec3(0.7, 0.1, -0.5);

    #[test]
    fn products_rotate_one_after_the_other() {
        let (a, b) = (Quaternion::rotation(A), Quaternion::rotation(X));
        let difference = (a * b).matrix() - Mat3::rotation(A) * Mat3::rotation(X);
        assert!(difference.rows().iter().all(|row| row.norm() < 1e-15));
    }

    #[test]
    fn tangents_are_read_back_and_pair_like_rates_and_momenta() {
        let q = Quaternion::rotation(A);
        let (rate, momentum) = (q.tangent(X, 0.5), q.tangent(A, 2.0));
        assert!((q.body(rate, 2.0) - X).norm() < 1e-15 && (q.body(momentum, 0.5) - A).norm() < 1e-15);
        assert!((rate.w * momentum.w + rate.v.dot(momentum.v) - X.dot(A)).abs() < 1e-15);
    }

    #[test]
    fn a_step_is_twice_its_middle() {
        let [whole, half] = Quaternion::cayley(X);
        let twice = half * half;
        assert!((whole.v - twice.v).norm() < 1e-15 && (whole.w - twice.w).abs() < 1e-15);
    }
}
