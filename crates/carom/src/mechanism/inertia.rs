//! Mass, centre of mass and inertia of a rigid body.

use super::vector::{Matrix3, Vector, add, apply, difference, dot, identity, product, scaled, transposed, zero};
use crate::expr::Expr;

/// The mass of a body and how it is distributed, in the axes of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// The mass m.
    pub mass: Expr,
    /// The centre of mass.
    pub com: Vector,
    /// The inertia about the centre of mass, symmetric.
    pub about_com: Matrix3,
}

impl Inertia {
    /// No mass.
    pub fn none() -> Inertia {
        Inertia { mass: Expr::constant(0.0), com: zero(), about_com: [zero(); 3] }
    }

    /// True if it is the constant 0.
    pub fn is_none(&self) -> bool {
        self.mass.is_zero() && self.about_com.as_flattened().iter().all(|entry| entry.is_zero())
    }

    /// The same body in another frame, in which its own has the origin `at` and the orientation `turn`.
    pub fn placed(&self, at: Vector, turn: Matrix3) -> Inertia {
        let about_com = product(product(turn, self.about_com), transposed(turn));
        Inertia { mass: self.mass, com: add(at, apply(turn, self.com)), about_com }
    }

    /// Two bodies that are welded together.
    ///
    /// ```text
    /// c = (m₁c₁ + m₂c₂)/m,   I = I₁ + I₂ + m₁m₂/m (|d|² 1 − d dᵀ),   d = c₁ − c₂
    /// ```
    pub fn with(&self, other: &Inertia) -> Inertia {
        if self.is_none() {
            return *other;
        }
        if other.is_none() {
            return *self;
        }
        let sum = [0, 1, 2].map(|i| add(self.about_com[i], other.about_com[i]));
        if self.mass.is_zero() || other.mass.is_zero() {
            // Inertia without mass has no place.
            let heavy = if other.mass.is_zero() { self } else { other };
            return Inertia { about_com: sum, ..*heavy };
        }
        let mass = self.mass + other.mass;
        let com = add(scaled(self.mass / mass, self.com), scaled(other.mass / mass, other.com));
        let (d, reduced) = (difference(self.com, other.com), self.mass * other.mass / mass);
        let unit = identity();
        let about_com =
            [0, 1, 2].map(|i| [0, 1, 2].map(|j| sum[i][j] + reduced * (dot(d, d) * unit[i][j] - d[i] * d[j])));
        Inertia { mass, com, about_com }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::eval;

    #[test]
    fn two_halves_of_a_rod_are_the_rod() {
        let half = |x: f64| Inertia {
            mass: Expr::constant(1.0),
            com: [Expr::constant(x), Expr::constant(0.0), Expr::constant(0.0)],
            about_com: [zero(), [Expr::constant(0.0), Expr::constant(1.0 / 12.0), Expr::constant(0.0)], zero()],
        };
        let whole = half(0.5).with(&half(-0.5));
        // A rod of mass 2 and length 2: m l²/12.
        let values = eval(&[whole.mass, whole.com[0], whole.about_com[1][1], whole.about_com[0][0]], &[]);
        assert_eq!((values[0], values[1], values[3]), (2.0, 0.0, 0.0));
        assert!((values[2] - 2.0 * 4.0 / 12.0).abs() < 1e-15);
    }
}
