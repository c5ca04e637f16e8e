//! What becomes of a trial step in one lane.

use super::group::{Group, Happening};
use super::quintic::{bernstein, first_root};
use crate::limits::{
    EXPLICIT_ACCEPTS, EXPLICIT_FAR, EXPLICIT_GROWTH, EXPLICIT_JUMP, EXPLICIT_SHRINK, MOST_AIMS, SHORTEST_STEP, SOON,
    STEP_SAFETY,
};

/// The first walls on the quintics of a trial step.
struct Contact {
    wall: usize,
    /// Where, as a fraction of the step.
    x: f64,
}

/// Accepts the trial step, repeats it with another length, aims it at a wall, or lands on one.
pub(super) fn decide(group: &mut Group, lane: usize) -> Happening {
    let (h, error, tolerance) = (group.h[lane], group.error[lane], group.tolerance[lane]);
    let factor = factor(error, tolerance);
    if error.is_nan() || error > EXPLICIT_ACCEPTS * tolerance {
        let slot = &mut group.slots[lane];
        (slot.aim, slot.h) = (None, h * factor.min(STEP_SAFETY));
        let is_short = slot.h <= SHORTEST_STEP * group.z[lane].abs().max(slot.longest);
        return if is_short { Happening::Leaves } else { Happening::Nothing };
    }
    if group.crossed[lane] != 0.0 {
        return Happening::Leaves;
    }
    let aim = group.slots[lane].aim;
    if group.lowest[lane] >= 0.0 && aim.is_none() {
        return accept(group, lane, h * factor);
    }
    let Ok(contact) = first_contact(group, lane, h) else { return Happening::Leaves };
    let Some(wall) = aim else {
        return match contact {
            Some(contact) => aim_at(group, lane, h, contact),
            None => accept(group, lane, h * factor),
        };
    };
    let chosen = group.slots[lane].h;
    // A Taylor step as short as this has an error below the tolerance.
    let near = tolerance.sqrt() * chosen.min(group.slots[lane].longest);
    let [gap, rate] = gap_and_rate(group, lane, wall);
    let wait = -gap / rate;
    match contact {
        Some(contact) if contact.wall != wall && (1.0 - contact.x) * h > near => aim_at(group, lane, h, contact),
        _ if rate < 0.0 && wait.abs() <= near => {
            let meets_too = |&other: &usize| {
                let [gap, rate] = gap_and_rate(group, lane, other);
                other != wall && rate < 0.0 && gap <= 2.0 * near * -rate
            };
            let t = group.z1[lane] + wait;
            let is_soon = group.slots[lane].last_impact.is_some_and(|last| t - last < SOON * chosen);
            if is_soon || (0..group.code.walls).any(|other| meets_too(&other)) {
                return Happening::Leaves;
            }
            land(group, lane, wall, wait)
        }
        Some(contact) => aim_at(group, lane, h, contact),
        None => accept(group, lane, chosen),
    }
}

/// The factor for the next step: 0.9 (tolerance/error)^{1/8} within limits.
fn factor(error: f64, tolerance: f64) -> f64 {
    let factor = STEP_SAFETY * (tolerance / error).sqrt().sqrt().sqrt();
    let most = if factor > EXPLICIT_FAR { EXPLICIT_JUMP } else { EXPLICIT_GROWTH };
    if factor.is_nan() { EXPLICIT_SHRINK } else { factor.clamp(EXPLICIT_SHRINK, most) }
}

fn accept(group: &mut Group, lane: usize, next: f64) -> Happening {
    let slot = &group.slots[lane];
    if slot.aim.is_none() && group.h[lane] == slot.until - group.z[lane] {
        group.z1[lane] = slot.until;
    }
    group.accept(lane, next);
    Happening::Node
}

fn aim_at(group: &mut Group, lane: usize, h: f64, contact: Contact) -> Happening {
    let slot = &mut group.slots[lane];
    slot.aims += 1;
    let aimed = contact.x * h;
    if slot.aims > MOST_AIMS || group.z[lane] + aimed <= group.z[lane] {
        return Happening::Leaves;
    }
    slot.aim = Some(contact.wall);
    group.h[lane] = aimed;
    Happening::Nothing
}

/// The short rest to the wall, which may be negative: q + δv + ½δ²a, v + δa.
fn land(group: &mut Group, lane: usize, wall: usize, delta: f64) -> Happening {
    let (k, n) = (group.k, group.code.n);
    group.hit[lane] = (group.z1[lane] + delta).min(group.slots[lane].until);
    for i in 0..n {
        let (q, v, a) = (group.z1[(1 + i) * k + lane], group.z1[(1 + n + i) * k + lane], group.node1[i * k + lane]);
        group.hit[(1 + i) * k + lane] = q + delta * (v + 0.5 * delta * a);
        group.hit[(1 + n + i) * k + lane] = v + delta * a;
    }
    group.slots[lane].lands = Some(wall);
    Happening::Impact(wall)
}

fn gap_and_rate(group: &Group, lane: usize, wall: usize) -> [f64; 2] {
    let at = group.code.n + 1 + 3 * wall;
    [0, 1].map(|i| group.node1[(at + i) * group.k + lane])
}

/// The first wall on the quintics of the step; an error if a gap is not a number.
fn first_contact(group: &Group, lane: usize, h: f64) -> Result<Option<Contact>, ()> {
    if group.lowest[lane].is_nan() {
        return Err(());
    }
    let mut first: Option<Contact> = None;
    for wall in 0..group.code.walls {
        let at = group.code.n + 1 + 3 * wall;
        let end = |node: &[f64]| [0, 1, 2].map(|i| node[(at + i) * group.k + lane]);
        let Some(x) = first_root(bernstein(h, end(&group.node), end(&group.node1))) else { continue };
        if first.as_ref().is_none_or(|first| x < first.x) {
            first = Some(Contact { wall, x });
        }
    }
    Ok(first)
}
