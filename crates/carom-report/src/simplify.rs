//! Curves with fewer points that look the same.

/// The largest number of points of a curve that is made smaller.
pub const FEW: usize = 250;
/// The first tolerance, relative to the extent of the curve; it doubles until few points are left.
const FIRST: f64 = 1e-4;

/// Leaves out points of a curve until at most `most` are left: those that are nearest to the chords of the others (Ramer, 1972;
/// Douglas and Peucker, 1973), so that no spike is lost.
pub fn curve(points: &[[f64; 2]], most: usize) -> Vec<[f64; 2]> {
    let is_finite = points.iter().flatten().all(|x| x.is_finite());
    if points.len() <= most.max(2) || !is_finite {
        return few(points, most);
    }
    let extent = |k: usize| {
        let (low, high) = points.iter().fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p[k]), b.max(p[k])));
        if high > low { high - low } else { 1.0 }
    };
    let sizes = [extent(0), extent(1)];
    let mut tolerance = FIRST;
    loop {
        let kept = within(points, sizes, tolerance);
        if kept.len() <= most {
            return kept;
        }
        tolerance *= 2.0;
    }
}

/// Points that are equally spaced in their list.
pub fn few(points: &[[f64; 2]], most: usize) -> Vec<[f64; 2]> {
    points.iter().step_by(points.len().div_ceil(most.max(1)).max(1)).copied().collect()
}

fn within(points: &[[f64; 2]], sizes: [f64; 2], tolerance: f64) -> Vec<[f64; 2]> {
    let mut keep = vec![false; points.len()];
    let last = points.len() - 1;
    (keep[0], keep[last]) = (true, true);
    let mut stack = vec![(0, last)];
    while let Some((a, b)) = stack.pop() {
        let far = (a + 1..b).map(|i| (i, distance(points[i], points[a], points[b], sizes)));
        if let Some((i, far)) = far.max_by(|x, y| x.1.total_cmp(&y.1))
            && far > tolerance
        {
            keep[i] = true;
            stack.extend([(a, i), (i, b)]);
        }
    }
    points.iter().zip(keep).filter(|(_, keep)| *keep).map(|(point, _)| *point).collect()
}

/// The distance of a point from a chord, in units of the extent.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2], sizes: [f64; 2]) -> f64 {
    let scaled = |p: [f64; 2]| [p[0] / sizes[0], p[1] / sizes[1]];
    let (p, a, b) = (scaled(p), scaled(a), scaled(b));
    let (chord, way) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let square = chord[0] * chord[0] + chord[1] * chord[1];
    let part = if square > 0.0 { ((chord[0] * way[0] + chord[1] * way[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    (way[0] - part * chord[0]).hypot(way[1] - part * chord[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_is_kept() {
        let mut points: Vec<[f64; 2]> = (0..10_000).map(|i| [f64::from(i), (f64::from(i) / 900.0).sin()]).collect();
        points[4321][1] = 9.0;
        let kept = curve(&points, FEW);
        assert!(kept.len() <= FEW && kept.contains(&[4321.0, 9.0]), "{}", kept.len());
        let height = |x: f64| {
            let k = kept.partition_point(|p| p[0] <= x).clamp(1, kept.len() - 1);
            let ([x0, y0], [x1, y1]) = (kept[k - 1], kept[k]);
            y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        };
        for &[x, y] in &points {
            assert!((height(x) - y).abs() < 0.01 * 10.0, "{x}: {} and {y}", height(x));
        }
    }
}
