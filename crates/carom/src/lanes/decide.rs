//! What becomes of a trial step in one lane, if it is not simply accepted.

use super::group::{CHOSEN, CROSSED, FACTOR, Group, Happening, LONGEST, LOWEST, SQUARE, UNTIL};
use super::judge::LARGEST_SQUARE;
use super::quintic::{bernstein, first_root};
use crate::limits::{EXPLICIT_SAFETY, MOST_AIMS, SHORTEST_STEP, SOON};

/// The first walls on the quintics of a trial step.
struct Contact {
    wall: usize,
    /// Where, as a fraction of the step.
    x: f64,
}

/// Accepts the trial step, repeats it with another length, aims it at a wall, or lands on one.
pub(super) fn decide(group: &mut Group, lane: usize) -> Happening {
    let (from, verdict) = (group.from.lane(lane), group.verdict.lane(lane));
    let (t, h) = (from[0], from[group.code.state()]);
    let [square, factor, lowest, crossed] = [SQUARE, FACTOR, LOWEST, CROSSED].map(|i| verdict[i]);
    let longest = group.control[(LONGEST, lane)];
    if square.is_nan() || square > LARGEST_SQUARE {
        let chosen = h * factor.min(EXPLICIT_SAFETY);
        group.slots[lane].aim = None;
        group.open |= 1 << lane;
        group.control[(CHOSEN, lane)] = chosen;
        let is_short = chosen <= SHORTEST_STEP * t.abs().max(longest);
        return if is_short { Happening::Leaves } else { Happening::Nothing };
    }
    // A gap that is not a number.
    if crossed != 0.0 || lowest.is_nan() {
        return Happening::Leaves;
    }
    let Some(wall) = group.slots[lane].aim else {
        return match first_contact(group, lane, h, None) {
            Some(contact) => aim_at(group, lane, h, contact),
            None => accept(group, lane, h * factor),
        };
    };
    let chosen = group.control[(CHOSEN, lane)];
    // A Taylor step as short as this has an error below the tolerance.
    let near = group.tolerance(lane).sqrt() * chosen.min(longest);
    let [gap, rate] = gap_and_rate(group, lane, wall);
    let wait = -gap / rate;
    let lands = rate < 0.0 && wait.abs() <= near;
    let is_early = |contact: &Contact| contact.wall != wall && (1.0 - contact.x) * h > near;
    // If it lands, the contact with this wall is at its end: only those with others matter.
    let contact = if lands && !first_contact(group, lane, h, Some(wall)).is_some_and(|contact| is_early(&contact)) {
        None
    } else {
        first_contact(group, lane, h, None)
    };
    match contact {
        Some(contact) if is_early(&contact) => aim_at(group, lane, h, contact),
        _ if lands => {
            let meets_too = |&other: &usize| {
                let [gap, rate] = gap_and_rate(group, lane, other);
                other != wall && rate < 0.0 && gap <= 2.0 * near * -rate
            };
            let t = group.to[(0, lane)] + wait;
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

/// Makes the end of the trial step the node of the lane, when all lanes have decided; `next` is the next step.
fn accept(group: &mut Group, lane: usize, next: f64) -> Happening {
    let slot = &mut group.slots[lane];
    let rest = group.control[(UNTIL, lane)] - group.from[(0, lane)];
    if slot.aim.is_none() && group.from[(group.code.state(), lane)] == rest {
        group.to[(0, lane)] = group.control[(UNTIL, lane)];
    }
    (slot.aim, slot.aims) = (None, 0);
    group.open |= 1 << lane;
    group.control[(CHOSEN, lane)] = next;
    Happening::Node
}

fn aim_at(group: &mut Group, lane: usize, h: f64, contact: Contact) -> Happening {
    let (t, h_row) = (group.from[(0, lane)], group.code.state());
    let slot = &mut group.slots[lane];
    slot.aims += 1;
    let aimed = contact.x * h;
    if slot.aims > MOST_AIMS || t + aimed <= t {
        return Happening::Leaves;
    }
    slot.aim = Some(contact.wall);
    group.open &= !(1 << lane);
    group.from[(h_row, lane)] = aimed;
    Happening::Nothing
}

/// The short rest to the wall, which may be negative: q + δv + ½δ²a, v + δa.
fn land(group: &mut Group, lane: usize, wall: usize, delta: f64) -> Happening {
    let (n, until) = (group.code.n, group.control[(UNTIL, lane)]);
    let (to, mut hit) = (group.to.lane(lane), group.hit.lane_mut(lane));
    hit[0] = (to[0] + delta).min(until);
    for i in 0..n {
        let [q, v, a] = [1, 1 + n, 1 + 2 * n].map(|first| to[first + i]);
        hit[1 + i] = q + delta * (v + 0.5 * delta * a);
        hit[1 + n + i] = v + delta * a;
    }
    Happening::Impact(wall)
}

fn gap_and_rate(group: &Group, lane: usize, wall: usize) -> [f64; 2] {
    let at = group.gap_after(wall);
    [at, at + 1].map(|row| group.to[(row, lane)])
}

/// The first wall on the quintics of the step, other than the wall `but`.
fn first_contact(group: &Group, lane: usize, h: f64, but: Option<usize>) -> Option<Contact> {
    let (from, to) = (group.from.lane(lane), group.to.lane(lane));
    let mut first: Option<Contact> = None;
    for wall in (0..group.code.walls).filter(|wall| Some(*wall) != but) {
        let (at, at1) = (group.gap_before(wall), group.gap_after(wall));
        let [before, after] = [(&from, at), (&to, at1)].map(|(rows, at)| [0, 1, 2].map(|i| rows[at + i]));
        let Some(x) = first_root(bernstein(h, before, after)) else { continue };
        if first.as_ref().is_none_or(|first| x < first.x) {
            first = Some(Contact { wall, x });
        }
    }
    first
}
