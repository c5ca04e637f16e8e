//! Rotations in numbers.

pub type Vector = [f64; 3];
/// By rows.
pub type Matrix = [[f64; 3]; 3];

/// No turn.
pub const UNIT: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// a + b.
pub fn add(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] + b[i])
}

/// a − b.
pub fn minus(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] - b[i])
}

/// k a.
pub fn scaled(k: f64, a: Vector) -> Vector {
    a.map(|x| k * x)
}

/// a · b.
pub fn dot(a: Vector, b: Vector) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

/// R a.
pub fn apply(r: Matrix, a: Vector) -> Vector {
    r.map(|row| dot(row, a))
}

/// a/|a|, if a has a direction.
pub fn unit(a: Vector) -> Option<Vector> {
    let size = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    (size > 1e-150 && size.is_finite()).then(|| a.map(|x| x / size))
}

/// a × b.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The rotation by an angle about an axis of any length.
pub fn about(axis: Vector, angle: f64) -> Option<Matrix> {
    let [x, y, z] = unit(axis)?;
    let (s, c) = (0.5 * angle).sin_cos();
    of_quaternion([c, s * x, s * y, s * z])
}

/// The rotation of a quaternion (w, x, y, z) of any length.
pub fn of_quaternion(q: [f64; 4]) -> Option<Matrix> {
    let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if !(size > 1e-150 && size.is_finite()) {
        return None;
    }
    let [w, x, y, z] = q.map(|part| part / size);
    Some([
        [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ])
}

/// The frame whose x axis is along the first direction and whose y axis is in the plane of both.
pub fn columns(x: Vector, y: Vector) -> Option<Matrix> {
    let x = unit(x)?;
    let z = unit(cross(x, y))?;
    Some(transposed([x, cross(z, x), z]))
}

/// The shortest turn that takes the z axis to a direction.
pub fn to_z(direction: Vector) -> Option<Matrix> {
    let z = unit(direction)?;
    let axis = cross([0.0, 0.0, 1.0], z);
    let sine = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    if sine < 1e-10 {
        return if z[2] > 0.0 { Some(UNIT) } else { about([1.0, 0.0, 0.0], std::f64::consts::PI) };
    }
    about(axis, sine.atan2(z[2]))
}

/// A B.
pub fn product(a: Matrix, b: Matrix) -> Matrix {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Aᵀ.
pub fn transposed(a: Matrix) -> Matrix {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| a[j][i]))
}

/// Rz(yaw) Ry(pitch) Rx(roll).
pub fn of_angles([roll, pitch, yaw]: Vector) -> Matrix {
    let ((sr, cr), (sp, cp), (sy, cy)) = (roll.sin_cos(), pitch.sin_cos(), yaw.sin_cos());
    let x = [[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]];
    let y = [[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]];
    let z = [[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]];
    product(z, product(y, x))
}

/// R A Rᵀ.
pub fn turned(r: Matrix, a: Matrix) -> Matrix {
    product(product(r, a), transposed(r))
}

/// The quaternion (w, x, y, z) of a rotation, with w ≥ 0; exact also near half a turn. Its length is not 1.
fn long_quaternion(r: Matrix) -> [f64; 4] {
    // The largest of 4w², 4x², 4y², 4z² gives the quaternion without cancellation.
    let trace = r[0][0] + r[1][1] + r[2][2];
    let sizes = [1.0 + trace, 1.0 + 2.0 * r[0][0] - trace, 1.0 + 2.0 * r[1][1] - trace, 1.0 + 2.0 * r[2][2] - trace];
    let largest = (0..4).fold(0, |best, i| if sizes[i] > sizes[best] { i } else { best });
    let [wx, wy, wz] = [r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]];
    let [xy, xz, yz] = [r[1][0] + r[0][1], r[0][2] + r[2][0], r[2][1] + r[1][2]];
    let q = match largest {
        0 => [sizes[0], wx, wy, wz],
        1 => [wx, sizes[1], xy, xz],
        2 => [wy, xy, sizes[2], yz],
        _ => [wz, xz, yz, sizes[3]],
    };
    let sign = if q[0] < 0.0 { -1.0 } else { 1.0 };
    q.map(|part| sign * part)
}

/// The unit quaternion (w, x, y, z) of a rotation, with w ≥ 0.
pub fn quaternion(r: Matrix) -> [f64; 4] {
    let q = long_quaternion(r);
    let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|part| part / size)
}

/// The rotation vector of a rotation, through its quaternion: exact also near half a turn.
pub fn rotation_vector(r: Matrix) -> Vector {
    let [w, x, y, z] = long_quaternion(r);
    let size = (x * x + y * y + z * z).sqrt();
    if size == 0.0 {
        return [0.0; 3];
    }
    let angle = 2.0 * size.atan2(w);
    [x, y, z].map(|part| part * angle / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_vectors_of_plain_turns() {
        let near = |a: Vector, b: Vector| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-15);
        assert!(near(rotation_vector(of_angles([0.0, 0.0, 0.0])), [0.0, 0.0, 0.0]));
        assert!(near(rotation_vector(of_angles([0.3, 0.0, 0.0])), [0.3, 0.0, 0.0]));
        assert!(near(rotation_vector(of_angles([0.0, -1.2, 0.0])), [0.0, -1.2, 0.0]));
        assert!(near(rotation_vector(of_angles([0.0, 0.0, std::f64::consts::PI])), [0.0, 0.0, std::f64::consts::PI]));
        // Roll and yaw of a quarter each turn by a third about a diagonal.
        let third = 2.0 * std::f64::consts::PI / 3.0 / 3.0f64.sqrt();
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!(near(rotation_vector(of_angles([quarter, 0.0, quarter])), [third, third, third]));
    }
}
