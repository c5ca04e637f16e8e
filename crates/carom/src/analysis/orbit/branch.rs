//! Continuation of an orbit in one parameter, by pseudo-arclength.

use super::newton::{Closed, Condition, Equations, multipliers};
use super::{BranchPoint, Mark};
use crate::tangent::{Matrix, add, dot};

/// The first step along the branch, and the longest, in units of the range of the parameter and the sizes of the unknowns.
const FIRST: f64 = 0.01;
const LONGEST: f64 = 0.05;
/// The shortest step; a branch that needs a shorter one ends.
const SHORTEST: f64 = 1e-11;
/// Marks are located to this, relative to the range of the parameter.
const LOCATED: f64 = 1e-10;
/// Points nearer to each other than this, relative to the range, are left out where the branch ends.
const CLOSE: f64 = 1e-4;
/// An impact this near to the start, relative to the period, is too near.
const NEAR: f64 = 0.05;
/// The largest number of points of a branch.
const MOST_POINTS: usize = 2000;
/// A clearance below this, relative to the sizes of the coordinates, is grazing.
const GRAZES: f64 = 1e-6;

/// Follows the branch from an orbit at one end of the range, until it leaves the range or grazes a wall. Returns its points, and why
/// it ended early if it did.
pub(super) fn follow(
    equations: &mut Equations,
    first: Closed,
    [from, to]: [f64; 2],
) -> (Vec<BranchPoint>, Option<String>) {
    let (low, high) = (from.min(to), from.max(to));
    let mut here = first;
    let Some(mut direction) = equations.direction(&here) else {
        return (vec![describe(&here, None)], Some("the branch has no direction at its first orbit".into()));
    };
    let last = direction.len() - 1;
    if direction[last] * (to - from) < 0.0 {
        direction.iter_mut().for_each(|x| *x = -*x);
    }
    let mut points = Vec::new();
    let (mut length, mut can_grow) = (FIRST, true);
    while points.len() < MOST_POINTS {
        if let Some(moved) = away_from_impacts(equations, &here, &direction) {
            (here, direction) = moved;
        }
        if points.is_empty() {
            points.push(describe(&here, None));
        }
        let Some((next, ahead)) = advance(equations, &here, &direction, length) else {
            (length, can_grow) = (0.5 * length, false);
            if length > SHORTEST {
                continue;
            }
            let sizes = &here.shot.sizes[..here.shot.sizes.len() / 2];
            let near = GRAZES * sizes.iter().fold(0.0, |a: f64, b| a.max(*b));
            if here.shot.clearance() < near {
                thin(&mut points, high - low);
                points.push(describe(&here, Some(Mark::Grazing)));
                return (points, None);
            }
            thin(&mut points, high - low);
            return (points, Some(format!("the branch cannot be followed beyond {}", here.point.value)));
        };
        let marks = [(Mark::Fold, fold as fn(&Closed, &[f64]) -> f64), (Mark::Flip, flip), (Mark::Torus, torus)];
        let mut found: Vec<(f64, Closed, Mark)> = Vec::new();
        for (mark, test) in marks {
            let [a, b] = [test(&here, &direction), test(&next, &ahead)];
            if a * b < 0.0
                && let Some((s, closed)) = locate(equations, &here, &direction, length, [a, b], test)
            {
                found.push((s, closed, mark));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, closed, mark) in found {
            if (low..=high).contains(&closed.point.value) {
                points.push(describe(&closed, Some(mark)));
            }
        }
        if !(low..=high).contains(&next.point.value) {
            let end = if next.point.value > high { high } else { low };
            let mut start = next.point.clone();
            start.value = end;
            let start = equations.point(&equations.vector(&start), &start);
            points.extend(
                equations.solve(&start, None).map(|closed| BranchPoint { value: end, ..describe(&closed, None) }),
            );
            return (points, None);
        }
        points.push(describe(&next, None));
        if can_grow && next.iterations <= 4 {
            length = (1.6 * length).min(LONGEST);
        }
        // What made a step fail is passed, or is nearer by now.
        can_grow = true;
        (here, direction) = (next, ahead);
    }
    (points, Some(format!("the branch has more than {MOST_POINTS} points")))
}

/// The same orbit and direction from another start, halfway between two impacts, if an impact is near the start: otherwise it would
/// leave the period at one end and enter it at the other.
fn away_from_impacts(equations: &mut Equations, here: &Closed, direction: &[f64]) -> Option<(Closed, Vec<f64>)> {
    let (begin, period) = (here.point.z.t, here.point.period);
    let times: Vec<f64> = here.shot.impacts.iter().map(|(impact, _)| impact.minus.t - begin).collect();
    let (first, last) = (*times.first()?, *times.last()?);
    if first > NEAR * period && period - last > NEAR * period {
        return None;
    }
    // The longest time between two impacts; the last one is followed by the first of the next period.
    let gaps = times.iter().zip(times[1..].iter().copied().chain([first + period]));
    let (from, to) = gaps.map(|(a, b)| (*a, b)).reduce(|a, b| if b.1 - b.0 > a.1 - a.0 { b } else { a })?;
    let later = (0.5 * (from + to)).rem_euclid(period);
    let way = equations.shooter.shoot(&equations.parameters_at(here.point.value), &here.point.z, later).ok()?;
    let mut point = here.point.clone();
    point.z = way.end.clone();
    let closed = equations.solve(&point, None)?;
    let mut ahead = equations.direction(&closed)?;
    // The direction after the way to the new start.
    let (size, last) = (point.z.z.len(), direction.len() - 1);
    let moved = |i: usize| {
        let row = way.slopes.row(i);
        let by_z: f64 = (0..size).map(|j| row[j] * direction[j] * equations.scales[j]).sum();
        (by_z + row[size + 1..].iter().sum::<f64>() * direction[last] * equations.scales[last]) / equations.scales[i]
    };
    let along: f64 = (0..size).map(|i| ahead[i] * moved(i)).sum::<f64>() + ahead[last] * direction[last];
    if along < 0.0 {
        ahead.iter_mut().for_each(|x| *x = -*x);
    }
    Some((closed, ahead))
}

/// Leaves out points without a mark that are close to the one before, as where steps become short before a wall is grazed.
fn thin(points: &mut Vec<BranchPoint>, range: f64) {
    let mut last = f64::NAN;
    points.retain(|point| {
        let keeps = point.mark.is_some() || last.is_nan() || (point.value - last).abs() > CLOSE * range;
        if keeps {
            last = point.value;
        }
        keeps
    });
}

/// The orbit at this length along the branch, and the direction there.
fn advance(equations: &mut Equations, here: &Closed, direction: &[f64], length: f64) -> Option<(Closed, Vec<f64>)> {
    let mut y = equations.vector(&here.point);
    add(&mut y, length, direction);
    let start = equations.point(&y, &here.point);
    if start.period <= 0.0 {
        return None;
    }
    let next = equations.solve(&start, Some(&Condition { direction, point: &y }))?;
    let mut ahead = equations.direction(&next)?;
    if dot(&ahead, direction) < 0.0 {
        ahead.iter_mut().for_each(|x| *x = -*x);
    }
    // A sharp turn is a jump to another branch.
    (dot(&ahead, direction) > 0.5).then_some((next, ahead))
}

/// Where a function changes its sign along the branch (Illinois method).
fn locate(
    equations: &mut Equations,
    here: &Closed,
    direction: &[f64],
    length: f64,
    [mut fa, mut fb]: [f64; 2],
    test: fn(&Closed, &[f64]) -> f64,
) -> Option<(f64, Closed)> {
    let (mut a, mut b) = (0.0, length);
    let mut best: Option<(f64, Closed)> = None;
    for _ in 0..100 {
        let s = a - fa * (b - a) / (fb - fa);
        let (closed, ahead) = advance(equations, here, direction, s)?;
        let value = test(&closed, &ahead);
        best = Some((s, closed));
        if value == 0.0 || b - a <= LOCATED * length.max(FIRST) {
            break;
        }
        if value * fa > 0.0 {
            let stays = (s - a).abs() <= LOCATED * FIRST;
            (a, fa, fb) = (s, value, 0.5 * fb);
            if stays {
                break;
            }
        } else {
            let stays = (b - s).abs() <= LOCATED * FIRST;
            (b, fb, fa) = (s, value, 0.5 * fa);
            if stays {
                break;
            }
        }
    }
    best
}

/// The parameter turns.
fn fold(_: &Closed, direction: &[f64]) -> f64 {
    direction[direction.len() - 1]
}

/// det(P' + 1): a multiplier passes −1.
fn flip(closed: &Closed, _: &[f64]) -> f64 {
    let mut matrix = closed.shot.monodromy();
    let n = matrix.columns;
    (0..n).for_each(|i| matrix.row_mut(i)[i] += 1.0);
    determinant(matrix)
}

/// The product of |μ|² − 1 over complex pairs: a pair crosses the unit circle.
fn torus(closed: &Closed, _: &[f64]) -> f64 {
    let pairs: Vec<f64> =
        multipliers(&closed.shot).iter().filter(|m| m.1 > 0.0).map(|m| m.0 * m.0 + m.1 * m.1 - 1.0).collect();
    if pairs.is_empty() { 0.0 } else { pairs.iter().product() }
}

fn determinant(mut a: Matrix) -> f64 {
    let n = a.columns;
    let mut product = 1.0;
    for k in 0..n {
        let pivot = (k..n).fold(k, |best, i| if a.at(i, k).abs() > a.at(best, k).abs() { i } else { best });
        if a.at(pivot, k) == 0.0 {
            return 0.0;
        }
        if pivot != k {
            (0..n).for_each(|j| a.data.swap(pivot * n + j, k * n + j));
            product = -product;
        }
        product *= a.at(k, k);
        let top = a.row(k).to_vec();
        for i in k + 1..n {
            let factor = a.at(i, k) / top[k];
            add(a.row_mut(i), -factor, &top);
        }
    }
    product
}

fn describe(closed: &Closed, mark: Option<Mark>) -> BranchPoint {
    BranchPoint {
        value: closed.point.value,
        period: closed.point.period,
        multipliers: multipliers(&closed.shot),
        impacts: closed.shot.impacts.len(),
        start: closed.point.z.clone(),
        mark,
    }
}
