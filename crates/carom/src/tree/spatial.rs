//! Vectors, rotations, and the spatial vectors of rigid bodies.
//!
//! ```text
//! motion X = (w; v): angular velocity, velocity of the body-fixed point at the reference point
//! force  F = (n; f): torque about the reference point, force
//! X × Y = (w×w′ ; w×v′ + v×w′)      X ×* F = (w×n + v×f ; w×f)      (X×Y)·F = −Y·(X×*F)
//! ```

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A vector in space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3(pub f64, pub f64, pub f64);

/// A matrix in space: its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mat3(pub Vec3, pub Vec3, pub Vec3);

/// A motion vector (w; v).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// The angular velocity.
    pub w: Vec3,
    /// The velocity of the body-fixed point at the reference point.
    pub v: Vec3,
}

/// A force vector (n; f).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Force {
    /// The torque about the reference point.
    pub n: Vec3,
    /// The force.
    pub f: Vec3,
}

/// Implements +, −, scaling and negation, field by field.
macro_rules! linear {
    ($type:ident { $($field:tt),+ }) => {
        impl Add for $type {
            type Output = $type;
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                $type { $($field: self.$field + other.$field),+ }
            }
        }
        impl Sub for $type {
            type Output = $type;
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                $type { $($field: self.$field - other.$field),+ }
            }
        }
        impl Mul<f64> for $type {
            type Output = $type;
            #[inline(always)]
            fn mul(self, factor: f64) -> $type {
                $type { $($field: self.$field * factor),+ }
            }
        }
        impl Neg for $type {
            type Output = $type;
            #[inline(always)]
            fn neg(self) -> $type {
                $type { $($field: -self.$field),+ }
            }
        }
        impl AddAssign for $type {
            #[inline(always)]
            fn add_assign(&mut self, other: $type) {
                *self = *self + other;
            }
        }
        impl SubAssign for $type {
            #[inline(always)]
            fn sub_assign(&mut self, other: $type) {
                *self = *self - other;
            }
        }
    };
}

linear!(Vec3 { 0, 1, 2 });
linear!(Mat3 { 0, 1, 2 });
linear!(Motion { w, v });
linear!(Force { n, f });

impl From<[f64; 3]> for Vec3 {
    #[inline(always)]
    fn from([x, y, z]: [f64; 3]) -> Vec3 {
        Vec3(x, y, z)
    }
}

impl Vec3 {
    /// The zero vector.
    pub const ZERO: Vec3 = Vec3(0.0, 0.0, 0.0);

    /// Its components.
    #[inline(always)]
    pub fn array(self) -> [f64; 3] {
        [self.0, self.1, self.2]
    }

    /// The vector at the start of a slice.
    #[inline(always)]
    pub(crate) fn read(from: &[f64]) -> Vec3 {
        Vec3(from[0], from[1], from[2])
    }

    /// a × b.
    #[inline(always)]
    pub fn cross(self, b: Vec3) -> Vec3 {
        Vec3(self.1 * b.2 - self.2 * b.1, self.2 * b.0 - self.0 * b.2, self.0 * b.1 - self.1 * b.0)
    }

    /// a · b.
    #[inline(always)]
    pub fn dot(self, b: Vec3) -> f64 {
        self.0 * b.0 + self.1 * b.1 + self.2 * b.2
    }

    /// |a|.
    pub fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// â, with â b = a × b.
    #[inline(always)]
    pub fn hat(self) -> Mat3 {
        let Vec3(x, y, z) = self;
        Mat3(Vec3(0.0, -z, y), Vec3(z, 0.0, -x), Vec3(-y, x, 0.0))
    }

    /// a bᵀ.
    #[inline(always)]
    pub fn outer(self, b: Vec3) -> Mat3 {
        Mat3(b * self.0, b * self.1, b * self.2)
    }
}

impl Mat3 {
    /// The identity.
    pub const ONE: Mat3 = Mat3(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0));

    /// Its rows.
    #[inline(always)]
    pub fn rows(self) -> [Vec3; 3] {
        [self.0, self.1, self.2]
    }

    /// Its columns.
    #[inline(always)]
    pub fn columns(self) -> [Vec3; 3] {
        self.transpose().rows()
    }

    /// Aᵀ.
    #[inline(always)]
    pub fn transpose(self) -> Mat3 {
        let Mat3(a, b, c) = self;
        Mat3(Vec3(a.0, b.0, c.0), Vec3(a.1, b.1, c.1), Vec3(a.2, b.2, c.2))
    }

    /// Aᵀ x.
    #[inline(always)]
    pub fn tr_mul(self, x: Vec3) -> Vec3 {
        self.0 * x.0 + self.1 * x.1 + self.2 * x.2
    }

    /// The sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> f64 {
        self.0.0 + self.1.1 + self.2.2
    }

    /// The symmetric matrix of `[xx, yy, zz, xy, xz, yz]`.
    pub fn symmetric([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Mat3 {
        Mat3(Vec3(xx, xy, xz), Vec3(xy, yy, yz), Vec3(xz, yz, zz))
    }

    /// A⁻¹, by cofactors; `None` if A is singular or not finite.
    #[inline(always)]
    pub fn inverse(self) -> Option<Mat3> {
        let Mat3(a, b, c) = self;
        let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b));
        let determinant = a.dot(bc);
        let is_regular = determinant != 0.0 && determinant.is_finite();
        is_regular.then(|| Mat3(bc, ca, ab).transpose() * (1.0 / determinant))
    }

    /// The rotation exp(â).
    pub fn rotation(a: Vec3) -> Mat3 {
        let angle = a.norm();
        if angle == 0.0 {
            return Mat3::ONE;
        }
        let axis = (a * (1.0 / angle)).hat();
        Mat3::ONE + axis * angle.sin() + axis * axis * (1.0 - angle.cos())
    }
}

impl Mul<Vec3> for Mat3 {
    type Output = Vec3;
    #[inline(always)]
    fn mul(self, x: Vec3) -> Vec3 {
        Vec3(self.0.dot(x), self.1.dot(x), self.2.dot(x))
    }
}

impl Mul for Mat3 {
    type Output = Mat3;
    #[inline(always)]
    fn mul(self, b: Mat3) -> Mat3 {
        Mat3(b.tr_mul(self.0), b.tr_mul(self.1), b.tr_mul(self.2))
    }
}

impl Motion {
    /// X × Y.
    #[inline(always)]
    pub fn cross(self, y: Motion) -> Motion {
        Motion { w: self.w.cross(y.w), v: self.w.cross(y.v) + self.v.cross(y.w) }
    }

    /// X ×* F.
    #[inline(always)]
    pub fn cross_force(self, force: Force) -> Force {
        Force { n: self.w.cross(force.n) + self.v.cross(force.f), f: self.w.cross(force.f) }
    }

    /// X · F, a power.
    #[inline(always)]
    pub fn dot(self, force: Force) -> f64 {
        self.w.dot(force.n) + self.v.dot(force.f)
    }

    /// This motion, referred to the point at r from the reference point.
    #[inline(always)]
    pub fn to(self, r: Vec3) -> Motion {
        Motion { w: self.w, v: self.v + self.w.cross(r) }
    }
}

impl Force {
    /// This force, referred to another point, from which the reference point is at r.
    #[inline(always)]
    pub fn back(self, r: Vec3) -> Force {
        Force { n: self.n + r.cross(self.f), f: self.f }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Motion = Motion { w: Vec3(0.3, -1.1, 0.7), v: Vec3(2.0, 0.4, -0.9) };
    const Y: Motion = Motion { w: Vec3(-0.6, 0.2, 1.3), v: Vec3(0.1, -1.7, 0.8) };
    const F: Force = Force { n: Vec3(1.2, 0.5, -0.4), f: Vec3(-0.3, 0.9, 2.1) };

    #[test]
    fn the_two_cross_products_are_dual() {
        assert!((X.cross(Y).dot(F) + Y.dot(X.cross_force(F))).abs() < 1e-14);
        assert!((X.cross(Y) + Y.cross(X)).v.norm() < 1e-15);
    }

    #[test]
    fn powers_do_not_depend_on_the_reference_point() {
        let r = Vec3(0.5, -0.2, 1.4);
        assert!((X.to(r).dot(F) - X.dot(F.back(r))).abs() < 1e-14);
    }

    #[test]
    fn rotations_are_orthogonal_and_inverses_are_inverse() {
        let rotation = Mat3::rotation(X.w);
        let one = rotation * rotation.transpose() - Mat3::ONE;
        assert!(one.rows().iter().all(|row| row.norm() < 1e-15));
        let a = Mat3(X.w, X.v, Y.v);
        let one = a * a.inverse().expect("the rows are independent") - Mat3::ONE;
        assert!(one.rows().iter().all(|row| row.norm() < 1e-14));
    }
}
