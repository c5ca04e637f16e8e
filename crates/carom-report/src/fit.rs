//! Which line or circle a wall φ is, from its values at places of the plane.

/// φ counts as fitted if the residual is below this fraction of the largest |φ|: far above roundoff, far below what is seen.
const FITTED: f64 = 1e-9;
/// A column is a combination of others if less than this fraction of it remains: half the digits of a number.
const DEPENDENT: f64 = 1e-7;

/// The fewest samples: the last form has five unknowns, and the others contradict it if it is wrong.
const FEWEST: usize = 9;

/// Where φ vanishes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// A straight line.
    Line {
        /// A place on the line.
        foot: [f64; 2],
        /// The unit normal, to the free side.
        normal: [f64; 2],
    },
    /// A circle.
    Circle {
        /// The centre.
        center: [f64; 2],
        /// The radius.
        radius: f64,
        /// True if the inside is free.
        inside: bool,
    },
}

impl Curve {
    /// True if two curves are the same up to what can be seen.
    pub fn is_near(&self, other: &Curve) -> bool {
        let close = |a: f64, b: f64, size: f64| (a - b).abs() <= DEPENDENT * size;
        match (self, other) {
            (Curve::Line { foot: [x, y], normal: [a, b] }, Curve::Line { foot: [u, v], normal: [c, d] }) => {
                let size = (u - x).hypot(v - y).max(x.hypot(*y));
                close(*a, *c, 1.0) && close(*b, *d, 1.0) && close((u - x) * a + (v - y) * b, 0.0, size)
            }
            (
                Curve::Circle { center: [x, y], radius, inside },
                Curve::Circle { center: [u, v], radius: other, inside: side },
            ) => inside == side && close(*radius, *other, *radius) && close((x - u).hypot(y - v), 0.0, *radius),
            _ => false,
        }
    }
}

/// The line or the circle on which φ vanishes, from samples (x, y, φ). One of these must hold to roundoff:
///
/// ```text
/// φ = a x + b y + c                     a line
/// φ = k (x² + y²) + a x + b y + c       a circle: a squared distance
/// φ = ±(√(k |(x, y) − (x₀, y₀)|² + m) − R)   a circle: φ² is a combination of φ, x² + y², x, y and 1
/// ```
///
/// Samples on a straight line decide only where it is crossed: the wall is drawn at right angles to it. Samples on a circle do
/// not distinguish the first two, so there is no answer.
pub fn curve(samples: &[[f64; 3]]) -> Option<Curve> {
    let Columns { mean, size, one, x, y, square, phi } = Columns::new(samples)?;
    let outside = |[u, v]: [f64; 2]| [mean[0] + size * u, mean[1] + size * v];
    let circle = |[c, a, b, k]: [f64; 4], inside: bool| {
        let center = [-a / (2.0 * k), -b / (2.0 * k)];
        let squared = center[0].powi(2) + center[1].powi(2) - c / k;
        let radius = size * squared.sqrt();
        (radius.is_finite() && radius > 0.0).then(|| Curve::Circle { center: outside(center), radius, inside })
    };
    if let Some(direction) = straight(&x, &y) {
        let along: Vec<f64> = x.iter().zip(&y).map(|(x, y)| direction[0] * x + direction[1] * y).collect();
        let [c, slope] = fit(&[&one, &along], &phi)?.try_into().ok()?;
        let place = -c / slope;
        let normal = direction.map(|d| d * slope.signum());
        return place.is_finite().then(|| Curve::Line { foot: outside(direction.map(|d| place * d)), normal });
    }
    // On a circle, φ of a line and φ of a circle are the same function.
    fit(&[&one, &x, &y, &square], &phi).map_or_else(
        || {
            let phi_squared: Vec<f64> = phi.iter().map(|phi| phi * phi).collect();
            let [twice, c, a, b, k] = fit(&[&phi, &one, &x, &y, &square], &phi_squared)?.try_into().ok()?;
            let (is_below, is_above) =
                (phi.iter().all(|phi| *phi <= 0.5 * twice), phi.iter().all(|phi| *phi >= 0.5 * twice));
            let vanishes = (is_below && twice > 0.0) || (is_above && twice < 0.0);
            if vanishes && k > DEPENDENT { circle([c, a, b, k], is_below) } else { None }
        },
        |all| {
            let [c, a, b, k]: [f64; 4] = all.try_into().ok()?;
            let slope = a.hypot(b);
            if k.abs() > DEPENDENT * slope {
                return circle([c, a, b, k], k < 0.0);
            }
            let normal = [a / slope, b / slope];
            let place = -c / slope;
            place.is_finite().then(|| Curve::Line { foot: outside(normal.map(|n| place * n)), normal })
        },
    )
}

/// True if samples cannot rule out a line or a circle: they are too few, or their places are on a line or a circle.
pub fn is_undecided(samples: &[[f64; 3]]) -> bool {
    let Some(Columns { one, x, y, square, .. }) = Columns::new(samples) else { return true };
    straight(&x, &y).is_some() || fit(&[&one, &x, &y], &square).is_some()
}

/// Samples, scaled, as columns of 1, x, y, x² + y² and φ.
struct Columns {
    mean: [f64; 2],
    size: f64,
    one: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    square: Vec<f64>,
    phi: Vec<f64>,
}

impl Columns {
    fn new(samples: &[[f64; 3]]) -> Option<Columns> {
        let samples: Vec<[f64; 3]> = samples.iter().filter(|s| s.iter().all(|x| x.is_finite())).copied().collect();
        let count = samples.len() as f64;
        let mean = [0, 1].map(|k| samples.iter().map(|s| s[k]).sum::<f64>() / count);
        let size = samples.iter().map(|s| (s[0] - mean[0]).hypot(s[1] - mean[1])).fold(0.0, f64::max);
        let most = samples.iter().map(|s| s[2].abs()).fold(0.0, f64::max);
        if samples.len() < FEWEST || !(size > 0.0 && most > 0.0) {
            return None;
        }
        let column = |f: &dyn Fn(f64, f64, f64) -> f64| -> Vec<f64> {
            samples.iter().map(|s| f((s[0] - mean[0]) / size, (s[1] - mean[1]) / size, s[2] / most)).collect()
        };
        let (one, x, y) = (column(&|_, _, _| 1.0), column(&|x, _, _| x), column(&|_, y, _| y));
        let (square, phi) = (column(&|x, y, _| x * x + y * y), column(&|_, _, phi| phi));
        Some(Columns { mean, size, one, x, y, square, phi })
    }
}

/// The direction of a straight line on which all places lie.
fn straight(x: &[f64], y: &[f64]) -> Option<[f64; 2]> {
    let far = (0..x.len()).max_by(|&i, &j| x[i].hypot(y[i]).total_cmp(&x[j].hypot(y[j])))?;
    let length = x[far].hypot(y[far]);
    let [u, v] = [x[far] / length, y[far] / length];
    let beside = x.iter().zip(y).map(|(x, y)| (u * y - v * x).abs()).fold(0.0, f64::max);
    (beside < DEPENDENT * length).then_some([u, v])
}

/// The coefficients of the combination of the columns that is the target, by Gram–Schmidt. None if there is none, or several.
pub fn fit(columns: &[&[f64]], target: &[f64]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    // Row k has the coefficients of basis vector k in the columns.
    let mut recipes: Vec<Vec<f64>> = Vec::new();
    for (k, column) in columns.iter().enumerate() {
        let (mut rest, mut recipe) = (column.to_vec(), vec![0.0; columns.len()]);
        recipe[k] = 1.0;
        // Twice is enough for orthogonality to roundoff.
        for _ in 0..2 {
            for (other, made) in basis.iter().zip(&recipes) {
                let part = dot(&rest, other);
                rest.iter_mut().zip(other).for_each(|(x, y)| *x -= part * y);
                recipe.iter_mut().zip(made).for_each(|(x, y)| *x -= part * y);
            }
        }
        let size = dot(&rest, &rest).sqrt();
        if size <= DEPENDENT * dot(column, column).sqrt() {
            return None;
        }
        basis.push(rest.iter().map(|x| x / size).collect());
        recipes.push(recipe.iter().map(|x| x / size).collect());
    }
    let (mut rest, mut coefficients) = (target.to_vec(), vec![0.0; columns.len()]);
    for (other, made) in basis.iter().zip(&recipes) {
        let part = dot(&rest, other);
        rest.iter_mut().zip(other).for_each(|(x, y)| *x -= part * y);
        coefficients.iter_mut().zip(made).for_each(|(x, y)| *x += part * y);
    }
    let largest = |all: &[f64]| all.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    (largest(&rest) <= FITTED * largest(target)).then_some(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(phi: impl Fn(f64, f64) -> f64) -> Vec<[f64; 3]> {
        let place = |k: i32| [(f64::from(k) * 0.61).fract() * 3.0 + 1.0, (f64::from(k) * 0.37).fract() * 2.0 - 5.0];
        (1..15).map(place).map(|[x, y]| [x, y, phi(x, y)]).collect()
    }

    fn is_near(a: Option<Curve>, b: Curve) -> bool {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7);
        match (a, b) {
            (Some(Curve::Line { foot, normal }), Curve::Line { foot: place, normal: n }) => {
                let off = (foot[0] - place[0]) * n[0] + (foot[1] - place[1]) * n[1];
                close(&normal, &n) && off.abs() < 1e-7
            }
            (Some(Curve::Circle { center, radius, inside }), Curve::Circle { center: c, radius: r, inside: i }) => {
                close(&center, &c) && (radius - r).abs() < 1e-7 && inside == i
            }
            _ => false,
        }
    }

    #[test]
    fn lines_and_circles_are_recognised_whatever_the_factor() {
        for factor in [1.0, 1e-9, 1e9] {
            let line = Curve::Line { foot: [0.0, -2.0], normal: [0.6, 0.8] };
            let phi = |x: f64, y: f64| factor * (0.6 * x + 0.8 * (y + 2.0));
            assert!(is_near(curve(&samples(phi)), line), "{:?}", curve(&samples(phi)));
            for inside in [true, false] {
                let circle = Curve::Circle { center: [2.0, -4.5], radius: 0.75, inside };
                let sign = if inside { -factor } else { factor };
                let squared = |x: f64, y: f64| sign * ((x - 2.0).powi(2) + (y + 4.5).powi(2) - 0.75 * 0.75);
                assert!(is_near(curve(&samples(squared)), circle), "{:?}", curve(&samples(squared)));
                let distance = |x: f64, y: f64| sign * ((x - 2.0).hypot(y + 4.5) - 0.75);
                assert!(is_near(curve(&samples(distance)), circle), "{:?}", curve(&samples(distance)));
            }
        }
    }

    #[test]
    fn other_walls_are_not_taken_for_lines_or_circles() {
        type Phi = fn(f64, f64) -> f64;
        let others: [(&str, Phi); 5] = [
            ("wavy", |x, y| y + 0.01 * x.sin()),
            ("an ellipse", |x, y| 9.0 - x * x - 2.0 * y * y / 1.9),
            ("a corner", |x, y| (x - 2.0).abs() + y),
            ("nowhere", |x, y| 1.0 + x.hypot(y)),
            ("nearly a line", |x, y| y + 1e-6 * x * y),
        ];
        for (name, phi) in others {
            assert_eq!(curve(&samples(phi)), None, "{name}");
        }
    }

    /// A pendulum that hits a peg: on its circle, the distance to the peg is also affine.
    #[test]
    fn places_on_a_line_give_a_stop_across_it_and_places_on_a_circle_nothing() {
        let on_line: Vec<[f64; 3]> = (0..12).map(f64::from).map(|s| [0.6 * s, 0.8 * s, 10.0 - 2.0 * s]).collect();
        let stop = Curve::Line { foot: [3.0, 4.0], normal: [-0.6, -0.8] };
        assert!(is_near(curve(&on_line), stop), "{:?}", curve(&on_line));
        let on_circle: Vec<[f64; 3]> =
            (0..12).map(f64::from).map(|s| [s.cos(), s.sin(), (s.cos() - 0.5).hypot(s.sin()).powi(2) - 0.01]).collect();
        assert_eq!(curve(&on_circle), None);
    }
}
