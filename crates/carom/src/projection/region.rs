//! Regions of configurations, and maxima over them.

use rustc_hash::FxHashSet;

use crate::expr::{Expr, ExprNode, Func, eval};

/// The range of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateRange {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// True if the functions are periodic with this range.
    pub periodic: bool,
}

/// A box of configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// One axis for each free coordinate.
    pub axes: Vec<CoordinateRange>,
}

/// The number of grid points from which a search starts.
const POINTS: f64 = 20_000.0;
/// The number of best grid points that are refined.
const REFINED: usize = 12;
/// A refinement ends after this number of rounds along the axes: a curved ridge could be followed by tiny steps for ever.
const ROUNDS: usize = 1_000;

impl Region {
    /// The box in which to examine `fs`. For each coordinate: one period if they are periodic, one point if it does not occur,
    /// otherwise the range of `visited` (the motion's range), twice as wide, or a little around where the motion stays.
    pub fn of(fs: &[Expr], q: &[Expr], known: &[(Expr, f64)], visited: impl FnOnce() -> Vec<(f64, f64)>) -> Region {
        let periods: Vec<Option<f64>> = q.iter().map(|&x| period(fs, x, q, known)).collect();
        let box_of_motion = if periods.iter().all(Option::is_some) { vec![(0.0, 0.0); q.len()] } else { visited() };
        let axis = |(period, (low, high)): (&Option<f64>, (f64, f64))| match period {
            Some(period) => CoordinateRange { low: 0.0, high: *period, periodic: true },
            None => {
                let margin = (0.5 * (high - low)).max(1e-3 * low.abs().max(high.abs()));
                CoordinateRange { low: low - margin, high: high + margin, periodic: false }
            }
        };
        Region { axes: periods.iter().zip(box_of_motion).map(axis).collect() }
    }

    /// True if it does not cover all configurations.
    pub fn is_partial(&self) -> bool {
        self.axes.iter().any(|axis| !axis.periodic)
    }

    /// The same region, widened by a factor along axes that are not periodic.
    pub fn widened(&self, factor: f64) -> Region {
        let widen = |axis: &CoordinateRange| {
            let (middle, half) = (0.5 * (axis.low + axis.high), 0.5 * factor * (axis.high - axis.low));
            if axis.periodic {
                *axis
            } else {
                CoordinateRange { low: middle - half, high: middle + half, periodic: false }
            }
        };
        Region { axes: self.axes.iter().map(widen).collect() }
    }

    /// A grid of at most `most` points, including the corners.
    pub fn grid(&self, most: f64) -> Vec<Vec<f64>> {
        let active = self.axes.iter().filter(|axis| axis.high > axis.low).count();
        let count = most.powf(1.0 / active.max(1) as f64).floor().max(2.0) as usize;
        let mut points = vec![Vec::new()];
        for axis in &self.axes {
            let values: Vec<f64> = match axis.high > axis.low {
                true => (0..=count).map(|k| axis.low + (axis.high - axis.low) * k as f64 / count as f64).collect(),
                false => vec![axis.low],
            };
            let extend = |point: &Vec<f64>| values.iter().map(|&x| [&point[..], &[x]].concat()).collect::<Vec<_>>();
            points = points.iter().flat_map(extend).collect();
        }
        points
    }

    /// The maximum of f and its position: a search on a grid, then along the axes with steps that are halved. If f is NaN
    /// somewhere, the search ends there and returns NaN.
    pub fn maximize(&self, f: &mut dyn FnMut(&[f64]) -> f64) -> (Vec<f64>, f64) {
        let mut best: Vec<(Vec<f64>, f64)> = Vec::new();
        for point in self.grid(POINTS) {
            let value = f(&point);
            if value.is_nan() {
                return (point, f64::NAN);
            }
            best.push((point, value));
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        best.truncate(REFINED);
        let refined = best.into_iter().map(|start| self.climb(f, start));
        refined.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((Vec::new(), 0.0))
    }

    fn climb(&self, f: &mut dyn FnMut(&[f64]) -> f64, (mut at, mut value): (Vec<f64>, f64)) -> (Vec<f64>, f64) {
        let mut part = 0.05;
        for _ in 0..ROUNDS {
            let mut moved = false;
            for (i, axis) in self.axes.iter().enumerate() {
                for side in [-1.0, 1.0] {
                    let old = at[i];
                    let next = old + side * part * (axis.high - axis.low);
                    at[i] = if axis.periodic { next } else { next.clamp(axis.low, axis.high) };
                    let found = f(&at);
                    if found > value {
                        (value, moved) = (found, true);
                    } else {
                        at[i] = old;
                    }
                }
            }
            if !moved {
                part *= 0.5;
            }
            if part <= 1e-12 {
                break;
            }
        }
        (at, value)
    }
}

/// A common period of all `fs` in x: x must occur only as c·x + … inside sin, cos and tan, with factors c that are integer
/// multiples of the smallest. 0 if x does not occur.
fn period(fs: &[Expr], x: Expr, q: &[Expr], known: &[(Expr, f64)]) -> Option<f64> {
    let mut factors: Vec<f64> = Vec::new();
    let mut open: Vec<Expr> = fs.to_vec();
    let mut seen: FxHashSet<Expr> = FxHashSet::default();
    while let Some(e) = open.pop() {
        if !seen.insert(e) || !e.depends_on(&[x]) {
            continue;
        }
        match e.node() {
            ExprNode::Unary(Func::Sin | Func::Cos | Func::Tan, inner) if !inner.diff(x).depends_on(q) => {
                factors.push(eval(&[inner.diff(x)], known)[0].abs());
            }
            ExprNode::Symbol(_) => return None,
            node => open.extend(node.operands()),
        }
    }
    let smallest = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let whole = |c: &f64| ((c / smallest) - (c / smallest).round()).abs() < 1e-9;
    if factors.is_empty() {
        return Some(0.0);
    }
    (smallest > 0.0 && factors.iter().all(whole)).then_some(std::f64::consts::TAU / smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_found() {
        let (x, y, a) = (Expr::symbol("x"), Expr::symbol("y"), Expr::symbol("a"));
        let known = [(a, 0.5)];
        let tau = std::f64::consts::TAU;
        let of = |e: Expr| period(&[e], x, &[x, y], &known);
        assert_eq!(of(x.sin() + y), Some(tau));
        assert_eq!(of((a * x).sin() * x.cos()), Some(tau / 0.5));
        assert_eq!(of(y.sin()), Some(0.0));
        assert_eq!(of(x * x.sin()), None);
        assert_eq!(of(x.sin() + (2.5 * x).cos()), None);
        assert_eq!(of((x * y).sin()), None);
    }

    #[test]
    fn the_largest_value_is_found_to_rounding() {
        let axis = CoordinateRange { low: -3.0, high: 4.0, periodic: false };
        let region = Region { axes: vec![axis, axis] };
        let mut f = |x: &[f64]| -(x[0] - 1.2345).powi(2) - (x[1] - x[0]).powi(2) + 7.0;
        let (at, value) = region.maximize(&mut f);
        assert!((value - 7.0).abs() < 1e-12 && (at[0] - 1.2345).abs() < 1e-5, "{at:?} {value}");
        let (at, value) = region.maximize(&mut |x: &[f64]| x[0] + x[1]);
        assert!((value - 8.0).abs() < 1e-12, "{at:?} {value}");
    }

    /// Along a narrow ridge that is not parallel to an axis, each round gains little.
    #[test]
    fn a_search_along_a_ridge_ends() {
        let axis = CoordinateRange { low: -3.0, high: 4.0, periodic: false };
        let region = Region { axes: vec![axis, axis] };
        let mut count = 0;
        let (_, value) = region.maximize(&mut |x: &[f64]| {
            count += 1;
            x[0] - 1e9 * (x[1] - x[0] * x[0] / 4.0).powi(2)
        });
        assert!(count <= POINTS as usize * 2 + REFINED * ROUNDS * 4, "{count}");
        assert!(value > -3.0, "{value}");
    }
}
