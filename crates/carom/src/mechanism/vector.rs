//! Vectors and rotations of space, with expressions as entries.

use crate::expr::{Expr, eval};

/// (x, y, z).
pub type Vector = [Expr; 3];
/// By rows.
pub type Matrix3 = [[Expr; 3]; 3];

/// The null vector.
pub fn zero() -> Vector {
    [Expr::constant(0.0); 3]
}

/// The unit matrix.
pub fn identity() -> Matrix3 {
    let entry = |i, j| Expr::constant(if i == j { 1.0 } else { 0.0 });
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
}

/// a + b.
pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a − b.
pub fn difference(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// c a.
pub fn scaled(c: Expr, a: Vector) -> Vector {
    a.map(|x| c * x)
}

/// a·b.
pub fn dot(a: Vector, b: Vector) -> Expr {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a×b.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// |a|.
pub fn length(a: Vector) -> Expr {
    match a.map(number) {
        [Some(x), Some(y), Some(z)] => Expr::constant(x.hypot(y).hypot(z)),
        _ => dot(a, a).sqrt(),
    }
}

/// R a.
pub fn apply(r: Matrix3, a: Vector) -> Vector {
    r.map(|row| dot(row, a))
}

/// Rᵀa.
pub fn apply_transposed(r: Matrix3, a: Vector) -> Vector {
    apply(transposed(r), a)
}

/// Rᵀ.
pub(super) fn transposed(r: Matrix3) -> Matrix3 {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| r[j][i]))
}

/// A B.
pub fn product(a: Matrix3, b: Matrix3) -> Matrix3 {
    let columns = transposed(b);
    a.map(|row| columns.map(|column| dot(row, column)))
}

/// The rotation by an angle about a unit vector n.
///
/// ```text
/// R = n nᵀ + cos (1 − n nᵀ) + sin n̂
/// ```
pub fn axis_rotation(n: Vector, angle: Expr) -> Matrix3 {
    let (c, s) = match number(angle) {
        Some(angle) => (Expr::constant(angle.cos()), Expr::constant(angle.sin())),
        None => (angle.cos(), angle.sin()),
    };
    let hat =
        [[Expr::constant(0.0), -n[2], n[1]], [n[2], Expr::constant(0.0), -n[0]], [-n[1], n[0], Expr::constant(0.0)]];
    let unit = identity();
    [0, 1, 2].map(|i| {
        [0, 1, 2].map(|j| {
            let along = n[i] * n[j];
            along + c * (unit[i][j] - along) + s * hat[i][j]
        })
    })
}

/// The rotation by |a| about a.
pub fn rotation(a: Vector) -> Matrix3 {
    // Along one axis it needs no square root, and is smooth at 0.
    let axes: Vec<usize> = (0..3).filter(|&i| !a[i].is_zero()).collect();
    match axes.as_slice() {
        [] => identity(),
        [i] => axis_rotation(identity()[*i], a[*i]),
        _ => {
            let angle = length_above_zero(a);
            axis_rotation(a.map(|x| x / angle), angle)
        }
    }
}

/// |a|, and not 0 where a = 0: a/|a| is then 0.
pub(super) fn length_above_zero(a: Vector) -> Expr {
    match number(length(a)) {
        Some(length) => Expr::constant(length.max(f64::MIN_POSITIVE)),
        None => (dot(a, a) + f64::MIN_POSITIVE).sqrt(),
    }
}

/// The value of an expression without symbols.
fn number(e: Expr) -> Option<f64> {
    e.as_const().or_else(|| e.symbols().is_empty().then(|| eval(&[e], &[])[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(r: Matrix3) -> Vec<f64> {
        eval(r.as_flattened(), &[])
    }

    #[test]
    fn a_rotation_vector_turns_about_itself() {
        let a = [0.3, -0.4, 1.2].map(Expr::constant);
        let (r, turned) = (rotation(a), eval(&apply(rotation(a), a), &[]));
        assert!(turned.iter().zip([0.3, -0.4, 1.2]).all(|(x, y)| (x - y).abs() < 1e-15));
        let square = values(product(r, transposed(r)));
        assert!(square.iter().zip(values(identity())).all(|(x, y)| (x - y).abs() < 1e-15));
        // e_x to e_y by a quarter about z.
        let quarter = rotation([Expr::constant(0.0), Expr::constant(0.0), Expr::pi() / 2.0]);
        assert!((values(quarter)[3] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_rotation_that_may_vanish_is_the_identity_there() {
        let (x, y) = (Expr::symbol("turn x"), Expr::symbol("turn y"));
        let at = eval(rotation([x, y, Expr::constant(0.0)]).as_flattened(), &[(x, 0.0), (y, 0.0)]);
        assert_eq!(at, values(identity()));
    }
}
