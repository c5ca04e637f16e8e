//! Planes in space: which walls are planes, and the patch of each that is drawn, as large as the motion above it.

use carom::lab::expr::{Expr, grad, substitute};
use carom::lab::model::{Model, Viewpoint};
use carom::lab::system::time;

/// x, y of the picture, and towards the viewer.
pub type Spot = [f64; 3];
/// A place on a plane and its unit normal, in the axes of the picture.
pub type Plane = [Expr; 6];

/// Symbols for x, y and z; a model cannot use such names.
const IN_SPACE: [&str; 3] = ["x#", "y#", "z#"];
/// A patch is larger than the motion above it by this part of its size, on each side.
const MARGIN: f64 = 0.15;
/// The longer side is at least this part of the height of the motion.
const WIDEST: f64 = 0.6;
/// The shorter side is at least this part of the longer one.
const NARROWEST: f64 = 0.7;

fn dot(a: Spot, b: Spot) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cross(a: Spot, b: Spot) -> Spot {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn along(from: Spot, direction: Spot, way: f64) -> Spot {
    [0, 1, 2].map(|i| from[i] + way * direction[i])
}

/// The point whose place φ is linear in, if there is one, and the plane on which φ vanishes.
pub fn plane_of(model: &Model, view: &Viewpoint, phi: Expr) -> Option<(usize, Plane)> {
    let free: Vec<Expr> = model.system.free().iter().map(|&i| model.system.coordinates[i].q).collect();
    let symbols = IN_SPACE.map(Expr::symbol);
    for (number, point) in model.points.iter().enumerate() {
        let moving = point.space.iter().zip(symbols).filter(|(x, _)| x.depends_on(&free));
        let (from, to): (Vec<Expr>, Vec<Expr>) = moving.map(|(x, symbol)| (*x, symbol)).unzip();
        let replaced = substitute(&[phi], &from, &to)[0];
        let slopes = grad(replaced, &symbols);
        let changing: Vec<Expr> = free.iter().chain(&symbols).copied().chain([time()]).collect();
        if replaced.depends_on(&free) || slopes.iter().any(|slope| slope.depends_on(&changing)) {
            continue;
        }
        let square: Expr = slopes.iter().map(|slope| slope.squared()).sum();
        if square.is_zero() {
            continue;
        }
        let origin = substitute(&[replaced], &symbols, &[Expr::constant(0.0); 3])[0];
        let through = [0, 1, 2].map(|i| -(origin / square) * slopes[i]);
        let normal = [0, 1, 2].map(|i| slopes[i] / square.sqrt());
        let ([a, b, c], [u, v, w]) = (view.turned(through), view.turned(normal));
        return Some((number, [a, b, c, u, v, w]));
    }
    None
}

/// Two directions of a plane: the first is level.
fn axes(normal: Spot, up: Spot) -> [Spot; 2] {
    let level = cross(up, normal);
    let size = dot(level, level).sqrt();
    let u = if size > 1e-3 {
        level.map(|x| x / size)
    } else {
        // A floor: to the right in the picture.
        let right = along([1.0, 0.0, 0.0], normal, -normal[0]);
        let size = dot(right, right).sqrt();
        right.map(|x| x / size)
    };
    [u, cross(normal, u)]
}

/// The corners of a patch of each plane in each frame. `spots` has the places of each frame, `planes` a place and the normal of
/// each plane.
pub fn patches(spots: &[Vec<Spot>], planes: &[Vec<[f64; 6]>], up: Spot) -> Vec<Vec<[Spot; 4]>> {
    let count = planes.first().map_or(0, Vec::len);
    let split = |&[a, b, c, u, v, w]: &[f64; 6]| ([a, b, c], [u, v, w]);
    let ranges: Vec<[[f64; 2]; 2]> = (0..count)
        .map(|k| {
            let (mut ranges, mut highest) = ([[f64::INFINITY, f64::NEG_INFINITY]; 2], 0.0f64);
            for (frame, plane) in spots.iter().zip(planes) {
                let (through, normal) = split(&plane[k]);
                let axes = axes(normal, up);
                for spot in frame.iter().filter(|spot| spot.iter().all(|x| x.is_finite())) {
                    let from_through = along(*spot, through, -1.0);
                    highest = highest.max(dot(from_through, normal));
                    for (range, axis) in ranges.iter_mut().zip(axes) {
                        let way = dot(from_through, axis);
                        *range = [range[0].min(way), range[1].max(way)];
                    }
                }
            }
            let longest = ranges.iter().map(|range| range[1] - range[0]).fold(0.0, f64::max);
            let longest = longest.max(WIDEST * highest);
            ranges.map(|[low, high]| {
                let more = MARGIN * longest + 0.5 * (NARROWEST * longest - (high - low)).max(0.0);
                [low - more, high + more]
            })
        })
        .collect();
    let corners = |plane: &[f64; 6], [[a, b], [c, d]]: [[f64; 2]; 2]| {
        let (through, normal) = split(plane);
        let [u, v] = axes(normal, up);
        [[a, c], [b, c], [b, d], [a, d]].map(|[x, y]| along(along(through, u, x), v, y))
    };
    planes
        .iter()
        .map(|frame| frame.iter().zip(&ranges).map(|(plane, range)| corners(plane, *range)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point that moves to and fro above a floor: the patch is below all of its way, in the plane.
    #[test]
    fn a_patch_lies_in_its_plane_below_the_motion() {
        let up = [0.0, 0.6, 0.8];
        let spots: Vec<Vec<Spot>> = (0..11).map(|k| vec![along([0.1 * f64::from(k), 0.0, 0.0], up, 2.0)]).collect();
        let plane = [0.0, -0.6, -0.8, 0.0, 0.6, 0.8];
        let all = patches(&spots, &vec![vec![plane]; 11], up);
        for corner in all[3][0] {
            assert!((dot(along(corner, [0.0, -0.6, -0.8], -1.0), up)).abs() < 1e-14);
        }
        let xs = all[3][0].map(|corner| corner[0]);
        assert!(xs.iter().any(|x| *x < -0.1) && xs.iter().any(|x| *x > 1.1), "{xs:?}");
    }
}
